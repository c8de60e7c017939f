/* What holds at any step (sim_invariants.c), looked at between steps. */
#ifndef KEEL_SIM_INVARIANTS_H_
#define KEEL_SIM_INVARIANTS_H_

#include "sim_case.h"

#define INVARIANT_PHASES_MAX 64
#define INVARIANT_GSYNCS_MAX 128 /* of a run, of which is told what was done after each */

struct scene;

/* what was seen of a rank before */
typedef struct invariant_seen {
    int is_known;
    uint32_t incarnation, rollback, phase;
    uint32_t reach; /* gsync that no life of it has passed, as far as others may know: nobody passes the one after */
} invariant_seen_t;

/* accesses of a rank to a target that leave a record each at least */
typedef struct invariant_did {
    uint16_t puts, gets; /* an atomic that fetches is both, and so is a lock */
    uint16_t flushed;    /* gets, when the target was flushed last */
} invariant_did_t;

/* in which they were done */
typedef struct invariant_life {
    int is_known;
    uint32_t incarnation, rollback;
} invariant_life_t;

typedef struct invariants {
    invariant_seen_t seen[CASE_PROCESSES_MAX]; /* by rank */
    uint32_t gsyncs[INVARIANT_PHASES_MAX + 1]; /* passed before each phase of the plan; */
    uint8_t has_gsyncs[INVARIANT_PHASES_MAX + 1];
    uint64_t trimmed;       /* changes when anybody takes an image into use */
    invariant_did_t *did;   /* by rank, phase of the plan or gsync passed, target: what is planned or was told */
    invariant_life_t *life; /* by rank and gsync, of what was told */
} invariants_t;

/* cheap; every few steps, and before each death */
void scene_check_step(struct scene *scene);
/* of a rank that is about to be killed: had it hung for longer than a watcher takes? */
void scene_check_silence(const struct scene *scene, uint32_t victim);
/* its memory may be read, and it is not on its way out */
int scene_is_readable(const struct scene *scene, uint32_t rank);
/* the logs (sim_logs.c): when somebody has taken an image into use, and at samples */
void scene_check_logs(struct scene *scene);
/* what one process may be asked to start from again, all have their part of; who has no parity share is computing it */
void scene_check_generations(const struct scene *scene);
void scene_check_rearm(const struct scene *scene, uint32_t rank);
/* a rank begins a phase of the plan */
void scene_note_phase(struct scene *scene, uint32_t rank, uint32_t phase);
/* play_host_t.did, of a program without a plan */
void scene_note_access(play_host_t *host, unsigned what, uint32_t target);
void scene_release_logs(struct scene *scene);

#endif
