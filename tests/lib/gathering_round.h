/* A round of what several ranks do at one of them (gathering.h), and what rounds of all kinds are made of. */
#ifndef KEEL_TEST_GATHERING_ROUND_H_
#define KEEL_TEST_GATHERING_ROUND_H_

#include "gathering.h"

#define GATHER_BITS 24 /* of what a rank is told: which it was, and how often it was looked for in vain */

typedef struct round {
    const uint32_t *ring;
    uint32_t members, place, root; /* places */
    uint64_t step;
    unsigned number;
    uint64_t seed; /* of what is drawn for the round: the same at all ranks */
} round_t;

void gather_point(gather_t *gather, const round_t *round, const char *what);
keel_status_t gather_flaw(gather_t *gather, const round_t *round, const char *what);
/* what place @a place puts in this round */
void gather_words(const gather_t *gather, const round_t *round, uint32_t place, uint64_t *words);
/* of this round, and no other; above it there is room for GATHER_BITS */
uint64_t gather_flag(const round_t *round);
keel_status_t gather_add(gather_t *gather, const round_t *round, uint32_t to, size_t at, uint64_t share);
keel_status_t gather_await(gather_t *gather, size_t at, uint64_t value);
/* the root tells its others to go on, and these wait to be told */
keel_status_t gather_let_go(gather_t *gather, const round_t *round);
keel_status_t gather_await_leave(gather_t *gather, const round_t *round);

/* polled, and looked for */
keel_status_t gather_polls(gather_t *gather, const round_t *round);

#endif
