/*
 * Stop-the-world of the MPI adapter: no other thread runs between the two calls, and a thread that
 * cannot be stopped is reported.
 */
#include "adapters/mpi/life/mpi_stop_world.h"

#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int is_over, count;
static int ends[2];

static void *runs(void *arg)
{
    while (!atomic_load(&is_over)) {
        atomic_fetch_add(&count, 1);
    }
    return NULL;
}

/* The kernel suspends a thread until the child of its vfork() has ended. No signal reaches the
 * thread meanwhile. */
static void *waits_for_child(void *arg)
{
    char byte;

    if (vfork() == 0) {
        atomic_store(&count, 1);
        _exit(read(ends[0], &byte, 1) == 1 ? 0 : 1);
    }
    return NULL;
}

START_TEST(no_other_thread_runs_until_the_end)
{
    pthread_t thread;
    int before;

    ck_assert_int_eq(pthread_create(&thread, NULL, runs, NULL), 0);
    while (atomic_load(&count) == 0) {
        sched_yield();
    }
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(keel_mpi_stop_world_begin(60000), 1);
        before = atomic_load(&count);
        for (int round = 0; round < 100; round++) {
            sched_yield();
        }
        ck_assert_int_eq(atomic_load(&count), before);
        keel_mpi_stop_world_end();
        while (atomic_load(&count) == before) {
            sched_yield();
        }
    }
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_thread_that_does_not_stop_is_reported)
{
    pthread_t thread;

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, waits_for_child, NULL), 0);
    while (atomic_load(&count) == 0) {
        sched_yield();
    }
    ck_assert_int_eq(keel_mpi_stop_world_begin(20), 0);
    keel_mpi_stop_world_end();
    ck_assert_int_eq(write(ends[1], "", 1), 1);
    pthread_join(thread, NULL);
    ck_assert_int_eq(keel_mpi_stop_world_begin(60000), 1);
    keel_mpi_stop_world_end();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {no_other_thread_runs_until_the_end, a_thread_that_does_not_stop_is_reported, NULL};

    return unit_run("mpi_stop_world", tests);
}
