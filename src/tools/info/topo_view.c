/* Makes a tree from a hierarchy: the children of each element. */
#include "tools/info/topo_view.h"

#include "base/memory.h"

#include <string.h>

/* Sorts 0 .. @a count - 1 by element, stably. */
static keel_status_t view_level(topo_view_t *view, uint32_t l, uint32_t count, const uint32_t *in)
{
    const uint32_t elements = view->domains->levels[l].count;
    uint32_t *begin, i;

    view->begin[l] = begin = keel_alloc((elements + (size_t)1) * sizeof(*begin), "view");
    view->child[l] = keel_alloc(count * sizeof(*view->child[l]), "view");
    if ((begin == NULL) || (view->child[l] == NULL)) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (i = 0; i < count; i++) {
        begin[in[i]]++;
    }
    for (i = 1; i <= elements; i++) {
        begin[i] += begin[i - 1];
    }
    for (i = count; i > 0; i--) { /* backwards, so that begin[] ends at each first place */
        view->child[l][--begin[in[i - 1]]] = i - 1;
    }
    return KEEL_OK;
}

keel_status_t topo_view_begin(topo_view_t *view)
{
    const keel_domains_t *domains = view->domains;
    keel_status_t status;
    uint32_t l, r, *in;

    view->begin = keel_alloc(domains->level_count * sizeof(*view->begin), "view");
    view->child = keel_alloc(domains->level_count * sizeof(*view->child), "view");
    in = keel_alloc(domains->ranks * sizeof(*in), "view");
    if ((view->begin == NULL) || (view->child == NULL) || (in == NULL)) {
        keel_free(in);
        return KEEL_ERR_NO_MEMORY;
    }
    status = view_level(view, 0, domains->ranks, domains->levels[0].of_rank);
    for (l = 1; (l < domains->level_count) && (status == KEEL_OK); l++) {
        for (r = 0; r < domains->ranks; r++) {
            in[domains->levels[l - 1].of_rank[r]] = domains->levels[l].of_rank[r];
        }
        status = view_level(view, l, domains->levels[l - 1].count, in);
    }
    keel_free(in);
    return status;
}

void topo_view_release(topo_view_t *view)
{
    uint32_t l;

    for (l = 0; l < view->domains->level_count; l++) {
        keel_free((view->begin != NULL) ? view->begin[l] : NULL);
        keel_free((view->child != NULL) ? view->child[l] : NULL);
    }
    keel_free(view->begin);
    keel_free(view->child);
}

void topo_print_ranges(FILE *stream, const uint32_t *ranks, uint32_t count, const char *separator)
{
    uint32_t i, first;

    for (i = 0; i < count; i++) {
        first = i;
        while ((i + 1 < count) && (ranks[i + 1] == ranks[i] + 1)) {
            i++;
        }
        fprintf(stream, (first == i) ? "%s%u" : "%s%u-%u", (first > 0) ? separator : "", ranks[first], ranks[i]);
    }
}
