/* The view of keel_info -t: the hierarchy as a tree, the groups, and three printers. */
#ifndef KEEL_TOOLS_TOPO_VIEW_H_
#define KEEL_TOOLS_TOPO_VIEW_H_

#include "tools/info/topo_spares.h"
#include "topo/group.h"
#include "topo/machine.h"

#include <stdio.h>

typedef struct topo_view {
    const keel_domains_t *domains;
    const keel_groups_t *groups; /* NULL: no parity */
    uint32_t group_size, parities;
    /* the first `parities` members of a group hold its parity and run no program */
    int is_dedicated;
    const char *level;             /* as configured */
    const char *note;              /* the level reached */
    const keel_machine_t *machine; /* NULL: not known */
    const topo_spares_t *spares;   /* NULL: none, or no groups */
    /*
     * By level, the children of each element, finer elements or, at level 0, ranks: child[begin[e]]
     * ...
     */
    uint32_t **begin, **child;
} topo_view_t;

/* @a view: domains are set. The caller releases the view also after KEEL_ERR_NO_MEMORY. */
keel_status_t topo_view_begin(topo_view_t *view);
void topo_view_release(topo_view_t *view);

static inline const char *topo_view_name(const topo_view_t *view, uint32_t level, uint32_t element)
{
    return view->domains->levels[level].element_name[element];
}

/* Prints ascending ranks as "0-3 7 9-10" with @a separator. */
void topo_print_ranges(FILE *stream, const uint32_t *ranks, uint32_t count, const char *separator);

/* Bytes of the character at @a text, which is not empty; 0: not UTF-8. */
unsigned topo_utf8_length(const char *text);
/* Prints a character, or the replacement sign for an invalid byte. Returns the next position. */
const char *topo_utf8_print(FILE *stream, const char *text);

/* Prints the text's list of groups. */
void topo_print_groups(FILE *stream, const topo_view_t *view);
void topo_print_text(FILE *stream, const topo_view_t *view);
void topo_print_json(FILE *stream, const topo_view_t *view);
keel_status_t topo_print_svg(FILE *stream, const topo_view_t *view);

#endif
