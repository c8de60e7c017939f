/*
 * Slurm's topology.conf, as its tree plugin reads it: SwitchName=s1 Nodes=n[001-018], SwitchName=s0 Switches=s[1-4],
 * nested; and BlockName=b1 Nodes=... of the block plugin. Keys in any case; LinkSpeed and BlockSizes are read over. A
 * switch's level is one above the highest of its switches: "switch" for leaves, then "switch2", "switch3", ...
 */
#ifndef KEEL_TOPO_SLURM_H_
#define KEEL_TOPO_SLURM_H_

#include "topo/tree.h"

/* KEEL_ERR_INVALID_PARAM with the reason in @a error; released by keel_tree_release() only on KEEL_OK */
keel_status_t keel_slurm_parse(const char *text, size_t length, keel_tree_t *tree_p, keel_tree_error_t *error);

#endif
