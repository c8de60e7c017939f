/*
 * Ranks wait at the end of a job that cannot end well, or need not wait any more. All remaining
 * ranks must end, with the right status.
 *
 *   GIVES_UP   A replacement that cannot even begin leaves while the others are in their last
 *              gsync.
 *   HANGS      Nothing is protected. A rank dies, another hangs, and the third waits in
 *              keel_finalize() until the hung rank knows why the third leaves.
 *   IS_OVER    A rank dies in its last gsync when the others know that the gsync is over. No rank
 *              needs the dead rank any more. Each survivor must announce so to its runtime, which
 *              would end the job if no spare were left.
 *   IS_SILENT  No process announces which ranks on other nodes have left. All ranks must leave,
 *              and none may count itself as cut off.
 *   FAILS      A rank cannot go on and leaves. The rank must not be replaced: all ranks end.
 */
#include "engine/context.h"
#include "job/init.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS     20
#define RANKS_MAX 3

typedef enum { GIVES_UP, HANGS, IS_OVER, IS_SILENT, FAILS, WHAT_LAST } what_t;

typedef struct job {
    what_t what;
    uint32_t ranks; /* the last rank dies */
    keel_sim_t *sim;
    keel_context_h ctx[RANKS_MAX]; /* NULL: no context */
    keel_status_t ended[RANKS_MAX];
    unsigned deaths, hangs;
    keel_runtime_ops_t ops;
    unsigned finished[RANKS_MAX]; /* number of finish announcements to the runtime */
} job_t;

static job_t *running;

static void finish(keel_runtime_t *runtime)
{
    running->finished[runtime->rank]++;
}

static void listen(job_t *job, keel_runtime_t *runtime)
{
    running = job;
    job->ops = *runtime->ops;
    job->ops.finish = finish;
    runtime->ops = &job->ops;
}

static keel_status_t phases(const job_t *job, uint32_t rank)
{
    if (rank == job->ranks - 1 && job->what < IS_OVER) {
        keel_sim_compute(job->sim, 100000000); /* dies here */
    }
    if (rank == 0 && job->what == FAILS) {
        keel_lane_fail(&job->ctx[0]->lane, KEEL_ERR_NO_MEMORY);
    }
    return (job->what == HANGS || job->what == FAILS) ? keel_gsync(job->ctx[rank], 0) : KEEL_OK;
}

static void program(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    job_t *job = arg;
    const char *env[] = {"KEEL_GROUP_SIZE=2",
                         "KEEL_CKPT_INTERVAL=off",
                         "KEEL_OPLOG_SIZE=64k",
                         "KEEL_GETLOG_SIZE=64k",
                         "KEEL_HEARTBEAT_INTERVAL=200us",
                         "KEEL_HEARTBEAT_TIMEOUT=1ms",
                         "KEEL_LANES=served",
                         (job->what == HANGS) ? "KEEL_PROTECT=none"
                         : (incarnation > 0)  ? "KEEL_TOPO_FILE=/dev/null/none"
                                              : NULL,
                         NULL};
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_ENV, .env = env};
    keel_context_h ctx;
    keel_status_t status = keel_init_on(keel_sim_drivers(sim), &params, &ctx), left;

    if (status == KEEL_OK) {
        job->ctx[rank] = ctx;
        listen(job, ctx->runtime);
        status = phases(job, rank);
        left = keel_finalize(ctx);
        status = (status == KEEL_OK) ? left : status;
        job->ctx[rank] = NULL;
    }
    job->ended[rank] = status;
}

static void hook(void *arg, keel_sim_t *sim)
{
    job_t *job = arg;
    const keel_context_h ctx = job->ctx[0];
    const int is_due = job->deaths == 0 && ctx != NULL && ctx->rec.arrived == 1 && job->ctx[1] != NULL;

    if (job->what == IS_OVER) {
        if (is_due && job->ctx[2] != NULL && keel_recovery_is_finished(&ctx->rec) &&
            keel_recovery_is_finished(&job->ctx[1]->rec)) {
            job->deaths += (unsigned)keel_sim_kill(sim, 2);
        }
    } else if (job->what < IS_OVER && is_due &&
               (job->what == GIVES_UP || ctx->lane.peers[1].sent > ctx->lane.peers[1].acked)) {
        job->hangs += (unsigned)(job->what == HANGS && keel_sim_hang(sim, 1, UINT64_MAX));
        job->deaths += (unsigned)keel_sim_kill(sim, job->ranks - 1);
    }
    keel_sim_hook_at(sim, keel_sim_step(sim) + 1);
}

/*
 * A killed rank comes back and does not get far. A hung rank may have learned of the end just
 * before the hang, and then no rank waits for it.
 */
static int is_right(const job_t *job, int is_done)
{
    if (job->what == GIVES_UP) {
        return is_done && job->deaths == 1 && job->ended[0] == KEEL_ERR_CATASTROPHIC && job->ended[1] == KEEL_ERR_IO;
    }
    if (job->what == IS_SILENT) {
        return is_done && job->ended[0] == KEEL_OK && job->ended[1] == KEEL_OK && job->ended[2] == KEEL_OK;
    }
    if (job->what == FAILS) {
        return is_done && job->ended[0] == KEEL_ERR_NO_MEMORY && job->ended[1] == KEEL_ERR_CATASTROPHIC &&
               job->ended[2] == KEEL_ERR_CATASTROPHIC;
    }
    if (job->what == IS_OVER) {
        return is_done && job->ended[0] == KEEL_OK && job->ended[1] == KEEL_OK && job->finished[0] > 0 &&
               job->finished[1] > 0;
    }
    return job->deaths == 1 && job->hangs == 1 && job->ended[0] == KEEL_ERR_CATASTROPHIC &&
           job->ended[1] == (is_done ? KEEL_ERR_STATE : KEEL_OK) && job->ended[2] == KEEL_ERR_STATE;
}

/*
 * Returns 0 on a flaw. *done_p: every rank ended, and the death came. Once the job is over, the
 * death does not always find time.
 */
static int run(what_t what, uint64_t seed, int *done_p)
{
    static const uint32_t one[RANKS_MAX], two[RANKS_MAX] = {0, 1, 1};
    const int is_far = what == IS_SILENT || what == FAILS;
    job_t job = {.what = what, .ranks = (what == GIVES_UP) ? 2 : 3};
    const keel_sim_options_t options = {.seed = seed,
                                        .ranks = job.ranks,
                                        .node = is_far ? two : one,
                                        .no_arbiter = is_far,
                                        .program = program,
                                        .hook = hook,
                                        .arg = &job};
    int good;

    if (keel_sim_create(&options, &job.sim) != KEEL_OK) {
        return 0;
    }
    keel_sim_hook_at(job.sim, 1);
    *done_p = keel_sim_run(job.sim) == KEEL_SIM_DONE;
    good = is_right(&job, *done_p);
    if (!good) {
        fprintf(stderr, "%u, seed %lu, %u deaths, %u hang: %s; %s; %s; %s\n", what, (unsigned long)seed, job.deaths,
                job.hangs, keel_status_string(job.ended[0]), keel_status_string(job.ended[1]),
                keel_status_string(job.ended[2]), keel_sim_flaw_text(job.sim));
    }
    *done_p = *done_p && job.deaths == !is_far;
    keel_sim_destroy(job.sim);
    return good;
}

int main(void)
{
    int good = 1, is_done = 0;

    for (unsigned what = 0; what < WHAT_LAST; what++) {
        unsigned done = 0;

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            good &= run((what_t)what, seed, &is_done);
            done += (unsigned)is_done;
        }
        good &= done > ((what == IS_OVER) ? SEEDS / 2 : 0);
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
