/*
 * Ranks with polls. In each step one rank, a different rank each time, computes for a while, dies
 * or stops for ever, before it puts a word to all others. The others repeat calls without waits
 * until they find the word. No call waits inside Keel, and only these calls can detect the death.
 *
 *   polling kill|stop accesses|locks [STEPS]
 *
 * accesses: gets, puts, atomics, flushes, fences and tests in turn, and a gsync after each step.
 * locks: critical sections only, at own memory and at the next rank in turn.
 */
#include "try.h"

#include <keel/keel.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3 };
enum { WORD = 0, BESIDE = 64, WINDOW = 4096, THINK_US = 20000, LOOK_US = 100 };
enum { GET_OWN, GET, GET_FLUSH, PUT, ATOMIC, FETCH, FETCH_OWN, FENCE, FLUSH, FLUSH_ALL, TEST, CALLS };

typedef struct job {
    keel_context_h ctx;
    keel_win_h win;
    uint32_t rank, ranks;
    int signal, is_locking;
    uint64_t steps, step; /* step is protected */
} job_t;

/* A rank has died as often as it has had its turn, regardless of rollbacks since. */
static void die_here(const job_t *job)
{
    usleep(THINK_US);
    if (keel_incarnation(job->ctx) == job->step / job->ranks) {
        raise(job->signal);
    }
}

static keel_status_t put_words(const job_t *job)
{
    const uint64_t word = job->step + 1;
    uint64_t before = 0;

    for (uint32_t r = 0; r < job->ranks; r++) {
        if (job->is_locking) {
            TRY(keel_lock(job->ctx, r));
            TRY(keel_get(job->win, r, WORD, &before, sizeof(before)));
        }
        /* no rank waits for the end of this loop: the rank of the next turn may have been here
         * already */
        if (before < word) {
            TRY(keel_put(job->win, r, WORD, &word, sizeof(word)));
        }
        if (job->is_locking) {
            TRY(keel_unlock(job->ctx, r));
        }
    }
    return job->is_locking ? KEEL_OK : keel_flush_all(job->ctx);
}

static keel_status_t call_once(const job_t *job)
{
    const uint32_t next = (job->rank + 1) % job->ranks;
    uint64_t word = job->rank;
    keel_req_h req = NULL;
    keel_status_t status;

    switch (job->step % CALLS) {
    case GET:
        return keel_get(job->win, next, BESIDE, &word, sizeof(word));
    case GET_FLUSH:
        status = keel_get_nbx(job->win, next, BESIDE, &word, sizeof(word), NULL, NULL);
        return (status < KEEL_OK) ? status : keel_flush(job->ctx, next);
    case PUT:
        return keel_put(job->win, next, BESIDE + 8 * (1 + job->rank), &word, sizeof(word));
    case ATOMIC:
        return keel_atomic(job->win, KEEL_ATOMIC_ADD, next, BESIDE, sizeof(word), 1, 0, NULL);
    case FETCH:
        return keel_atomic(job->win, KEEL_ATOMIC_ADD, next, BESIDE, sizeof(word), 1, 0, &word);
    case FETCH_OWN:
        return keel_atomic(job->win, KEEL_ATOMIC_ADD, job->rank, BESIDE, sizeof(word), 1, 0, &word);
    case FENCE:
        return keel_fence(job->ctx);
    case FLUSH:
        return keel_flush(job->ctx, next);
    case FLUSH_ALL:
        return keel_flush_all(job->ctx);
    case TEST:
        status = keel_get_nbx(job->win, next, BESIDE, &word, sizeof(word), NULL, &req);
        while (status == KEEL_INPROGRESS && req != NULL) {
            status = keel_progress(job->ctx); /* a reply requires progress */
            status = (status == KEEL_OK) ? keel_req_test(req) : status;
        }
        if (req != NULL) {
            keel_req_free(req);
        }
        return status;
    default:
        return KEEL_OK;
    }
}

static keel_status_t poll_word(const job_t *job)
{
    const uint32_t from = job->is_locking && job->step % 2 ? (job->rank + 1) % job->ranks : job->rank;
    uint64_t word = 0;

    while (word <= job->step) {
        if (job->is_locking) {
            TRY(keel_lock(job->ctx, from));
        } else {
            TRY(call_once(job));
        }
        TRY(keel_get(job->win, from, WORD, &word, sizeof(word)));
        if (job->is_locking) {
            TRY(keel_unlock(job->ctx, from));
            usleep(LOOK_US);
        }
    }
    return KEEL_OK;
}

static keel_status_t run(job_t *job)
{
    while (job->step < job->steps) {
        if (job->rank == job->step % job->ranks) {
            die_here(job);
            TRY(put_words(job));
        } else {
            TRY(poll_word(job));
        }
        job->step++;
        if (!job->is_locking) {
            TRY(keel_gsync(job->ctx, KEEL_GSYNC_SAFE));
        }
    }
    return KEEL_OK;
}

static int usage(void)
{
    fprintf(stderr, "usage: polling kill|stop accesses|locks [STEPS]\n");
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    job_t job = {.steps = CALLS};
    keel_status_t status;

    if (argc < 3 || (strcmp(argv[1], "kill") != 0 && strcmp(argv[1], "stop") != 0)) {
        return usage();
    }
    job.signal = (strcmp(argv[1], "kill") == 0) ? SIGKILL : SIGSTOP;
    job.is_locking = strcmp(argv[2], "locks") == 0;
    job.steps = (argc > 3) ? strtoul(argv[3], NULL, 10) : job.steps;
    if (keel_init(NULL, &job.ctx) != KEEL_OK || keel_win_alloc(job.ctx, WINDOW, NULL, &job.win) != KEEL_OK ||
        keel_protect(job.ctx, 0, &job.step, sizeof(job.step)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    job.rank = keel_rank(job.ctx);
    job.ranks = keel_size(job.ctx);
    do {
        status = keel_restarted(job.ctx) ? keel_restore(job.ctx) : KEEL_OK;
        status = (status == KEEL_OK) ? run(&job) : status;
        status = (status == KEEL_OK) ? keel_finalize(job.ctx) : status;
    } while (status == KEEL_ERR_ROLLED_BACK);
    if (status != KEEL_OK) {
        fprintf(stderr, "polling: rank %u: %s\n", job.rank, keel_status_string(status));
        return EXIT_KEEL;
    }
    printf("polling: rank %u has polled through %lu steps\n", job.rank, (unsigned long)job.steps);
    return 0;
}
