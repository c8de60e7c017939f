/*
 * The engine's loop: every waiting call runs it, and it keeps a rank alive for its peers.
 *
 * A round takes completions of the network, events of the runtime and control messages of the
 * inbox, and then lets recovery and checkpoints advance by a part that does not block. The loop
 * calls the rooms below the engine by name. Messages go to the handlers of the rooms, registered by
 * type (peer/control.h), and rooms above the engine add hooks (engine/hooks.h).
 */
#ifndef KEEL_ENGINE_PROGRESS_H_
#define KEEL_ENGINE_PROGRESS_H_

#include "recovery/recovery.h"

typedef struct keel_progress {
    keel_lane_t *lane;
    keel_ckpt_t *ckpt;
    keel_demand_t *demand;
    keel_recovery_t *rec;
    uint64_t wait_ns; /* begin of the present wait */
} keel_progress_t;

/* The rooms may be initialised later, but before the first round. */
void keel_progress_init(keel_progress_t *progress, keel_lane_t *lane, keel_ckpt_t *ckpt, keel_demand_t *demand,
                        keel_recovery_t *rec);
/* The loop as recovery calls it. */
keel_recovery_loop_t keel_progress_loop(keel_progress_t *progress);
/* One round; does not block. */
void keel_progress_run(keel_progress_t *progress);
/* One round, then gives the core away the longer the caller has been waiting. *rounds counts the
 * rounds of a wait; 0 begins one. */
void keel_progress_wait(keel_progress_t *progress, unsigned *rounds);

#endif
