/* The choice of the spare for a dead rank, and the end of the job without spares. */
#include <base/memory.h>
#include <runtime/pmix_runtime.h>
#include <runtime/pmix_spawn.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define SPARE_RANKS 4

static uint64_t now_ns;
static unsigned aborts;

static uint64_t tell_now(keel_runtime_t *runtime)
{
    (void)runtime;
    return now_ns;
}

static void count_abort(keel_runtime_t *runtime, int status, const char *reason)
{
    (void)runtime;
    (void)status;
    (void)reason;
    aborts++;
}

static const keel_runtime_ops_t ops = {.name = "test", .now_ns = tell_now, .abort = count_abort};
static keel_runtime_pmix_t runtime;

/* Opens rank 0 of four, without a launcher; messages to peers go nowhere. */
static void spare_open(uint32_t spares)
{
    runtime = (keel_runtime_pmix_t){.base = {.ops = &ops, .size = SPARE_RANKS}, .job_size = SPARE_RANKS + spares};
    now_ns = 1000000000000ull;
    aborts = 0;
    ck_assert_int_eq(keel_pmix_spares_init(&runtime, spares), KEEL_OK);
}

static void spare_note(keel_event_type_t type, uint32_t rank, uint32_t incarnation)
{
    const keel_event_t event = {.type = type, .rank = rank, .incarnation = incarnation};

    keel_pmix_spares_note(&runtime, &event);
}

/* Waits until each spare that does not answer is given up. */
static void spare_wait(unsigned spares)
{
    for (unsigned i = 0; i < (spares + 1) * 150; i++) {
        now_ns += 200000000ull;
        keel_pmix_spares_step(&runtime);
    }
}

START_TEST(job_ends_when_a_rank_is_dead_and_no_spare_is_left)
{
    spare_open(1);
    spare_note(KEEL_EVENT_DEATH, 2, 0);
    keel_pmix_spares_step(&runtime);
    ck_assert_uint_eq(aborts, 0);
    spare_wait(1);
    ck_assert_uint_gt(aborts, 0);
    keel_pmix_spares_release(&runtime);
}
END_TEST

/* All other ranks have passed the last gsync: no replacement is needed, so none is missed. */
START_TEST(no_spare_is_called_for_a_death_after_the_last_gsync)
{
    spare_open(1);
    keel_pmix_spares_finish(&runtime.base);
    spare_note(KEEL_EVENT_DEATH, 2, 0);
    spare_wait(1);
    ck_assert_uint_eq(runtime.spares.lives[2].asked, 0);
    ck_assert_int_eq(atomic_load(&runtime.spares.spare[0].is_dead), 0);
    ck_assert_uint_eq(aborts, 0);
    keel_pmix_spares_release(&runtime);
}
END_TEST

/* Starts an idle child. */
static pid_t spare_start(keel_process_t *process)
{
    int fds[2];
    pid_t child;

    ck_assert_int_eq(pipe(fds), 0);
    child = fork();
    if (child == 0) {
        keel_process_self(process);
        if (write(fds[1], process, sizeof *process) == (ssize_t)sizeof *process) {
            for (;;) {
                pause();
            }
        }
        _exit(1);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(read(fds[0], process, sizeof *process), sizeof *process);
    close(fds[0]);
    close(fds[1]);
    return child;
}

/* The silent spare might answer after another spare got the rank. */
START_TEST(spare_that_does_not_answer_is_gone_before_it_is_passed_over)
{
    keel_process_t process;
    const pid_t child = spare_start(&process);
    int status;

    spare_open(1);
    ck_assert_int_eq(keel_pmix_processes_init(&runtime), KEEL_OK);
    keel_pmix_add_process(&runtime, SPARE_RANKS, &process);
    spare_note(KEEL_EVENT_DEATH, 2, 0);
    keel_pmix_spares_step(&runtime);
    ck_assert(!keel_process_is_gone(&process));
    spare_wait(1);
    ck_assert_uint_gt(aborts, 0);
    ck_assert(keel_process_is_gone(&process));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    keel_pmix_spares_release(&runtime);
    keel_free(runtime.processes);
}
END_TEST

/* PMIx's thread knows of the join. The thread inside Keel takes the event from the queue after this
 * step, or much later. */
START_TEST(spare_that_has_joined_is_not_missed_before_its_event_is_taken)
{
    spare_open(1);
    spare_note(KEEL_EVENT_DEATH, 2, 0);
    keel_pmix_spares_step(&runtime);
    keel_pmix_spare_joined(&runtime, 2, 1, SPARE_RANKS);
    spare_wait(1);
    ck_assert_uint_eq(aborts, 0);
    spare_note(KEEL_EVENT_JOIN, 2, 1);
    spare_wait(1);
    ck_assert_uint_eq(aborts, 0);
    spare_note(KEEL_EVENT_DEATH, 2, 1);
    spare_wait(1);
    ck_assert_uint_gt(aborts, 0);
    keel_pmix_spares_release(&runtime);
}
END_TEST

START_TEST(spare_of_another_rank_is_none_for_this_one)
{
    spare_open(1);
    spare_note(KEEL_EVENT_DEATH, 2, 0);
    keel_pmix_spare_joined(&runtime, 3, 1, SPARE_RANKS);
    spare_wait(0);
    ck_assert_uint_gt(aborts, 0);
    keel_pmix_spares_release(&runtime);
}
END_TEST

/* Orders the spares in turn from the rank's number on. The order ignores which spares are known. */
static void order_from_rank(void *arg, uint32_t rank, uint32_t *spare)
{
    const uint32_t *count = arg;

    for (uint32_t s = 0; s < *count; s++) {
        spare[s] = (rank + s) % *count;
    }
}

/* Returns the spare that was called and given up for not answering. */
static uint32_t spare_given_up(uint32_t spares)
{
    for (unsigned i = 0; i < 150; i++) {
        int was_dead[8];

        for (uint32_t s = 0; s < spares; s++) {
            was_dead[s] = atomic_load(&runtime.spares.spare[s].is_dead);
        }
        now_ns += 200000000ull;
        keel_pmix_spares_step(&runtime);
        for (uint32_t s = 0; s < spares; s++) {
            if (!was_dead[s] && atomic_load(&runtime.spares.spare[s].is_dead)) {
                return s;
            }
        }
    }
    return UINT32_MAX;
}

START_TEST(incarnations_are_the_spares_of_the_ranks_order)
{
    uint32_t spares = 4;

    spare_open(spares);
    keel_pmix_use_spare_order(&runtime.base, order_from_rank, &spares);
    spare_note(KEEL_EVENT_DEATH, 2, 0);
    ck_assert_uint_eq(spare_given_up(spares), 2);
    /* the second spare in rank 2's order is the third in rank 1's */
    keel_pmix_spare_joined(&runtime, 1, 3, SPARE_RANKS + 3);
    keel_pmix_spare_joined(&runtime, 2, 3, SPARE_RANKS + 0);
    ck_assert_uint_eq(spare_given_up(spares), UINT32_MAX);
    spare_note(KEEL_EVENT_JOIN, 2, 3);
    keel_pmix_spare_died(&runtime, SPARE_RANKS + 0);
    spare_note(KEEL_EVENT_DEATH, 2, 3);
    ck_assert_uint_eq(spare_given_up(spares), 1); /* the last spare of the order */
    ck_assert_uint_eq(aborts, 0);
    spare_wait(1);
    ck_assert_uint_gt(aborts, 0);
    keel_pmix_spares_release(&runtime);
}
END_TEST

START_TEST(processes_are_known_by_rank_and_incarnation)
{
    uint32_t rank, incarnation;

    spare_open(3);
    ck_assert_uint_eq(keel_pmix_holder_of(&runtime, 2, 0), 2);
    ck_assert_uint_eq(keel_pmix_holder_of(&runtime, 2, 1), KEEL_PMIX_NO_RANK);
    ck_assert_uint_eq(keel_pmix_holder_of(&runtime, 2, KEEL_INCARNATION_ANY), 2);
    keel_pmix_spare_joined(&runtime, 2, 2, SPARE_RANKS + 1);
    keel_pmix_spare_joined(&runtime, 2, 1, SPARE_RANKS + 2);
    ck_assert_uint_eq(keel_pmix_holder_of(&runtime, 2, 1), SPARE_RANKS + 2);
    ck_assert_uint_eq(keel_pmix_holder_of(&runtime, 2, KEEL_INCARNATION_ANY), SPARE_RANKS + 1);
    ck_assert(keel_pmix_rank_of(&runtime, SPARE_RANKS + 1, &rank, &incarnation) && rank == 2 && incarnation == 2);
    ck_assert(keel_pmix_rank_of(&runtime, 3, &rank, &incarnation) && rank == 3 && incarnation == 0);
    ck_assert(!keel_pmix_rank_of(&runtime, SPARE_RANKS, &rank, &incarnation)); /* the spare waits */
    ck_assert(!keel_pmix_rank_of(&runtime, SPARE_RANKS + 3, &rank, &incarnation));
    keel_pmix_spares_release(&runtime);
}
END_TEST

static void spawned_tell(const keel_process_t *process, unsigned spare)
{
    char text[128];

    snprintf(text, sizeof text, "job%d 2 %u 0:%" PRId64 ":%" PRIu64 " 2:1:1", (int)getpid(), spare, process->pid,
             process->start);
    ck_assert_int_eq(setenv(KEEL_ENV_SPAWNED, text, 1), 0);
}

/* Ends a process of the job. */
static void spare_stop(pid_t child)
{
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

START_TEST(spawned_process_ends_when_all_announced_ranks_are_gone)
{
    keel_process_t process;
    const pid_t child = spare_start(&process);

    spare_open(0);
    spawned_tell(&process, 0);
    ck_assert_int_eq(keel_pmix_spawned_open(&runtime), KEEL_OK);
    spare_stop(child);
    spawned_tell(&process, 1); /* another number, claimed by no process */
    ck_assert_int_eq(keel_pmix_spawned_open(&runtime), KEEL_ERR_STATE);
    keel_pmix_spares_release(&runtime);
}
END_TEST

/* All processes left before the spawned process could learn of the end. */
START_TEST(spawned_process_that_meets_no_rank_finds_the_job_over)
{
    keel_suspicion_t suspicion = {
        .rank = 3, .incarnation = KEEL_INCARNATION_ANY, .is_absent = 1, .live = 1, .heard = 1, .silence_ns = 1};
    keel_process_t process;
    const pid_t child = spare_start(&process);
    keel_event_t event;

    spare_open(1);
    ck_assert_int_eq(keel_event_queue_init(&runtime.queue, SPARE_RANKS), KEEL_OK);
    spawned_tell(&process, 0);
    ck_assert_int_eq(keel_pmix_suspect(&runtime.base, &suspicion), KEEL_OK);
    spare_stop(child);
    suspicion.live = 2; /* a peer that answered goes on */
    ck_assert_int_eq(keel_pmix_suspect(&runtime.base, &suspicion), KEEL_OK);
    ck_assert_int_eq(keel_event_queue_pop(&runtime.queue, &event), 0);
    suspicion.live = 1;
    ck_assert_int_eq(keel_pmix_suspect(&runtime.base, &suspicion), KEEL_OK);
    ck_assert_int_eq(keel_event_queue_pop(&runtime.queue, &event), 1);
    ck_assert_int_eq(event.type, KEEL_EVENT_EXIT);
    ck_assert_uint_eq(event.rank, 3);
    keel_event_queue_release(&runtime.queue);
    keel_pmix_spares_release(&runtime);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {job_ends_when_a_rank_is_dead_and_no_spare_is_left,
                                  no_spare_is_called_for_a_death_after_the_last_gsync,
                                  spare_that_does_not_answer_is_gone_before_it_is_passed_over,
                                  spare_that_has_joined_is_not_missed_before_its_event_is_taken,
                                  spare_of_another_rank_is_none_for_this_one,
                                  incarnations_are_the_spares_of_the_ranks_order,
                                  processes_are_known_by_rank_and_incarnation,
                                  spawned_process_ends_when_all_announced_ranks_are_gone,
                                  spawned_process_that_meets_no_rank_finds_the_job_over,
                                  NULL};

    return unit_run("pmix_spare", tests);
}
