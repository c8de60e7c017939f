/* The hierarchy and the groups as text. */
#include "tools/info/topo_view.h"

#include <string.h>

static void text_element(FILE *stream, const topo_view_t *view, uint32_t l, uint32_t element, unsigned depth)
{
    const uint32_t begin = view->begin[l][element], end = view->begin[l][element + 1];
    uint32_t i;

    fprintf(stream, "%*s%s %s", (int)(2 * depth), "", view->domains->levels[l].name, topo_view_name(view, l, element));
    if (l == 0) {
        fputs((end - begin == 1) ? ": rank " : ": ranks ", stream);
        topo_print_ranges(stream, &view->child[0][begin], end - begin, " ");
    }
    fputc('\n', stream);
    for (i = begin; (l > 0) && (i < end); i++) {
        text_element(stream, view, l - 1, view->child[l][i], depth + 1);
    }
}

void topo_print_groups(FILE *stream, const topo_view_t *view)
{
    const keel_domain_level_t *nodes = view->domains->levels;
    uint32_t g, i;

    while (strcmp(nodes->name, "node") != 0) { /* there may be finer levels */
        nodes++;
    }
    for (g = 0; g < view->groups->count; g++) {
        fprintf(stream, "group %u:", g);
        for (i = 0; i < view->groups->size[g]; i++) {
            const uint32_t rank = view->groups->members[g][i];

            fprintf(stream, " %u@%s", rank, nodes->element_name[nodes->of_rank[rank]]);
        }
        fputc('\n', stream);
    }
}

static void text_spares(FILE *stream, const topo_spares_t *spares, uint32_t ranks)
{
    uint32_t s;

    fprintf(stream, "# spares: %u\n", spares->count);
    for (s = 0; s < spares->count; s++) {
        const uint32_t begin = spares->begin[s], count = spares->begin[s + 1] - begin;

        fprintf(stream, "spare %u@%s%s", ranks + s, spares->host[s], (count > 0) ? ": first for ranks " : "");
        topo_print_ranges(stream, &spares->rank[begin], count, " ");
        fputc('\n', stream);
    }
    if (spares->broken_count > 0) {
        fputs("# no spare keeps what was promised for ranks ", stream);
        topo_print_ranges(stream, spares->broken, spares->broken_count, " ");
        fputc('\n', stream);
    }
}

static void text_line(void *arg, const char *line)
{
    fprintf(arg, "%s\n", line);
}

void topo_print_text(FILE *stream, const topo_view_t *view)
{
    const keel_domains_t *domains = view->domains;
    uint32_t l, e;

    fprintf(stream, "# hierarchy: %u rank%s on", domains->ranks, (domains->ranks == 1) ? "" : "s");
    for (l = 0; l < domains->level_count; l++) {
        fprintf(stream, "%s %u x %s", (l > 0) ? "," : "", domains->levels[l].count, domains->levels[l].name);
    }
    fputc('\n', stream);
    if (view->machine != NULL) {
        keel_machine_describe(view->machine, text_line, stream);
    }
    for (e = 0; e < domains->levels[domains->level_count - 1].count; e++) {
        text_element(stream, view, domains->level_count - 1, e, 0);
    }
    if (view->groups == NULL) {
        fprintf(stream, "# groups: none: %s\n", view->note);
        return;
    }
    fprintf(stream, "# groups: %u, of %u ranks at most, placed by KEEL_TOPO_LEVEL=%s: %s\n", view->groups->count,
            view->group_size, view->level, view->note);
    topo_print_groups(stream, view);
    if (view->spares != NULL) {
        text_spares(stream, view->spares, domains->ranks);
    }
    if (view->is_dedicated) {
        fprintf(stream, "# parity: on the first %u of each group, which do not run the program\n", view->parities);
        return;
    }
    fprintf(stream,
            "# parity: %u of each stripe, rotating over the members: a member keeps a share of %u/(size - %u) of its "
            "group's largest image\n",
            view->parities, view->parities, view->parities);
}
