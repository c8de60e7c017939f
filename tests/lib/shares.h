/*
 * Shared locks of windows around the phases of a random program, like MPI's lock_all. No rank
 * requests an exclusive lock, so the locks order nothing, and the program computes the same without
 * them. Drawn by rank and window: all ranks are locked or some, in each phase separately or across
 * a gsync.
 */
#ifndef KEEL_TEST_SHARES_H_
#define KEEL_TEST_SHARES_H_

#include "play.h"

/* A phase of a program. Nothing is drawn where host->shares is 0. */
typedef struct shares {
    play_host_t *host;
    uint64_t phase;
    int may_hold; /* locks may be held across a gsync: windows live for as long as the program */
    int is_last;  /* the last phase */
} shares_t;

/* Takes the locks of window @a number of the program, at the phase's start. */
keel_status_t shares_take(const shares_t *shares, keel_win_h win, unsigned number);
/* Releases the locks at the phase's end. The accesses under a released lock are complete. */
keel_status_t shares_give(const shares_t *shares, keel_win_h win, unsigned number);

#endif
