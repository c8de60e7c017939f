/*
 * Forms groups by dealing: ranks sorted by the hierarchy, coarsest level first, are dealt to the
 * groups in turn. The ranks of every element of every level are neighbours in that order, so of c
 * ranks on an element each of g groups gets c / g rounded down or up. No partition into g groups
 * can have less than c / g rounded up in its fullest group. Hence the result is the best at all
 * levels at once, and sizes differ by at most one.
 */
#include "topo/group.h"

#include "base/memory.h"

#include <string.h>

/* enough groups to keep each within group_size, but none as small as its parities; 0: impossible */
static uint32_t keel_groups_count(uint32_t ranks, uint32_t group_size, uint32_t parities)
{
    const uint32_t enough = ranks / group_size + (ranks % group_size != 0);
    const uint32_t most = ranks / (parities + 1);

    if (ranks == 1) {
        return 1;
    }
    return (enough > most) ? most : enough;
}

static keel_status_t keel_groups_allocate(uint32_t ranks, keel_groups_t *groups)
{
    uint32_t i;

    groups->of_rank = keel_alloc(ranks * sizeof(*groups->of_rank), "group of rank");
    groups->index = keel_alloc(ranks * sizeof(*groups->index), "group index");
    groups->size = keel_alloc(groups->count * sizeof(*groups->size), "group size");
    groups->members = keel_alloc(groups->count * sizeof(*groups->members), "group members");
    if ((groups->of_rank == NULL) || (groups->index == NULL) || (groups->size == NULL) || (groups->members == NULL)) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (i = 0; i < groups->count; i++) {
        groups->members[i] = keel_alloc((ranks / groups->count + 1) * sizeof(**groups->members), "group ranks");
        if (groups->members[i] == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
    }
    return KEEL_OK;
}

/* Sorts @a order by @a level, stable within an element. @a room has the same size as @a order,
 * @a start one entry more than there are elements. */
static void keel_groups_sort(uint32_t ranks, const keel_domain_level_t *level, uint32_t *order, uint32_t *room,
                             uint32_t *start)
{
    uint32_t i;

    memset(start, 0, (level->count + 1) * sizeof(*start));
    for (i = 0; i < ranks; i++) {
        start[level->of_rank[i] + 1]++;
    }
    for (i = 0; i < level->count; i++) {
        start[i + 1] += start[i];
    }
    for (i = 0; i < ranks; i++) {
        room[start[level->of_rank[order[i]]]++] = order[i];
    }
    memcpy(order, room, ranks * sizeof(*order));
}

/* @a work has room for 3 * ranks + 1 numbers; the sorted ranks come first */
static void keel_groups_deal(const keel_domains_t *domains, uint32_t top, uint32_t *work, keel_groups_t *groups)
{
    const uint32_t ranks = domains->ranks;
    uint32_t i, group;

    for (i = 0; i < ranks; i++) {
        work[i] = i;
    }
    for (i = 0; i <= top; i++) {
        keel_groups_sort(ranks, &domains->levels[i], work, work + ranks, work + 2 * (size_t)ranks);
    }
    for (i = 0; i < ranks; i++) {
        group = i % groups->count;
        groups->of_rank[work[i]] = group;
        groups->index[work[i]] = groups->size[group];
        groups->members[group][groups->size[group]++] = work[i];
    }
}

keel_status_t keel_groups_fullest(const keel_domains_t *domains, uint32_t level, uint32_t *fullest_p)
{
    const keel_domain_level_t *one = &domains->levels[level];
    uint32_t *here = keel_alloc(one->count * sizeof(*here), "ranks by element");
    uint32_t i;

    if (here == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    *fullest_p = 0;
    for (i = 0; i < domains->ranks; i++) {
        here[one->of_rank[i]]++;
        *fullest_p = (here[one->of_rank[i]] > *fullest_p) ? here[one->of_rank[i]] : *fullest_p;
    }
    keel_free(here);
    return KEEL_OK;
}

static keel_status_t keel_groups_numbers_check(uint32_t ranks, uint32_t group_size, uint32_t parities)
{
    if ((group_size == 0) || (parities == 0) || (ranks == 0)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    return ((group_size > ranks) || ((ranks > 1) && (group_size <= parities))) ? KEEL_ERR_GROUPS : KEEL_OK;
}

keel_status_t keel_groups_form(const keel_domains_t *domains, uint32_t level, uint32_t count, keel_groups_t *groups_p)
{
    keel_groups_t groups = {.count = count};
    uint32_t *work = keel_alloc((3 * (size_t)domains->ranks + 1) * sizeof(*work), "ranks by element");
    keel_status_t status;

    if (work == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_groups_allocate(domains->ranks, &groups);
    if (status == KEEL_OK) {
        keel_groups_deal(domains, level, work, &groups);
        *groups_p = groups;
    } else {
        keel_groups_release(&groups);
    }
    keel_free(work);
    return status;
}

keel_status_t keel_groups_place(const keel_domains_t *domains, const keel_place_params_t *params,
                                keel_groups_t *groups_p, uint32_t *best_p)
{
    keel_status_t status;
    uint32_t count, fullest, best;

    if (params->level >= domains->level_count) {
        return KEEL_ERR_INVALID_PARAM;
    }
    status = keel_groups_numbers_check(domains->ranks, params->group_size, params->parities);
    if (status == KEEL_OK) {
        status = keel_domains_check(domains);
    }
    if (status == KEEL_OK) {
        status = keel_groups_fullest(domains, params->level, &fullest);
    }
    if (status != KEEL_OK) {
        return status;
    }
    count = keel_groups_count(domains->ranks, params->group_size, params->parities);
    status = keel_groups_form(domains, params->level, count, groups_p);
    if (status != KEEL_OK) {
        return status;
    }
    best = (fullest + count - 1) / count;
    groups_p->crowded = (best > params->parities);
    if (best_p != NULL) {
        *best_p = best;
    }
    return KEEL_OK;
}

keel_status_t keel_groups_make(uint32_t ranks, const uint32_t *node, uint32_t group_size, keel_groups_t *groups_p)
{
    const keel_place_params_t params = {.group_size = group_size, .parities = 1};
    keel_domains_t domains;
    keel_status_t status;

    status = keel_domains_of_nodes(ranks, node, &domains);
    if (status == KEEL_OK) {
        status = keel_groups_place(&domains, &params, groups_p, NULL);
        keel_domains_release(&domains);
    }
    return status;
}

keel_status_t keel_groups_in_order(uint32_t ranks, uint32_t group_size, uint32_t parities, keel_groups_t *groups_p)
{
    keel_groups_t groups = {0};
    keel_status_t status;
    uint32_t r, group;

    status = keel_groups_numbers_check(ranks, group_size, parities);
    if (status != KEEL_OK) {
        return status;
    }
    groups.count = keel_groups_count(ranks, group_size, parities);
    status = keel_groups_allocate(ranks, &groups);
    if (status != KEEL_OK) {
        keel_groups_release(&groups);
        return status;
    }
    for (r = 0; r < ranks; r++) {
        group = (uint32_t)((uint64_t)r * groups.count / ranks);
        groups.of_rank[r] = group;
        groups.index[r] = groups.size[group];
        groups.members[group][groups.size[group]++] = r;
    }
    *groups_p = groups;
    return KEEL_OK;
}

uint32_t keel_groups_size_that_fits(const keel_domains_t *domains, const keel_place_params_t *params)
{
    const uint32_t ranks = domains->ranks, parities = params->parities;
    uint32_t needed, size;

    if (keel_groups_fullest(domains, params->level, &needed) != KEEL_OK) {
        return 0;
    }
    /* as many groups as give each at most its parities from the fullest element */
    needed = (needed + parities - 1) / parities;
    if (needed > ranks / (parities + 1)) {
        return 0; /* some group would not be larger than its parities */
    }
    /* with a larger size, ranks / size would be below needed */
    size = (needed == 1) ? ranks : (ranks - 1) / (needed - 1);
    return (size > parities) ? size : 0;
}

keel_status_t keel_groups_worst(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t level,
                                uint32_t *worst_p)
{
    const keel_domain_level_t *one = &domains->levels[level];
    uint32_t *here = keel_alloc(one->count * sizeof(*here), "members by element");
    uint32_t group, i, element;

    if (here == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    *worst_p = 0;
    for (group = 0; group < groups->count; group++) {
        for (i = 0; i < groups->size[group]; i++) {
            element = one->of_rank[groups->members[group][i]];
            *worst_p = (++here[element] > *worst_p) ? here[element] : *worst_p;
        }
        for (i = 0; i < groups->size[group]; i++) {
            here[one->of_rank[groups->members[group][i]]] = 0;
        }
    }
    keel_free(here);
    return KEEL_OK;
}

keel_status_t keel_groups_reach(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t parities,
                                uint32_t *level_p)
{
    uint32_t level, worst = 0;
    keel_status_t status;

    *level_p = domains->level_count;
    for (level = 0; level < domains->level_count; level++) {
        status = keel_groups_worst(domains, groups, level, &worst);
        if (status != KEEL_OK) {
            return status;
        }
        if (worst > parities) {
            break;
        }
        *level_p = level;
    }
    return KEEL_OK;
}

void keel_groups_release(keel_groups_t *groups)
{
    uint32_t i;

    for (i = 0; (groups->members != NULL) && (i < groups->count); i++) {
        keel_free(groups->members[i]);
    }
    keel_free(groups->members);
    keel_free(groups->size);
    keel_free(groups->index);
    keel_free(groups->of_rank);
    memset(groups, 0, sizeof(*groups));
}
