/*
 * Failure domains [F 5]: a hierarchy of levels, each made of elements that fail as a whole. Level 0
 * is the finest (a node unless lower levels were requested), the last level the coarsest. An
 * element of level l lies in one element of level l + 1. Elements of a level are numbered 0 ..
 * count - 1 in the order of their first rank.
 */
#ifndef KEEL_TOPO_DOMAIN_H_
#define KEEL_TOPO_DOMAIN_H_

#include <keel/status.h>

#include <stdint.h>

typedef struct keel_domain_level {
    char *name;          /* "node", "switch", "rack", ... */
    uint32_t count;      /* elements that hold ranks */
    uint32_t *of_rank;   /* element of each rank */
    char **element_name; /* by element; NULL: no names */
} keel_domain_level_t;

typedef struct keel_domains {
    uint32_t ranks;
    uint32_t level_count;
    keel_domain_level_t *levels;
} keel_domains_t;

/* a single level "node" without element names; @a node has equal numbers for ranks of one node */
keel_status_t keel_domains_of_nodes(uint32_t ranks, const uint32_t *node, keel_domains_t *domains_p);
/* KEEL_OK if the levels form a hierarchy: numbers in range, every element in one element of the
 * next level; otherwise KEEL_ERR_INVALID_PARAM */
keel_status_t keel_domains_check(const keel_domains_t *domains);
/* hierarchy of a subset of the ranks: its rank i is rank[i]; elements are renumbered and lose
 * their names */
keel_status_t keel_domains_select(const keel_domains_t *domains, uint32_t ranks, const uint32_t *rank,
                                  keel_domains_t *domains_p);
/* the same of the first @a ranks ranks */
keel_status_t keel_domains_first(const keel_domains_t *domains, uint32_t ranks, keel_domains_t *domains_p);
/* index of the level with @a name; domains->level_count: none */
uint32_t keel_domains_find(const keel_domains_t *domains, const char *name);
keel_status_t keel_domains_copy(const keel_domains_t *domains, keel_domains_t *copy_p);
void keel_domains_release(keel_domains_t *domains);

#endif
