/*
 * Additional rounds of some programs that mix and are determined by their logs (mixed.h): ranks
 * gather at one rank (gathering.h), in another way in each step, and tokens wander over all ranks
 * (relay.h), once between two gsyncs.
 */
#ifndef KEEL_TEST_MIXED_ROUNDS_H_
#define KEEL_TEST_MIXED_ROUNDS_H_

#include "gathering.h"
#include "mixed_draw.h"
#include "relay.h"

typedef struct mixed_rounds {
    gather_t gather;
    relay_t relay;
    uint32_t ring[GATHER_RANKS], place; /* the ring of all ranks */
} mixed_rounds_t;

/* The kind of gatherings; GATHER_NONE: none. */
gather_kind_t mixed_gathers(const mixed_options_t *options);
/* Allocates windows, in every incarnation, and protects memory as @a id. */
keel_status_t rounds_open(mixed_rounds_t *rounds, play_host_t *host, const mixed_options_t *options, unsigned id);
/* Call in each step, on all ranks. */
keel_status_t rounds_step(mixed_rounds_t *rounds, const mixed_options_t *options, uint64_t step);
/* Checks own memory after all ranks have ended. */
keel_status_t rounds_judge(mixed_rounds_t *rounds, const mixed_options_t *options);

#endif
