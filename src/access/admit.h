/* Admission of an access after the check of its arguments. */
#ifndef KEEL_ACCESS_ADMIT_H_
#define KEEL_ACCESS_ADMIT_H_

#include "engine/context.h"

typedef enum keel_access_kind {
    KEEL_ACCESS_PUT, /* writes: puts and atomics */
    KEEL_ACCESS_GET,
    KEEL_ACCESS_POLL,    /* a get; makes stable all determinants but those it repeats */
    KEEL_ACCESS_UNLOGGED /* in no log, in any memory */
} keel_access_kind_t;

/*
 * Returns KEEL_OK when @a call may access @a rank's window: the program mixes if no log orders the
 * access, all determinants are stable, and the target knows this process's usage flags. Returns
 * KEEL_ERR_ROLLED_BACK when the job has to roll back first (order/mix).
 */
keel_status_t keel_access_admit(keel_win_h win, uint32_t rank, keel_access_kind_t kind, const char *call);

#endif
