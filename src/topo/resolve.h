/* Shared by resolve.c, number.c and remarks.c: the file's information about the hosts of a job
 * during the conversion to a hierarchy. */
#ifndef KEEL_TOPO_RESOLVE_H_
#define KEEL_TOPO_RESOLVE_H_

#include "topo/tree.h"

#define KEEL_NOWHERE UINT32_MAX

/* membership in an element */
typedef struct keel_edge {
    uint32_t from; /* the element */
    uint32_t to;   /* member: an element, or number of elements + host */
    uint32_t line;
} keel_edge_t;

/* Names in lists of elements that are neither elements nor hosts of the job: the first such
 * name, and their count. */
typedef struct keel_unknown_names {
    uint32_t count, element, line;
    char name[48];
} keel_unknown_names_t;

typedef struct keel_resolve {
    const keel_tree_t *tree;
    const keel_hosts_t *hosts;
    const keel_tree_listener_t *listener; /* NULL: no listener */
    keel_tree_error_t *error;
    const keel_members_t *members;    /* list being walked */
    uint32_t named;                   /* elements in the list until now */
    keel_unknown_names_t unknown;     /* unknown names in the list */
    keel_unknown_names_t all_unknown; /* unknown names of the whole file */
    uint32_t left;                    /* number of further names allowed */
    uint32_t edge_count, edge_room;
    keel_edge_t *edges; /* in the order of the file */
    /* for each element the start of its edges in sorted; sorted: indices of edges */
    uint32_t *begin, *sorted;
    /* by level: element of each host; KEEL_NOWHERE: not defined */
    uint32_t *of_host;
    uint8_t is_left_out[KEEL_TREE_LEVELS_MAX]; /* levels that do not form a tree */
    uint32_t *seen, *stack;                    /* by element: scratch of an expansion */
    uint32_t steps;                            /* number of further steps allowed */
} keel_resolve_t;

static inline uint32_t keel_resolve_at(const keel_resolve_t *resolve, uint32_t level, uint32_t host)
{
    return resolve->of_host[(size_t)level * resolve->hosts->count + host];
}

void keel_resolve_report(const keel_resolve_t *resolve, int is_warning, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * Computes the hierarchy over hosts: domains_p->ranks is the number of hosts. A host without an
 * element on a level, but with one on a finer level, keeps the finer element. A host that the file
 * places on coarser levels only is an element of its own. Hosts that are not in the file form one
 * element "?" of every level, since they may fail together. Levels that are left out (is_strict)
 * are missing; the result may have no level. The listener receives these cases and likely mistakes:
 * hosts that are not in the file, elements in no coarser element, elements without hosts.
 * @param listener NULL: no listener
 */
keel_status_t keel_tree_resolve(const keel_tree_t *tree, const keel_hosts_t *hosts,
                                const keel_tree_listener_t *listener, keel_domains_t *domains_p,
                                keel_tree_error_t *error);

#endif
