/*
 * A step of a program that waits inside phases: tokens wander over the ranks. The holder of a token
 * may read and write the token's slots, at any rank, and then passes the token on by a flag that
 * the next holder waits for. So a rank finds values in its memory from other ranks, in an order
 * that goes through waits of several ranks. The expected contents are computed without a run.
 */
#ifndef KEEL_TEST_RELAY_H_
#define KEEL_TEST_RELAY_H_

#include "pieces.h"

#define RELAY_TOKENS 3
#define RELAY_SLOTS  3
#define RELAY_WORDS  3
#define RELAY_RANKS  32
#define RELAY_PIECES 4 /* hops of a step with a piece, at most */

/* The relay's part of each rank's window. */
typedef struct relay_area {
    uint64_t slot[RELAY_TOKENS][RELAY_SLOTS][RELAY_WORDS];
    uint64_t flag[RELAY_TOKENS]; /* (step << 16 | number of the hop) + 1 */
    uint64_t word[RELAY_TOKENS]; /* changed by atomics of the token's holder */
    uint64_t sum;                /* holders of any token add to this word */
    uint64_t beside[4];          /* included in accumulates, and left unchanged */
} relay_area_t;

typedef struct relay {
    play_host_t *host;
    uint64_t seed;
    uint32_t ranks;
    int has_atomics;
    int posted;  /* all atomics are posted and of this class: 1 + keel_atomic_op_t; 0: any class */
    int changes; /* atomics of any class that a replay treats as additions; sums are of doubles */
    int fetches; /* as `posted`, but some atomics at other ranks fetch */
    keel_win_h win;
    size_t offset; /* offset of the area in the window */
    relay_area_t *area;
    uint64_t hash; /* hash of the values read */
    /* seeds of the contents of every slot after `known` steps */
    uint64_t held[RELAY_RANKS][RELAY_TOKENS][RELAY_SLOTS];
    /* values of these words after `known` steps */
    uint64_t word[RELAY_RANKS][RELAY_TOKENS], sum[RELAY_RANKS];
    uint64_t known;
    char note[96];
    /* programs with pieces: each token has `room` bytes at each rank */
    pieces_t pieces;
    uint32_t room; /* 0: no pieces */
    /* expected bytes, RELAY_TOKENS * room for each rank; buffers of `room` bytes */
    unsigned char *wanted, *got, *fresh;
} relay_t;

int relay_is_step(const relay_t *relay, uint64_t step);
/* Makes the accesses of the step if tokens wander in it. Returns KEEL_ERR_CORRUPT after reporting a
 * flaw, if a value read differs from the expected value. */
keel_status_t relay_step(relay_t *relay, uint64_t step);
/* Checks the whole own area. Precondition: all steps are done, and no rank accesses the area any
 * more. */
keel_status_t relay_check(relay_t *relay, uint64_t steps);

#endif
