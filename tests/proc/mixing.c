/*
 * A program that synchronises as MPI programs do: all memory is locked for reading from one gsync
 * to another, and changed inside that epoch by atomics and puts; a word is incremented under an
 * exclusive lock; neighbours wait for each other. All values are checked.
 *
 *   mixing STEPS -|RANK@STEP.PLACE,... [undeclared]
 *       the named ranks die there in their first incarnation: 0 with all memory locked, 1 after
 *       the gsync in that epoch, 2 with one rank locked, 3 before a wait
 */
#include "deaths.h"
#include "try.h"

#include <keel/keel.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVERY = 5, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3, RANKS_MAX = 64 };

typedef struct {
    uint64_t tickets; /* changed by atomics */
    uint64_t count;   /* changed under an exclusive lock */
    uint64_t flag;    /* the neighbour's step */
    uint64_t slot[RANKS_MAX];
} memory_t;

typedef struct {
    const char *deaths;
    uint64_t steps, step; /* step is protected */
    keel_context_h ctx;
    keel_win_h win;
} job_t;

static void die_here(const job_t *job, unsigned place)
{
    die_when_said(keel_incarnation(job->ctx) == 0 ? job->deaths : NULL, keel_rank(job->ctx), job->step, place);
}

/* All memory is locked for reading throughout, including the gsync in the middle, where an image
 * may be taken. */
static keel_status_t epoch(job_t *job)
{
    const uint32_t size = keel_size(job->ctx), rank = keel_rank(job->ctx);
    const uint32_t target = (uint32_t)((rank + job->step) % size);
    const uint64_t said = job->step + 1;
    uint64_t ticket;

    TRY(keel_gsync(job->ctx, 0));
    TRY(keel_lock_all(job->ctx));
    TRY(keel_atomic(job->win, KEEL_ATOMIC_ADD, 0, offsetof(memory_t, tickets), sizeof(ticket), 1, 0, &ticket));
    die_here(job, 0);
    TRY(keel_put(job->win, target, offsetof(memory_t, slot) + rank * sizeof(said), &said, sizeof(said)));
    TRY(keel_flush(job->ctx, target));
    TRY(keel_gsync(job->ctx, 0));
    die_here(job, 1);
    TRY(keel_get(job->win, target, offsetof(memory_t, slot) + rank * sizeof(said), &ticket, sizeof(ticket)));
    if (ticket != said) {
        fprintf(stderr, "mixing: rank %u, step %lu: slot %lu\n", rank, (unsigned long)job->step, (unsigned long)ticket);
        exit(EXIT_WRONG);
    }
    return keel_unlock_all(job->ctx);
}

static keel_status_t step(job_t *job)
{
    const uint32_t size = keel_size(job->ctx), rank = keel_rank(job->ctx), right = (rank + 1) % size;
    const uint64_t said = job->step + 1;
    uint64_t count = 0;

    TRY(epoch(job));
    TRY(keel_gsync(job->ctx, 0));
    TRY(keel_lock(job->ctx, right));
    TRY(keel_get(job->win, right, offsetof(memory_t, count), &count, sizeof(count)));
    die_here(job, 2);
    count++;
    TRY(keel_put(job->win, right, offsetof(memory_t, count), &count, sizeof(count)));
    TRY(keel_unlock(job->ctx, right));
    die_here(job, 3);
    TRY(keel_put(job->win, right, offsetof(memory_t, flag), &said, sizeof(said)));
    TRY(keel_wait_until(job->win, offsetof(memory_t, flag), sizeof(said), KEEL_COMPARE_GE, said));
    job->step++;
    return keel_gsync(job->ctx, (job->step % SAVE_EVERY == 0) ? KEEL_GSYNC_SAFE : 0);
}

static int is_right(const job_t *job)
{
    const memory_t *own = keel_win_base(job->win);
    const uint32_t size = keel_size(job->ctx), rank = keel_rank(job->ctx);
    int right = own->count == job->steps && own->flag == job->steps;

    for (uint32_t r = 0; r < size; r++) {
        uint64_t last = 0;

        for (uint64_t s = 0; s < job->steps; s++) {
            last = ((r + s) % size == rank) ? s + 1 : last;
        }
        right &= own->slot[r] == last;
    }
    return right && (rank != 0 || own->tickets == size * job->steps);
}

static keel_status_t run(job_t *job)
{
    keel_status_t status = KEEL_OK;

    do {
        status = keel_restarted(job->ctx) ? keel_restore(job->ctx) : KEEL_OK;
        while (status == KEEL_OK && job->step < job->steps) {
            status = step(job);
        }
        if (status == KEEL_OK) {
            status = keel_gsync(job->ctx, 0);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

int main(int argc, char **argv)
{
    const int is_declared = argc == 3;
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS,
                                  .flags = is_declared ? KEEL_PARAM_FLAG_NONDETERMINISTIC : 0};
    job_t job = {.steps = (argc > 2) ? strtoul(argv[1], NULL, 10) : 0, .deaths = (argc > 2) ? argv[2] : NULL};
    keel_stats_t stats;
    int right;

    if (argc > 4 || job.steps == 0 || (argc == 4 && strcmp(argv[3], "undeclared") != 0)) {
        fprintf(stderr, "usage: mixing STEPS -|RANK@STEP.PLACE,... [undeclared]\n");
        return EXIT_USAGE;
    }
    if (keel_init(&params, &job.ctx) != KEEL_OK || keel_size(job.ctx) > RANKS_MAX ||
        keel_win_alloc(job.ctx, sizeof(memory_t), NULL, &job.win) != KEEL_OK ||
        keel_protect(job.ctx, 1, &job.step, sizeof(job.step)) != KEEL_OK || run(&job) != KEEL_OK ||
        keel_stats(job.ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    right = is_right(&job);
    if (!right || keel_rank(job.ctx) == 1) {
        printf("mixing: %u ranks, %lu steps, %lu rollbacks: %s\n", keel_size(job.ctx), (unsigned long)job.steps,
               (unsigned long)stats.rollbacks, right ? "right" : "WRONG");
    }
    return (keel_finalize(job.ctx) == KEEL_OK && right) ? 0 : EXIT_WRONG;
}
