/* Spares in keel_info -t: the ranks served first by each spare. */
#ifndef KEEL_TOOLS_TOPO_SPARES_H_
#define KEEL_TOOLS_TOPO_SPARES_H_

#include "engine/site.h"

typedef struct topo_spares {
    uint32_t count;
    const char **host;
    /* ranks of spare s: rank[begin[s]] .. rank[begin[s + 1] - 1], ascending */
    uint32_t *begin, *rank;
    uint32_t *broken, broken_count; /* ranks without a spare that keeps the promise, ascending */
} topo_spares_t;

/* @a site uses the groups, and the runtime has at least one spare. KEEL_ERR_NO_MEMORY. */
keel_status_t topo_spares_find(keel_site_t *site, const keel_runtime_t *runtime, topo_spares_t *spares_p);
void topo_spares_release(topo_spares_t *spares);

#endif
