/* Asks for the first spare of each rank and sorts the ranks by spare. */
#include "tools/info/topo_spares.h"

#include "base/memory.h"

#include <string.h>

static keel_status_t spares_alloc(const keel_runtime_t *runtime, topo_spares_t *spares)
{
    memset(spares, 0, sizeof(*spares));
    spares->count = runtime->spares;
    spares->host = keel_alloc(spares->count * sizeof(*spares->host), "spares");
    spares->begin = keel_alloc((spares->count + (size_t)1) * sizeof(*spares->begin), "spares");
    spares->rank = keel_alloc(runtime->size * sizeof(*spares->rank), "spares");
    spares->broken = keel_alloc(runtime->size * sizeof(*spares->broken), "spares");
    return ((spares->host == NULL) || (spares->begin == NULL) || (spares->rank == NULL) || (spares->broken == NULL))
               ? KEEL_ERR_NO_MEMORY
               : KEEL_OK;
}

/* Finds the first spare of each rank, and the ranks without a spare that keeps the promise. */
static void spares_ask(keel_site_t *site, uint32_t ranks, topo_spares_t *spares, uint32_t *order, uint32_t *first)
{
    const int is_promised = site->promised < site->domains.level_count;
    uint32_t r;

    for (r = 0; r < ranks; r++) {
        keel_site_order_spares(site, r, order);
        first[r] = order[0];
        spares->begin[order[0]]++;
        if (is_promised && (site->place[0].kept <= site->promised)) {
            spares->broken[spares->broken_count++] = r;
        }
    }
}

keel_status_t topo_spares_find(keel_site_t *site, const keel_runtime_t *runtime, topo_spares_t *spares_p)
{
    uint32_t *order = keel_alloc(runtime->spares * sizeof(*order), "spares");
    uint32_t *first = keel_alloc(runtime->size * sizeof(*first), "spares"), s, r;
    keel_status_t status = spares_alloc(runtime, spares_p);

    if ((order == NULL) || (first == NULL) || (status != KEEL_OK)) {
        keel_free(order);
        keel_free(first);
        topo_spares_release(spares_p);
        return KEEL_ERR_NO_MEMORY;
    }
    for (s = 0; s < runtime->spares; s++) {
        spares_p->host[s] = runtime->host[runtime->node[runtime->size + s]];
    }
    spares_ask(site, runtime->size, spares_p, order, first);
    for (s = 1; s <= runtime->spares; s++) {
        spares_p->begin[s] += spares_p->begin[s - 1];
    }
    for (r = runtime->size; r > 0; r--) { /* backwards, so that begin[] ends at each first place */
        spares_p->rank[--spares_p->begin[first[r - 1]]] = r - 1;
    }
    keel_free(order);
    keel_free(first);
    return KEEL_OK;
}

void topo_spares_release(topo_spares_t *spares)
{
    keel_free(spares->host);
    keel_free(spares->begin);
    keel_free(spares->rank);
    keel_free(spares->broken);
    memset(spares, 0, sizeof(*spares));
}
