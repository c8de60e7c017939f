/* The hierarchy and the groups as JSON. */
#include "tools/info/topo_view.h"

static void json_string(FILE *stream, const char *text)
{
    fputc('"', stream);
    while (*text != '\0') {
        const unsigned char c = (unsigned char)*text;

        if ((c < 0x20) || (c == 0x7f)) {
            fprintf(stream, "\\u%04x", c);
            text++;
        } else if ((c == '"') || (c == '\\')) {
            fprintf(stream, "\\%c", c);
            text++;
        } else {
            text = topo_utf8_print(stream, text);
        }
    }
    fputc('"', stream);
}

static void json_numbers(FILE *stream, const uint32_t *numbers, uint32_t count)
{
    uint32_t i;

    fputc('[', stream);
    for (i = 0; i < count; i++) {
        fprintf(stream, "%s%u", (i > 0) ? "," : "", numbers[i]);
    }
    fputc(']', stream);
}

/* "in" is the number of the element of the next coarser level; the finest level lists "ranks". */
static void json_level(FILE *stream, const topo_view_t *view, uint32_t l)
{
    const keel_domain_level_t *level = &view->domains->levels[l];
    uint32_t e, i, rank;

    fputs("    {\"name\": ", stream);
    json_string(stream, level->name);
    fputs(", \"elements\": [\n", stream);
    for (e = 0; e < level->count; e++) {
        fputs("      {\"name\": ", stream);
        json_string(stream, level->element_name[e]);
        for (rank = e, i = l + 1; i > 0; i--) { /* down to the element's first rank */
            rank = view->child[i - 1][view->begin[i - 1][rank]];
        }
        if (l + 1 < view->domains->level_count) {
            fprintf(stream, ", \"in\": %u", view->domains->levels[l + 1].of_rank[rank]);
        }
        if (l == 0) {
            fputs(", \"ranks\": ", stream);
            json_numbers(stream, &view->child[0][view->begin[0][e]], view->begin[0][e + 1] - view->begin[0][e]);
        }
        fputs((e + 1 < level->count) ? "},\n" : "}\n", stream);
    }
    fputs((l + 1 < view->domains->level_count) ? "    ]},\n" : "    ]}\n", stream);
}

static void json_spares(FILE *stream, const topo_spares_t *spares)
{
    uint32_t s;

    fputs(",\n  \"spares\": [\n", stream);
    for (s = 0; s < spares->count; s++) {
        fputs("    {\"host\": ", stream);
        json_string(stream, spares->host[s]);
        fputs(", \"first_for\": ", stream);
        json_numbers(stream, &spares->rank[spares->begin[s]], spares->begin[s + 1] - spares->begin[s]);
        fputs((s + 1 < spares->count) ? "},\n" : "}\n", stream);
    }
    fputs("  ],\n  \"no_spare_keeps_the_promise\": ", stream);
    json_numbers(stream, spares->broken, spares->broken_count);
}

void topo_print_json(FILE *stream, const topo_view_t *view)
{
    uint32_t l, g;

    fprintf(stream, "{\n  \"ranks\": %u,\n  \"levels\": [\n", view->domains->ranks);
    for (l = 0; l < view->domains->level_count; l++) {
        json_level(stream, view, l);
    }
    fputs("  ],\n  \"level\": ", stream);
    json_string(stream, view->level);
    fputs(",\n  \"note\": ", stream);
    json_string(stream, view->note);
    fprintf(stream, ",\n  \"parities\": %u,\n  \"parity\": \"%s\",\n  \"groups\": [\n", view->parities,
            view->is_dedicated ? "dedicated" : "rotating");
    for (g = 0; (view->groups != NULL) && (g < view->groups->count); g++) {
        fputs("    {\"members\": ", stream);
        json_numbers(stream, view->groups->members[g], view->groups->size[g]);
        fputs(", \"parity_at\": ", stream);
        if (view->is_dedicated) {
            json_numbers(stream, view->groups->members[g], view->parities);
        } else {
            json_numbers(stream, view->groups->members[g], view->groups->size[g]);
        }
        fputs((g + 1 < view->groups->count) ? "},\n" : "}\n", stream);
    }
    fputs("  ]", stream);
    if (view->spares != NULL) {
        json_spares(stream, view->spares);
    }
    fputs("\n}\n", stream);
}
