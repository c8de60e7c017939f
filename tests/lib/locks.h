/*
 * A random program of critical sections, and the judge (locks_judge.c). Each rank's window has a
 * version, a chain of hashes, cells and room for pieces. Every writing section increments the
 * version, adds a link to the chain, and records the values in a journal outside the processes. The
 * journal of the last execution of every step must yield one history of each window: no version is
 * missing or occurs twice, and the history ends with the chain, cells and pieces in memory.
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
    unsigned checkpoints; /* steps of 1024 with a checkpoint at the end */
    /* steps of 1024 with two gsyncs at the end; between them each rank reads its own memory
     * without the lock */
    unsigned gsyncs;
    /* bytes for pieces in each window; 0: no pieces, and fewer classes of atomics */
    uint32_t room;
    /* steps of 1024 with a safe point at the end. The ranks then have different numbers of
     * steps, and meet in half of them. */
    unsigned points;
} locks_options_t;

typedef struct locks_memory {
    uint64_t version, chain, total;
    uint64_t cell[LOCKS_CELLS];
} locks_memory_t;

/* The values read from a window, and the values written to it, by one section. */
typedef struct locks_seen {
    uint8_t is_used, is_write;
    uint8_t cell;
    uint32_t target;
    uint64_t version, chain;
    uint64_t value; /* value of the cell, read or written */
    uint64_t added; /* amount added to the total */
    uint64_t old;   /* value of the cell, fetched by an atomic */
    uint8_t has_old;
    uint8_t has_got, has_put; /* the section read or wrote a piece */
    piece_t got, put;
    uint64_t got_hash, put_seed;
} locks_seen_t;

typedef struct locks_journal {
    locks_options_t options;
    locks_seen_t seen[LOCKS_RANKS_MAX][LOCKS_STEPS_MAX][LOCKS_SEEN_MAX];
    locks_memory_t end[LOCKS_RANKS_MAX];
    unsigned char end_pieces[LOCKS_RANKS_MAX][PIECES_ROOM_MAX];
} locks_journal_t;

/* The chain after one more section. */
static inline uint64_t locks_link(uint64_t chain, uint32_t rank, uint64_t step, uint32_t target)
{
    return keel_random_mix(chain ^ ((uint64_t)rank << 40) ^ (step << 20) ^ target);
}

/* Runs the program of host->locks like play_program(). */
keel_status_t locks_program(play_host_t *host);
/* Call after all ranks have ended well. Returns NULL, or a text about the first error. */
const char *locks_judge(const locks_journal_t *journal, char *text, size_t size);

#endif
