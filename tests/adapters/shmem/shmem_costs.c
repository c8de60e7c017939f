/*
 * The cost of a death after each group of calls. In each step the program makes calls of one group,
 * and ends with a barrier; all results are checked: shmem_costs GROUP STEPS PE@STEP.PLACE,...|-.
 * The named PEs die there in the first job: 0 at the step's begin, 1 between its calls, 2 before
 * the barrier.
 */
#include "deaths.h"

#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 300, WRONG = 1, USAGE = 2 };

typedef struct {
    long words[64], many[MANY], all[64 * 3], own[MANY], lock, counted, flags[2][4];
    uint64_t signal;
    long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], sync[2][SHMEM_SYNC_SIZE];
} memory_t;

static memory_t *memory;
static int me, pes, right, left;
static long step;
static const char *deaths;

static void die_here(unsigned place)
{
    die_when_said(deaths, (unsigned long)me, (unsigned long)step, place);
}

static void check(long is, long should, const char *what)
{
    if (is != should) {
        fprintf(stderr, "shmem_costs: PE %d, step %ld: %s is %ld, not %ld\n", me, step, what, is, should);
        shmem_global_exit(WRONG);
    }
}

static void puts_of(void)
{
    for (long i = 0; i < MANY; i++) {
        memory->own[i] = me + step + i;
    }
    shmem_long_put(memory->many, memory->own, MANY / 2, right);
    die_here(1);
    shmem_long_put_nbi(&memory->many[MANY / 2], &memory->own[MANY / 2], MANY / 2, right);
    shmem_fence();
    shmem_long_iput(memory->words, memory->own, 2, 1, 10, left);
    shmem_quiet();
    shmem_barrier_all();
    check(memory->many[MANY - 1], left + step + MANY - 1, "what is put");
    check(memory->words[18], right + step + 9, "what is put apart");
}

static void gets_of(void)
{
    long got[MANY] = {0}, one;

    memory->own[MANY - 1] = memory->own[3] = me + step;
    shmem_barrier_all();
    shmem_long_get(got, memory->own, MANY, right);
    check(got[MANY - 1], right + step, "what is got");
    die_here(1);
    one = shmem_long_g(&memory->own[3], left);
    shmem_long_iget(got, memory->own, 1, 3, 2, right);
    check(one + got[1], left + step + right + step, "what is got apart");
    memory->words[0] += one;
}

static void memory_of(void)
{
    long *block = shmem_malloc(1000 + (size_t)step);

    block[0] = step;
    die_here(1);
    block = shmem_realloc(block, 5000);
    check(block[0], step, "what was kept");
    shmem_long_p(&block[1], step, right);
    shmem_barrier_all();
    check(block[1], step, "what was put there");
    shmem_free(block);
}

static void waits_of(void)
{
    const long said = step + 1;
    long saids[2] = {said, said};

    shmem_long_put(memory->many, &said, 1, right);
    shmem_fence();
    shmem_long_p(&memory->flags[0][0], said, right);
    die_here(1);
    shmem_long_wait_until(&memory->flags[0][0], SHMEM_CMP_GE, said);
    check(memory->many[0], said, "what was put before the flag");
    shmem_long_p(&memory->flags[0][1], said, left);
    shmem_long_p(&memory->flags[0][2], said, right);
    shmem_long_wait_until_all_vector(&memory->flags[0][1], 2, NULL, SHMEM_CMP_EQ, saids);
}

static void signals_of(void)
{
    const long said = step + 1;

    shmem_long_put_signal(memory->many, &said, 1, &memory->signal, (uint64_t)said, SHMEM_SIGNAL_SET, right);
    die_here(1);
    check((long)shmem_signal_wait_until(&memory->signal, SHMEM_CMP_EQ, (uint64_t)said), said, "the signal");
    check(memory->many[0], said, "what was put with it");
}

static void collectives_of(void)
{
    memory->own[0] = me + step;
    shmem_long_broadcast(SHMEM_TEAM_WORLD, memory->many, memory->own, MANY, (int)step % pes);
    die_here(1);
    shmem_long_fcollect(SHMEM_TEAM_WORLD, memory->all, memory->own, 1);
    check(memory->all[pes - 1], pes - 1 + step, "what is collected");
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, memory->words, memory->own, 1);
    check(memory->words[0], pes * (pes - 1) / 2 + step * pes, "a sum");
    shmem_team_sync(SHMEM_TEAM_WORLD);
}

static void sets_of(void)
{
    memory->own[0] = me + step;
    shmem_long_max_to_all(memory->words, memory->own, 1, 0, 0, pes, memory->work, memory->sync[0]);
    check(memory->words[0], pes - 1 + step, "the most");
    die_here(1);
    shmem_collect64(memory->all, memory->own, 1, 0, 0, pes, memory->sync[1]);
    check(memory->all[pes - 1], pes - 1 + step, "what is collected");
    shmem_barrier(0, 0, pes, memory->sync[0]);
}

static void teams_of(void)
{
    shmem_team_t team;

    check(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &team), 0, "a split");
    die_here(1);
    memory->own[0] = step;
    shmem_long_min_reduce(team, memory->words, memory->own, 1);
    check(memory->words[0], step, "the least");
    shmem_team_destroy(team);
}

/* Atomics without a result that depends on other PEs. */
static void atomics_of(void)
{
    shmem_long_atomic_add(&memory->counted, 2, right);
    die_here(1);
    shmem_long_atomic_inc(&memory->counted, left);
    shmem_barrier_all();
    check(memory->counted, 3 * (step + 1), "what is added");
}

static void fetching_of(void)
{
    const long was = shmem_long_atomic_fetch_add(&memory->counted, 1, right);

    check(was, step, "what is fetched");
    die_here(1);
    check(shmem_long_atomic_fetch_inc(&memory->words[1], left), step, "what is fetched from the other side");
    shmem_barrier_all();
    check(memory->words[1], step + 1, "what is counted");
}

static void swapping_of(void)
{
    check(shmem_long_atomic_swap(&memory->counted, step + 1, right), step, "what is swapped");
    die_here(1);
    shmem_long_atomic_compare_swap(&memory->words[1], step, step + 1, left);
    shmem_long_atomic_set(&memory->words[2], step, right);
    shmem_barrier_all();
    check(memory->words[1], step + 1, "what is swapped on a condition");
}

static void atomics_and_waits_of(void)
{
    shmem_long_atomic_add(&memory->counted, 1, right);
    die_here(1);
    shmem_long_wait_until(&memory->counted, SHMEM_CMP_EQ, step + 1);
}

static void any_of(void)
{
    shmem_long_p(&memory->flags[step % 2][1 + step % 3], step + 1, right);
    die_here(1);
    check((long)shmem_long_wait_until_any(memory->flags[step % 2], 4, NULL, SHMEM_CMP_EQ, step + 1), 1 + step % 3,
          "which word");
}

static void tests_of(void)
{
    shmem_long_p(&memory->flags[0][0], step + 1, right);
    die_here(1);
    while (!shmem_long_test(&memory->flags[0][0], SHMEM_CMP_EQ, step + 1)) {
    }
}

static void polled_of(void)
{
    const long said = step + 1;

    shmem_long_put_signal(memory->many, &said, 1, &memory->signal, (uint64_t)said, SHMEM_SIGNAL_SET, right);
    die_here(1);
    while (shmem_signal_fetch(&memory->signal) != (uint64_t)said) {
    }
    check(memory->many[0], said, "what was put with it");
}

/* The flag is in the memory of the source, or of the reader. */
static void getting_of(void)
{
    const long said = step + 1;

    shmem_long_p(&memory->many[0], said, right);
    shmem_quiet();
    shmem_long_p(&memory->words[0], said, me);
    shmem_quiet();
    die_here(1);
    while (shmem_long_g(&memory->words[0], left) < said) {
    }
    check(memory->many[0], said, "what was put before what is got");
    shmem_long_p(&memory->words[1], said, left);
    while (shmem_long_g(&memory->words[1], me) < said) {
    }
    while (shmem_long_atomic_fetch(&memory->words[0], right) < said) {
    }
}

static void locks_of(void)
{
    long counted;

    shmem_set_lock(&memory->lock);
    counted = shmem_long_g(&memory->counted, 0);
    die_here(1);
    shmem_long_p(&memory->counted, counted + 1, 0);
    shmem_clear_lock(&memory->lock);
    shmem_barrier_all();
    check(shmem_long_g(&memory->counted, 0), (step + 1) * pes, "what is counted");
}

static const struct {
    const char *name;
    void (*call)(void);
} groups[] = {
    {"puts", puts_of},         {"gets", gets_of},         {"memory", memory_of},
    {"waits", waits_of},       {"signals", signals_of},   {"collectives", collectives_of},
    {"sets", sets_of},         {"teams", teams_of},       {"atomics", atomics_of},
    {"fetching", fetching_of}, {"swapping", swapping_of}, {"atomics_and_waits", atomics_and_waits_of},
    {"any", any_of},           {"tests", tests_of},       {"polled", polled_of},
    {"locks", locks_of},       {"getting", getting_of},
};

static void play(void (*call)(void), long steps)
{
    for (step = 0; step < steps; step++) {
        die_here(0);
        call();
        die_here(2);
        shmem_barrier_all();
    }
}

int main(int argc, char **argv)
{
    const long steps = (argc == 4) ? strtol(argv[2], NULL, 10) : 0;
    const char *job = getenv("KEELRUN_JOB"), *life = getenv("KEEL_INCARNATION");
    size_t i = 0;

    while (argc == 4 && i < sizeof(groups) / sizeof(groups[0]) && strcmp(groups[i].name, argv[1]) != 0) {
        i++;
    }
    if (steps <= 0 || i == sizeof(groups) / sizeof(groups[0])) {
        fprintf(stderr, "usage: shmem_costs GROUP STEPS PE@STEP.PLACE,...|-\n");
        return USAGE;
    }
    deaths = (job != NULL && job[0] == '0' && (life == NULL || life[0] == '0')) ? argv[3] : NULL;
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    right = (me + 1) % pes;
    left = (me + pes - 1) % pes;
    memory = shmem_calloc(1, sizeof(*memory));
    play(groups[i].call, steps);
    if (me == 0) {
        printf("shmem_costs: %s: right\n", argv[1]);
        fflush(stdout);
    }
    shmem_finalize();
    return 0;
}
