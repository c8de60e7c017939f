/*
 * Keel's own topology file. A hash sign begins a comment, a backslash at the end of a line
 * continues it.
 *
 *     levels rack row                 # names of the levels above the node, finest first
 *     rack r1: n[001-036]             # LEVEL NAME: MEMBERS, hosts as Slurm writes them,
 *     rack r2: n[037-072] gpu1,gpu2   # separated by blanks or commas,
 *     row a: r[1-2]                   # or elements of finer levels
 *
 * An element may have several lines. Hosts that are not in the job may be named.
 */
#ifndef KEEL_TOPO_TOPOFILE_H_
#define KEEL_TOPO_TOPOFILE_H_

#include "topo/tree.h"

/* KEEL_ERR_INVALID_PARAM with the reason in @a error; keel_tree_release() is needed only after
 * KEEL_OK */
keel_status_t keel_topofile_parse(const char *text, size_t length, keel_tree_t *tree_p, keel_tree_error_t *error);

#endif
