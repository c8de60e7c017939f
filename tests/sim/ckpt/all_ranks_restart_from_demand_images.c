/*
 * All ranks of the program die at once. Only the checksum ranks survive, which make no window
 * calls. Demand images of the program's ranks, taken at one gsync, are newer than the generation.
 * The replacements must begin at the demand images, with their windows.
 */
#include "engine/context.h"
#include "job/init.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS    20
#define PROGRAMS 2u
#define RANKS    4u
#define PHASES   24u
#define WORDS    64u

typedef struct job {
    keel_sim_t *sim;
    keel_context_h ctx[RANKS]; /* NULL: no context */
    unsigned deaths, from_images;
} job_t;

static keel_status_t step(keel_context_h ctx, keel_win_h win, uint64_t *done)
{
    uint64_t words[WORDS];
    keel_status_t status;

    for (unsigned i = 0; i < WORDS; i++) {
        words[i] = *done + i;
    }
    status = keel_put(win, 1 - keel_rank(ctx), 0, words, sizeof(words));
    ++*done;
    return (status == KEEL_OK) ? keel_gsync(ctx, KEEL_GSYNC_SAFE) : status;
}

static keel_status_t run(job_t *job, keel_context_h ctx, keel_win_h win, uint64_t *done)
{
    keel_status_t status = KEEL_OK;

    if (keel_restarted(ctx)) {
        status = keel_restore(ctx);
        job->from_images += (unsigned)ctx->rec.demand_recoveries;
    }
    if (status == KEEL_OK && *done == 0) {
        status = keel_checkpoint(ctx);
    }
    while (status == KEEL_OK && *done < PHASES) {
        status = step(ctx, win, done);
    }
    return (status == KEEL_OK) ? keel_finalize(ctx) : status;
}

static void program(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    const char *env[] = {
        "KEEL_PARITY=dedicated", "KEEL_CHECKSUM_RANKS=2", "KEEL_PARITIES=2",      "KEEL_CKPT_INTERVAL=off",
        "KEEL_OPLOG_SIZE=16k",   "KEEL_OPLOG_SOFT=10",    "KEEL_GETLOG_SIZE=64k", NULL};
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_ENV | KEEL_PARAM_FIELD_FLAGS,
                                  .env = env,
                                  .flags = KEEL_PARAM_FLAG_CHECKSUM_RETURNS};
    job_t *job = arg;
    uint64_t done = 0;
    keel_win_h win;
    keel_status_t status = keel_init_on(keel_sim_drivers(sim), &params, &job->ctx[rank]);

    if (status != KEEL_ERR_CHECKSUM) {
        status = (status == KEEL_OK) ? keel_win_alloc(job->ctx[rank], WORDS * sizeof(done), NULL, &win) : status;
        status = (status == KEEL_OK) ? keel_protect(job->ctx[rank], 1, &done, sizeof(done)) : status;
        status = (status == KEEL_OK) ? run(job, job->ctx[rank], win, &done) : status;
        if (status != KEEL_OK) {
            keel_sim_flaw(sim, "rank %u.%u: %s", rank, incarnation, keel_status_string(status));
        }
    }
    job->ctx[rank] = NULL;
}

static int has_image(keel_context_h ctx, uint32_t rank)
{
    return ctx != NULL && ctx->demand.starts != NULL && ctx->demand.starts[rank].position != 0;
}

static void hook(void *arg, keel_sim_t *sim)
{
    job_t *job = arg;
    const keel_context_h checksum = job->ctx[PROGRAMS];

    if (job->deaths == 0 && has_image(checksum, 0) && has_image(checksum, 1) &&
        checksum->demand.starts[0].position == checksum->demand.starts[1].position) {
        for (uint32_t r = 0; r < PROGRAMS; r++) {
            job->deaths += (unsigned)keel_sim_kill(sim, r);
            job->ctx[r] = NULL;
        }
    }
    keel_sim_hook_at(sim, keel_sim_step(sim) + 1);
}

static int play(uint64_t seed)
{
    static const uint32_t nodes[RANKS];
    job_t job = {0};
    const keel_sim_options_t options = {
        .seed = seed, .ranks = RANKS, .node = nodes, .program = program, .hook = hook, .arg = &job};
    int is_right;

    if (keel_sim_create(&options, &job.sim) != KEEL_OK) {
        return 0;
    }
    keel_sim_hook_at(job.sim, 1);
    is_right = keel_sim_run(job.sim) == KEEL_SIM_DONE && job.deaths == PROGRAMS && job.from_images == PROGRAMS;
    if (!is_right) {
        fprintf(stderr, "seed %lu, %u deaths, %u from images of their own: %s\n", (unsigned long)seed, job.deaths,
                job.from_images, keel_sim_flaw_text(job.sim));
    }
    keel_sim_destroy(job.sim);
    return is_right;
}

int main(void)
{
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        is_right &= play(seed);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
