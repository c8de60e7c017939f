/*
 * A random program whose ranks race for words: in each even step they do atomics on the same words, with operands that nobody
 * else uses, and note in a journal outside of the processes what they found; in odd steps they look at words. Whoever came
 * first is nobody's to say; but the journal of the last execution of every step has to tell one history of each word: an
 * order of its atomics, those of a rank in that rank's order, in which each found what the one before left, and others
 * afterwards what the last one left.
 */
#ifndef KEEL_TEST_RACES_H_
#define KEEL_TEST_RACES_H_

#include "play.h"

#define RACES_WORDS     2
#define RACES_BESIDE    4 /* words that nothing is done to but by accumulates, which leave them as they are */
#define RACES_STEPS_MAX 40
#define RACES_RANKS_MAX 32
#define RACES_SUM       KEEL_ATOMIC_LAST /* an atomic that there is not: a double is added */
#define RACES_EACH      8                /* of a rank in a step; fewer of each in larger jobs */

typedef enum {
    RACES_SWAPS, /* swap, compare and swap: all of them fetch */
    RACES_ADDS,  /* one class; most of them fetch */
    RACES_MIXED, /* two classes on the same words */
    RACES_KINDS,
    RACES_SUMS =
        RACES_KINDS /* what changes a word by what others did to it: sums of doubles, posted and swaps; and additions beside them */
} races_kind_t;

typedef struct races_options {
    uint64_t seed;
    uint32_t ranks, steps;
    races_kind_t kind;
    unsigned checkpoints; /* of 1024: steps that end with one */
} races_options_t;

/* one atomic, or a look at a word */
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

/* as play_program(), with host->races */
keel_status_t races_program(play_host_t *host);
/* NULL, or what is wrong: when all ranks have ended well */
const char *races_judge(const races_journal_t *journal, char *text, size_t size);

#endif
