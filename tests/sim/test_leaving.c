/*
 * Who waits at the end of a job that cannot come to it: all that are left end, and say so. A replacement that cannot even begin
 * leaves while the others are in their last gsync.
 */
#include "rma/context.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS     20
#define RANKS_MAX 2

typedef struct job {
    keel_sim_t *sim;
    keel_context_h ctx[RANKS_MAX]; /* NULL: not there */
    keel_status_t ended[RANKS_MAX];
    unsigned deaths;
} job_t;

static void program(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    job_t *job = arg;
    const char *env[] = {"KEEL_GROUP_SIZE=2",
                         "KEEL_CKPT_INTERVAL=off",
                         "KEEL_OPLOG_SIZE=64k",
                         "KEEL_GETLOG_SIZE=64k",
                         (incarnation > 0) ? "KEEL_TOPO_FILE=/dev/null/none" : NULL,
                         NULL};
    const keel_params_t params = {
        .field_mask = KEEL_PARAM_FIELD_ENV | KEEL_PARAM_FIELD_DRIVERS, .env = env, .drivers = keel_sim_drivers(sim)};
    keel_context_h ctx;
    keel_status_t status = keel_init(&params, &ctx);

    if (status == KEEL_OK) {
        job->ctx[rank] = ctx;
        if (rank > 0) {
            keel_sim_compute(sim, 100000000); /* dies */
        }
        status = keel_finalize(ctx);
        job->ctx[rank] = NULL;
    }
    job->ended[rank] = status;
}

static void hook(void *arg, keel_sim_t *sim)
{
    job_t *job = arg;

    if (job->deaths == 0 && job->ctx[0] != NULL && job->ctx[1] != NULL && job->ctx[0]->rec.arrived == 1) {
        job->deaths += (unsigned)keel_sim_kill(sim, 1);
    }
    keel_sim_hook_at(sim, keel_sim_step(sim) + 1);
}

static int run(uint64_t seed)
{
    static const uint32_t nodes[RANKS_MAX];
    job_t job = {.deaths = 0};
    const keel_sim_options_t options = {
        .seed = seed, .ranks = RANKS_MAX, .node = nodes, .program = program, .hook = hook, .arg = &job};
    int is_right;

    if (keel_sim_create(&options, &job.sim) != KEEL_OK) {
        return 0;
    }
    keel_sim_hook_at(job.sim, 1);
    is_right = keel_sim_run(job.sim) == KEEL_SIM_DONE && job.deaths == 1 && job.ended[0] == KEEL_ERR_CATASTROPHIC &&
               job.ended[1] == KEEL_ERR_IO;
    if (!is_right) {
        fprintf(stderr, "seed %lu: rank 0 %s, rank 1 %s; %s\n", (unsigned long)seed, keel_status_string(job.ended[0]),
                keel_status_string(job.ended[1]), keel_sim_flaw_text(job.sim));
    }
    keel_sim_destroy(job.sim);
    return is_right;
}

int main(void)
{
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        is_right &= run(seed);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
