/* What holds at any step (sim_invariants.c), looked at between steps. */
#ifndef KEEL_SIM_INVARIANTS_H_
#define KEEL_SIM_INVARIANTS_H_

#include "sim_case.h"

#define INVARIANT_PHASES_MAX 64

struct scene;

/* what was seen of a rank before */
typedef struct invariant_seen {
    int is_known;
    uint32_t incarnation, rollback, phase;
    uint32_t reach; /* gsync that no life of it has passed, as far as others may know: nobody passes the one behind */
} invariant_seen_t;

typedef struct invariants {
    invariant_seen_t seen[CASE_PROCESSES_MAX]; /* by rank */
    uint32_t gsyncs[INVARIANT_PHASES_MAX + 1]; /* passed before each phase of the plan; */
    uint8_t has_gsyncs[INVARIANT_PHASES_MAX + 1];
    uint64_t trimmed; /* changes when anybody takes an image into use */
} invariants_t;

/* cheap; every few steps, and ahead of each death */
void scene_check_step(struct scene *scene);
/* the logs: when somebody has taken an image into use, and at samples */
void scene_check_logs(struct scene *scene);
/* what one process may be asked to start from again, all have their part of; who has no parity share is computing it */
void scene_check_generations(const struct scene *scene);
void scene_check_rearm(const struct scene *scene, uint32_t rank);
/* a rank begins a phase of the plan */
void scene_note_phase(struct scene *scene, uint32_t rank, uint32_t phase);

#endif
