/*
 * A program with calls from several threads: waits and barriers of a thread that only another
 * thread of the same PE ends, contexts created by several threads at once, atomics.
 *
 *   shmem_among_threads ROUNDS -|PE@ROUND.PLACE,...
 *       the named PEs die there in the first job: 0 in a thread, 1 after the end of its threads
 *       in the begun round
 */
#include "deaths.h"

#include <shmem.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ADDS = 50, WRONG = 1, USAGE = 2 };

typedef struct {
    long asked[THREADS], answered[THREADS], own, arrived, several[3], counter, sums[THREADS];
} memory_t;

static struct {
    long round;
} at; /* protected */
static memory_t *memory;
static int me, pes, right;
static const char *deaths;
static int waits; /* a thread is about to wait */

static void check(long is, long should, const char *what)
{
    if (is != should) {
        fprintf(stderr, "shmem_among_threads: PE %d, round %ld: %s is %ld, not %ld\n", me, at.round, what, is, should);
        shmem_global_exit(WRONG);
    }
}

/* Thread 0 waits for a reply of the neighbour. Thread 1 sends the request once thread 0 waits. */
static void ask(long number, long said)
{
    if (number == 0) {
        __atomic_store_n(&waits, 1, __ATOMIC_RELEASE);
        shmem_long_wait_until(&memory->answered[0], SHMEM_CMP_GE, said);
    } else if (number == 1) {
        while (!__atomic_load_n(&waits, __ATOMIC_ACQUIRE)) {
        }
        shmem_long_p(&memory->asked[0], said, right);
    } else if (number == 2) {
        shmem_long_wait_until(&memory->asked[0], SHMEM_CMP_GE, said);
        shmem_long_p(&memory->answered[0], said, (me + pes - 1) % pes);
    } else {
        shmem_long_p(&memory->own, said, me);
        shmem_long_wait_until(&memory->own, SHMEM_CMP_EQ, said);
    }
}

/* Thread 0 is in a barrier of all PEs. The other PEs first wait for a put of thread 1. Threads 2
 * and 3 wait for any of several words that they put themselves. */
static void meet(long number, long said)
{
    if (number == 0) {
        if (me > 0) {
            shmem_long_wait_until(&memory->arrived, SHMEM_CMP_GE, said);
        }
        shmem_barrier_all();
    } else if (number == 1) {
        if (me == 0) {
            for (int pe = 1; pe < pes; pe++) {
                shmem_long_p(&memory->arrived, said, pe);
                shmem_quiet();
            }
        }
    } else if (number == 2) {
        shmem_long_p(&memory->several[1 + said % 2], said, me);
    } else {
        const size_t is = shmem_long_wait_until_any(memory->several, 3, NULL, SHMEM_CMP_EQ, said);

        check((long)is, 1 + said % 2, "the word that is met");
    }
}

static void count(long number)
{
    shmem_ctx_t ctx;
    long sum = 0;

    check(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0, "a context");
    for (long i = 0; i < ADDS; i++) {
        sum += shmem_ctx_long_atomic_fetch_inc(ctx, &memory->counter, 0) >= 0;
    }
    shmem_ctx_long_atomic_add(ctx, &memory->sums[number], sum, right);
    shmem_ctx_quiet(ctx);
    shmem_ctx_destroy(ctx);
}

static void *thread(void *arg)
{
    const long number = (long)arg, said = at.round + 1;

    if (number == 0) {
        die_when_said(deaths, (unsigned long)me, (unsigned long)at.round, 0);
    }
    ask(number, said);
    count(number);
    meet(number, said);
    return NULL;
}

static void play(void)
{
    pthread_t threads[THREADS];

    waits = 0;
    for (long i = 0; i < THREADS; i++) {
        check(pthread_create(&threads[i], NULL, thread, (void *)i), 0, "a thread's start");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    shmem_barrier_all();
    for (int i = 0; i < THREADS; i++) {
        check(memory->sums[i], ADDS * (at.round + 1), "what a thread counted");
    }
    check(shmem_long_atomic_fetch(&memory->counter, 0), ADDS * THREADS * pes * (at.round + 1), "what all counted");
    at.round++;
    shmemx_checkpoint();
    die_when_said(deaths, (unsigned long)me, (unsigned long)at.round, 1);
    shmem_barrier_all(); /* a dead PE is missed by one thread of each PE */
}

int main(int argc, char **argv)
{
    const long rounds = (argc == 3) ? strtol(argv[1], NULL, 10) : 0;
    int provided = -1;

    if (rounds <= 0) {
        fprintf(stderr, "usage: shmem_among_threads ROUNDS -|PE@ROUND.PLACE,...\n");
        return USAGE;
    }
    check(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0, "the beginning");
    check(provided, SHMEM_THREAD_MULTIPLE, "the level");
    me = shmem_my_pe();
    pes = shmem_n_pes();
    right = (me + 1) % pes;
    memory = shmem_calloc(1, sizeof(*memory));
    shmemx_protect(1, &at, sizeof(at));
    SHMEMX_RESTART_POINT();
    if (shmemx_restarted()) {
        shmemx_restore();
    }
    deaths = deaths_of_first_life(argv[2], shmemx_incarnation());
    while (at.round < rounds) {
        play();
    }
    printf("shmem_among_threads: PE %d: right\n", me);
    shmem_finalize();
    return 0;
}
