/*
 * A program that computes with teams: rows and columns made before the restart point, a team and a
 * context made in each step, and their collectives, all checked.
 *
 *   shmem_teams_survive STEPS -|PE@STEP.PLACE,...
 *       the named PEs die there in their first incarnation: 0 before a broadcast along its row,
 *       1 before a column's sum, 2 while a team is made, 3 while all collect, 4 in an active
 *       set's sum
 */
#include "deaths.h"
#include "lost.h"

#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVERY = 3, MANY = 1000, WRONG = 1, USAGE = 2 };

static struct {
    long step, sum;
    shmem_team_t column;
} at;                    /* protected */
static shmem_team_t row; /* made again in each incarnation */
static shmem_ctx_t ctx;
static int pe, pes;
static const char *deaths;
static long *word; /* in the heap */

typedef struct {
    long own[MANY], sums[MANY], row[MANY], all[64], one, active;
    long work[SHMEM_REDUCE_SYNC_SIZE], room[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
} memory_t;

/* Lets the writing of files advance. */
static void look(void)
{
    (void)shmem_long_test(word, SHMEM_CMP_LT, -9);
}

static void die_here(unsigned place)
{
    die_when_said(deaths, (unsigned long)pe, (unsigned long)at.step, place);
    lose_when_said(pe, at.step, place, look);
}

static void check(long is, long should, const char *what)
{
    if (is != should) {
        fprintf(stderr, "shmem_teams_survive: PE %d, step %ld: %s is %ld, not %ld\n", pe, at.step, what, is, should);
        shmem_global_exit(WRONG);
    }
}

/* The sum of the world's numbers of a team's PEs. */
static long numbers_of(shmem_team_t team)
{
    long sum = 0;

    for (int i = 0; i < shmem_team_n_pes(team); i++) {
        sum += shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD);
    }
    return sum;
}

static void step_teams(memory_t *memory)
{
    const int root = (int)at.step % shmem_team_n_pes(row), size = shmem_team_n_pes(at.column);

    for (long i = 0; i < MANY; i++) {
        memory->own[i] = pe + at.step + i;
    }
    die_here(0);
    shmem_long_broadcast(row, memory->row, memory->own, MANY, root);
    check(memory->row[MANY - 1], shmem_team_translate_pe(row, root, SHMEM_TEAM_WORLD) + at.step + MANY - 1, "a row");
    die_here(1);
    shmem_long_sum_reduce(at.column, memory->sums, memory->own, MANY);
    check(memory->sums[0], numbers_of(at.column) + at.step * size, "a column");
    check(memory->sums[MANY - 1], numbers_of(at.column) + (at.step + MANY - 1) * size, "a column's end");
}

/* A team of the PEs from the step's PE on, and a context of the team. */
static void step_new(memory_t *memory)
{
    const int first = (int)at.step % pes;
    shmem_team_t team;
    shmem_ctx_t one;

    die_here(2);
    check(shmem_team_split_strided(SHMEM_TEAM_WORLD, first, 1, pes - first, NULL, 0, &team), 0, "a split");
    if (team != SHMEM_TEAM_INVALID) {
        check(shmem_team_create_ctx(team, 0, &one), 0, "a context");
        shmem_ctx_long_p(one, &memory->one, at.step + pe, (shmem_team_my_pe(team) + 1) % shmem_team_n_pes(team));
        shmem_ctx_quiet(one);
        shmem_team_sync(team);
        check(memory->one, at.step + (pe > first ? pe - 1 : pes - 1), "a neighbour's");
        shmem_ctx_destroy(one);
        shmem_team_destroy(team);
    }
    shmem_ctx_long_atomic_add(ctx, &memory->active, 0, shmem_team_my_pe(at.column));
}

static void step_world(memory_t *memory)
{
    die_here(3);
    shmem_long_collect(SHMEM_TEAM_WORLD, memory->all, memory->own, (size_t)(pe % 2 + 1));
    check(memory->all[0], at.step, "what is collected");
    shmem_sync_all();
    die_here(4);
    shmem_long_sum_to_all(&memory->active, memory->own, 1, 0, 0, pes, memory->room, memory->work);
    check(memory->active, pes * (pes - 1) / 2 + at.step * pes, "an active set's sum");
    at.sum += memory->active;
    at.step++;
}

int main(int argc, char **argv)
{
    const long steps = (argc == 3) ? strtol(argv[1], NULL, 10) : 0;
    memory_t *memory;

    if (steps <= 0) {
        fprintf(stderr, "usage: shmem_teams_survive STEPS -|PE@STEP.PLACE,...\n");
        return USAGE;
    }
    shmem_init();
    pe = shmem_my_pe();
    pes = shmem_n_pes();
    memory = shmem_calloc(1, sizeof(*memory));
    word = &memory->one;
    shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &at.column);
    shmem_team_create_ctx(at.column, 0, &ctx);
    shmemx_protect(1, &at, sizeof(at));
    SHMEMX_RESTART_POINT();
    if (shmemx_restarted()) {
        at.column = SHMEM_TEAM_INVALID;
        shmemx_restore();
    }
    deaths = (shmemx_incarnation() == 0) ? argv[2] : NULL;
    while (at.step < steps) {
        step_teams(memory);
        step_new(memory);
        step_world(memory);
        if (at.step % SAVE_EVERY == 0) {
            shmemx_checkpoint();
        }
    }
    check(at.sum, steps * pes * (pes - 1) / 2 + steps * (steps - 1) / 2 * pes, "the end");
    shmem_barrier_all();
    if (pe == 1) {
        printf("shmem_teams_survive: %d PEs, %ld steps: right\n", pes, steps);
        fflush(stdout);
    }
    shmem_finalize();
    return 0;
}
