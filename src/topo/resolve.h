/* Between resolve.c and remarks.c: what a file says of the hosts of a job, while it is being turned into a hierarchy. */
#ifndef KEEL_TOPO_RESOLVE_H_
#define KEEL_TOPO_RESOLVE_H_

#include "topo/tree.h"

#define KEEL_NOWHERE UINT32_MAX

/* what lies in an element */
typedef struct keel_edge {
    uint32_t from; /* element */
    uint32_t to;   /* element, or number of elements + host */
    uint32_t line;
} keel_edge_t;

/* what is in a list beside elements and is none, nor a host of the job: the first such name, how many there are */
typedef struct keel_stranger {
    uint32_t count, element, line;
    char name[48];
} keel_stranger_t;

typedef struct keel_resolve {
    const keel_tree_t *tree;
    const keel_hosts_t *hosts;
    const keel_tree_listener_t *listener; /* NULL: nobody listens */
    keel_tree_error_t *error;
    const keel_members_t *members; /* being walked, */
    uint32_t named;                /* elements in it so far, */
    keel_stranger_t stranger;      /* and what is no element */
    keel_stranger_t strangers;     /* of the whole file */
    uint32_t left;                 /* names that may still come */
    uint32_t edge_count, edge_room;
    keel_edge_t *edges;                        /* in the order of the file */
    uint32_t *begin, *sorted;                  /* of each element: where its edges begin, which they are */
    uint32_t *of_host;                         /* level by level: element of each host; KEEL_NOWHERE: none says so */
    uint8_t is_left_out[KEEL_TREE_LEVELS_MAX]; /* a level that is no tree */
    uint32_t *seen, *stack;                    /* of elements: while one is expanded */
    uint32_t steps;                            /* that may still be done */
} keel_resolve_t;

static inline uint32_t keel_resolve_at(const keel_resolve_t *resolve, uint32_t level, uint32_t host)
{
    return resolve->of_host[(size_t)level * resolve->hosts->count + host];
}

void keel_resolve_say(const keel_resolve_t *resolve, int is_warning, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * The hierarchy over hosts: domains_p->ranks is the number of hosts. A host that is in no element of a level but in one
 * of a finer level stays in that; one that the file has on coarser levels only is an element of its own; hosts that the
 * file does not mention are one element "?" of every level, since they may fail together. Levels that are left out
 * (is_strict) are missing: there may be none. The listener is told of these and of what looks like a mistake: hosts that
 * are not in the file, elements in no coarser one, elements without hosts.
 * @param listener  NULL: nobody listens
 */
keel_status_t keel_tree_resolve(const keel_tree_t *tree, const keel_hosts_t *hosts,
                                const keel_tree_listener_t *listener, keel_domains_t *domains_p,
                                keel_tree_error_t *error);

#endif
