/*
 * The interface of "Fault Tolerance for OpenSHMEM" (OUG 2014), section 3. Checkpoints are Keel's. A
 * death returns all PEs to their last call of shmem_checkpoint_all(), which reports the death; by
 * then the launcher has restarted the dead PEs.
 */
#include "shmem_globals.h"
#include "shmem_job.h"
#include "shmem_snapshot.h"
#include "shmem_state.h"
#include "shmemx.h"

#include <stdio.h>
#include <stdlib.h>

/* the function without its restart point */
#undef shmem_checkpoint_all

KEEL_SHMEM_DEFINE(int, checkpoint_all, (void))
{
    const char *call = "shmem_checkpoint_all";

    (void)keel_shmem_begin(call);
    if (keel_shmem_globals.are_restored < 0) { /* the program has made no choice */
        keel_shmem_globals_restore(1, call);
    }
    if (keel_restarted(keel_shmem.ctx)) {
        return SHMEMX_FAULT;
    }
    keel_shmem_checkpoint(call);
    return 0;
}

KEEL_SHMEM_DEFINE(int, query_fault, (int **pes, int **pes_status, size_t *numpes))
{
    static uint32_t *known; /* incarnations of each PE at the last query */
    static int *dead, *states;
    const uint32_t count = keel_shmem.pes;

    (void)keel_shmem_begin("shmem_query_fault");
    if (known == NULL) {
        known = calloc(count, sizeof(known[0]));
        dead = calloc(count, sizeof(dead[0]));
        states = calloc(count, sizeof(states[0]));
    }
    if (known == NULL || dead == NULL || states == NULL) {
        keel_shmem_refuse("shmem_query_fault", "no memory for so many PEs", count);
    }
    *numpes = 0;
    for (uint32_t pe = 0; pe < count; pe++) {
        const uint32_t lives = keel_rank_incarnation(keel_shmem.ctx, pe);

        if (lives > known[pe]) {
            known[pe] = lives;
            dead[*numpes] = (int)pe;
            states[(*numpes)++] = SHMEMX_PE_RESTARTED;
        }
    }
    *pes = dead;
    *pes_status = states;
    return 0;
}

KEEL_SHMEM_DEFINE(int, restart_pes, (int *pes, size_t numpes))
{
    (void)keel_shmem_begin("shmem_restart_pes");
    for (size_t i = 0; i < numpes; i++) {
        if (pes[i] < 0 || (uint32_t)pes[i] >= keel_shmem.pes) {
            return -1;
        }
    }
    return 0; /* done by the launcher or a spare; a restore waits for absent PEs */
}

/* ---- restoring ---- */

KEEL_SHMEM_DEFINE(int, restore_all, (void))
{
    return shmemx_restore_all(SHMEMX_RESTORE_CHECKPOINT);
}

/* A PE that cannot keep its memory notifies all PEs: then none keeps memory. */
static int is_kept_by_every_pe(int is_kept, const char *call)
{
    keel_shmem_hidden_t *hidden = keel_shmem.hidden;
    const uint64_t offset = (uint64_t)((char *)&hidden->is_not_kept - (char *)hidden), yes = 1;

    for (uint32_t pe = 0; pe < keel_shmem.pes && !is_kept; pe++) {
        keel_shmem_end(KEEL_SHMEM_ALONE(keel_put(keel_shmem.win, pe, offset, &yes, sizeof(yes))), call);
    }
    keel_shmem_end(KEEL_SHMEM_ALONE(keel_gsync(keel_shmem.ctx, 0)), call);
    is_kept = hidden->is_not_kept == 0;
    hidden->is_not_kept = 0;
    return is_kept;
}

int shmemx_restore_all(int option)
{
    const char *call = "shmem_restore_all";
    keel_stats_t before, behind;
    int is_new, is_kept = 1;

    is_new = keel_shmem_begin(call);
    if (option != SHMEMX_RESTORE_CHECKPOINT && option != SHMEMX_RESTORE_DEAD) {
        keel_shmem_refuse(call, "no way to restore", (uint64_t)(int64_t)option);
    }
    if (!keel_restarted(keel_shmem.ctx)) {
        return 0; /* the dead PE was recovered alone */
    }
    if (option == SHMEMX_RESTORE_DEAD && !is_new) {
        is_kept = keel_shmem_snapshot_take();
    }
    keel_shmem_end(KEEL_SHMEM_ALONE(keel_stats(keel_shmem.ctx, &before, sizeof(before))), call);
    keel_shmem_restore(call);
    keel_shmem_end(KEEL_SHMEM_ALONE(keel_stats(keel_shmem.ctx, &behind, sizeof(behind))), call);
    if (option == SHMEMX_RESTORE_CHECKPOINT || behind.rollbacks == before.rollbacks) {
        return 0; /* if this PE was recovered alone, the other PEs received no notification */
    }
    is_kept = is_kept_by_every_pe(is_kept && (is_new || keel_shmem_snapshot_fits()), call);
    if (is_kept && !is_new) {
        keel_shmem_snapshot_restore();
    }
    keel_shmem_snapshot_drop();
    keel_shmem_checkpoint(call); /* the next death returns to this checkpoint */
    return is_kept ? 0 : SHMEMX_RESTORED_CHECKPOINT;
}
