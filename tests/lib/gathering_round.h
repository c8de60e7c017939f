/* A round of several ranks at one rank (gathering.h), and the building blocks of rounds of all
 * kinds. */
#ifndef KEEL_TEST_GATHERING_ROUND_H_
#define KEEL_TEST_GATHERING_ROUND_H_

#include "gathering.h"

/* bits of a signal to a member: its place in the order, and the number of failed looks */
#define GATHER_BITS 24

typedef struct round {
    const uint32_t *ring;
    uint32_t members, place, root; /* of members: how many, this rank's index and the root's */
    uint64_t step;
    unsigned number;
    uint64_t seed; /* seed of the round's draws, the same at all ranks */
} round_t;

void gather_point(gather_t *gather, const round_t *round, const char *what);
keel_status_t gather_flaw(gather_t *gather, const round_t *round, const char *what);
/* The words put by place @a place in this round. */
void gather_words(const gather_t *gather, const round_t *round, uint32_t place, uint64_t *words);
/* A flag of this round alone; at least GATHER_BITS bits above it are free. */
uint64_t gather_flag(const round_t *round);
keel_status_t gather_add(gather_t *gather, const round_t *round, uint32_t to, size_t at, uint64_t share);
keel_status_t gather_await(gather_t *gather, size_t at, uint64_t value);
/* The root signals the other members to continue, and the members wait for the signal. */
keel_status_t gather_let_go(gather_t *gather, const round_t *round);
keel_status_t gather_await_leave(gather_t *gather, const round_t *round);

/* Runs a round of kind GATHER_POLLS or GATHER_LOOKS. */
keel_status_t gather_polls(gather_t *gather, const round_t *round);

#endif
