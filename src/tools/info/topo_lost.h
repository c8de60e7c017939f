/* keel_info -t -L: what a job loses with some of what it runs on, and what groups those who are left can form. */
#ifndef KEEL_TOOLS_TOPO_LOST_H_
#define KEEL_TOOLS_TOPO_LOST_H_

#include "tools/info/topo_view.h"

/*
 * @param names  elements of the hierarchy, of any level, as Slurm writes lists: "n[1-2],r2".
 * @return KEEL_ERR_INVALID_PARAM after a message on standard error, when one is not there; KEEL_ERR_NO_MEMORY.
 */
keel_status_t topo_print_lost(FILE *stream, const topo_view_t *view, const char *names);

#endif
