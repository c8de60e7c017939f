/*
 * Rank 1 puts words to rank 0, and dies after the words have arrived; the replacement does the same
 * or something else. After each gsync rank 0 compares its words with those from which rank 1 goes
 * on.
 *
 *   redone right          the same
 *   redone clock|pid      puts other values
 *   redone fewer          puts a word less
 *   redone loads          rank 0 polls its own memory by loads until the last word is there, and
 *                         puts the number of polls to rank 2. Rank 0 dies, and rank 2 compares
 *                         after each gsync
 *   redone forgotten      goes on from unprotected memory: a rollback does not restore the
 *                         memory, so no rank compares
 *
 * With "declared" after the mode the program declares to be not deterministic, with "waits" to wait
 * inside phases.
 */
#include "try.h"

#include <keel/keel.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 8, FATAL = 5, WORDS = 4, LOOKS = WORDS, EXIT_USAGE = 2 };

typedef struct {
    const char *mode;
    keel_context_h ctx;
    keel_win_h win;
    uint64_t *words; /* of the window: rank 1 keeps the words that rank 0 should have */
    uint64_t step;   /* protected */
    uint64_t sum;    /* protected, except in mode forgotten */
} job_t;

static int is(const job_t *job, const char *mode)
{
    return strcmp(job->mode, mode) == 0;
}

static uint64_t extra(const job_t *job)
{
    struct timespec now;

    if (is(job, "clock")) {
        clock_gettime(CLOCK_REALTIME, &now);
        return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
    return (is(job, "pid") || (is(job, "loads") && keel_rank(job->ctx) == 0)) ? (uint64_t)getpid() : 0;
}

static keel_status_t put_words(job_t *job)
{
    const unsigned words = WORDS - (is(job, "fewer") && keel_incarnation(job->ctx) > 0);

    job->sum += job->step;
    for (unsigned i = 0; i < words; i++) {
        if (is(job, "loads")) {
            TRY(keel_fence(job->ctx)); /* a reader of the last word then has all words */
        }
        job->words[i] = job->sum + i + extra(job);
        TRY(keel_put(job->win, 0, i * sizeof(*job->words), &job->words[i], sizeof(*job->words)));
    }
    TRY(keel_flush(job->ctx, 0));
    if (job->step == FATAL && keel_incarnation(job->ctx) == 0 && !is(job, "loads")) {
        raise(SIGKILL);
    }
    return KEEL_OK;
}

static keel_status_t look_by_loads(job_t *job)
{
    const volatile uint64_t *last = &job->words[WORDS - 1];

    job->sum += job->step;
    job->words[LOOKS] = 0;
    while (*last != job->sum + WORDS - 1) {
        job->words[LOOKS]++;
        TRY(keel_progress(job->ctx));
    }
    job->words[LOOKS] += extra(job) + job->step;
    TRY(keel_put(job->win, 2, LOOKS * sizeof(*job->words), &job->words[LOOKS], sizeof(*job->words)));
    TRY(keel_flush(job->ctx, 2));
    if (job->step == FATAL && keel_incarnation(job->ctx) == 0) {
        raise(SIGKILL);
    }
    return KEEL_OK;
}

static keel_status_t look_at_looks(const job_t *job)
{
    uint64_t looks;

    TRY(keel_get(job->win, 0, LOOKS * sizeof(*job->words), &looks, sizeof(looks)));
    return (looks == job->words[LOOKS]) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

static keel_status_t look(const job_t *job)
{
    uint64_t words[WORDS];

    TRY(keel_get(job->win, 1, 0, words, sizeof(words)));
    return (is(job, "forgotten") || memcmp(words, job->words, sizeof(words)) == 0) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

static keel_status_t steps_run(job_t *job)
{
    keel_stats_t stats;

    if (keel_restarted(job->ctx)) {
        TRY(keel_restore(job->ctx));
    }
    while (job->step < STEPS) {
        if (keel_rank(job->ctx) == 1) {
            TRY(put_words(job));
        } else if (keel_rank(job->ctx) == 0 && is(job, "loads")) {
            TRY(look_by_loads(job));
        }
        TRY(keel_gsync(job->ctx, 0));
        if (keel_rank(job->ctx) == 0) {
            TRY(look(job));
        } else if (keel_rank(job->ctx) == 2 && is(job, "loads")) {
            TRY(look_at_looks(job));
        }
        job->step++;
        TRY(keel_gsync(job->ctx, KEEL_GSYNC_SAFE));
    }
    TRY(keel_stats(job->ctx, &stats, sizeof(stats)));
    printf("rank %u: %lu rollbacks, %lu differences\n", keel_rank(job->ctx), (unsigned long)stats.rollbacks,
           (unsigned long)stats.differences);
    return keel_finalize(job->ctx);
}

static keel_status_t job_run(job_t *job, const keel_params_t *params)
{
    keel_status_t status;

    TRY(keel_init(params, &job->ctx));
    TRY(keel_win_alloc(job->ctx, (LOOKS + 1) * sizeof(*job->words), NULL, &job->win));
    job->words = keel_win_base(job->win);
    TRY(keel_protect(job->ctx, 1, &job->step, sizeof(job->step)));
    if (!is(job, "forgotten")) {
        TRY(keel_protect(job->ctx, 2, &job->sum, sizeof(job->sum)));
    }
    do {
        status = steps_run(job);
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

int main(int argc, char **argv)
{
    const char *what = (argc == 3) ? argv[2] : "";
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS,
                                  .flags = (strcmp(what, "declared") == 0)
                                               ? (uint64_t)KEEL_PARAM_FLAG_NONDETERMINISTIC
                                               : (strcmp(what, "waits") == 0) * (uint64_t)KEEL_PARAM_FLAG_WAITS};
    job_t job = {.mode = (argc > 1) ? argv[1] : ""};
    keel_status_t status;

    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: redone MODE [declared|waits]\n");
        return EXIT_USAGE;
    }
    status = job_run(&job, &params);
    if (status != KEEL_OK) {
        fprintf(stderr, "redone: %s\n", keel_status_string(status));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
