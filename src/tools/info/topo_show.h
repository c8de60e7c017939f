/*
 * keel_info -t: the hierarchy of failure domains, which rank is where, and the groups, of the job that keel_info runs as
 * (rank 0 prints), or of ranks on hosts as a file lists them: "HOSTS[*RANKS]" a line, hosts as Slurm writes them, ranks
 * in that order and one a host where nothing is said.
 */
#ifndef KEEL_TOOLS_TOPO_SHOW_H_
#define KEEL_TOOLS_TOPO_SHOW_H_

#include <keel/status.h>

typedef struct topo_show_params {
    const char *hosts;  /* path of the list; NULL: the own job */
    const char *format; /* "text", "json" or "svg" */
    const char *lost;   /* what of the hierarchy is thought to be lost, with text; NULL: nothing */
} topo_show_params_t;

/* not KEEL_OK after a message on standard error */
keel_status_t topo_show(const topo_show_params_t *params);

#endif
