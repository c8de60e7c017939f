/*
 * A job that goes on with fewer ranks (KEEL_SHRINK=now). Arguments: STEPS RANK@STEP.PLACE,...
 * Places: 0 before the put of a step, 1 between put and gsync, 2 inside a lock, 3 before
 * keel_restore(), 4 before a window is made, 5 behind. In each step every rank puts to the next
 * rank in the ring of the remaining ranks, and raises a sum at the first rank inside a lock. The
 * last line names the remaining ranks, and the gone in order.
 */
#include "deaths.h"

#include <keel/keel.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING = 0, TOTAL = 2, KEPT = 3, WORDS = 4 };
#define WORD 1000u

typedef struct job {
    keel_context_h ctx;
    keel_win_h win;
    keel_world_t world;
    uint64_t step, steps;
    uint32_t rank;
    unsigned shrinks;
    const char *deaths;
} job_t;

static void must(int is_right, const char *what)
{
    if (!is_right) {
        printf("%s is wrong\n", what);
        fflush(stdout);
        exit(1);
    }
}

static uint32_t neighbour(const job_t *job, uint32_t distance)
{
    uint32_t i = 0;

    while (job->world.ranks[i] != job->rank) {
        i++;
    }
    return job->world.ranks[(i + distance) % job->world.size];
}

static keel_status_t add(job_t *job)
{
    const uint32_t first = job->world.ranks[0];
    uint64_t total = 0;
    keel_status_t status = keel_lock(job->ctx, first);

    if (status == KEEL_OK) {
        die_when_said(job->deaths, job->rank, job->step, 2);
        status = keel_get(job->win, first, TOTAL * sizeof(total), &total, sizeof(total));
    }
    status = (status == KEEL_OK) ? keel_flush(job->ctx, first) : status;
    total++;
    status = (status == KEEL_OK) ? keel_put(job->win, first, TOTAL * sizeof(total), &total, sizeof(total)) : status;
    return (status == KEEL_OK) ? keel_unlock(job->ctx, first) : status;
}

static keel_status_t ring(job_t *job)
{
    const uint64_t slot = job->step % 2, word = WORD * job->step + job->rank;
    keel_status_t status = keel_put(job->win, neighbour(job, 1), slot * sizeof(word), &word, sizeof(word));

    die_when_said(job->deaths, job->rank, job->step, 1);
    status = (status == KEEL_OK) ? keel_gsync(job->ctx, 0) : status;
    if (status == KEEL_OK) {
        const uint64_t *own = keel_win_base(job->win);

        must(own[RING + slot] == WORD * job->step + neighbour(job, job->world.size - 1), "the word of the neighbour");
        must(own[KEPT] == WORD + job->rank, "kept memory");
        job->step++;
    }
    return status;
}

/* A window of the ranks that remain. */
static keel_status_t further(job_t *job)
{
    const uint64_t word = WORD + job->rank;
    keel_win_h win;
    keel_status_t status;

    die_when_said(job->deaths, job->rank, job->step, 4);
    status = keel_win_alloc(job->ctx, sizeof(word), NULL, &win);
    die_when_said(job->deaths, job->rank, job->step, 5);
    status = (status == KEEL_OK) ? keel_put(win, neighbour(job, 1), 0, &word, sizeof(word)) : status;
    status = (status == KEEL_OK) ? keel_gsync(job->ctx, 0) : status;
    must(status != KEEL_OK || *(uint64_t *)keel_win_base(win) == WORD + neighbour(job, job->world.size - 1),
         "the word in a further window");
    return status;
}

static keel_status_t life(job_t *job)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && job->step < job->steps) {
        die_when_said(job->deaths, job->rank, job->step, 0);
        status = add(job);
        status = (status == KEEL_OK) ? ring(job) : status;
        if (status == KEEL_OK && job->step % 4 == 0) {
            status = further(job);
        }
    }
    return status;
}

static void learn_world(job_t *job)
{
    const uint64_t word = 0;

    must(keel_world(job->ctx, &job->world, sizeof(job->world)) == KEEL_OK, "keel_world");
    must(job->world.size + job->world.gone_size == keel_size(job->ctx), "the size of the world");
    must((job->world.epoch == 0) == (job->world.gone_size == 0), "the epoch");
    for (uint32_t i = 0; i < job->world.gone_size; i++) {
        must(keel_put(job->win, job->world.gone[i], 0, &word, sizeof(word)) == KEEL_ERR_RANK, "a put to a gone rank");
    }
}

/* keel_restore(), also after a death meanwhile. */
static void go_on(job_t *job)
{
    keel_status_t status;

    job->shrinks++;
    die_when_said(job->deaths, job->rank, job->step, 3);
    do {
        status = keel_restore(job->ctx);
    } while (status == KEEL_ERR_ROLLED_BACK);
    must(status == KEEL_OK, "keel_restore");
}

int main(int argc, char **argv)
{
    job_t job = {.steps = (argc > 1) ? strtoul(argv[1], NULL, 10) : 0, .deaths = (argc > 2) ? argv[2] : NULL};
    keel_status_t status = keel_init(NULL, &job.ctx);

    if (status != KEEL_OK) {
        return 1;
    }
    job.rank = keel_rank(job.ctx);
    must(keel_incarnation(job.ctx) == 0, "the incarnation");
    must(keel_win_alloc(job.ctx, WORDS * sizeof(uint64_t), NULL, &job.win) == KEEL_OK, "keel_win_alloc");
    ((uint64_t *)keel_win_base(job.win))[KEPT] = WORD + job.rank;
    (void)keel_restarted(job.ctx);
    do {
        if (keel_restarted(job.ctx)) {
            go_on(&job);
        }
        learn_world(&job);
        status = life(&job);
        if (status == KEEL_OK) {
            status = keel_gsync(job.ctx, 0);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    must(status == KEEL_OK, "the status");
    if (job.rank == job.world.ranks[0]) {
        printf("%u ranks remain, gone:", job.world.size);
        for (uint32_t i = 0; i < job.world.gone_size; i++) {
            printf(" %u", job.world.gone[i]);
        }
        printf("; all is right\n");
    }
    return keel_finalize(job.ctx) != KEEL_OK;
}
