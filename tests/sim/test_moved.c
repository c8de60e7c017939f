/*
 * A replacement that runs on another node than its predecessor did: two that shared memory send messages then. What the one has
 * put so far and what it puts from then on all count, whoever of the two died.
 */
#include "rma/context.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS 10
#define WORDS 6u
#define HALF  3u

typedef enum { DIES_TARGET, DIES_LOCKING, DIES_LAST } what_t;

typedef struct job {
    what_t what;
    keel_context_h ctx[2];
    int is_half; /* of what is put */
    unsigned deaths;
} job_t;

/* rank 0 puts; rank 1 dies, which is the target, and is replaced elsewhere */
static keel_status_t put_words(job_t *job, keel_sim_t *sim, keel_win_h win)
{
    const keel_context_h ctx = job->ctx[0];
    keel_status_t status = KEEL_OK;

    for (uint64_t i = 0; i < WORDS && status == KEEL_OK; i++) {
        const uint64_t word = 100 + i;

        status = keel_put(win, 1, i * sizeof(word), &word, sizeof(word));
        job->is_half |= (i == HALF - 1);
        while (status == KEEL_OK && job->is_half &&
               (ctx->lane.peers[1].incarnation == 0 || ctx->lane.peers[1].mode != KEEL_PEER_LIVE)) {
            keel_sim_compute(sim, 1000);
            status = keel_progress(ctx);
        }
    }
    return (status == KEEL_OK) ? keel_flush(ctx, 1) : status;
}

/* rank 1 puts in critical sections, dies itself between two of them, and goes on elsewhere */
static keel_status_t put_locked(job_t *job, keel_sim_t *sim, keel_win_h win)
{
    const keel_context_h ctx = job->ctx[1];
    keel_status_t status = KEEL_OK;

    for (uint64_t i = 0; i < WORDS && status == KEEL_OK; i++) {
        const uint64_t word = 100 + i;

        status = keel_lock(ctx, 0);
        if (status == KEEL_OK) {
            status = keel_put(win, 0, i * sizeof(word), &word, sizeof(word));
        }
        status = (status == KEEL_OK) ? keel_unlock(ctx, 0) : status;
        job->is_half |= (i == HALF - 1);
        if (job->is_half && keel_incarnation(ctx) == 0) {
            keel_sim_compute(sim, 100000000); /* dies */
        }
    }
    return status;
}

static keel_status_t phases(job_t *job, keel_sim_t *sim, uint32_t rank, keel_win_h win)
{
    const uint32_t source = (job->what == DIES_TARGET) ? 0 : 1;
    const uint64_t *own = keel_win_base(win);
    keel_status_t status = KEEL_OK;
    keel_win_h further;

    if (rank == source) {
        status = (job->what == DIES_TARGET) ? put_words(job, sim, win) : put_locked(job, sim, win);
    }
    if (status == KEEL_OK) {
        status = keel_win_alloc(job->ctx[rank], 64, NULL, &further); /* a gsync, in programs that lock too */
    }
    for (uint64_t i = 0; i < WORDS && status == KEEL_OK && rank != source; i++) {
        if (own[i] != 100 + i) {
            keel_sim_flaw(sim, "what was put, %lu, is lost", (unsigned long)i);
        }
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
    keel_win_h win;
    keel_status_t status = keel_init(&params, &ctx);

    job->ctx[rank] = (status == KEEL_OK) ? ctx : NULL;
    status = (status == KEEL_OK) ? keel_win_alloc(ctx, 64, NULL, &win) : status;
    if (status == KEEL_OK && keel_restarted(ctx)) {
        status = keel_restore(ctx);
    }
    status = (status == KEEL_OK) ? phases(job, sim, rank, win) : status;
    status = (status == KEEL_OK) ? keel_finalize(ctx) : status;
    if (status != KEEL_OK) {
        keel_sim_flaw(sim, "rank %u.%u: %s", rank, incarnation, keel_status_string(status));
    }
    job->ctx[rank] = NULL;
}

static void hook(void *arg, keel_sim_t *sim)
{
    job_t *job = arg;

    if (job->deaths == 0 && job->is_half) {
        job->deaths += (unsigned)keel_sim_kill(sim, 1);
        keel_sim_move(sim, 1, 1);
    }
    keel_sim_hook_at(sim, keel_sim_step(sim) + 1);
}

static int run(what_t what, uint64_t seed)
{
    static const uint32_t nodes[2] = {0, 0};
    job_t job = {.what = what};
    const keel_sim_options_t options = {
        .seed = seed, .ranks = 2, .node = nodes, .program = program, .hook = hook, .arg = &job};
    keel_sim_t *sim;
    int is_right;

    if (keel_sim_create(&options, &sim) != KEEL_OK) {
        return 0;
    }
    keel_sim_hook_at(sim, 1);
    is_right = keel_sim_run(sim) == KEEL_SIM_DONE && job.deaths == 1;
    if (!is_right) {
        fprintf(stderr, "%u, seed %lu, %u deaths: %s\n", what, (unsigned long)seed, job.deaths,
                keel_sim_flaw_text(sim));
    }
    keel_sim_destroy(sim);
    return is_right;
}

int main(void)
{
    int is_right = 1;

    for (unsigned what = 0; what < DIES_LAST; what++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            is_right &= run((what_t)what, seed);
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
