/*
 * keel_info -t -L: losses of a job after the loss of some elements, and the groups that the
 * remaining ranks can form.
 */
#ifndef KEEL_TOOLS_TOPO_LOST_H_
#define KEEL_TOOLS_TOPO_LOST_H_

#include "tools/info/topo_view.h"

/*
 * @param names elements of the hierarchy, of any level, in Slurm's list notation: "n[1-2],r2".
 * @return KEEL_ERR_INVALID_PARAM after a message on standard error if an element does not exist;
 * KEEL_ERR_NO_MEMORY.
 */
keel_status_t topo_print_lost(FILE *stream, const topo_view_t *view, const char *names);

#endif
