/*
 * keel_info -t: the hierarchy of failure domains, which rank is where, and the groups, of the job that keel_info runs as
 * (rank 0 prints), or of ranks on hosts as a file lists them: "HOSTS[*RANKS]" a line, hosts as Slurm writes them, ranks
 * in that order and one a host where nothing is said.
 */
#ifndef KEEL_TOOLS_TOPO_SHOW_H_
#define KEEL_TOOLS_TOPO_SHOW_H_

#include <keel/status.h>

/*
 * @param hosts   path of the list, or NULL for the own job.
 * @param format  "text", "json" or "svg".
 * @return not KEEL_OK after a message on standard error.
 */
keel_status_t topo_show(const char *hosts, const char *format);

#endif
