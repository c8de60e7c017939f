/*
 * Silent processes that hang, and silent processes without a core: the decision alone, and its data
 * from real processes.
 */
#include "runtime/starved.h"

#include "runtime_ops.h"
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PID = 77, LOOKS = 4000 };

#define SECOND 1000000000ull

/* A process seen after @a lived_s seconds, with @a ran_s seconds on a core and @a waited_s seconds
 * of waiting for a core. */
static keel_sight_t seen(char state, uint64_t lived_s, uint64_t ran_s, uint64_t waited_s)
{
    return (keel_sight_t){.pid = PID,
                          .state = state,
                          .lived_ns = lived_s * SECOND,
                          .ran_ns = ran_s * SECOND,
                          .waited_ns = waited_s * SECOND};
}

/* True if an accusation of 1 + @a repeats seconds of silence gets a reprieve. */
static int is_reprieved(keel_reprieve_t *last, keel_sight_t now, uint32_t repeats)
{
    return keel_starved_is_reprieved(last, &now, repeats, (1 + repeats) * SECOND);
}

START_TEST(stopped_or_stuck_process_gets_no_reprieve)
{
    const char states[] = {'T', 't', 'D', 'Z', 'X', '?'};

    for (size_t i = 0; i < sizeof states; i++) {
        keel_reprieve_t last = {.given = 0};

        /* for any former shortage of cores */
        ck_assert(!is_reprieved(&last, seen(states[i], 10, 1, 9), 0));
    }
}
END_TEST

START_TEST(sleeping_process_that_had_its_cores_gets_no_reprieve)
{
    keel_reprieve_t last = {.given = 0};

    ck_assert(!is_reprieved(&last, seen('S', 100, 50, 24), 0));
    ck_assert(!is_reprieved(&last, seen('S', 104, 50, 24), 1));
}
END_TEST

START_TEST(process_without_a_core_gets_a_bounded_number_of_reprieves)
{
    keel_reprieve_t last = {.given = 0};

    for (unsigned repeats = 0; repeats < KEEL_REPRIEVES_MAX; repeats++) {
        ck_assert(is_reprieved(&last, seen('R', 10 + repeats, 9, 0), repeats));
    }
    ck_assert(!is_reprieved(&last, seen('R', 30, 9, 19), KEEL_REPRIEVES_MAX));
    ck_assert(!is_reprieved(&last, seen('R', 31, 9, 20), KEEL_REPRIEVES_MAX + 1));
    /* Another silence is accused for the first time again. */
    ck_assert(is_reprieved(&last, seen('R', 32, 9, 20), 0));
}
END_TEST

START_TEST(silent_process_with_a_core_gets_one_reprieve)
{
    keel_reprieve_t last = {.given = 0};

    ck_assert(is_reprieved(&last, seen('R', 100, 100, 0), 0));
    ck_assert(!is_reprieved(&last, seen('R', 110, 106, 4), 1));
    /* half of the time is the share of a busy process beside another */
    ck_assert(is_reprieved(&last, seen('R', 120, 111, 9), 2));
}
END_TEST

/* The judge looked at another process between any two looks. */
START_TEST(process_forgotten_between_two_looks_gets_no_more_reprieves)
{
    for (uint32_t repeats = 0; repeats < 2 * KEEL_REPRIEVES_MAX; repeats++) {
        keel_reprieve_t last = {.seen = {.pid = PID + 1}};

        ck_assert_int_eq(is_reprieved(&last, seen('R', 10 + repeats, 0, 0), repeats), repeats < KEEL_REPRIEVES_MAX);
    }
}
END_TEST

/* The last wait for a core has just ended, and the answer is on its way. */
START_TEST(process_without_a_core_since_the_last_look_gets_a_reprieve)
{
    keel_reprieve_t last = {.given = 0};

    ck_assert(is_reprieved(&last, seen('S', 100, 1, 25), 0)); /* at first the whole life counts */
    /* then the time since the last look */
    ck_assert(is_reprieved(&last, seen('S', 104, 1, 26), 1));
    ck_assert(!is_reprieved(&last, seen('S', 112, 1, 27), 2));
}
END_TEST

START_TEST(what_was_seen_of_another_does_not_count)
{
    keel_reprieve_t last = {.seen = {.pid = PID + 1, .lived_ns = 90 * SECOND}};

    ck_assert(!is_reprieved(&last, seen('S', 100, 1, 10), 1));
    /* The last look does not count if another thread of the process was seen then: a thread that
     * was older, had run more, or had waited more. */
    last.seen = seen('S', 200, 0, 0);
    ck_assert(is_reprieved(&last, seen('S', 100, 1, 30), 1));
    last.seen = seen('S', 50, 2, 29);
    ck_assert(is_reprieved(&last, seen('S', 100, 1, 30), 1));
    last.seen = seen('S', 50, 0, 40);
    ck_assert(is_reprieved(&last, seen('S', 100, 1, 30), 1));
}
END_TEST

/* The judge had no core, and gets four accusations at once that were made a second apart. */
START_TEST(old_accusations_decide_nothing)
{
    keel_reprieve_t last = {.given = 0};

    ck_assert(is_reprieved(&last, seen('R', 100, 1, 50), 0));
    for (uint32_t repeats = 1; repeats < KEEL_REPRIEVES_MAX + 5; repeats++) {
        ck_assert(is_reprieved(&last, seen('S', 100, 2, 50), repeats));
    }
    ck_assert_uint_eq(last.given, 1);
    ck_assert(!is_reprieved(&last, seen('T', 100, 2, 50), KEEL_REPRIEVES_MAX + 5));
    /* An accusation in time does decide: the process had its cores since. */
    ck_assert(!is_reprieved(&last, seen('S', 102, 2, 50), KEEL_REPRIEVES_MAX + 6));
}
END_TEST

START_TEST(process_with_enough_time_gets_no_reprieve)
{
    keel_reprieve_t last = {.given = 0};

    ck_assert(!is_reprieved(&last, seen('R', 100, 0, 100), KEEL_REPEATS_ENOUGH));
    ck_assert(is_reprieved(&last, seen('R', 100, 0, 100), 0));
    ck_assert(!is_reprieved(&last, seen('R', 100, 0, 100), KEEL_REPEATS_ENOUGH));
}
END_TEST

START_TEST(invisible_process_gets_no_reprieve)
{
    keel_reprieve_t last = {.given = 0};

    ck_assert(!is_reprieved(&last, (keel_sight_t){.state = 'R'}, 0));
}
END_TEST

/* ---- real processes ---- */

typedef struct child {
    pid_t pid;
    int rest; /* ends with the end of the parent */
} child_t;

static void *spin(void *arg)
{
    (void)arg;
    prctl(PR_SET_NAME, "a (busy) one");
    for (;;) {
        __asm__ volatile("");
    }
    return NULL;
}

/* Starts a process: the first thread sleeps, another one, with a name, is busy. */
static child_t child_start(void)
{
    int ends[2];
    child_t child;
    char byte;

    ck_assert_int_eq(pipe(ends), 0);
    child.pid = fork();
    ck_assert_int_ge(child.pid, 0);
    if (child.pid == 0) {
        pthread_t thread;

        close(ends[1]);
        if (pthread_create(&thread, NULL, spin, NULL) == 0) {
            (void)!read(ends[0], &byte, 1);
        }
        _exit(0);
    }
    close(ends[0]);
    child.rest = ends[1];
    return child;
}

/* Looks until the process is in the state, which the process reaches on its own. */
static keel_sight_t look_until(const child_t *child, const char *thread, char state)
{
    keel_sight_t sight = {.pid = 0};

    for (unsigned looks = 0; looks < LOOKS; looks++) {
        if (keel_process_see(child->pid, thread, &sight) == (thread != NULL) && sight.state == state) {
            break;
        }
        usleep(5000);
    }
    ck_assert_int_eq(sight.pid, child->pid);
    ck_assert_int_eq(sight.state, state);
    return sight;
}

START_TEST(a_thread_is_seen_by_its_name)
{
    const child_t child = child_start();
    keel_reprieve_t last = {.given = 0};
    keel_sight_t sight;

    sight = look_until(&child, "a (busy) one", 'R');
    ck_assert(is_reprieved(&last, sight, 0));
    (void)look_until(&child, NULL, 'S');
    ck_assert(!keel_process_see(child.pid, "nobody", &sight)); /* then the first thread is seen */
    ck_assert_int_eq(sight.pid, child.pid);
    kill(child.pid, SIGSTOP);
    sight = look_until(&child, "a (busy) one", 'T');
    ck_assert(!is_reprieved(&last, sight, 0));
    ck_assert(sight.ran_ns > 0 || access("/proc/self/schedstat", R_OK) != 0);
    kill(child.pid, SIGKILL);
    ck_assert_int_eq(waitpid(child.pid, NULL, 0), child.pid);
    ck_assert(!keel_process_see(child.pid, "a (busy) one", &sight));
    ck_assert_int_eq(sight.pid, 0);
    close(child.rest);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        stopped_or_stuck_process_gets_no_reprieve,
        sleeping_process_that_had_its_cores_gets_no_reprieve,
        process_without_a_core_gets_a_bounded_number_of_reprieves,
        silent_process_with_a_core_gets_one_reprieve,
        process_forgotten_between_two_looks_gets_no_more_reprieves,
        process_without_a_core_since_the_last_look_gets_a_reprieve,
        what_was_seen_of_another_does_not_count,
        old_accusations_decide_nothing,
        process_with_enough_time_gets_no_reprieve,
        invisible_process_gets_no_reprieve,
        a_thread_is_seen_by_its_name,
        NULL,
    };

    return unit_run("starved", tests);
}
