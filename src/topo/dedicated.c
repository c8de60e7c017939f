/*
 * Groups with parity on dedicated ranks. All ranks are dealt together like other groups (group.c):
 * at every level, no element holds more members of a group than necessary. But the number of
 * checksum ranks of a group may then be wrong. The numbers are evened out between a group with too
 * many and a group with too few, as often as such groups exist. Members of both groups are paired
 * within the finest element, the remaining members within the next level, and so on; and checksum
 * ranks are paired with each other. Pairs of both kinds form paths and even cycles, so members can
 * take sides such that every pair is separated. On every element, the two groups then have as many
 * members as before, except for the side of an odd one. Hence all groups still differ by at most
 * one there. The same holds for their checksum ranks, so the sum of missing checksum ranks over all
 * groups falls with each step.
 */
#include "topo/dedicated.h"

#include "base/memory.h"

#include <string.h>

#define KEEL_DEDICATED_NONE UINT32_MAX

/* two groups being evened out */
typedef struct keel_dedicated_pair {
    uint32_t count;     /* number of members of both groups */
    uint32_t *rank;     /* rank of each member, in the order of the hierarchy */
    uint32_t *with[2];  /* partner by place, and by kind */
    uint32_t *side;     /* 0 or 1: future group of the member */
    uint32_t *unpaired; /* unpaired members, for pairing by place */
} keel_dedicated_pair_t;

typedef struct keel_dedicated {
    const keel_domains_t *domains;
    uint32_t level, programs, parities;
    keel_groups_t *groups;
    uint32_t *place; /* position of each rank in the order of the hierarchy */
    uint32_t *have;  /* number of checksum ranks of each group */
    keel_dedicated_pair_t pair;
} keel_dedicated_t;

/* ---- two groups ---- */

static void keel_dedicated_pair_up(keel_dedicated_pair_t *pair, unsigned kind, uint32_t one, uint32_t other)
{
    pair->with[kind][one] = other;
    pair->with[kind][other] = one;
}

/* merges the members of both groups, each in the order of the hierarchy, into that order */
static void keel_dedicated_merge(keel_dedicated_t *work, const uint32_t *group)
{
    const keel_groups_t *groups = work->groups;
    keel_dedicated_pair_t *pair = &work->pair;
    uint32_t next[2] = {0}, side;

    pair->count = groups->size[group[0]] + groups->size[group[1]];
    for (uint32_t i = 0; i < pair->count; i++) {
        const uint32_t *first = &groups->members[group[0]][next[0]], *second = &groups->members[group[1]][next[1]];

        side = next[0] == groups->size[group[0]] ||
               (next[1] < groups->size[group[1]] && work->place[*second] < work->place[*first]);
        pair->rank[i] = (side == 0) ? *first : *second;
        next[side]++;
        pair->with[0][i] = pair->with[1][i] = pair->side[i] = KEEL_DEDICATED_NONE;
    }
}

/* Pairs members within elements, the finest level first. Members of an element are neighbours. */
static void keel_dedicated_pair_by_place(keel_dedicated_t *work)
{
    keel_dedicated_pair_t *pair = &work->pair;
    uint32_t count = pair->count;

    for (uint32_t i = 0; i < count; i++) {
        pair->unpaired[i] = i;
    }
    for (uint32_t l = 0; l <= work->level + 1; l++) {
        /* NULL: a single element */
        const uint32_t *of_rank = (l <= work->level) ? work->domains->levels[l].of_rank : NULL;
        uint32_t kept = 0;

        for (uint32_t i = 0; i < count; i++) {
            const uint32_t one = pair->unpaired[i], other = (i + 1 < count) ? pair->unpaired[i + 1] : one;

            if (one != other && (of_rank == NULL || of_rank[pair->rank[one]] == of_rank[pair->rank[other]])) {
                keel_dedicated_pair_up(pair, 0, one, other);
                i++;
            } else {
                pair->unpaired[kept++] = one;
            }
        }
        count = kept;
    }
}

static void keel_dedicated_pair_by_kind(keel_dedicated_t *work)
{
    uint32_t single = KEEL_DEDICATED_NONE;

    for (uint32_t i = 0; i < work->pair.count; i++) {
        if (work->pair.rank[i] < work->programs) {
            continue;
        }
        if (single == KEEL_DEDICATED_NONE) {
            single = i;
        } else {
            keel_dedicated_pair_up(&work->pair, 1, single, i);
            single = KEEL_DEDICATED_NONE;
        }
    }
}

/* assigns sides along the path from @a member that begins with its partner of @a kind */
static void keel_dedicated_walk(keel_dedicated_pair_t *pair, uint32_t member, unsigned kind)
{
    uint32_t next = pair->with[kind][member];

    while (next != KEEL_DEDICATED_NONE && pair->side[next] == KEEL_DEDICATED_NONE) {
        pair->side[next] = 1 - pair->side[member];
        member = next;
        kind = 1 - kind;
        next = pair->with[kind][member];
    }
}

static void keel_dedicated_even_out(keel_dedicated_t *work, uint32_t one, uint32_t other)
{
    const uint32_t group[2] = {one, other};
    keel_groups_t *groups = work->groups;
    keel_dedicated_pair_t *pair = &work->pair;

    keel_dedicated_merge(work, group);
    keel_dedicated_pair_by_place(work);
    keel_dedicated_pair_by_kind(work);
    for (uint32_t i = 0; i < pair->count; i++) {
        if (pair->side[i] == KEEL_DEDICATED_NONE) {
            pair->side[i] = groups->of_rank[pair->rank[i]] == other; /* stays in its group */
            keel_dedicated_walk(pair, i, 0);
            keel_dedicated_walk(pair, i, 1);
        }
    }
    for (unsigned side = 0; side < 2; side++) {
        groups->size[group[side]] = work->have[group[side]] = 0;
    }
    for (uint32_t i = 0; i < pair->count; i++) {
        const uint32_t to = group[pair->side[i]];

        groups->of_rank[pair->rank[i]] = to;
        groups->members[to][groups->size[to]++] = pair->rank[i];
        work->have[to] += pair->rank[i] >= work->programs;
    }
}

/* ---- all groups ---- */

static void keel_dedicated_release(keel_dedicated_t *work)
{
    keel_free(work->place);
    keel_free(work->have);
    keel_free(work->pair.rank);
    keel_free(work->pair.with[0]);
    keel_free(work->pair.with[1]);
    keel_free(work->pair.side);
    keel_free(work->pair.unpaired);
}

static keel_status_t keel_dedicated_begin(keel_dedicated_t *work)
{
    const keel_groups_t *groups = work->groups;
    const size_t members = 2 * ((size_t)work->domains->ranks / groups->count + 1) * sizeof(uint32_t);

    work->place = keel_alloc(work->domains->ranks * sizeof(uint32_t), "places of ranks");
    work->have = keel_alloc(groups->count * sizeof(uint32_t), "checksum ranks of groups");
    work->pair.rank = keel_alloc(members, "members of two groups");
    work->pair.with[0] = keel_alloc(members, "members of two groups");
    work->pair.with[1] = keel_alloc(members, "members of two groups");
    work->pair.side = keel_alloc(members, "members of two groups");
    work->pair.unpaired = keel_alloc(members, "members of two groups");
    if (work->place == NULL || work->have == NULL || work->pair.rank == NULL || work->pair.with[0] == NULL ||
        work->pair.with[1] == NULL || work->pair.side == NULL || work->pair.unpaired == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (uint32_t r = 0; r < work->domains->ranks; r++) {
        /* order of dealing */
        work->place[r] = groups->index[r] * groups->count + groups->of_rank[r];
        work->have[groups->of_rank[r]] += r >= work->programs;
    }
    return KEEL_OK;
}

static void keel_dedicated_even_out_all(keel_dedicated_t *work)
{
    const uint32_t count = work->groups->count, parities = work->parities;
    uint32_t rich = 0, poor = 0, seen;

    for (seen = 0; seen < count; seen++, rich = (rich + 1) % count) {
        while (work->have[rich] > parities) { /* so another group has too few */
            while (work->have[poor] >= parities) {
                poor = (poor + 1) % count;
            }
            keel_dedicated_even_out(work, rich, poor);
            seen = 0; /* the group may have too many now */
        }
    }
}

/* numbers members with checksum ranks first */
static void keel_dedicated_number(keel_dedicated_t *work)
{
    keel_groups_t *groups = work->groups;

    for (uint32_t g = 0; g < groups->count; g++) {
        uint32_t *ordered = work->pair.rank, next = 0;

        for (unsigned is_program = 0; is_program < 2; is_program++) {
            for (uint32_t i = 0; i < groups->size[g]; i++) {
                if ((groups->members[g][i] < work->programs) == is_program) {
                    groups->index[groups->members[g][i]] = next;
                    ordered[next++] = groups->members[g][i];
                }
            }
        }
        memcpy(groups->members[g], ordered, next * sizeof(*ordered));
    }
}

keel_status_t keel_groups_place_dedicated(const keel_domains_t *domains, uint32_t programs, uint32_t parities,
                                          uint32_t level, keel_groups_t *groups_p)
{
    const uint32_t checksums = domains->ranks - programs;
    keel_dedicated_t work = {.domains = domains, .level = level, .programs = programs, .parities = parities};
    keel_groups_t groups;
    keel_status_t status;
    uint32_t fullest;

    if (level >= domains->level_count || programs == 0 || programs >= domains->ranks || parities == 0 ||
        checksums % parities != 0) {
        return KEEL_ERR_INVALID_PARAM;
    }
    if (programs / (checksums / parities) < 2 && (programs > 1 || checksums > parities)) {
        return KEEL_ERR_GROUPS;
    }
    status = keel_domains_check(domains);
    status = (status == KEEL_OK) ? keel_groups_fullest(domains, level, &fullest) : status;
    status = (status == KEEL_OK) ? keel_groups_form(domains, level, checksums / parities, &groups) : status;
    if (status != KEEL_OK) {
        return status;
    }
    work.groups = &groups;
    status = keel_dedicated_begin(&work);
    if (status == KEEL_OK) {
        keel_dedicated_even_out_all(&work);
        keel_dedicated_number(&work);
        groups.crowded = (fullest + groups.count - 1) / groups.count > parities;
        *groups_p = groups;
    } else {
        keel_groups_release(&groups);
    }
    keel_dedicated_release(&work);
    return status;
}

/* ---- regardless of hosts ---- */

static keel_status_t keel_dedicated_grow(uint32_t **array, uint32_t from, uint32_t to, const char *name)
{
    uint32_t *grown = keel_alloc(to * sizeof *grown, name);

    if (grown == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(grown + (to - from), *array, from * sizeof *grown);
    keel_free(*array);
    *array = grown;
    return KEEL_OK;
}

keel_status_t keel_groups_add_checksums(keel_groups_t *groups, uint32_t ranks, uint32_t parities)
{
    const uint32_t all = ranks + groups->count * parities;
    keel_groups_t more = {0};
    uint32_t group, row, rank;

    more.of_rank = keel_alloc(all * sizeof *more.of_rank, "group of rank");
    more.index = keel_alloc(all * sizeof *more.index, "group index");
    if ((more.of_rank == NULL) || (more.index == NULL)) {
        keel_groups_release(&more);
        return KEEL_ERR_NO_MEMORY;
    }
    for (rank = 0; rank < ranks; rank++) {
        more.of_rank[rank] = groups->of_rank[rank];
        more.index[rank] = groups->index[rank] + parities;
    }
    keel_free(groups->of_rank);
    keel_free(groups->index);
    groups->of_rank = more.of_rank;
    groups->index = more.index;
    for (group = 0; group < groups->count; group++) {
        if (keel_dedicated_grow(&groups->members[group], groups->size[group], groups->size[group] + parities,
                                "group ranks") != KEEL_OK) {
            return KEEL_ERR_NO_MEMORY;
        }
        groups->size[group] += parities;
        for (row = 0; row < parities; row++) {
            /* neighbours are likely to be on one node */
            rank = ranks + row * groups->count + group;
            groups->members[group][row] = rank;
            groups->of_rank[rank] = group;
            groups->index[rank] = row;
        }
    }
    return KEEL_OK;
}

uint32_t keel_groups_checksums_that_fit(const keel_domains_t *domains, uint32_t level, uint32_t parities)
{
    uint32_t fullest;
    uint64_t count;

    if (keel_groups_fullest(domains, level, &fullest) != KEEL_OK) {
        return 0;
    }
    count = ((uint64_t)fullest + parities - 1) / parities;
    return (count * (parities + 2) <= domains->ranks) ? (uint32_t)count * parities : 0;
}
