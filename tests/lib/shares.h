/*
 * Shared locks of windows around what a random program does in a phase, as MPI's lock_all is used: nobody wants one exclusively, so they
 * order nothing, and what the program computes is the same without them. Drawn by rank and window: of all ranks or of some, in each phase
 * anew or held across a gsync.
 */
#ifndef KEEL_TEST_SHARES_H_
#define KEEL_TEST_SHARES_H_

#include "play.h"

/* a phase of a program; nothing is drawn where host->shares is 0 */
typedef struct shares {
    play_host_t *host;
    uint64_t phase;
    int may_hold; /* windows live for as long as the program */
    int is_last;  /* phase */
} shares_t;

/* window @a number of the program, at the phase's start */
keel_status_t shares_take(const shares_t *shares, keel_win_h win, unsigned number);
/* at its end: of what is given up all accesses are complete */
keel_status_t shares_give(const shares_t *shares, keel_win_h win, unsigned number);

#endif
