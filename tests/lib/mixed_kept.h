/*
 * What some programs that mix, and that logs determine, do besides (mixed.h): ranks gather at one of them (gathering.h), another way in
 * each step, and tokens wander over all of them (relay.h), once between two gsyncs.
 */
#ifndef KEEL_TEST_MIXED_KEPT_H_
#define KEEL_TEST_MIXED_KEPT_H_

#include "gathering.h"
#include "mixed_draw.h"
#include "relay.h"

typedef struct mixed_kept {
    gather_t gather;
    relay_t relay;
    uint32_t ring[GATHER_RANKS], place; /* of all ranks */
} mixed_kept_t;

/* what they gather for; GATHER_NONE: they do not */
gather_kind_t mixed_gathers(const mixed_options_t *options);
/* windows, in every life, and protected memory as @a id */
keel_status_t kept_open(mixed_kept_t *kept, play_host_t *host, const mixed_options_t *options, unsigned id);
/* in each step, of all ranks */
keel_status_t kept_step(mixed_kept_t *kept, const mixed_options_t *options, uint64_t step);
/* own memory when all have ended */
keel_status_t kept_judge(mixed_kept_t *kept, const mixed_options_t *options);

#endif
