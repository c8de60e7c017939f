/*
 * Rank 0 waits for a word of rank 1, and then for a word of rank 2. Rank 2 puts data before its
 * word, after a word that rank 1 puts when rank 0 has returned from the first wait. Then rank 0
 * puts the data that it found to rank 1, and dies. Both words have the same value, and no call is
 * between the two waits.
 *
 *   two_waits FILE   created between the waits, unknown to Keel
 */
#include "try.h"

#include <keel/keel.h>

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3, LOOK_US = 1000 };

#define DATA 42u

typedef struct {
    uint64_t first, second, data, go, report;
} memory_t;

typedef struct {
    keel_context_h ctx;
    keel_win_h win;
    const char *file;
    uint64_t found; /* by rank 0, after the second wait */
    struct {
        uint64_t step;
    } at; /* protected */
} job_t;

static keel_status_t put(const job_t *job, uint32_t rank, uint64_t offset, uint64_t word)
{
    TRY(keel_put(job->win, rank, offset, &word, sizeof(word)));
    return keel_flush(job->ctx, rank);
}

static keel_status_t await(const job_t *job, uint64_t offset)
{
    keel_word_t word = {.win = job->win, .offset = offset, .size = sizeof(uint64_t), .value = 1};

    return keel_wait(job->ctx, KEEL_WAIT_ANY, &word, 1, NULL);
}

static keel_status_t await_both(job_t *job)
{
    const memory_t *own = keel_win_base(job->win);

    TRY(await(job, offsetof(memory_t, first)));
    close(open(job->file, O_CREAT | O_WRONLY, 0600));
    TRY(await(job, offsetof(memory_t, second)));
    job->found = own->data;
    TRY(put(job, 1, offsetof(memory_t, report), job->found));
    if (keel_incarnation(job->ctx) == 0) {
        raise(SIGKILL);
    }
    return KEEL_OK;
}

static keel_status_t put_first(const job_t *job)
{
    TRY(put(job, 0, offsetof(memory_t, first), 1));
    while (access(job->file, F_OK) != 0) {
        TRY(keel_progress(job->ctx));
        usleep(LOOK_US);
    }
    return put(job, 2, offsetof(memory_t, go), 1);
}

static keel_status_t put_second(const job_t *job)
{
    TRY(await(job, offsetof(memory_t, go)));
    TRY(put(job, 0, offsetof(memory_t, data), DATA));
    return put(job, 0, offsetof(memory_t, second), 1);
}

static keel_status_t run(job_t *job)
{
    const uint32_t rank = keel_rank(job->ctx);

    if (keel_restarted(job->ctx)) {
        TRY(keel_restore(job->ctx));
    }
    if (job->at.step == 0) {
        job->at.step = 1;
        TRY(keel_gsync(job->ctx, KEEL_GSYNC_SAFE));
    }
    TRY(rank == 0 ? await_both(job) : rank == 1 ? put_first(job) : put_second(job));
    return keel_gsync(job->ctx, 0);
}

int main(int argc, char **argv)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_WAITS};
    job_t job = {.file = argv[1]};
    keel_status_t status;
    keel_stats_t stats;
    int right = 1;

    if (argc != 2) {
        fprintf(stderr, "usage: two_waits FILE\n");
        return EXIT_USAGE;
    }
    if (keel_init(&params, &job.ctx) != KEEL_OK || keel_size(job.ctx) != 3 ||
        keel_win_alloc(job.ctx, sizeof(memory_t), NULL, &job.win) != KEEL_OK ||
        keel_protect(job.ctx, 1, &job.at, sizeof(job.at)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    do {
        status = run(&job);
    } while (status == KEEL_ERR_ROLLED_BACK);
    if (status != KEEL_OK || keel_stats(job.ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    if (keel_rank(job.ctx) == 0) {
        right = job.found == DATA;
        printf("two_waits: %lu rollbacks, the data behind the second wait is %lu: %s\n", (unsigned long)stats.rollbacks,
               (unsigned long)job.found, right ? "right" : "WRONG");
    }
    return (keel_finalize(job.ctx) == KEEL_OK && right) ? 0 : EXIT_WRONG;
}
