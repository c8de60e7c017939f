/* Deaths at drawn moments. */
#include "shrinks.h"

static uint32_t drawn(shrinks_t *shrinks, uint32_t below)
{
    shrinks->random = shrinks->random * 1664525u + 1013904223u;
    return (shrinks->random >> 16) % below;
}

shrinks_t shrinks_draw(uint64_t seed, unsigned wanted, uint64_t apart)
{
    shrinks_t shrinks = {.wanted = wanted, .apart = apart, .random = (uint32_t)seed * 2654435761u};

    shrinks.next = drawn(&shrinks, (uint32_t)apart);
    return shrinks;
}

int shrinks_are_in_middle(const few_t *few)
{
    for (uint32_t r = 0; r < few->play->ranks; r++) {
        const keel_context_h ctx = few->ctx[r];

        if ((ctx != NULL && ctx->rec.roll != KEEL_ROLL_NONE) || (ctx == NULL && keel_sim_is_alive(few->sim, r))) {
            return 1;
        }
    }
    return 0;
}

int shrinks_strike(shrinks_t *shrinks, few_t *few)
{
    uint32_t rank;

    for (uint32_t r = 0; few->deaths == 0 && r < few->play->ranks; r++) {
        if (few->ctx[r] == NULL || !few->ctx[r]->is_started) {
            return 0;
        }
    }
    if (shrinks->steps++ < shrinks->next || few->deaths == shrinks->wanted) {
        return 0;
    }
    if (few->deaths > 0 && few->deaths % 2 == 1 && !shrinks_are_in_middle(few)) {
        return 0;
    }
    rank = drawn(shrinks, few->play->ranks);
    if (few->ctx[rank] == NULL || !keel_sim_is_alive(few->sim, rank) || (shrinks->spared & (1u << rank)) != 0) {
        return 0;
    }
    shrinks->middle += shrinks_are_in_middle(few) != 0;
    few_kill(few, rank);
    shrinks->victim = rank;
    shrinks->next = shrinks->steps + drawn(shrinks, shrinks_are_in_middle(few) ? 60 : (uint32_t)shrinks->apart);
    return 1;
}

uint32_t shrinks_neighbour(const keel_world_t *world, uint32_t rank, uint32_t distance)
{
    uint32_t i = 0;

    while (world->ranks[i] != rank) {
        i++;
    }
    return world->ranks[(i + distance) % world->size];
}
