/*
 * Turns at a lock, in grants. Rank 1 has a lock and waits until rank 2 requests the same lock. Then
 * rank 1 releases and retakes the lock, at once and repeatedly, until rank 2 has had the lock. Rank
 * 0 prints the median of the grants to rank 1, of several rounds.
 *
 *   lock_turns sections | window | own
 *
 * sections: the lock for critical sections at rank 0; window: of a window there; own: the lock for
 * critical sections at rank 1 itself.
 */
#include "try.h"

#include <keel/keel.h>

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3 };
enum { ROUNDS = 15, ASKS_US = 5000, GRANTS_MAX = 100000, BOUND = 64 + 3 };

/* Words put by other ranks: the round in which rank 1 holds the lock, rank 2 requests it, rank 2
 * had it. */
typedef struct {
    uint64_t holds, asks, had, grants[ROUNDS];
} memory_t;

typedef struct {
    keel_context_h ctx;
    keel_win_h win;
    uint32_t at; /* the rank that owns the lock */
    int is_window;
} job_t;

static keel_status_t take(const job_t *job)
{
    return job->is_window ? keel_win_lock(job->win, job->at, KEEL_LOCK_EXCLUSIVE) : keel_lock(job->ctx, job->at);
}

static keel_status_t give(const job_t *job)
{
    return job->is_window ? keel_win_unlock(job->win, job->at) : keel_unlock(job->ctx, job->at);
}

static keel_status_t put(const job_t *job, uint32_t rank, size_t offset, uint64_t word)
{
    TRY(keel_put(job->win, rank, offset, &word, sizeof(word)));
    return keel_flush(job->ctx, rank);
}

static keel_status_t await(const job_t *job, const uint64_t *own, uint64_t round)
{
    while (__atomic_load_n(own, __ATOMIC_ACQUIRE) != round) {
        TRY(keel_progress(job->ctx));
    }
    return KEEL_OK;
}

/* Counts the grants to rank 1 while rank 2 waits. */
static keel_status_t take_again(const job_t *job, uint64_t round)
{
    const memory_t *own = keel_win_base(job->win);
    uint64_t grants = 0;

    TRY(take(job));
    TRY(put(job, 2, offsetof(memory_t, holds), round));
    TRY(await(job, &own->asks, round));
    usleep(ASKS_US); /* then the call of rank 2 waits */
    do {
        TRY(give(job));
        TRY(take(job));
    } while (__atomic_load_n(&own->had, __ATOMIC_ACQUIRE) != round && ++grants < GRANTS_MAX);
    TRY(give(job));
    return put(job, 0, offsetof(memory_t, grants) + (round - 1) * sizeof(uint64_t), grants);
}

static keel_status_t wait_for_turn(const job_t *job, uint64_t round)
{
    const memory_t *own = keel_win_base(job->win);

    TRY(await(job, &own->holds, round));
    TRY(put(job, 1, offsetof(memory_t, asks), round));
    TRY(take(job));
    TRY(put(job, 1, offsetof(memory_t, had), round));
    return give(job);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static keel_status_t run(const job_t *job)
{
    TRY(keel_set_nondeterministic(job->ctx));
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        TRY(keel_rank(job->ctx) == 1   ? take_again(job, round)
            : keel_rank(job->ctx) == 2 ? wait_for_turn(job, round)
                                       : KEEL_OK);
        TRY(keel_gsync(job->ctx, 0));
    }
    return KEEL_OK;
}

int main(int argc, char **argv)
{
    job_t job = {0};
    memory_t *own;
    int right = 1;

    if (argc != 2 ||
        (strcmp(argv[1], "sections") != 0 && strcmp(argv[1], "window") != 0 && strcmp(argv[1], "own") != 0)) {
        fprintf(stderr, "usage: lock_turns sections | window | own\n");
        return EXIT_USAGE;
    }
    job.is_window = strcmp(argv[1], "window") == 0;
    job.at = strcmp(argv[1], "own") == 0;
    if (keel_init(NULL, &job.ctx) != KEEL_OK || keel_size(job.ctx) != 3 ||
        keel_win_alloc(job.ctx, sizeof(memory_t), NULL, &job.win) != KEEL_OK || run(&job) != KEEL_OK) {
        return EXIT_KEEL;
    }
    own = keel_win_base(job.win);
    if (keel_rank(job.ctx) == 0) {
        qsort(own->grants, ROUNDS, sizeof(own->grants[0]), by_value);
        right = own->grants[ROUNDS / 2] <= BOUND;
        printf("lock_turns: a rank waits during %" PRIu64 " grants at the median, %" PRIu64 " at most: %s\n",
               own->grants[ROUNDS / 2], own->grants[ROUNDS - 1], right ? "right" : "WRONG");
    }
    return (keel_finalize(job.ctx) == KEEL_OK && right) ? 0 : EXIT_WRONG;
}
