/* Hosts of a job: names, placement of ranks, and lookup by name. */
#ifndef KEEL_TOPO_HOSTS_H_
#define KEEL_TOPO_HOSTS_H_

#include <keel/status.h>

#include <stdint.h>

#define KEEL_HOST_NONE UINT32_MAX

/* entry of a sorted table that maps names to numbers */
typedef struct keel_name {
    const char *text;
    uint32_t value;
} keel_name_t;

typedef struct keel_hosts {
    uint32_t ranks, count;
    uint32_t *of_rank; /* host of each rank; hosts are numbered by their first ranks */
    char **name;       /* by host */
    uint32_t name_count;
    keel_name_t *names; /* sorted: full names, and the parts before the first dot that are unique */
    char *shorts;       /* memory of the short names */
} keel_hosts_t;

/* @param host  name of each rank's host; equal names are one host */
keel_status_t keel_hosts_make(uint32_t ranks, const char *const *host, keel_hosts_t *hosts_p);
/* number of a host, or KEEL_HOST_NONE; "n7" finds "n7.cluster", too */
uint32_t keel_hosts_find(const keel_hosts_t *hosts, const char *name);
void keel_hosts_release(keel_hosts_t *hosts);

void keel_names_sort(keel_name_t *names, uint32_t count);
/* the entry, or NULL */
const keel_name_t *keel_names_find(const keel_name_t *names, uint32_t count, const char *text);

#endif
