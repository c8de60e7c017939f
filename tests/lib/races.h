/*
 * A random program in which ranks race for words. In each even step they do atomics on the same
 * words, with unique operands, and record the values found in a journal outside the processes; in
 * odd steps they read words. No rank can know the order of arrivals. But the journal of the last
 * execution of every step must yield one history of each word: an order of the atomics, with those
 * of a rank in that rank's order, in which each atomic found the value left by the previous one,
 * and later readers found the last value.
 */
#ifndef KEEL_TEST_RACES_H_
#define KEEL_TEST_RACES_H_

#include "play.h"

#define RACES_WORDS 2
/* words changed by no operation; accumulates include them with neutral operands */
#define RACES_BESIDE    4
#define RACES_STEPS_MAX 40
#define RACES_RANKS_MAX 32
#define RACES_SUM       KEEL_ATOMIC_LAST /* not a real atomic: the addition of a double */
#define RACES_EACH      8                /* atomics of a rank in a step; fewer in larger jobs */

typedef enum {
    RACES_SWAPS, /* swap, compare and swap: all of them fetch */
    RACES_ADDS,  /* a single class; most atomics fetch */
    RACES_MIXED, /* two classes on the same words */
    RACES_KINDS,
    /* results depend on earlier atomics of other ranks: sums of doubles, posted and swaps; and
     * additions */
    RACES_SUMS = RACES_KINDS
} races_kind_t;

typedef struct races_options {
    uint64_t seed;
    uint32_t ranks, steps;
    races_kind_t kind;
    unsigned checkpoints; /* steps of 1024 with a checkpoint at the end */
} races_options_t;

/* An atomic, or a read of a word. */
typedef struct races_seen {
    uint8_t is_used, fetches;
    uint8_t op; /* keel_atomic_op_t, RACES_SUM */
    uint8_t word;
    uint32_t target;
    uint64_t found;
    uint64_t operand, compare;
} races_seen_t;

typedef struct races_journal {
    races_options_t options;
    races_seen_t seen[RACES_RANKS_MAX][RACES_STEPS_MAX][RACES_EACH];
    uint64_t end[RACES_RANKS_MAX][RACES_WORDS + RACES_BESIDE];
} races_journal_t;

/* Runs the program of host->races like play_program(). */
keel_status_t races_program(play_host_t *host);
/* Call after all ranks have ended well. Returns NULL, or a text about the first error. */
const char *races_judge(const races_journal_t *journal, char *text, size_t size);

#endif
