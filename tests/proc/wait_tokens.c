/*
 * Waits inside phases in real processes: a step is a phase in which tokens wander over the ranks
 * (tests/lib/relay.h). Each rank compares the values that it finds with the expected values,
 * despite deaths. At the end rank 0 hashes the final values of all ranks.
 */
#include "kernel_options.h"
#include "kernel_outcome.h"

#include "relay.h"

#include <stdio.h>
#include <string.h>

#define PROGRAM "waits"

typedef struct {
    unsigned long steps;
    kernel_common_t common;
    play_host_t host;
    keel_win_h win;
    relay_t relay;
    uint64_t step, hash; /* protected */
    double started;      /* protected */
    int is_broken;
} job_t;

static const char help[] = "usage: waits [options]   under a launcher\n"
                           "  -n, --steps N             phases (200)\n"
                           "      --ckpt-every K        explicit checkpoint every K steps\n"
                           "      --json, --csv         the last line for scripts\n"
                           "      --die RANK@STEP.PHASE before (0) the access of that number in the step, from 0 on\n"
                           "  -h, --help                this text\n";

static unsigned long accesses; /* of this step */

static void job_point(play_host_t *host)
{
    const job_t *job = host->arg;

    kernel_die_here(&job->common.death, host->ctx, job->step, accesses++);
}

static void job_flaw(play_host_t *host, const char *text)
{
    fprintf(stderr, PROGRAM ": %s\n", text);
    ((job_t *)host->arg)->is_broken = 1;
}

static keel_status_t do_step(job_t *job)
{
    keel_status_t status;

    accesses = 0;
    job->relay.hash = job->hash;
    status = relay_step(&job->relay, job->step);
    if (status != KEEL_OK) {
        return status;
    }
    job->hash = job->relay.hash;
    job->step++;
    if ((job->common.ckpt_every != 0) && (job->step % job->common.ckpt_every == 0)) {
        return keel_checkpoint(job->host.ctx);
    }
    return keel_gsync(job->host.ctx, KEEL_GSYNC_SAFE);
}

/* Call when no rank puts any more. */
static keel_status_t judge(job_t *job, kernel_outcome_t *outcome)
{
    relay_area_t area;

    KERNEL_TRY(relay_check(&job->relay, job->steps));
    outcome->is_right = !job->is_broken;
    if (keel_rank(job->host.ctx) != 0) {
        return KEEL_OK;
    }
    outcome->seconds = kernel_now_s() - job->started;
    outcome->is_verified = 1;
    outcome->hash = KERNEL_HASH_START;
    for (uint32_t rank = 0; rank < keel_size(job->host.ctx); rank++) {
        KERNEL_TRY(keel_get(job->win, rank, 0, &area, sizeof area));
        outcome->hash = kernel_hash(outcome->hash, &area, sizeof area);
    }
    return keel_stats(job->host.ctx, &outcome->stats, sizeof(outcome->stats));
}

static keel_status_t run(job_t *job, kernel_outcome_t *outcome)
{
    if (keel_restarted(job->host.ctx)) {
        KERNEL_TRY(keel_restore(job->host.ctx));
    }
    while (job->step < job->steps) {
        KERNEL_TRY(do_step(job));
    }
    KERNEL_TRY(judge(job, outcome));
    return keel_finalize(job->host.ctx);
}

static keel_status_t open_memory(job_t *job)
{
    KERNEL_TRY(keel_win_alloc(job->host.ctx, sizeof(relay_area_t), NULL, &job->win));
    KERNEL_TRY(keel_protect(job->host.ctx, 0, &job->step, sizeof job->step));
    KERNEL_TRY(keel_protect(job->host.ctx, 1, &job->hash, sizeof job->hash));
    KERNEL_TRY(keel_protect(job->host.ctx, 2, &job->started, sizeof job->started));
    job->relay = (relay_t){.host = &job->host,
                           .seed = 20141,
                           .ranks = keel_size(job->host.ctx),
                           .win = job->win,
                           .area = keel_win_base(job->win)};
    return KEEL_OK;
}

int main(int argc, char **argv)
{
    static job_t job = {.steps = 200};
    const kernel_option_t own[] = {{.name = "steps", .letter = 'n', .number_p = &job.steps, .min = 1}};
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_WAITS};
    kernel_outcome_t outcome = {.kernel = PROGRAM};
    kernel_field_t field = {"steps", NULL, 0};
    keel_status_t status;
    int exit_status;

    exit_status = kernel_options_parse(PROGRAM, help, argc, argv, own, 1, &job.common);
    if (exit_status >= 0) {
        return exit_status;
    }
    status = keel_init(&params, &job.host.ctx);
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "keel_init", status);
    }
    job.host.rank = keel_rank(job.host.ctx);
    job.host.incarnation = keel_incarnation(job.host.ctx);
    job.host.point = job_point;
    job.host.flaw = job_flaw;
    job.host.arg = &job;
    outcome.ranks = keel_size(job.host.ctx);
    if (outcome.ranks > RELAY_RANKS || outcome.ranks < 2) {
        return kernel_usage_error(PROGRAM, "2 to %d ranks", RELAY_RANKS);
    }
    job.started = kernel_now_s();
    status = open_memory(&job);
    if (status == KEEL_OK) {
        do {
            status = run(&job, &outcome);
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "run", status);
    }
    if (job.host.rank == 0) {
        field.number = (double)job.steps;
        kernel_print_outcome(&outcome, job.common.format, &field, 1);
    }
    return outcome.is_right ? KERNEL_EXIT_OK : KERNEL_EXIT_WRONG;
}
