/* Going on without gone ranks (recovery/shrink): state of the process. */
#ifndef KEEL_RECOVERY_SHRINK_STATE_H_
#define KEEL_RECOVERY_SHRINK_STATE_H_

#include <stdint.h>

typedef struct keel_shrink {
    /* a decision to go on is adopted; without checkpoints memory stays, and a gsync up to the
     * front still completes */
    int is_under_way;
    /* by rank: place in the order of the gone, from 1; 0: not gone by the adopted decisions */
    uint32_t *place;
    uint32_t count;     /* gone ranks, by the adopted decisions */
    uint32_t completed; /* gone ranks at the end of the last complete shrink */
    uint32_t epoch;     /* rollback number of the last complete shrink; 0: none */
    uint32_t *members;  /* remaining ranks, ascending; then the gone ranks in the order above */
    /* window calls up to the gsync last passed, and up to the next one */
    uint32_t window_calls, window_calls_next;
} keel_shrink_t;

#endif
