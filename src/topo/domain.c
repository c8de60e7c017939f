/* Memory of a hierarchy of failure domains, and the check of its structure. */
#include "topo/domain.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct keel_domain_place {
    uint32_t node, rank;
} keel_domain_place_t;

static int keel_domain_place_compare(const void *left, const void *right)
{
    const keel_domain_place_t *a = left, *b = right;

    if (a->node != b->node) {
        return (a->node < b->node) ? -1 : 1;
    }
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Places are sorted by node. The first rank of each node represents it, and elements are
 * numbered in rank order. */
static void keel_domains_number(uint32_t ranks, const keel_domain_place_t *places, keel_domain_level_t *level)
{
    uint32_t i, first = 0;

    for (i = 0; i < ranks; i++) {
        first = ((i > 0) && (places[i].node == places[i - 1].node)) ? first : places[i].rank;
        level->of_rank[places[i].rank] = first;
    }
    for (i = 0; i < ranks; i++) {
        /* smaller ranks are numbered already */
        level->of_rank[i] = (level->of_rank[i] == i) ? level->count++ : level->of_rank[level->of_rank[i]];
    }
}

keel_status_t keel_domains_of_nodes(uint32_t ranks, const uint32_t *node, keel_domains_t *domains_p)
{
    keel_domains_t domains = {.ranks = ranks, .level_count = 1};
    keel_domain_place_t *places;
    uint32_t i;

    if (ranks == 0) {
        return KEEL_ERR_INVALID_PARAM;
    }
    places = keel_alloc(ranks * sizeof(*places), "ranks by node");
    domains.levels = keel_alloc(sizeof(*domains.levels), "failure domains");
    if ((places == NULL) || (domains.levels == NULL)) {
        goto err_release;
    }
    domains.levels->name = keel_alloc(sizeof("node"), "name of a level");
    domains.levels->of_rank = keel_alloc(ranks * sizeof(*domains.levels->of_rank), "node of rank");
    if ((domains.levels->name == NULL) || (domains.levels->of_rank == NULL)) {
        goto err_release;
    }
    memcpy(domains.levels->name, "node", sizeof("node"));
    for (i = 0; i < ranks; i++) {
        places[i] = (keel_domain_place_t){.node = node[i], .rank = i};
    }
    qsort(places, ranks, sizeof(*places), keel_domain_place_compare);
    keel_domains_number(ranks, places, domains.levels);
    keel_free(places);
    *domains_p = domains;
    return KEEL_OK;

err_release:
    keel_free(places);
    domains.level_count = (domains.levels != NULL) ? 1 : 0;
    keel_domains_release(&domains);
    return KEEL_ERR_NO_MEMORY;
}

/* Does every element of @a lower lie in one of @a upper? @a above has room for a number for each
 * element of lower. */
static int keel_domains_are_nested(uint32_t ranks, const keel_domain_level_t *lower, const keel_domain_level_t *upper,
                                   uint32_t *above)
{
    uint32_t r, element;

    memset(above, 0xff, lower->count * sizeof(*above));
    for (r = 0; r < ranks; r++) {
        element = lower->of_rank[r];
        if (above[element] == UINT32_MAX) {
            above[element] = upper->of_rank[r];
        } else if (above[element] != upper->of_rank[r]) {
            return 0;
        }
    }
    return 1;
}

keel_status_t keel_domains_check(const keel_domains_t *domains)
{
    keel_status_t status = KEEL_OK;
    uint32_t *above, level, r;

    if ((domains->ranks == 0) || (domains->level_count == 0)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    for (level = 0; level < domains->level_count; level++) {
        if (domains->levels[level].count > domains->ranks) {
            return KEEL_ERR_INVALID_PARAM;
        }
        for (r = 0; r < domains->ranks; r++) {
            if (domains->levels[level].of_rank[r] >= domains->levels[level].count) {
                return KEEL_ERR_INVALID_PARAM;
            }
        }
    }
    above = keel_alloc(domains->ranks * sizeof(*above), "element above");
    if (above == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (level = 0; (level + 1 < domains->level_count) && (status == KEEL_OK); level++) {
        if (!keel_domains_are_nested(domains->ranks, &domains->levels[level], &domains->levels[level + 1], above)) {
            status = KEEL_ERR_INVALID_PARAM;
        }
    }
    keel_free(above);
    return status;
}

static keel_status_t keel_domains_copy_text(const char *text, char **copy_p)
{
    const size_t bytes = strlen(text) + 1;

    *copy_p = keel_alloc(bytes, "name");
    if (*copy_p == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(*copy_p, text, bytes);
    return KEEL_OK;
}

static keel_status_t keel_domains_copy_level(uint32_t ranks, const keel_domain_level_t *level,
                                             keel_domain_level_t *copy)
{
    keel_status_t status;
    uint32_t element;

    copy->count = level->count;
    copy->of_rank = keel_alloc(ranks * sizeof(*copy->of_rank), "element of rank");
    if (copy->of_rank == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(copy->of_rank, level->of_rank, ranks * sizeof(*copy->of_rank));
    status = keel_domains_copy_text(level->name, &copy->name);
    if ((status != KEEL_OK) || (level->element_name == NULL)) {
        return status;
    }
    copy->element_name = keel_alloc(level->count * sizeof(*copy->element_name), "names of elements");
    if (copy->element_name == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (element = 0; (element < level->count) && (status == KEEL_OK); element++) {
        status = keel_domains_copy_text(level->element_name[element], &copy->element_name[element]);
    }
    return status;
}

keel_status_t keel_domains_copy(const keel_domains_t *domains, keel_domains_t *copy_p)
{
    keel_domains_t copy = {.ranks = domains->ranks};
    keel_status_t status = KEEL_OK;
    uint32_t level;

    copy.levels = keel_alloc(domains->level_count * sizeof(*copy.levels), "failure domains");
    if (copy.levels == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (level = 0; (level < domains->level_count) && (status == KEEL_OK); level++) {
        copy.level_count++;
        status = keel_domains_copy_level(domains->ranks, &domains->levels[level], &copy.levels[level]);
    }
    if (status != KEEL_OK) {
        keel_domains_release(&copy);
        return status;
    }
    *copy_p = copy;
    return KEEL_OK;
}

/* @a number has room for all elements of @a level */
static keel_status_t keel_domains_select_level(const keel_domain_level_t *level, uint32_t ranks, const uint32_t *rank,
                                               uint32_t *number, keel_domain_level_t *selected)
{
    keel_status_t status = keel_domains_copy_text(level->name, &selected->name);
    uint32_t r;

    selected->of_rank = keel_alloc(ranks * sizeof(*selected->of_rank), "element of rank");
    if ((status != KEEL_OK) || (selected->of_rank == NULL)) {
        return KEEL_ERR_NO_MEMORY;
    }
    memset(number, 0xff, level->count * sizeof(*number));
    for (r = 0; r < ranks; r++) {
        uint32_t *own = &number[level->of_rank[rank[r]]];

        *own = (*own == UINT32_MAX) ? selected->count++ : *own;
        selected->of_rank[r] = *own;
    }
    return KEEL_OK;
}

keel_status_t keel_domains_select(const keel_domains_t *domains, uint32_t ranks, const uint32_t *rank,
                                  keel_domains_t *domains_p)
{
    keel_domains_t selected = {.ranks = ranks};
    uint32_t *number = keel_alloc(domains->ranks * sizeof(*number), "numbers of elements");
    keel_status_t status = KEEL_OK;
    uint32_t l;

    selected.levels = keel_alloc(domains->level_count * sizeof(*selected.levels), "failure domains");
    if ((number == NULL) || (selected.levels == NULL)) {
        status = KEEL_ERR_NO_MEMORY;
    }
    for (l = 0; (l < domains->level_count) && (status == KEEL_OK); l++) {
        selected.level_count++;
        status = keel_domains_select_level(&domains->levels[l], ranks, rank, number, &selected.levels[l]);
    }
    keel_free(number);
    if (status != KEEL_OK) {
        keel_domains_release(&selected);
        return status;
    }
    *domains_p = selected;
    return KEEL_OK;
}

keel_status_t keel_domains_first(const keel_domains_t *domains, uint32_t ranks, keel_domains_t *domains_p)
{
    uint32_t *rank = keel_alloc(ranks * sizeof(*rank), "first ranks");
    keel_status_t status;
    uint32_t r;

    if (rank == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (r = 0; r < ranks; r++) {
        rank[r] = r;
    }
    status = keel_domains_select(domains, ranks, rank, domains_p);
    keel_free(rank);
    return status;
}

void keel_domains_release(keel_domains_t *domains)
{
    uint32_t level, element;

    for (level = 0; level < domains->level_count; level++) {
        keel_domain_level_t *one = &domains->levels[level];

        for (element = 0; (one->element_name != NULL) && (element < one->count); element++) {
            keel_free(one->element_name[element]);
        }
        keel_free(one->element_name);
        keel_free(one->of_rank);
        keel_free(one->name);
    }
    keel_free(domains->levels);
    memset(domains, 0, sizeof *domains);
}

uint32_t keel_domains_find(const keel_domains_t *domains, const char *name)
{
    uint32_t level = 0;

    while ((level < domains->level_count) && (strcmp(domains->levels[level].name, name) != 0)) {
        level++;
    }
    return level;
}
