/*
 * What some programs that mix, and that logs determine, do besides (mixed.h): ranks gather at one of them (gathering.h), another way in
 * each step, and tokens wander over all of them (relay.h), once between two gsyncs.
 */
#ifndef KEEL_TEST_MIXED_ROUNDS_H_
#define KEEL_TEST_MIXED_ROUNDS_H_

#include "gathering.h"
#include "mixed_draw.h"
#include "relay.h"

typedef struct mixed_rounds {
    gather_t gather;
    relay_t relay;
    uint32_t ring[GATHER_RANKS], place; /* of all ranks */
} mixed_rounds_t;

/* what they gather for; GATHER_NONE: they do not */
gather_kind_t mixed_gathers(const mixed_options_t *options);
/* windows, in every life, and protected memory as @a id */
keel_status_t rounds_open(mixed_rounds_t *rounds, play_host_t *host, const mixed_options_t *options, unsigned id);
/* in each step, of all ranks */
keel_status_t rounds_step(mixed_rounds_t *rounds, const mixed_options_t *options, uint64_t step);
/* own memory when all have ended */
keel_status_t rounds_judge(mixed_rounds_t *rounds, const mixed_options_t *options);

#endif
