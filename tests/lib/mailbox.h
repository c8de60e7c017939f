/*
 * A random program of ranks with waits for each other inside phases: messages go round in rings and
 * back and forth, several times through the same mailbox, each with a piece of any size. The
 * expected memory is computed without a run.
 */
#ifndef KEEL_TEST_MAILBOX_H_
#define KEEL_TEST_MAILBOX_H_

#include "gathering.h"

typedef struct waits_options {
    uint64_t seed;
    uint32_t ranks, steps;
    unsigned checkpoints; /* steps of 1024 with a checkpoint at the end */
    int has_atomics;
    gather_kind_t gathers; /* kind of gatherings by atomics, in some steps */
    /* atomics depend on the word's value: swaps, also posted, sums of doubles, and additions */
    int changes;
    uint32_t room; /* bytes for pieces in the mailbox and in each token; 0: no pieces */
} waits_options_t;

/* Runs the program of host->waits like play_program(). */
keel_status_t waits_program(play_host_t *host);

#endif
