/*
 * A replacement that is whole when it arrives at a gsync is told once more of critical sections, of the phase behind it, by who has
 * left that gsync before it heard so. What that one has locked there since stays locked. Whoever waits there looks at its
 * messages and then at the arrivals, so both would have to come in between: here the message is sent by hand.
 */
#include "rma/context.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS 10

typedef struct job {
    keel_context_h ctx[2];
    int has_unlocked; /* rank 1, in the first phase */
    int is_reading;   /* rank 0, in the second */
    unsigned deaths;
} job_t;

static keel_status_t reader(job_t *job, keel_sim_t *sim)
{
    keel_context_h ctx = job->ctx[0];
    keel_win_h second;
    keel_status_t status = keel_win_alloc(ctx, 64, NULL, &second);
    uint32_t count;

    while (status == KEEL_OK && ctx->lane.peers[1].mode != KEEL_PEER_LIVE) {
        keel_sim_compute(sim, 1000);
        status = keel_progress(ctx);
    }
    if (status == KEEL_OK) {
        status = keel_sections_send(&ctx->rec, 1, ctx->rec.phase, &count);
    }
    if (status == KEEL_OK) {
        status = keel_lock_all(ctx);
        job->is_reading = 1;
        keel_sim_compute(sim, 2000000);
        job->is_reading = 0;
    }
    return (status == KEEL_OK) ? keel_unlock_all(ctx) : status;
}

static keel_status_t writer(job_t *job, keel_sim_t *sim)
{
    keel_context_h ctx = job->ctx[1];
    keel_win_h second;
    keel_status_t status = keel_lock(ctx, 0);

    status = (status == KEEL_OK) ? keel_unlock(ctx, 0) : status;
    job->has_unlocked = 1;
    if (keel_incarnation(ctx) == 0) {
        keel_sim_compute(sim, 100000000); /* dies */
    }
    if (status == KEEL_OK) { /* its last section of the first life was just done again: whole */
        status = keel_win_alloc(ctx, 64, NULL, &second);
    }
    while (status == KEEL_OK && !job->is_reading) {
        keel_sim_compute(sim, 1000);
    }
    if (status == KEEL_OK) {
        status = keel_lock(ctx, 1);
    }
    if (status == KEEL_OK && job->is_reading) {
        keel_sim_flaw(sim, "rank 1 writes where rank 0 reads");
    }
    return (status == KEEL_OK) ? keel_unlock(ctx, 1) : status;
}

static void program(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    static const char *const env[] = {"KEEL_GROUP_SIZE=2", "KEEL_CKPT_INTERVAL=off", "KEEL_OPLOG_SIZE=64k",
                                      "KEEL_GETLOG_SIZE=64k", NULL};
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_ENV | KEEL_PARAM_FIELD_DRIVERS,
                                  .env = (const char **)env,
                                  .drivers = keel_sim_drivers(sim)};
    job_t *job = arg;
    keel_context_h ctx;
    keel_win_h first;
    keel_status_t status = keel_init(&params, &ctx);

    job->ctx[rank] = (status == KEEL_OK) ? ctx : NULL;
    status = (status == KEEL_OK) ? keel_win_alloc(ctx, 64, NULL, &first) : status;
    if (status == KEEL_OK && keel_restarted(ctx)) {
        status = keel_restore(ctx);
    }
    if (status == KEEL_OK) {
        status = (rank == 0) ? reader(job, sim) : writer(job, sim);
    }
    status = (status == KEEL_OK) ? keel_finalize(ctx) : status;
    if (status != KEEL_OK) {
        keel_sim_flaw(sim, "rank %u.%u: %s", rank, incarnation, keel_status_string(status));
    }
    job->ctx[rank] = NULL;
}

static void hook(void *arg, keel_sim_t *sim)
{
    job_t *job = arg;

    if (job->deaths == 0 && job->has_unlocked) {
        job->deaths += (unsigned)keel_sim_kill(sim, 1);
    }
    keel_sim_hook_at(sim, keel_sim_step(sim) + 1);
}

int main(void)
{
    static const uint32_t nodes[2] = {0, 0};

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {.deaths = 0};
        const keel_sim_options_t options = {
            .seed = seed, .ranks = 2, .node = nodes, .program = program, .hook = hook, .arg = &job};
        keel_sim_end_t end;
        keel_sim_t *sim;

        if (keel_sim_create(&options, &sim) != KEEL_OK) {
            return EXIT_FAILURE;
        }
        keel_sim_hook_at(sim, 1);
        end = keel_sim_run(sim);
        if (end != KEEL_SIM_DONE || job.deaths != 1) {
            fprintf(stderr, "seed %lu, %u deaths: %s\n", (unsigned long)seed, job.deaths, keel_sim_flaw_text(sim));
            return EXIT_FAILURE;
        }
        keel_sim_destroy(sim);
    }
    return EXIT_SUCCESS;
}
