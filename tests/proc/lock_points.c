/*
 * A program of critical sections only, with a safe point after each section. Rank 1 dies by SIGKILL
 * late in the program, and its replacement prints the step at which it begins. Ranks have different
 * numbers of sections and wait for each other in a safe gsync. At the end rank 0 finds each section
 * counted once.
 *
 *   lock_points STEPS   of rank 0; each next rank has a tenth more
 */
#include <keel/keel.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(_call)                \
    do {                          \
        keel_status_t _s = _call; \
        if (_s != KEEL_OK) {      \
            return _s;            \
        }                         \
    } while (0)

typedef struct job {
    keel_context_h ctx;
    keel_win_h win;
    uint64_t steps; /* of this rank */
    struct {
        uint64_t step, is_met;
    } state; /* protected */
} job_t;

static uint64_t steps_of(uint64_t first, uint32_t rank)
{
    return first + rank * (first / 10);
}

static keel_status_t section(job_t *job, uint32_t target)
{
    uint64_t count;

    TRY(keel_lock(job->ctx, target));
    if (target == keel_rank(job->ctx)) {
        ++*(uint64_t *)keel_win_base(job->win);
    } else {
        TRY(keel_get(job->win, target, 0, &count, sizeof(count)));
        count++;
        TRY(keel_put(job->win, target, 0, &count, sizeof(count)));
    }
    return keel_unlock(job->ctx, target);
}

/* Dies at nine tenths of the steps, after a second checkpoint: the first is then in use at every
 * rank. */
static keel_status_t die_late(job_t *job)
{
    keel_stats_t stats = {0};

    if (keel_incarnation(job->ctx) > 0 || keel_rank(job->ctx) != 1 || job->state.step != job->steps / 10 * 9) {
        return KEEL_OK;
    }
    while (stats.checkpoints < 2) {
        TRY(keel_safe_point(job->ctx));
        TRY(keel_progress(job->ctx));
        TRY(keel_stats(job->ctx, &stats, sizeof(stats)));
    }
    raise(SIGKILL);
    return KEEL_OK;
}

static keel_status_t run(job_t *job)
{
    const uint32_t rank = keel_rank(job->ctx), size = keel_size(job->ctx);

    if (keel_restarted(job->ctx)) {
        TRY(keel_restore(job->ctx));
        printf("rank %u begins at step %lu of %lu\n", rank, (unsigned long)job->state.step, (unsigned long)job->steps);
        fflush(stdout);
    }
    while (job->state.step < job->steps) {
        TRY(section(job, (uint32_t)((rank + job->state.step) % size)));
        job->state.step++;
        TRY(die_late(job));
        TRY(keel_safe_point(job->ctx));
    }
    if (!job->state.is_met) {
        job->state.is_met = 1;
        TRY(keel_gsync(job->ctx, KEEL_GSYNC_SAFE));
    }
    return KEEL_OK;
}

/* Checks the number of sections of all ranks, at all targets. */
static keel_status_t judge(job_t *job, uint64_t first, int *is_right)
{
    uint64_t all = 0, counted = 0, count;

    if (keel_rank(job->ctx) != 0) {
        return KEEL_OK;
    }
    TRY(keel_lock_all(job->ctx));
    for (uint32_t r = 0; r < keel_size(job->ctx); r++) {
        TRY(keel_get(job->win, r, 0, &count, sizeof(count)));
        counted += count;
        all += steps_of(first, r);
    }
    TRY(keel_unlock_all(job->ctx));
    *is_right = counted == all;
    printf("%lu sections are counted, %lu were done\n", (unsigned long)counted, (unsigned long)all);
    return KEEL_OK;
}

int main(int argc, char **argv)
{
    const uint64_t first = (argc > 1) ? strtoull(argv[1], NULL, 10) : 5000;
    job_t job = {0};
    int is_right = 1;
    keel_status_t status = keel_init(NULL, &job.ctx);

    if (status == KEEL_OK) {
        job.steps = steps_of(first, keel_rank(job.ctx));
        status = keel_win_alloc(job.ctx, sizeof(uint64_t), NULL, &job.win);
    }
    if (status == KEEL_OK) {
        status = keel_protect(job.ctx, 0, &job.state, sizeof(job.state));
    }
    if (status == KEEL_OK) {
        do {
            status = run(&job);
            status = (status == KEEL_OK) ? judge(&job, first, &is_right) : status;
            status = (status == KEEL_OK) ? keel_finalize(job.ctx) : status;
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    if (status != KEEL_OK) {
        fprintf(stderr, "lock_points: %s\n", keel_status_string(status));
        return EXIT_FAILURE;
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
