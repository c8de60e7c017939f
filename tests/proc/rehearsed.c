/*
 * A ring with sums of numbers from the left, correct or with a value that a replacement cannot
 * reproduce:
 *
 *   rehearsed right|calm       correct; calm: without a safe gsync
 *   rehearsed step|sum         that variable is not protected
 *   rehearsed later            sum is not protected, and a step begins with another gsync
 *   rehearsed clock|pid        is added to the value put
 *   rehearsed stamp            the clock is kept in protected memory, and never put
 *   rehearsed own              the clock is kept in the own window
 *   rehearsed loads            puts a value loaded from a place where another rank puts in the
 *                              same phase
 *   rehearsed where            reads from another place in each incarnation
 *   rehearsed crash            dies by itself in its second incarnation
 */
#include "try.h"

#include <keel/keel.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 14, PATIENCE = 200 /* ms */, EXIT_USAGE = 2 };

/* The cells of a window: two numbers from the left, in turn; the reply of the left; the last step
 * in which this rank has looked; the rank's own value. */
enum { CELL_LEFT, CELL_ANSWER = 2, CELL_LOOKED, CELL_OWN, CELLS };

typedef struct {
    const char *mode;
    keel_context_h ctx;
    keel_win_h win;
    uint64_t *cell;
    uint64_t step, sum, stamp;
} job_t;

static int is(const job_t *job, const char *mode)
{
    return strcmp(job->mode, mode) == 0;
}

static uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * Polls for the reply of the left neighbour. The left replies only after this rank has looked, so a
 * survivor never sees the reply, however long the polls last. A replacement receives the reply
 * before the look.
 */
static keel_status_t look(job_t *job, uint64_t *seen)
{
    const uint32_t right = (keel_rank(job->ctx) + 1) % keel_size(job->ctx);
    const volatile uint64_t *answer = &job->cell[CELL_ANSWER];
    const uint64_t answered = job->step + 1;
    uint64_t looked = 0;

    for (unsigned i = 0; i < PATIENCE && *answer != answered; i++) {
        TRY(keel_progress(job->ctx));
        usleep(1000);
    }
    *seen = *answer;
    __atomic_store_n(&job->cell[CELL_LOOKED], answered, __ATOMIC_RELEASE);
    while (looked < answered) {
        usleep(1000); /* each get has a record, and log space is limited */
        TRY(keel_get(job->win, right, CELL_LOOKED * sizeof(looked), &looked, sizeof(looked)));
        TRY(keel_flush(job->ctx, right));
    }
    return keel_put(job->win, right, CELL_ANSWER * sizeof(answered), &answered, sizeof(answered));
}

static keel_status_t step_run(job_t *job)
{
    const uint32_t right = (keel_rank(job->ctx) + 1) % keel_size(job->ctx);
    const uint64_t step = job->step;
    uint64_t given, seen = 0;

    if (is(job, "later")) {
        TRY(keel_gsync(job->ctx, 0));
    }
    job->sum += job->cell[(step + 1) % 2] + 1; /* put by the left neighbour in the previous step */
    given = job->sum;
    given += is(job, "clock") ? clock_ns() : is(job, "pid") ? (uint64_t)getpid() : 0;
    job->stamp = is(job, "stamp") ? clock_ns() : 0;
    job->cell[CELL_OWN] = is(job, "own") ? clock_ns() : step;
    if (is(job, "loads")) {
        TRY(look(job, &seen));
    } else if (is(job, "where")) {
        TRY(keel_get(job->win, right, (CELL_ANSWER + keel_incarnation(job->ctx)) * sizeof(seen), &seen, sizeof(seen)));
    }
    given += seen;
    if (is(job, "crash") && keel_incarnation(job->ctx) > 0) {
        raise(SIGSEGV);
    }
    TRY(keel_put(job->win, right, step % 2 * sizeof(given), &given, sizeof(given)));
    job->step = step + 1;
    return keel_gsync(job->ctx, is(job, "calm") ? 0 : KEEL_GSYNC_SAFE);
}

static keel_status_t steps_run(job_t *job)
{
    keel_status_t status = KEEL_OK;

    if (keel_restarted(job->ctx)) {
        status = keel_restore(job->ctx);
    }
    while (status == KEEL_OK && job->step < STEPS) {
        status = step_run(job);
    }
    return (status == KEEL_OK) ? keel_finalize(job->ctx) : status;
}

static keel_status_t job_begin(job_t *job)
{
    TRY(keel_init(NULL, &job->ctx));
    TRY(keel_win_alloc(job->ctx, CELLS * sizeof(uint64_t), NULL, &job->win));
    job->cell = keel_win_base(job->win);
    if (!is(job, "step")) {
        TRY(keel_protect(job->ctx, 1, &job->step, sizeof(job->step)));
    }
    if (!is(job, "sum") && !is(job, "later")) {
        TRY(keel_protect(job->ctx, 2, &job->sum, sizeof(job->sum)));
    }
    return keel_protect(job->ctx, 3, &job->stamp, sizeof(job->stamp));
}

int main(int argc, char **argv)
{
    job_t job = {.mode = (argc == 2) ? argv[1] : ""};
    keel_status_t status;

    if (argc != 2) {
        fprintf(stderr, "usage: rehearsed MODE\n");
        return EXIT_USAGE;
    }
    status = job_begin(&job);
    if (status == KEEL_OK) {
        do {
            status = steps_run(&job);
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    if (status != KEEL_OK) {
        fprintf(stderr, "rehearsed: %s\n", keel_status_string(status));
        return EXIT_FAILURE;
    }
    printf("sum %llu\n", (unsigned long long)job.sum);
    return EXIT_SUCCESS;
}
