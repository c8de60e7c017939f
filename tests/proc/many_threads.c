/*
 * Several threads inside Keel at once: many_threads STEPS DEATHS. In each step every rank has four
 * threads besides the main thread. Two exchange words with the same thread of the neighbour and
 * wait for each other, by puts and keel_wait_until(), in opposite directions; a third adds to
 * counters of all ranks by atomics and accumulates, and draws tickets; the last takes locks of
 * windows. Meanwhile the main thread is in a barrier of waits, which its rank's first thread
 * releases, and ends the step with a gsync. RANK@STEP.PLACE in DEATHS: 0 an exchanging thread, 1
 * the adding thread, 2 the main thread before the gsync.
 */
#include "deaths.h"
#include "try.h"

#include <keel/keel.h>

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVERY = 4, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3, TURNS = 20, EXCHANGERS = 2, BLOCK = 700 };

typedef struct {
    uint64_t come[EXCHANGERS];  /* turns of this step, put by one neighbour */
    uint64_t taken[EXCHANGERS]; /* turns read, put by the other neighbour */
    uint64_t released;          /* number of steps, put by the rank's own thread */
    uint64_t added, summed, tickets, locked;
    uint64_t block[EXCHANGERS][BLOCK];
} memory_t;

typedef struct {
    const char *deaths;
    uint64_t steps, step; /* step is protected */
    keel_context_h ctx;
    keel_win_h win;
    uint32_t rank, size;
} job_t;

typedef struct {
    job_t *job;
    unsigned number;
    keel_status_t status;
} thread_t;

static void die_here(const job_t *job, unsigned place)
{
    die_when_said(keel_incarnation(job->ctx) == 0 ? job->deaths : NULL, job->rank, job->step, place);
}

static void wrong(const job_t *job, const char *what, uint64_t is)
{
    fprintf(stderr, "many_threads: rank %u, step %lu: %s is %lu\n", job->rank, (unsigned long)job->step, what,
            (unsigned long)is);
    exit(EXIT_WRONG);
}

/* Puts a block to one neighbour, once the previous block was taken there, and takes a block from
 * the other. */
static keel_status_t exchange(job_t *job, unsigned number)
{
    const uint32_t next = (job->rank + (number == 0 ? 1 : job->size - 1)) % job->size;
    const uint32_t last = (job->rank + (number == 0 ? job->size - 1 : 1)) % job->size;
    const uint64_t come = offsetof(memory_t, come) + 8 * number, taken = offsetof(memory_t, taken) + 8 * number;
    const uint64_t *own = ((const memory_t *)keel_win_base(job->win))->block[number];
    uint64_t block[BLOCK], said;

    for (uint64_t turn = job->step * TURNS; turn < (job->step + 1) * TURNS; turn++) {
        for (unsigned i = 0; i < BLOCK; i++) {
            block[i] = turn * 1000 + job->rank;
        }
        said = turn + 1;
        TRY(keel_put(job->win, next, offsetof(memory_t, block) + number * sizeof(block), block, sizeof(block)));
        TRY(keel_fence(job->ctx));
        TRY(keel_put(job->win, next, come, &said, sizeof(said)));
        if (number == 0 && turn % TURNS == TURNS / 2) {
            die_here(job, 0);
        }
        TRY(keel_wait_until(job->win, come, 8, KEEL_COMPARE_GE, said));
        if (own[0] != turn * 1000 + last || own[BLOCK - 1] != turn * 1000 + last) {
            wrong(job, "a block", own[BLOCK - 1]);
        }
        TRY(keel_put(job->win, last, taken, &said, sizeof(said)));
        TRY(keel_wait_until(job->win, taken, 8, KEEL_COMPARE_GE, said));
    }
    said = job->step + 1;
    return (number == 0) ? keel_put(job->win, job->rank, offsetof(memory_t, released), &said, sizeof(said)) : KEEL_OK;
}

static keel_status_t add(job_t *job)
{
    const uint64_t one = 1;
    uint64_t found = 0, got = 0;

    for (unsigned turn = 0; turn < TURNS; turn++) {
        const uint32_t rank = (job->rank + turn) % job->size;

        TRY(keel_atomic(job->win, KEEL_ATOMIC_ADD, rank, offsetof(memory_t, added), 8, 1, 0, NULL));
        TRY(keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_UINT64, rank, offsetof(memory_t, summed), &one, 1,
                            &found));
        TRY(keel_atomic(job->win, KEEL_ATOMIC_ADD, 0, offsetof(memory_t, tickets), 8, 1, 0, &found));
        TRY(keel_atomic(job->win, KEEL_ATOMIC_FETCH, 0, offsetof(memory_t, tickets), 8, 0, 0, &got));
        if (got <= found) {
            wrong(job, "the number of tickets", got);
        }
        if (turn == TURNS / 2) {
            die_here(job, 1);
        }
    }
    return keel_flush_all(job->ctx);
}

static keel_status_t lock(job_t *job)
{
    const uint64_t offset = offsetof(memory_t, locked);
    uint64_t value;

    for (unsigned turn = 0; turn < TURNS; turn++) {
        const uint32_t rank = (job->rank + turn) % job->size;

        TRY(keel_win_lock(job->win, rank, KEEL_LOCK_EXCLUSIVE));
        TRY(keel_get(job->win, rank, offset, &value, sizeof(value)));
        value++;
        TRY(keel_put(job->win, rank, offset, &value, sizeof(value)));
        TRY(keel_win_unlock(job->win, rank));
    }
    return KEEL_OK;
}

static void *run_thread(void *arg)
{
    thread_t *thread = arg;

    thread->status = (thread->number < EXCHANGERS)    ? exchange(thread->job, thread->number)
                     : (thread->number == EXCHANGERS) ? add(thread->job)
                                                      : lock(thread->job);
    return NULL;
}

static keel_status_t step(job_t *job)
{
    thread_t threads[EXCHANGERS + 2];
    pthread_t handles[EXCHANGERS + 2];
    keel_status_t status;

    for (unsigned i = 0; i < EXCHANGERS + 2; i++) {
        threads[i] = (thread_t){.job = job, .number = i};
        if (pthread_create(&handles[i], NULL, run_thread, &threads[i]) != 0) {
            exit(EXIT_KEEL);
        }
    }
    status = keel_wait_until(job->win, offsetof(memory_t, released), 8, KEEL_COMPARE_GE, job->step + 1);
    for (unsigned i = 0; i < EXCHANGERS + 2; i++) {
        pthread_join(handles[i], NULL);
        status = (status == KEEL_OK) ? threads[i].status : status;
    }
    TRY(status);
    die_here(job, 2);
    job->step++;
    return keel_gsync(job->ctx, (job->step % SAVE_EVERY == 0) ? KEEL_GSYNC_SAFE : 0);
}

static keel_status_t run(job_t *job)
{
    keel_status_t status = KEEL_OK;

    do {
        status = keel_restarted(job->ctx) ? keel_restore(job->ctx) : KEEL_OK;
        while (status == KEEL_OK && job->step < job->steps) {
            status = step(job);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

static void check(const job_t *job)
{
    const memory_t *own = keel_win_base(job->win);
    const uint64_t all = job->steps * TURNS; /* TURNS is a multiple of the number of ranks */

    if (own->added != all || own->summed != all || own->locked != all) {
        wrong(job, "a sum", own->locked != all ? own->locked : own->added);
    }
    if (job->rank == 0 && own->tickets != all * job->size) {
        wrong(job, "the number of tickets", own->tickets);
    }
}

int main(int argc, char **argv)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_THREADS};
    job_t job = {.steps = (argc == 3) ? strtoul(argv[1], NULL, 10) : 0};
    keel_stats_t stats;

    if (job.steps == 0) {
        fprintf(stderr, "usage: many_threads STEPS -|RANK@STEP.PLACE,...\n");
        return EXIT_USAGE;
    }
    job.deaths = argv[2];
    if (keel_init(&params, &job.ctx) != KEEL_OK) {
        return EXIT_KEEL;
    }
    job.rank = keel_rank(job.ctx);
    job.size = keel_size(job.ctx);
    if (TURNS % job.size != 0 || keel_win_alloc(job.ctx, sizeof(memory_t), NULL, &job.win) != KEEL_OK ||
        keel_protect(job.ctx, 1, &job.step, sizeof(job.step)) != KEEL_OK || run(&job) != KEEL_OK ||
        keel_stats(job.ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    check(&job);
    if (job.rank == job.size - 1) { /* this rank survives */
        printf("many_threads: %u ranks, %lu steps, %lu rollbacks: right\n", job.size, (unsigned long)job.steps,
               (unsigned long)stats.rollbacks);
    }
    return (keel_finalize(job.ctx) == KEEL_OK) ? 0 : EXIT_WRONG;
}
