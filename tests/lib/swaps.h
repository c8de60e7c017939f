/*
 * A random program whose ranks race for words: in each phase they swap, and compare and swap, the same words with values that
 * nobody else writes, and note in a journal outside of the processes what they found. Whoever came first is nobody's to say; but the
 * journal of the last execution of every step has to tell one history of each word: a chain from its first value to that of
 * the end, in which each value is found once.
 */
#ifndef KEEL_TEST_SWAPS_H_
#define KEEL_TEST_SWAPS_H_

#include "play.h"

#define SWAPS_WORDS     2
#define SWAPS_STEPS_MAX 40
#define SWAPS_RANKS_MAX 32
#define SWAPS_EACH      3 /* of a rank in a step */

typedef struct swaps_options {
    uint64_t seed;
    uint32_t ranks, steps;
    unsigned checkpoints; /* of 1024: steps that end with one */
} swaps_options_t;

/* one swap */
typedef struct swaps_seen {
    uint8_t is_used, is_compare;
    uint8_t word;
    uint32_t target;
    uint64_t found, put;
    uint64_t compare; /* with is_compare: written when found was this */
} swaps_seen_t;

typedef struct swaps_journal {
    swaps_options_t options;
    swaps_seen_t seen[SWAPS_RANKS_MAX][SWAPS_STEPS_MAX][SWAPS_EACH];
    uint64_t end[SWAPS_RANKS_MAX][SWAPS_WORDS];
} swaps_journal_t;

/* as play_program(), with host->swaps */
keel_status_t swaps_program(play_host_t *host);
/* NULL, or what is wrong: when all ranks have ended well */
const char *swaps_judge(const swaps_journal_t *journal, char *text, size_t size);

#endif
