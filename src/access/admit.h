/* Admission of an access: what comes before it, after its arguments were checked. */
#ifndef KEEL_ACCESS_ADMIT_H_
#define KEEL_ACCESS_ADMIT_H_

#include "engine/context.h"

typedef enum keel_access_kind {
    KEEL_ACCESS_PUT, /* writes: puts and atomics */
    KEEL_ACCESS_GET,
    KEEL_ACCESS_POLL,    /* a get that makes stable what it repeats by itself */
    KEEL_ACCESS_UNLOGGED /* no log has it, wherever its memory is */
} keel_access_kind_t;

/*
 * KEEL_OK: @a call may access @a rank's window. The program mixes if no log orders the access, what the program goes on by is stable, and the
 * target knows what this process uses. KEEL_ERR_ROLLED_BACK: the job rolls back first (order/mix).
 */
keel_status_t keel_access_admit(keel_win_h win, uint32_t rank, keel_access_kind_t kind, const char *call);

#endif
