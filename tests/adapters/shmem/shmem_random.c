/*
 * Drawn collectives on drawn teams and active sets that overlap, one after the other: shmem_random
 * SEED STEPS [SAVE]. All PEs draw the same. The PEs of a step's team take part, with a drawn number
 * of words, and check each word received. A team has a place for results for each step between two
 * syncs, so no PE puts to a place that another PE still reads. SAVE: with a restart point, and a
 * checkpoint after every SAVE steps.
 */
#include <shmem.h>
#include <shmemx.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEAMS = 8, SETS = 4, SLOTS = 4, WORDS = 700, MOST_PES = 16, SPACE = WORDS * MOST_PES, WRONG = 1, USAGE = 2 };
enum { BROADCAST, FCOLLECT, COLLECT, ALLTOALL, ALLTOALLS, SUM, XOR, MOST, SYNC, RING, OPERATIONS };

/* On the heap. An active set alternates between two of these from step to step. */
typedef struct {
    long sync[SHMEM_SYNC_SIZE], room[WORDS / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
} work_t;

typedef struct {
    shmem_team_t team;
    int is_set, start, log_stride, size; /* of an active set */
    work_t *works;
} drawn_team_t;

static drawn_team_t teams[TEAMS + SETS];
static int64_t *given, *results; /* of all teams and slots */
static uint64_t *signals;        /* a word of each team */
static struct {
    uint64_t drawn;
    long step, steps[TEAMS + SETS]; /* number of all steps, and of each team's */
} at;

static uint64_t draw(uint64_t below)
{
    at.drawn = at.drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (at.drawn >> 33) % below;
}

/* Word @a i of the input of PE @a pe of the world in this step. */
static int64_t word(int pe, size_t i)
{
    return (int64_t)(((uint64_t)pe * 1000003 + (uint64_t)at.step * 7919 + i) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static void check(const drawn_team_t *of, const char *what, size_t i, int64_t is, int64_t should)
{
    if (is != should) {
        fprintf(stderr, "shmem_random: PE %d, step %ld, team %td: %s: word %zu is %" PRId64 ", not %" PRId64 "\n",
                shmem_my_pe(), at.step, of - teams, what, i, is, should);
        shmem_global_exit(WRONG);
    }
}

static int size_of(const drawn_team_t *of)
{
    return of->is_set ? of->size : shmem_team_n_pes(of->team);
}

static int world_of(const drawn_team_t *of, int pe)
{
    return of->is_set ? of->start + (pe << of->log_stride) : shmem_team_translate_pe(of->team, pe, SHMEM_TEAM_WORLD);
}

/* The caller's number in the team; -1: not a member. */
static int number_in(const drawn_team_t *of)
{
    const int from_start = shmem_my_pe() - of->start;

    if (!of->is_set) {
        return (of->team != SHMEM_TEAM_INVALID) ? shmem_team_my_pe(of->team) : -1;
    }
    return (from_start >= 0 && from_start % (1 << of->log_stride) == 0 && from_start >> of->log_stride < of->size)
               ? from_start >> of->log_stride
               : -1;
}

static work_t *work_of(const drawn_team_t *of)
{
    return &of->works[at.steps[of - teams] % 2];
}

static int64_t reduced(const drawn_team_t *of, int operation, size_t i)
{
    int64_t all = word(world_of(of, 0), i);

    for (int pe = 1; pe < size_of(of); pe++) {
        const int64_t one = word(world_of(of, pe), i);

        all = (operation == SUM) ? all + one : (operation == XOR) ? (all ^ one) : (one > all) ? one : all;
    }
    return all;
}

/* The length at the PE with that number; lengths differ, and some are 0. */
static size_t length_of(int pe, size_t count)
{
    return count * (size_t)(pe % 3) / 2;
}

static void blocks_check(const drawn_team_t *of, int operation, const int64_t *dest, size_t count)
{
    size_t next = 0;

    for (int pe = 0; pe < size_of(of); pe++) {
        const size_t length = (operation == COLLECT) ? length_of(pe, count) : count;
        const size_t first = (operation == ALLTOALL) ? (size_t)number_in(of) * count : 0;

        for (size_t i = 0; i < length; i++) {
            check(of, "a block", next, dest[next], word(world_of(of, pe), first + i));
            next++;
        }
    }
}

static void blocks_of_set(const drawn_team_t *of, int operation, int64_t *dest, const int64_t *source, size_t count)
{
    const int start = of->start, stride = of->log_stride, size = of->size;
    long *sync = work_of(of)->sync;

    if (operation == FCOLLECT) {
        shmem_fcollect64(dest, source, count, start, stride, size, sync);
    } else if (operation == COLLECT) {
        shmem_collect64(dest, source, length_of(number_in(of), count), start, stride, size, sync);
    } else {
        shmem_alltoall64(dest, source, count, start, stride, size, sync);
    }
}

static void blocks(const drawn_team_t *of, int operation, int64_t *dest, const int64_t *source, size_t count)
{
    if (of->is_set) {
        blocks_of_set(of, operation, dest, source, count);
    } else if (operation == FCOLLECT) {
        shmem_int64_fcollect(of->team, dest, source, count);
    } else if (operation == COLLECT) {
        shmem_int64_collect(of->team, dest, source, length_of(number_in(of), count));
    } else {
        shmem_int64_alltoall(of->team, dest, source, count);
    }
    blocks_check(of, operation, dest, count);
}

/* Every second word there, every third word here. */
static void apart(const drawn_team_t *of, int64_t *dest, const int64_t *source, size_t count)
{
    const int size = size_of(of), me = number_in(of);

    count = count / 6 + 1;
    if (of->is_set) {
        shmem_alltoalls64(dest, source, 2, 3, count, of->start, of->log_stride, size, work_of(of)->sync);
    } else {
        shmem_int64_alltoalls(of->team, dest, source, 2, 3, count);
    }
    for (size_t i = 0; i < count * (size_t)size; i++) {
        check(of, "a word apart", i, dest[2 * i],
              word(world_of(of, (int)(i / count)), 3 * ((size_t)me * count + i % count)));
    }
}

static void reduction_of_set(const drawn_team_t *of, int operation, int64_t *dest, int64_t *source, size_t count)
{
    work_t *work = work_of(of);
    long *to = (long *)dest, *from = (long *)source;

    if (operation == SUM) {
        shmem_long_sum_to_all(to, from, (int)count, of->start, of->log_stride, of->size, work->room, work->sync);
    } else if (operation == XOR) {
        shmem_long_xor_to_all(to, from, (int)count, of->start, of->log_stride, of->size, work->room, work->sync);
    } else {
        shmem_long_max_to_all(to, from, (int)count, of->start, of->log_stride, of->size, work->room, work->sync);
    }
}

static void reduction(const drawn_team_t *of, int operation, int64_t *dest, int64_t *source, size_t count)
{
    if (of->is_set) {
        reduction_of_set(of, operation, dest, source, count);
    } else if (operation == SUM) {
        shmem_int64_sum_reduce(of->team, dest, source, count);
    } else if (operation == XOR) {
        shmem_uint64_xor_reduce(of->team, (uint64_t *)dest, (const uint64_t *)source, count);
    } else {
        shmem_int64_max_reduce(of->team, dest, source, count);
    }
    for (size_t i = 0; i < count; i++) {
        check(of, "a reduction", i, dest[i], reduced(of, operation, i));
    }
}

static void ring(const drawn_team_t *of, int64_t *dest, const int64_t *source, size_t count)
{
    const int size = size_of(of), me = number_in(of);
    uint64_t *signal = &signals[of - teams];
    shmem_ctx_t ctx;

    if (shmem_team_create_ctx(of->team, 0, &ctx) != 0) {
        shmem_global_exit(WRONG);
    }
    shmem_ctx_int64_put_signal_nbi(ctx, dest, source, count, signal, (uint64_t)at.step + 1, SHMEM_SIGNAL_SET,
                                   (me + 1) % size);
    shmem_signal_wait_until(signal, SHMEM_CMP_EQ, (uint64_t)at.step + 1);
    for (size_t i = 0; i < count; i++) {
        check(of, "the neighbour's", i, dest[i], word(world_of(of, (me + size - 1) % size), i));
    }
    shmem_ctx_destroy(ctx);
    shmem_team_sync(of->team); /* the next signal is for another step */
}

static void broadcast(const drawn_team_t *of, int64_t *dest, const int64_t *source, size_t count, int root)
{
    root %= size_of(of);
    if (of->is_set) {
        shmem_broadcast64(dest, source, count, root, of->start, of->log_stride, of->size, work_of(of)->sync);
    } else {
        shmem_int64_broadcast(of->team, dest, source, count, root);
    }
    for (size_t i = 0; i < count && number_in(of) != root; i++) {
        check(of, "what is broadcast", i, dest[i], word(world_of(of, root), i));
    }
}

static void sync_with(const drawn_team_t *of, int is_barrier)
{
    if (!of->is_set) {
        shmem_team_sync(of->team);
    } else if (is_barrier) {
        shmem_barrier(of->start, of->log_stride, of->size, of->works[2].sync);
    } else {
        shmem_sync(of->start, of->log_stride, of->size, of->works[2].sync);
    }
}

static void take_part(const drawn_team_t *of, int operation, size_t count, int root)
{
    long *steps = &at.steps[of - teams];
    const size_t place = ((size_t)(of - teams) * SLOTS + (size_t)(++*steps % SLOTS)) * SPACE;
    int64_t *source = given + place, *dest = results + place;

    for (size_t i = 0; i < SPACE; i++) {
        source[i] = word(shmem_my_pe(), i);
    }
    if (operation == BROADCAST) {
        broadcast(of, dest, source, count, root);
    } else if (operation <= ALLTOALL) {
        blocks(of, operation, dest, source, count);
    } else if (operation == ALLTOALLS) {
        apart(of, dest, source, count);
    } else if (operation <= MOST) {
        reduction(of, operation, dest, source, count);
    } else if (operation == RING && !of->is_set) {
        ring(of, dest, source, count);
    }
    if (operation == SYNC || *steps % SLOTS == 0) {
        sync_with(of, operation == SYNC);
    }
}

/* All PEs, even and odd ones, all from the last down, overlapping halves, rows and columns. */
static void teams_make(void)
{
    const int pes = shmem_n_pes(), most = pes * 2 / 3 + 1;

    teams[0].team = SHMEM_TEAM_WORLD;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (pes + 1) / 2, NULL, 0, &teams[1].team);
    teams[2].team = SHMEM_TEAM_INVALID;
    if (pes > 1) {
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, pes / 2, NULL, 0, &teams[2].team);
    }
    shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &teams[3].team);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, most < pes ? most : pes, NULL, 0, &teams[4].team);
    shmem_team_split_strided(teams[3].team, 0, 1, most < pes ? most : pes, NULL, 0, &teams[5].team);
    shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &teams[6].team, NULL, 0, &teams[7].team);
}

/* All PEs, even and odd ones, the last half. */
static void sets_make(void)
{
    const int pes = shmem_n_pes(),
              sets[SETS][3] = {{0, 0, pes}, {0, 1, (pes + 1) / 2}, {1, 1, pes / 2}, {pes / 2, 0, pes - pes / 2}};
    work_t *works = shmem_calloc((size_t)SETS * 3, sizeof(*works)); /* SHMEM_SYNC_VALUE is 0 */

    for (int i = 0; i < SETS; i++) {
        teams[TEAMS + i] =
            (drawn_team_t){SHMEM_TEAM_INVALID, 1, sets[i][0], sets[i][1], sets[i][2], &works[(size_t)i * 3]};
    }
}

static void steps_do(long steps, long save)
{
    while (at.step < steps) {
        const int team = (int)draw(TEAMS + SETS), operation = (int)draw(OPERATIONS), root = (int)draw(MOST_PES);
        const size_t count = (size_t)(draw(4) == 0 ? draw(WORDS) : draw(40));

        if (number_in(&teams[team]) >= 0) {
            take_part(&teams[team], operation, count, root);
        }
        at.step++;
        if (save > 0 && at.step % save == 0) {
            shmemx_checkpoint();
        }
    }
}

int main(int argc, char **argv)
{
    const long steps = (argc >= 3) ? strtol(argv[2], NULL, 10) : 0, save = (argc == 4) ? strtol(argv[3], NULL, 10) : 0;

    if (steps <= 0 || save < 0 || argc > 4) {
        fprintf(stderr, "usage: shmem_random SEED STEPS [SAVE]\n");
        return USAGE;
    }
    at.drawn = strtoull(argv[1], NULL, 10);
    shmem_init();
    given = shmem_calloc((size_t)(TEAMS + SETS) * SLOTS * SPACE, sizeof(*given));
    results = shmem_calloc((size_t)(TEAMS + SETS) * SLOTS * SPACE, sizeof(*results));
    signals = shmem_calloc(TEAMS, sizeof(*signals));
    teams_make();
    sets_make();
    if (save > 0) {
        shmemx_protect(1, &at, sizeof(at));
        SHMEMX_RESTART_POINT();
        if (shmemx_restarted()) {
            shmemx_restore();
        }
    }
    steps_do(steps, save);
    shmem_barrier_all();
    printf("shmem_random: PE %d: right\n", shmem_my_pe());
    shmem_finalize();
    return 0;
}
