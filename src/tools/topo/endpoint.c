/*
 * Assigns endpoints to groups in turn, each to the next incomplete group with room on the
 * endpoint's element. If there is none, moves others along a path: from a group that can take the
 * endpoint, through endpoints that give way, to an incomplete group. This computes a maximum flow
 * from elements to groups, so the demand is missed only if no assignment can meet it.
 */
#include "tools/topo/endpoint.h"

#include "base/memory.h"

#include <string.h>

#define KEEL_ENDPOINT_NONE UINT32_MAX

typedef struct keel_assign {
    const keel_groups_t *groups;
    const uint32_t *element; /* of each rank on the level */
    uint32_t programs, parities;
    uint32_t *slot; /* endpoints of group g, from g * parities on */
    uint32_t *used; /* count of used slots of each group */
    uint32_t cursor;
    /* path search: the previous group of each, and the slot there that gives way */
    uint32_t *queue, *from, *gives;
} keel_assign_t;

static uint32_t assign_held(const keel_assign_t *assign, uint32_t group, uint32_t element)
{
    uint32_t i, held = 0;

    for (i = 0; i < assign->groups->size[group]; i++) {
        held += (assign->element[assign->groups->members[group][i]] == element);
    }
    for (i = 0; i < assign->used[group]; i++) {
        held += (assign->element[assign->slot[group * (size_t)assign->parities + i]] == element);
    }
    return held;
}

static int assign_turn(keel_assign_t *assign, uint32_t endpoint)
{
    uint32_t tried;

    for (tried = 0; tried < assign->groups->count; tried++) {
        const uint32_t group = (assign->cursor + tried) % assign->groups->count;

        if ((assign->used[group] < assign->parities) &&
            (assign_held(assign, group, assign->element[endpoint]) < assign->parities)) {
            assign->slot[group * (size_t)assign->parities + assign->used[group]++] = endpoint;
            assign->cursor = group + 1;
            return 1;
        }
    }
    return 0;
}

/*
 * Puts @a endpoint into the path: each endpoint on the path moves on by one group, and the last one
 * into @a group.
 */
static void assign_shift(keel_assign_t *assign, uint32_t endpoint, uint32_t group)
{
    uint32_t into = group, place = assign->used[group]++;

    while (assign->from[into] != into) {
        const uint32_t before = assign->from[into], gives = assign->gives[into];

        assign->slot[into * (size_t)assign->parities + place] = assign->slot[before * (size_t)assign->parities + gives];
        into = before;
        place = gives;
    }
    assign->slot[into * (size_t)assign->parities + place] = endpoint;
}

/* Queues the unvisited groups with room for an element. */
static uint32_t assign_reach(keel_assign_t *assign, uint32_t element, uint32_t from, uint32_t gives, uint32_t tail)
{
    uint32_t group;

    for (group = 0; group < assign->groups->count; group++) {
        if ((assign->from[group] == KEEL_ENDPOINT_NONE) && (assign_held(assign, group, element) < assign->parities)) {
            assign->from[group] = (from == KEEL_ENDPOINT_NONE) ? group : from;
            assign->gives[group] = gives;
            assign->queue[tail++] = group;
        }
    }
    return tail;
}

static int assign_path(keel_assign_t *assign, uint32_t endpoint)
{
    uint32_t head, tail, s;

    memset(assign->from, 0xff, assign->groups->count * sizeof(*assign->from));
    tail = assign_reach(assign, assign->element[endpoint], KEEL_ENDPOINT_NONE, 0, 0);
    for (head = 0; head < tail; head++) {
        const uint32_t group = assign->queue[head];

        if (assign->used[group] < assign->parities) {
            assign_shift(assign, endpoint, group);
            return 1;
        }
        for (s = 0; s < assign->parities; s++) {
            const uint32_t other = assign->slot[group * (size_t)assign->parities + s];

            tail = assign_reach(assign, assign->element[other], group, s, tail);
        }
    }
    return 0;
}

/* Puts the endpoint into the incomplete group with the fewest members on its element. */
static void assign_anywhere(keel_assign_t *assign, uint32_t endpoint)
{
    uint32_t group, held, best = 0, least = UINT32_MAX;

    for (group = 0; group < assign->groups->count; group++) {
        if (assign->used[group] < assign->parities) {
            held = assign_held(assign, group, assign->element[endpoint]);
            best = (held < least) ? group : best;
            least = (held < least) ? held : least;
        }
    }
    assign->slot[best * (size_t)assign->parities + assign->used[best]++] = endpoint;
}

static void assign_all(keel_assign_t *assign, uint32_t ranks, uint32_t *group_p, uint32_t *best_p)
{
    const uint32_t parities = assign->parities;
    uint32_t r, g, s;

    for (r = assign->programs; r < ranks; r++) {
        if (!assign_turn(assign, r) && !assign_path(assign, r)) {
            assign_anywhere(assign, r);
        }
    }
    *best_p = 0;
    for (g = 0; g < assign->groups->count; g++) {
        for (s = 0; s < parities + assign->groups->size[g]; s++) {
            const uint32_t rank =
                (s < parities) ? assign->slot[g * (size_t)parities + s] : assign->groups->members[g][s - parities];
            const uint32_t held = assign_held(assign, g, assign->element[rank]);

            *best_p = (held > *best_p) ? held : *best_p;
        }
        for (s = 0; s < parities; s++) {
            group_p[assign->slot[g * (size_t)parities + s] - assign->programs] = g;
        }
    }
}

keel_status_t keel_groups_assign_endpoints(const keel_domains_t *domains, const keel_groups_t *groups,
                                           uint32_t parities, uint32_t level, uint32_t *group_p, uint32_t *best_p)
{
    const uint64_t endpoints = (uint64_t)groups->count * parities;
    keel_assign_t assign = {.groups = groups, .parities = parities};
    keel_status_t status = KEEL_OK;
    uint32_t g, programs = 0;

    for (g = 0; g < groups->count; g++) {
        programs += groups->size[g];
    }
    if ((level >= domains->level_count) || (parities == 0) || (groups->count == 0) ||
        (programs + endpoints != domains->ranks)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    assign.programs = programs;
    assign.element = domains->levels[level].of_rank;
    assign.slot = keel_alloc(endpoints * sizeof(*assign.slot), "endpoints of groups");
    assign.used = keel_alloc(4 * (size_t)groups->count * sizeof(*assign.used), "groups in need");
    if ((assign.slot == NULL) || (assign.used == NULL)) {
        status = KEEL_ERR_NO_MEMORY;
    } else {
        assign.queue = assign.used + groups->count;
        assign.from = assign.queue + groups->count;
        assign.gives = assign.from + groups->count;
        assign_all(&assign, domains->ranks, group_p, best_p);
    }
    keel_free(assign.slot);
    keel_free(assign.used);
    return status;
}
