/* What keel_info -t shows of a job: its hierarchy as a tree, its groups, and the three ways to print them. */
#ifndef KEEL_TOOLS_TOPO_VIEW_H_
#define KEEL_TOOLS_TOPO_VIEW_H_

#include "tools/info/topo_spares.h"
#include "topo/group.h"
#include "topo/machine.h"

#include <stdio.h>

typedef struct topo_view {
    const keel_domains_t *domains;
    const keel_groups_t *groups; /* NULL: none, there is no parity */
    uint32_t group_size, parities;
    int is_dedicated;  /* the first `parities` members of a group hold its parity and do not run the program */
    const char *level; /* as configured */
    const char *note;  /* what was reached */
    const keel_machine_t *machine; /* NULL: not known */
    const topo_spares_t *spares;   /* NULL: none, or no groups */
    /* by level: what lies in each of its elements, finer elements or at level 0 ranks: child[begin[e]] .. */
    uint32_t **begin, **child;
} topo_view_t;

/* @a view: domains are set. The caller releases it also after KEEL_ERR_NO_MEMORY. */
keel_status_t topo_view_begin(topo_view_t *view);
void topo_view_release(topo_view_t *view);

static inline const char *topo_view_name(const topo_view_t *view, uint32_t level, uint32_t element)
{
    return view->domains->levels[level].element_name[element];
}

/* "0-3 7 9-10" of ranks in ascending order, with @a separator */
void topo_print_ranges(FILE *stream, const uint32_t *ranks, uint32_t count, const char *separator);

/* bytes of the character at @a text, which is not empty; 0: they are not UTF-8 */
unsigned topo_utf8_length(const char *text);
/* that many bytes, or the sign for what is no character; the byte after it */
const char *topo_utf8_print(FILE *stream, const char *text);

/* the part of the text that lists them */
void topo_print_groups(FILE *stream, const topo_view_t *view);
void topo_print_text(FILE *stream, const topo_view_t *view);
void topo_print_json(FILE *stream, const topo_view_t *view);
keel_status_t topo_print_svg(FILE *stream, const topo_view_t *view);

#endif
