/*
 * keel_info -t: the hierarchy of failure domains, the place of each rank, and the groups: of the
 * job of keel_info itself (rank 0 prints), or of ranks on the hosts in a file. The file has a line
 * "HOSTS[*RANKS]" each, with hosts in Slurm's notation and ranks in their order, one rank per host
 * by default.
 */
#ifndef KEEL_TOOLS_TOPO_SHOW_H_
#define KEEL_TOOLS_TOPO_SHOW_H_

#include <keel/status.h>

typedef struct topo_show_params {
    const char *hosts;  /* path of the list; NULL: the present job */
    const char *format; /* "text", "json" or "svg" */
    const char *lost;   /* elements assumed to be lost, in text output; NULL: none */
} topo_show_params_t;

/* Returns an error after a message on standard error. */
keel_status_t topo_show(const topo_show_params_t *params);

#endif
