/*
 * A replacement says where it stands and dies. Who reads that before it hears of the death cannot map its windows any more, so
 * there is nothing to be handed over to: it waits for the news.
 */
#include "rma/context.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS 40
#define WORD  7u

typedef struct job {
    keel_context_h ctx[2];
    int has_put; /* rank 0 */
    unsigned deaths;
} job_t;

static keel_status_t source(job_t *job, keel_sim_t *sim, keel_win_h win)
{
    const keel_context_h ctx = job->ctx[0];
    const uint64_t word = WORD;
    keel_status_t status = keel_put(win, 1, 0, &word, sizeof(word));

    job->has_put = 1;
    while (status == KEEL_OK && (ctx->rec.deaths == 0 || ctx->rec.is_frozen)) { /* until that is decided */
        keel_sim_compute(sim, 1000);
        status = keel_progress(ctx);
    }
    while (job->deaths < 2) {
        keel_sim_compute(sim, 1000);
    }
    return status;
}

static keel_status_t target(job_t *job, keel_sim_t *sim)
{
    if (keel_incarnation(job->ctx[1]) < 2) {
        keel_sim_compute(sim, 100000000); /* dies */
    }
    return KEEL_OK;
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
        status = (rank == 0) ? source(job, sim, first) : target(job, sim);
    }
    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    if (status == KEEL_OK && rank == 1 && *(uint64_t *)keel_win_base(first) != WORD) {
        status = KEEL_ERR_CORRUPT;
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

    if ((job->deaths == 0 && job->has_put) ||
        (job->deaths == 1 && job->ctx[1] != NULL && keel_incarnation(job->ctx[1]) == 1 &&
         job->ctx[1]->rec.state != KEEL_RANK_FRESH && keel_lane_is_flushed(&job->ctx[1]->lane, 0))) {
        job->deaths += (unsigned)keel_sim_kill(sim, 1);
        job->ctx[1] = NULL;
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
        if (end != KEEL_SIM_DONE || job.deaths != 2) {
            fprintf(stderr, "seed %lu, %u deaths: %s\n", (unsigned long)seed, job.deaths, keel_sim_flaw_text(sim));
            return EXIT_FAILURE;
        }
        keel_sim_destroy(sim);
    }
    return EXIT_SUCCESS;
}
