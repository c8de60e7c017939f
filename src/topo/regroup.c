/* Groups after a change. */
#include "topo/regroup.h"

#include <stdlib.h>

/* members of the group of @a rank that share an element with @a place, counting @a rank there */
static uint32_t regroup_members_on(const keel_domain_level_t *level, const keel_groups_t *groups, uint32_t rank,
                                   uint32_t place)
{
    const uint32_t group = groups->of_rank[rank];
    uint32_t i, held = 1;

    for (i = 0; i < groups->size[group]; i++) {
        const uint32_t member = groups->members[group][i];

        held += (member != rank) && (level->of_rank[member] == level->of_rank[place]);
    }
    return held;
}

void keel_groups_check_move(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t rank,
                            uint32_t parities, uint32_t level, uint32_t *level_p, uint32_t *held_p)
{
    for (*level_p = 0; *level_p <= level; ++*level_p) {
        *held_p = regroup_members_on(&domains->levels[*level_p], groups, rank, rank);
        if (*held_p > parities) {
            return;
        }
    }
}

/* ---- spares ---- */

static void regroup_judge(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t rank, uint32_t parities,
                          uint32_t place, keel_spare_place_t *worth)
{
    worth->held = 0;
    for (worth->kept = 0; worth->kept < domains->level_count; worth->kept++) {
        const uint32_t held = regroup_members_on(&domains->levels[worth->kept], groups, rank, place);

        if (held > parities) { /* and on all coarser levels */
            worth->held = held;
            return;
        }
    }
}

static int regroup_is_equal(const keel_spare_place_t *one, const keel_spare_place_t *other)
{
    return (one->kept == other->kept) && (one->held == other->held);
}

static int regroup_compare(const void *one, const void *other)
{
    const keel_spare_place_t *a = one, *b = other;
    const uint32_t keys[][2] = {{b->kept, a->kept}, {a->held, b->held}, {a->turn, b->turn}, {a->spare, b->spare}};
    unsigned i;

    for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i][0] != keys[i][1]) {
            return (keys[i][0] < keys[i][1]) ? -1 : 1;
        }
    }
    return 0;
}

/* Orders equal places, sorted by element: the elements take turns, beginning with number @a
 * first. */
static void regroup_take_turns(uint32_t first, keel_spare_place_t *place, uint32_t count)
{
    uint32_t s, element = place[0].turn, elements = 0;

    for (s = 0; s < count; s++) {
        elements += (place[s].turn != element);
        element = place[s].turn;
        place[s].turn = elements;
    }
    elements++;
    for (s = 0; s < count; s++) {
        place[s].turn = (place[s].turn + elements - first % elements) % elements;
    }
    qsort(place, count, sizeof(*place), regroup_compare);
}

void keel_groups_order_spares(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t ranks, uint32_t rank,
                              uint32_t parities, uint32_t level, keel_spare_place_t *place)
{
    const uint32_t *element = domains->levels[level].of_rank;
    const uint32_t count = domains->ranks - ranks;
    uint32_t s, equal;

    for (s = 0; s < count; s++) {
        place[s] = (keel_spare_place_t){.spare = s, .turn = element[ranks + s]};
        regroup_judge(domains, groups, rank, parities, ranks + s, &place[s]);
    }
    qsort(place, count, sizeof(*place), regroup_compare);
    for (s = 0; s < count; s += equal) {
        for (equal = 1; (s + equal < count) && regroup_is_equal(&place[s], &place[s + equal]); equal++) {
        }
        regroup_take_turns(groups->index[rank], place + s, equal);
    }
}
