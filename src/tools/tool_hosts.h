/*
 * Hosts of a job's ranks, from a file with lines HOSTS or HOSTS*RANKS, such as n[01-16]*4; a hash
 * sign begins a comment.
 */
#ifndef KEEL_TOOLS_TOOL_HOSTS_H_
#define KEEL_TOOLS_TOOL_HOSTS_H_

#include <keel/status.h>

#include <stdint.h>

typedef struct tool_hosts {
    uint32_t count; /* ranks */
    char **host;    /* host of each rank */
    uint32_t room, each;
} tool_hosts_t;

/* Reports errors on standard error for @a program. The caller releases in either case. */
keel_status_t tool_hosts_read(const char *program, const char *path, tool_hosts_t *hosts);
void tool_hosts_release(tool_hosts_t *hosts);

#endif
