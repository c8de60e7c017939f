/*
 * A step of a program that waits inside phases: tokens wander over the ranks, and whoever holds one may read and write its slots,
 * at any rank, and then passes it on by a flag that the next one waits for. So what a rank finds in its memory was put by others,
 * in an order that goes through waits of several ranks. What has to be there is known without running it.
 */
#ifndef KEEL_TEST_RELAY_H_
#define KEEL_TEST_RELAY_H_

#include "pieces.h"

#define RELAY_TOKENS 3
#define RELAY_SLOTS  3
#define RELAY_WORDS  3
#define RELAY_RANKS  32
#define RELAY_PIECES 4 /* hops of a step that have one, at most */

/* in each rank's window */
typedef struct relay_area {
    uint64_t slot[RELAY_TOKENS][RELAY_SLOTS][RELAY_WORDS];
    uint64_t flag[RELAY_TOKENS]; /* step << 16 | number of the hop, + 1 */
    uint64_t word[RELAY_TOKENS]; /* of whoever holds the token, by atomics */
    uint64_t sum;                /* whoever holds any token adds to it */
    uint64_t beside[4];          /* accumulates leave them as they are */
} relay_area_t;

typedef struct relay {
    play_host_t *host;
    uint64_t seed;
    uint32_t ranks;
    int has_atomics;
    int posted;  /* all of them are of this class, and posted: 1 + keel_atomic_op_t; 0: of any kind */
    int changes; /* of any kind, but such as are additions to who replays them, and sums are of doubles */
    int fetches; /* ... but for some at others, whose values are fetched */
    keel_win_h win;
    size_t offset; /* of the area in the window */
    relay_area_t *area;
    uint64_t hash; /* of what was read */
    /* seeds of what every slot holds after `known` steps */
    uint64_t held[RELAY_RANKS][RELAY_TOKENS][RELAY_SLOTS];
    uint64_t word[RELAY_RANKS][RELAY_TOKENS], sum[RELAY_RANKS]; /* what these are */
    uint64_t known;
    char note[96];
    /* of programs with pieces: each token has `room` bytes at each rank */
    pieces_t pieces;
    uint32_t room;                       /* 0: none */
    unsigned char *wanted, *got, *fresh; /* what all of them are: RELAY_TOKENS * room of each rank; buffers of `room` */
} relay_t;

int relay_is_step(const relay_t *relay, uint64_t step);
/* the accesses of one step, if it is such a step; KEEL_ERR_CORRUPT: it has read something else than what has to be there, which was said */
keel_status_t relay_step(relay_t *relay, uint64_t step);
/* all steps are done and nobody is at it any more: all of the own area */
keel_status_t relay_check(relay_t *relay, uint64_t steps);

#endif
