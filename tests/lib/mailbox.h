/*
 * A random program whose ranks wait for each other inside phases: messages go round in rings and back and forth, several times
 * through the same mailbox, with a piece of any size each. What each has to hold is known without running it.
 */
#ifndef KEEL_TEST_WAITS_H_
#define KEEL_TEST_WAITS_H_

#include "gathering.h"

typedef struct waits_options {
    uint64_t seed;
    uint32_t ranks, steps;
    unsigned checkpoints; /* of 1024: steps that end with one */
    int has_atomics;
    gather_kind_t gathers; /* what they do together with atomics, in some steps */
    int changes;   /* atomics change words by what others did: swaps, posted too, sums of doubles, and additions */
    uint32_t room; /* of pieces, in the mailbox and of each token; 0: there are none */
} waits_options_t;

/* as play_program(), with host->waits */
keel_status_t waits_program(play_host_t *host);

#endif
