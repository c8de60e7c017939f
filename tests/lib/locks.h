/*
 * A random program of critical sections, and its judge (locks_judge.c). Each rank's window has a version, a chain of hashes, cells
 * and room for pieces; every section that writes there moves the version on by one, adds itself to the chain, and notes in a journal
 * outside of the processes what it saw. So the journal of the last execution of every step has to tell one history of each window
 * that lacks no version and doubles none, whose chain, cells and pieces are those of the memory at the end.
 */
#ifndef KEEL_TEST_LOCKS_H_
#define KEEL_TEST_LOCKS_H_

#include "pieces.h"

#define LOCKS_CELLS     6
#define LOCKS_STEPS_MAX 40
#define LOCKS_RANKS_MAX 32
#define LOCKS_SEEN_MAX  4

typedef struct locks_options {
    uint64_t seed;
    uint32_t ranks, steps;
    int has_atomics;
    int has_rewrites;     /* a section may write the same bytes more than once, by atomics too */
    unsigned checkpoints; /* of 1024: steps that end with one */
    unsigned gsyncs; /* of 1024: steps that end with two, between which each rank looks at its own memory, unlocked */
    uint32_t room;   /* of pieces in each window; 0: there are none, and fewer kinds of atomics */
    unsigned
        points; /* of 1024: steps that end with a safe point. Then ranks do different numbers of steps, and meet in half of them. */
} locks_options_t;

typedef struct locks_memory {
    uint64_t version, chain, total;
    uint64_t cell[LOCKS_CELLS];
} locks_memory_t;

/* what one section saw of one window, and did to it */
typedef struct locks_seen {
    uint8_t is_used, is_write;
    uint8_t cell;
    uint32_t target;
    uint64_t version, chain;
    uint64_t value; /* of the cell: read, or written */
    uint64_t added; /* to the total */
    uint64_t old;   /* of the cell, when an atomic fetched it */
    uint8_t has_old;
    uint8_t has_got, has_put; /* a piece */
    piece_t got, put;
    uint64_t got_hash, put_seed;
} locks_seen_t;

typedef struct locks_journal {
    locks_options_t options;
    locks_seen_t seen[LOCKS_RANKS_MAX][LOCKS_STEPS_MAX][LOCKS_SEEN_MAX];
    locks_memory_t end[LOCKS_RANKS_MAX];
    unsigned char end_pieces[LOCKS_RANKS_MAX][PIECES_ROOM_MAX];
} locks_journal_t;

/* the chain after one more section */
static inline uint64_t locks_link(uint64_t chain, uint32_t rank, uint64_t step, uint32_t target)
{
    return keel_random_mix(chain ^ ((uint64_t)rank << 40) ^ (step << 20) ^ target);
}

/* as play_program(), with host->locks */
keel_status_t locks_program(play_host_t *host);
/* NULL, or what is wrong: when all ranks have ended well */
const char *locks_judge(const locks_journal_t *journal, char *text, size_t size);

#endif
