/* Invariants that hold at any step (sim_invariants.c), checked between steps. */
#ifndef KEEL_SIM_INVARIANTS_H_
#define KEEL_SIM_INVARIANTS_H_

#include "sim_case.h"

#define INVARIANT_PHASES_MAX 64
#define INVARIANT_GSYNCS_MAX 128 /* gsyncs of a run after which accesses are reported */

struct scene;

/* earlier observation of a rank */
typedef struct invariant_seen {
    int is_known;
    uint32_t incarnation, rollback, phase;
    /*
     * gsync that no life of the rank has passed, as far as others may know; no rank passes the next
     * gsync
     */
    uint32_t reach;
} invariant_seen_t;

/* accesses of a rank to a target that leave at least one record each */
typedef struct invariant_did {
    uint16_t puts, gets; /* an atomic that fetches counts as both, and so does a lock */
    uint16_t flushed;    /* gets until the last flush of the target */
} invariant_did_t;

/* life in which the accesses were done */
typedef struct invariant_life {
    int is_known;
    uint32_t incarnation, rollback;
} invariant_life_t;

typedef struct invariants {
    invariant_seen_t seen[CASE_PROCESSES_MAX]; /* by rank */
    uint32_t gsyncs[INVARIANT_PHASES_MAX + 1]; /* gsyncs passed before each phase of the plan */
    uint8_t has_gsyncs[INVARIANT_PHASES_MAX + 1];
    uint64_t trimmed; /* changes when any rank takes an image into use */
    /* by rank, phase of the plan or gsync passed, target: planned or reported accesses */
    invariant_did_t *did;
    invariant_life_t *life; /* by rank and gsync: life of the reported accesses */
} invariants_t;

/* Cheap; called every few steps, and before each death. */
void scene_check_step(struct scene *scene);
/*
 * Checks a rank that is about to be killed: it may not have hung for longer than a watcher takes.
 */
void scene_check_silence(const struct scene *scene, uint32_t victim);
/* Returns 1 if the rank's memory may be read and the rank is not leaving. */
int scene_is_readable(const struct scene *scene, uint32_t rank);
/* Checks the logs (sim_logs.c) when a rank has taken an image into use, and at samples. */
void scene_check_logs(struct scene *scene);
/*
 * Invariant 4: if one process may have to start from a generation, all ranks have their part of it.
 * scene_check_rearm(): a rank without a parity share is computing the share.
 */
void scene_check_generations(const struct scene *scene);
void scene_check_rearm(const struct scene *scene, uint32_t rank);
/* Called when a rank begins a phase of the plan. */
void scene_note_phase(struct scene *scene, uint32_t rank, uint32_t phase);
/* play_host_t.did, for a program without a plan */
void scene_note_access(play_host_t *host, unsigned what, uint32_t target);
void scene_release_logs(struct scene *scene);

#endif
