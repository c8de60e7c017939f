/*
 * A job with checkpoints that goes on with fewer ranks (KEEL_SHRINK). Arguments: STEPS
 * RANK@STEP.PLACE,... Places: 0 before a step, 1 between put and gsync, 2 before a checkpoint, 3
 * behind, 4 before keel_restore(); 10 more in the second life. All state is in a window. In each
 * step every rank puts to the next rank in the ring of the remaining ranks; every third step begins
 * with a checkpoint. The last line names the remaining ranks, and the gone in order.
 */
#include "deaths.h"

#include <keel/keel.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* two words of the ring in turn, the next step, all steps, the step of the last checkpoint */
enum { RING = 0, STEP = 2, CHAIN, SAVED, WORDS };
#define WORD 1000u

typedef struct job {
    keel_context_h ctx;
    uint64_t *own;
    keel_win_h win;
    keel_world_t world;
    uint64_t steps;
    uint32_t rank;
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

static void may_die(const job_t *job, unsigned place)
{
    die_when_said(job->deaths, job->rank, job->own[STEP], place + 10 * keel_incarnation(job->ctx));
}

static uint32_t neighbour(const job_t *job, uint32_t distance)
{
    uint32_t i = 0;

    while (job->world.ranks[i] != job->rank) {
        i++;
    }
    return job->world.ranks[(i + distance) % job->world.size];
}

static int is_chain(const job_t *job)
{
    uint64_t chain = 0;

    for (uint64_t i = 0; i < job->own[STEP]; i++) {
        chain = chain * 31 + i;
    }
    return job->own[CHAIN] == chain;
}

static keel_status_t save(job_t *job)
{
    keel_status_t status;

    if (job->own[STEP] % 3 != 0 || job->own[SAVED] == job->own[STEP]) {
        return KEEL_OK;
    }
    may_die(job, 2);
    job->own[SAVED] = job->own[STEP];
    status = keel_checkpoint(job->ctx);
    if (status == KEEL_OK) {
        may_die(job, 3);
    }
    return status;
}

static keel_status_t ring(job_t *job)
{
    const uint64_t number = job->own[STEP], slot = number % 2, word = WORD * number + job->rank;
    keel_status_t status = keel_put(job->win, neighbour(job, 1), slot * sizeof(word), &word, sizeof(word));

    may_die(job, 1);
    if (status != KEEL_OK) {
        return status;
    }
    job->own[CHAIN] = job->own[CHAIN] * 31 + number;
    job->own[STEP] = number + 1;
    status = keel_gsync(job->ctx, KEEL_GSYNC_SAFE);
    must(status != KEEL_OK || job->own[RING + slot] == WORD * number + neighbour(job, job->world.size - 1),
         "the word of the neighbour");
    return status;
}

static keel_status_t life(job_t *job)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && job->own[STEP] < job->steps) {
        may_die(job, 0);
        status = save(job);
        status = (status == KEEL_OK) ? ring(job) : status;
    }
    return (status == KEEL_OK) ? keel_gsync(job->ctx, 0) : status;
}

static void go_on(job_t *job)
{
    keel_status_t status;

    if (job->own[STEP] > 0) {
        may_die(job, 4);
    }
    do {
        status = keel_restore(job->ctx);
    } while (status == KEEL_ERR_ROLLED_BACK);
    must(status == KEEL_OK, "keel_restore");
}

static void learn_world(job_t *job)
{
    const uint64_t word = 0;

    must(keel_world(job->ctx, &job->world, sizeof(job->world)) == KEEL_OK, "keel_world");
    must(job->world.size + job->world.gone_size == keel_size(job->ctx), "the size of the world");
    must((job->world.epoch == 0) == (job->world.gone_size == 0), "the epoch");
    must(is_chain(job), "restored memory");
    for (uint32_t i = 0; i < job->world.gone_size; i++) {
        must(keel_put(job->win, job->world.gone[i], 0, &word, sizeof(word)) == KEEL_ERR_RANK, "a put to a gone rank");
    }
}

int main(int argc, char **argv)
{
    job_t job = {.steps = (argc > 1) ? strtoul(argv[1], NULL, 10) : 0, .deaths = (argc > 2) ? argv[2] : NULL};
    keel_status_t status = keel_init(NULL, &job.ctx);

    if (status != KEEL_OK) {
        return 1;
    }
    job.rank = keel_rank(job.ctx);
    must(keel_win_alloc(job.ctx, WORDS * sizeof(uint64_t), NULL, &job.win) == KEEL_OK, "keel_win_alloc");
    job.own = keel_win_base(job.win);
    (void)keel_restarted(job.ctx);
    do {
        if (keel_restarted(job.ctx)) {
            go_on(&job);
        }
        learn_world(&job);
        status = life(&job);
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
