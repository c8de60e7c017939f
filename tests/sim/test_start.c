/*
 * A rank that came back before the program had begun is the only one left when the other dies behind a further window, which no
 * gsync of the program's own precedes: both begin where the windows were made that come ahead of keel_restarted().
 */
#include "rma/context.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS 20
#define WORD  7u

typedef struct job {
    keel_context_h ctx[2];
    unsigned windows[2];
    int has_put; /* rank 1, into the further window */
    unsigned deaths;
} job_t;

static keel_status_t phases(job_t *job, keel_sim_t *sim, uint32_t rank, keel_win_h first)
{
    const uint64_t word = WORD;
    uint64_t *own = keel_win_base(first);
    keel_win_h further;
    keel_status_t status = KEEL_OK;

    own[1] = 100 + rank;
    if (rank == 0) {
        status = keel_put(first, 1, 0, &word, sizeof(word));
    }
    if (status == KEEL_OK) {
        status = keel_win_alloc(job->ctx[rank], 64, NULL, &further);
        job->windows[rank] = 2;
    }
    if (status == KEEL_OK && rank == 1) {
        status = keel_put(further, 0, 0, &word, sizeof(word));
        job->has_put = 1;
    }
    keel_sim_compute(sim, 200000);
    if (status == KEEL_OK) {
        status = keel_gsync(job->ctx[rank], 0);
    }
    if (status == KEEL_OK &&
        (own[1] != 100 + rank || *(uint64_t *)keel_win_base(rank == 0 ? further : first) != WORD)) {
        status = KEEL_ERR_CORRUPT;
    }
    return status;
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
    job->windows[rank] = 0;
    if (incarnation == 0) {
        keel_sim_compute(sim, 20000);
    }
    status = (status == KEEL_OK) ? keel_win_alloc(ctx, 64, NULL, &first) : status;
    job->windows[rank] = 1;
    if (status == KEEL_OK && keel_restarted(ctx)) {
        status = keel_restore(ctx);
    }
    status = (status == KEEL_OK) ? phases(job, sim, rank, first) : status;
    status = (status == KEEL_OK) ? keel_finalize(ctx) : status;
    if (status != KEEL_OK) {
        keel_sim_flaw(sim, "rank %u.%u: %s", rank, incarnation, keel_status_string(status));
    }
    job->ctx[rank] = NULL;
}

static void hook(void *arg, keel_sim_t *sim)
{
    job_t *job = arg;

    if (job->ctx[0] != NULL && job->ctx[1] != NULL) {
        if (job->deaths == 0 && job->windows[1] == 0) {
            job->deaths += (unsigned)keel_sim_kill(sim, 1);
        } else if (job->deaths == 1 && job->has_put && job->windows[0] == 2) {
            job->deaths += (unsigned)keel_sim_kill(sim, 0);
        }
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
