/*
 * Stop-the-world of the MPI adapter: no other thread runs between the two calls, and a thread that
 * cannot be stopped is reported.
 */
#include "adapters/mpi/life/mpi_stop_world.h"

#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static atomic_int is_over, count, handled;
static int ends[2];

static void *runs(void *arg)
{
    while (!atomic_load(&is_over)) {
        atomic_fetch_add(&count, 1);
    }
    return NULL;
}

static void *runs_once(void *arg)
{
    atomic_fetch_add(&count, 1);
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

static void on_signal(int number)
{
    (void)number;
    atomic_fetch_add(&handled, 1);
}

static void yield_often(void)
{
    for (int round = 0; round < 100; round++) {
        sched_yield();
    }
}

START_TEST(threads_that_cannot_be_listed_are_reported)
{
    struct rlimit limit, none;
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, runs, NULL), 0);
    while (atomic_load(&count) == 0) {
        sched_yield();
    }
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    ck_assert_int_eq(keel_mpi_stop_world_begin(60000), 0);
    keel_mpi_stop_world_end();
    /* LeakSanitizer lists the threads, too, at the exit. */
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
}
END_TEST

static void *creates_threads(void *arg)
{
    pthread_t thread;

    while (!atomic_load(&is_over)) {
        if (pthread_create(&thread, NULL, runs_once, NULL) == 0) {
            pthread_join(thread, NULL);
        }
    }
    return NULL;
}

/* libc blocks all signals in a thread at its start. */
START_TEST(a_thread_just_created_is_stopped)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, creates_threads, NULL), 0);
    for (int i = 0; i < 500; i++) {
        int before;

        ck_assert_int_eq(keel_mpi_stop_world_begin(60000), 1);
        before = atomic_load(&count);
        sched_yield();
        ck_assert_int_eq(atomic_load(&count), before);
        keel_mpi_stop_world_end();
    }
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(no_handler_of_the_program_runs_until_the_end)
{
    const struct sigaction action = {.sa_handler = on_signal};
    pthread_t thread;

    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, runs, NULL), 0);
    ck_assert_int_eq(keel_mpi_stop_world_begin(60000), 1);
    ck_assert_int_eq(pthread_kill(thread, SIGUSR1), 0);
    ck_assert_int_eq(raise(SIGUSR1), 0);
    yield_often();
    ck_assert_int_eq(atomic_load(&handled), 0);
    keel_mpi_stop_world_end();
    while (atomic_load(&handled) < 2) {
        sched_yield();
    }
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {no_other_thread_runs_until_the_end,           a_thread_that_does_not_stop_is_reported,
                                  threads_that_cannot_be_listed_are_reported,   a_thread_just_created_is_stopped,
                                  no_handler_of_the_program_runs_until_the_end, NULL};

    return unit_run("mpi_stop_world", tests);
}
