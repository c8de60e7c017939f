/*
 * Groups after a loss without replacement. Groups with no more members than parities are repaired
 * in three ways, the cheapest first. First, two small groups unite: with one parity each has one
 * member left, so one move repairs two groups, and the number of pairs is maximal: members on one
 * element cannot pair. If no element has more than half of the members, then, sorted by element,
 * the i-th and the member half the list further differ; else all members elsewhere pair with
 * members on that element. The remaining members move into groups with room, or members of larger
 * groups join them.
 */
#include "topo/remaining.h"
#include "topo/regroup.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct keel_shrink {
    const keel_place_params_t *params;
    const uint32_t *element; /* of each rank on the level */
    uint32_t count, room;    /* groups, places of each */
    uint32_t *member, *size; /* by group */
    uint32_t cursor;         /* position of the next search for a group */
    uint32_t moved;
} keel_shrink_t;

static uint32_t *shrink_members(const keel_shrink_t *shrink, uint32_t group)
{
    return shrink->member + (size_t)group * shrink->room;
}

static int shrink_is_small(const keel_shrink_t *shrink, uint32_t group)
{
    return (shrink->size[group] > 0) && (shrink->size[group] <= shrink->params->parities);
}

/* members of a group on an element */
static uint32_t shrink_held(const keel_shrink_t *shrink, uint32_t group, uint32_t element)
{
    const uint32_t *member = shrink_members(shrink, group);
    uint32_t i, held = 0;

    for (i = 0; i < shrink->size[group]; i++) {
        held += (shrink->element[member[i]] == element);
    }
    return held;
}

static int shrink_fits(const keel_shrink_t *shrink, uint32_t group, uint32_t rank)
{
    return (shrink->size[group] < shrink->params->group_size) &&
           (shrink_held(shrink, group, shrink->element[rank]) < shrink->params->parities);
}

static void shrink_add(keel_shrink_t *shrink, uint32_t group, uint32_t rank)
{
    shrink_members(shrink, group)[shrink->size[group]++] = rank;
}

static void shrink_remove(keel_shrink_t *shrink, uint32_t group, uint32_t index)
{
    uint32_t *member = shrink_members(shrink, group);

    memmove(&member[index], &member[index + 1], (--shrink->size[group] - index) * sizeof(*member));
}

/* ---- small groups unite ---- */

typedef struct keel_shrink_small {
    /* element of the first member; count of small groups with that element */
    uint32_t group, element, count;
} keel_shrink_small_t;

static int shrink_compare(const void *left, const void *right)
{
    const keel_shrink_small_t *a = left, *b = right;

    if (a->count != b->count) {
        return (a->count > b->count) ? -1 : 1;
    }
    if (a->element != b->element) {
        return (a->element < b->element) ? -1 : 1;
    }
    return (a->group > b->group) - (a->group < b->group);
}

/* Moves the smaller group into the larger, if all of it fits. */
static int shrink_unite(keel_shrink_t *shrink, uint32_t one, uint32_t other)
{
    const uint32_t from = (shrink->size[one] < shrink->size[other]) ? one : other, to = (from == one) ? other : one;
    const uint32_t *member = shrink_members(shrink, from);
    uint32_t i;

    if (shrink->size[from] + shrink->size[to] > shrink->params->group_size) {
        return 0;
    }
    for (i = 0; i < shrink->size[from]; i++) {
        const uint32_t element = shrink->element[member[i]];

        if (shrink_held(shrink, from, element) + shrink_held(shrink, to, element) > shrink->params->parities) {
            return 0;
        }
    }
    for (i = 0; i < shrink->size[from]; i++) {
        shrink_add(shrink, to, member[i]);
    }
    shrink->moved += shrink->size[from];
    shrink->size[from] = 0;
    return 1;
}

/*
 * Lists small groups, those of the most frequent elements first; @a count has room for every
 * element. Returns the count.
 */
static uint32_t shrink_list(const keel_shrink_t *shrink, uint32_t elements, uint32_t *count, keel_shrink_small_t *small)
{
    uint32_t g, i, smalls = 0;

    memset(count, 0, elements * sizeof(*count));
    for (g = 0; g < shrink->count; g++) {
        if (shrink_is_small(shrink, g)) {
            small[smalls] = (keel_shrink_small_t){.group = g, .element = shrink->element[*shrink_members(shrink, g)]};
            count[small[smalls++].element]++;
        }
    }
    for (i = 0; i < smalls; i++) {
        small[i].count = count[small[i].element];
    }
    qsort(small, smalls, sizeof(*small), shrink_compare);
    return smalls;
}

static keel_status_t shrink_pair(keel_shrink_t *shrink, uint32_t elements)
{
    keel_shrink_small_t *small = keel_alloc(shrink->count * sizeof(*small), "small groups");
    uint32_t *count = keel_alloc(elements * sizeof(*count), "small groups by element");
    uint32_t smalls, pairs, i, united = 1;

    if ((small == NULL) || (count == NULL)) {
        keel_free(small);
        keel_free(count);
        return KEEL_ERR_NO_MEMORY;
    }
    /* with several parities, two small groups may unite to a group that is still small */
    while (united > 0) {
        smalls = shrink_list(shrink, elements, count, small);
        pairs = smalls / 2;
        united = 0;
        /* the groups of other elements, from the end, with the groups of the first element */
        if ((smalls > 0) && (small[0].count > pairs)) {
            for (i = 0; i < smalls - small[0].count; i++) {
                united += shrink_unite(shrink, small[i].group, small[smalls - 1 - i].group);
            }
        } else {
            for (i = 0; i < pairs; i++) {
                united += shrink_unite(shrink, small[i].group, small[i + pairs].group);
            }
        }
    }
    keel_free(count);
    keel_free(small);
    return KEEL_OK;
}

/* ---- one by one ---- */

/*
 * Moves all members of a small group into complete groups with room. Returns 1 if all moved, 0 if
 * none did, -1 if some did.
 */
static int shrink_dissolve(keel_shrink_t *shrink, uint32_t group)
{
    const uint32_t before = shrink->moved;
    uint32_t tried;

    while (shrink->size[group] > 0) {
        const uint32_t rank = shrink_members(shrink, group)[shrink->size[group] - 1];

        for (tried = 0; tried < shrink->count; tried++) {
            const uint32_t to = (shrink->cursor + tried) % shrink->count;

            if ((to != group) && (shrink->size[to] > shrink->params->parities) && shrink_fits(shrink, to, rank)) {
                shrink_add(shrink, to, rank);
                shrink->size[group]--;
                shrink->moved++;
                shrink->cursor = to + 1;
                break;
            }
        }
        if (tried == shrink->count) {
            return shrink->moved > before ? -1 : 0;
        }
    }
    return 1;
}

/*
 * Moves members of groups that can spare them into a small group. Returns 1 if the group is
 * complete, 0 if none moved, -1 if some did.
 */
static int shrink_fill(keel_shrink_t *shrink, uint32_t group)
{
    const uint32_t before = shrink->moved, parities = shrink->params->parities;
    uint32_t tried, i;

    for (tried = 0; (tried < shrink->count) && (shrink->size[group] <= parities); tried++) {
        const uint32_t from = (shrink->cursor + tried) % shrink->count;

        for (i = 0; (from != group) && (i < shrink->size[from]) && (shrink->size[from] > parities + 1) &&
                    (shrink->size[group] <= parities);) {
            const uint32_t rank = shrink_members(shrink, from)[i];

            if (shrink_fits(shrink, group, rank)) {
                shrink_remove(shrink, from, i);
                shrink_add(shrink, group, rank);
                shrink->moved++;
            } else {
                i++;
            }
        }
    }
    return (shrink->size[group] > parities) ? 1 : (shrink->moved > before ? -1 : 0);
}

/* Returns 0 if a group stays small. */
static int shrink_repair(keel_shrink_t *shrink)
{
    const uint32_t parities = shrink->params->parities;
    uint32_t g;

    for (g = 0; g < shrink->count; g++) {
        if (shrink_is_small(shrink, g)) {
            const int is_cheaper_to_fill = (parities + 1 - shrink->size[g] < shrink->size[g]);
            int done = is_cheaper_to_fill ? shrink_fill(shrink, g) : shrink_dissolve(shrink, g);

            if (done == 0) {
                done = is_cheaper_to_fill ? shrink_dissolve(shrink, g) : shrink_fill(shrink, g);
            }
            if (done != 1) {
                return 0;
            }
        }
    }
    return 1;
}

/* ---- the whole ---- */

static keel_status_t shrink_begin(keel_shrink_t *shrink, const keel_groups_t *groups, const uint8_t *is_lost)
{
    uint32_t g, i;

    shrink->count = groups->count;
    shrink->room = shrink->params->group_size;
    for (g = 0; g < groups->count; g++) {
        shrink->room = (groups->size[g] > shrink->room) ? groups->size[g] : shrink->room;
    }
    shrink->member = keel_alloc((size_t)shrink->count * shrink->room * sizeof(*shrink->member), "members left");
    shrink->size = keel_alloc(shrink->count * sizeof(*shrink->size), "members left");
    if ((shrink->member == NULL) || (shrink->size == NULL)) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (g = 0; g < groups->count; g++) {
        for (i = 0; i < groups->size[g]; i++) {
            if (!is_lost[groups->members[g][i]]) {
                shrink_add(shrink, g, groups->members[g][i]);
            }
        }
    }
    return KEEL_OK;
}

/*
 * Makes @a groups from lists: group g has size[g] members at member + g * room; empty groups get no
 * number.
 */
static keel_status_t shrink_finish(uint32_t ranks, uint32_t count, uint32_t room, const uint32_t *member,
                                   const uint32_t *size, keel_groups_t *groups)
{
    uint32_t g, i, number = 0;

    groups->of_rank = keel_alloc(ranks * sizeof(*groups->of_rank), "group of rank");
    groups->index = keel_alloc(ranks * sizeof(*groups->index), "group index");
    groups->size = keel_alloc(count * sizeof(*groups->size), "group size");
    groups->members = keel_alloc(count * sizeof(*groups->members), "group members");
    if ((groups->of_rank == NULL) || (groups->index == NULL) || (groups->size == NULL) || (groups->members == NULL)) {
        return KEEL_ERR_NO_MEMORY;
    }
    memset(groups->of_rank, 0xff, ranks * sizeof(*groups->of_rank));
    memset(groups->index, 0xff, ranks * sizeof(*groups->index));
    for (g = 0; g < count; g++) {
        if (size[g] == 0) {
            continue;
        }
        number = groups->count++;
        groups->members[number] = keel_alloc(size[g] * sizeof(**groups->members), "group ranks");
        if (groups->members[number] == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
        groups->size[number] = size[g];
        for (i = 0; i < size[g]; i++) {
            const uint32_t rank = member[(size_t)g * room + i];

            groups->members[number][i] = rank;
            groups->of_rank[rank] = number;
            groups->index[rank] = i;
        }
    }
    return KEEL_OK;
}

/*
 * Places all remaining ranks anew, with the largest group size that keeps the property, or as
 * requested if none does.
 */
static keel_status_t shrink_place_all(const keel_domains_t *domains, uint32_t left, const uint32_t *rank,
                                      const keel_place_params_t *params, keel_groups_t *groups,
                                      keel_shrink_result_t *result)
{
    keel_place_params_t possible = *params;
    keel_domains_t some;
    keel_groups_t dense = {0};
    keel_status_t status;
    uint32_t fits, g, i;

    status = keel_domains_select(domains, left, rank, &some);
    if (status != KEEL_OK) {
        return status;
    }
    possible.group_size = (possible.group_size > left) ? left : possible.group_size;
    fits = keel_groups_size_that_fits(&some, &possible);
    possible.group_size = ((fits > 0) && (fits < possible.group_size)) ? fits : possible.group_size;
    status = keel_groups_place(&some, &possible, &dense, &result->best);
    keel_domains_release(&some);
    if (status == KEEL_OK) {
        uint32_t room = left / dense.count + 1;
        uint32_t *member = keel_alloc((size_t)dense.count * room * sizeof(*member), "members left");

        for (g = 0; (member != NULL) && (g < dense.count); g++) {
            for (i = 0; i < dense.size[g]; i++) {
                member[(size_t)g * room + i] = rank[dense.members[g][i]];
            }
        }
        status = (member == NULL) ? KEEL_ERR_NO_MEMORY
                                  : shrink_finish(domains->ranks, dense.count, room, member, dense.size, groups);
        keel_free(member);
    }
    groups->crowded = dense.crowded;
    result->moved = left;
    keel_groups_release(&dense);
    return status;
}

keel_status_t keel_groups_shrink(const keel_domains_t *domains, const keel_groups_t *groups, const uint8_t *is_lost,
                                 const keel_place_params_t *params, keel_groups_t *groups_p,
                                 keel_shrink_result_t *result_p)
{
    keel_shrink_t shrink = {.params = params, .element = domains->levels[params->level].of_rank};
    uint32_t *rank = keel_alloc(domains->ranks * sizeof(*rank), "ranks left");
    keel_groups_t shrunk = {0};
    uint32_t r, left = 0;
    keel_status_t status;

    memset(result_p, 0, sizeof(*result_p));
    status = (rank == NULL) ? KEEL_ERR_NO_MEMORY : shrink_begin(&shrink, groups, is_lost);
    for (r = 0; (status == KEEL_OK) && (r < domains->ranks); r++) {
        rank[left] = r;
        left += !is_lost[r];
    }
    if ((status == KEEL_OK) && (left <= params->parities)) {
        status = KEEL_ERR_GROUPS;
    }
    if (status == KEEL_OK) {
        status = shrink_pair(&shrink, domains->levels[params->level].count);
    }
    if ((status == KEEL_OK) && shrink_repair(&shrink)) {
        result_p->moved = shrink.moved;
        status = shrink_finish(domains->ranks, shrink.count, shrink.room, shrink.member, shrink.size, &shrunk);
        if (status == KEEL_OK) {
            status = keel_groups_worst(domains, &shrunk, params->level, &result_p->best);
        }
    }
    if ((status == KEEL_OK) && ((shrunk.count == 0) || (result_p->best > params->parities))) {
        keel_groups_release(&shrunk); /* a group stayed small, or the old groups were crowded */
        status = shrink_place_all(domains, left, rank, params, &shrunk, result_p);
    }
    keel_free(rank);
    keel_free(shrink.member);
    keel_free(shrink.size);
    if (status != KEEL_OK) {
        keel_groups_release(&shrunk);
        return status;
    }
    *groups_p = shrunk;
    return KEEL_OK;
}

keel_status_t keel_groups_lose(const keel_domains_t *domains, const keel_groups_t *groups, const uint32_t *order,
                               uint32_t known, uint32_t count, const keel_place_params_t *params,
                               keel_groups_t *groups_p)
{
    uint8_t *is_lost = keel_alloc(domains->ranks, "lost ranks");
    keel_groups_t last = *groups;
    keel_status_t status = (is_lost == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;

    for (uint32_t i = 0; status == KEEL_OK && i < count; i++) {
        keel_groups_t next = {0};
        keel_shrink_result_t result;

        is_lost[order[i]] = 1;
        if (i < known || last.count == 0) {
            continue;
        }
        status = keel_groups_shrink(domains, &last, is_lost, params, &next, &result);
        if (status == KEEL_ERR_GROUPS) {
            status = KEEL_OK; /* too few ranks remain for parity */
        }
        if (last.members != groups->members) {
            keel_groups_release(&last);
        }
        last = next;
    }
    keel_free(is_lost);
    if (status != KEEL_OK) {
        return status; /* next is empty then */
    }
    *groups_p = last;
    return KEEL_OK;
}
