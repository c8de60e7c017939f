/*
 * Drawn collectives on drawn teams that overlap, one after the other: shmem_random SEED STEPS. All PEs draw the same; who is in the team of
 * a step takes part, with as many words as are drawn, and checks each word that it gets. A team has as many places for results as it
 * takes steps between two syncs, so that nobody puts to one that another still looks at.
 */
#include <shmem.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEAMS = 8, SLOTS = 4, WORDS = 700, MOST_PES = 16, SPACE = WORDS * MOST_PES, WRONG = 1, USAGE = 2 };
enum { BROADCAST, FCOLLECT, COLLECT, ALLTOALL, ALLTOALLS, SUM, XOR, MOST, SYNC, RING, OPERATIONS };

typedef struct {
    shmem_team_t team;
    long steps; /* of this team */
} drawn_team_t;

static drawn_team_t teams[TEAMS];
static int64_t *given, *results; /* of all teams and slots */
static uint64_t *signals;        /* a word of each team */
static uint64_t state;
static long step;

static uint64_t draw(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

/* word @a i of what PE @a pe of the world gives in this step */
static int64_t word(int pe, size_t i)
{
    return (int64_t)(((uint64_t)pe * 1000003 + (uint64_t)step * 7919 + i) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static void check(const drawn_team_t *of, const char *what, size_t i, int64_t is, int64_t should)
{
    if (is != should) {
        fprintf(stderr, "shmem_random: PE %d, step %ld, team %td: %s: word %zu is %" PRId64 ", not %" PRId64 "\n",
                shmem_my_pe(), step, of - teams, what, i, is, should);
        shmem_global_exit(WRONG);
    }
}

static int world_of(const drawn_team_t *of, int pe)
{
    return shmem_team_translate_pe(of->team, pe, SHMEM_TEAM_WORLD);
}

static int64_t reduced(const drawn_team_t *of, int operation, size_t i)
{
    int64_t all = word(world_of(of, 0), i);

    for (int pe = 1; pe < shmem_team_n_pes(of->team); pe++) {
        const int64_t one = word(world_of(of, pe), i);

        all = (operation == SUM) ? all + one : (operation == XOR) ? (all ^ one) : (one > all) ? one : all;
    }
    return all;
}

/* of the PE with that number; no two alike, and none of some */
static size_t length_of(int pe, size_t count)
{
    return count * (size_t)(pe % 3) / 2;
}

static void blocks_check(const drawn_team_t *of, int operation, const int64_t *dest, size_t count)
{
    size_t next = 0;

    for (int pe = 0; pe < shmem_team_n_pes(of->team); pe++) {
        const size_t length = (operation == COLLECT) ? length_of(pe, count) : count;
        const size_t first = (operation == ALLTOALL) ? (size_t)shmem_team_my_pe(of->team) * count : 0;

        for (size_t i = 0; i < length; i++) {
            check(of, "a block", next, dest[next], word(world_of(of, pe), first + i));
            next++;
        }
    }
}

static void blocks(const drawn_team_t *of, int operation, int64_t *dest, const int64_t *source, size_t count)
{
    if (operation == FCOLLECT) {
        shmem_int64_fcollect(of->team, dest, source, count);
    } else if (operation == COLLECT) {
        shmem_int64_collect(of->team, dest, source, length_of(shmem_team_my_pe(of->team), count));
    } else {
        shmem_int64_alltoall(of->team, dest, source, count);
    }
    blocks_check(of, operation, dest, count);
}

/* every second word there, every third here */
static void apart(const drawn_team_t *of, int64_t *dest, const int64_t *source, size_t count)
{
    const int size = shmem_team_n_pes(of->team), me = shmem_team_my_pe(of->team);

    count = count / 6 + 1;
    shmem_int64_alltoalls(of->team, dest, source, 2, 3, count);
    for (size_t i = 0; i < count * (size_t)size; i++) {
        check(of, "a word apart", i, dest[2 * i],
              word(world_of(of, (int)(i / count)), 3 * ((size_t)me * count + i % count)));
    }
}

static void reduction(const drawn_team_t *of, int operation, int64_t *dest, const int64_t *source, size_t count)
{
    if (operation == SUM) {
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

static void ring(drawn_team_t *of, int64_t *dest, const int64_t *source, size_t count)
{
    const int size = shmem_team_n_pes(of->team), me = shmem_team_my_pe(of->team);
    uint64_t *signal = &signals[of - teams];
    shmem_ctx_t ctx;

    if (shmem_team_create_ctx(of->team, 0, &ctx) != 0) {
        shmem_global_exit(WRONG);
    }
    shmem_ctx_int64_put_signal_nbi(ctx, dest, source, count, signal, (uint64_t)step + 1, SHMEM_SIGNAL_SET,
                                   (me + 1) % size);
    shmem_signal_wait_until(signal, SHMEM_CMP_EQ, (uint64_t)step + 1);
    for (size_t i = 0; i < count; i++) {
        check(of, "the neighbour's", i, dest[i], word(world_of(of, (me + size - 1) % size), i));
    }
    shmem_ctx_destroy(ctx);
    shmem_team_sync(of->team); /* the next signal is another one's */
}

static void take_part(drawn_team_t *of, int operation, size_t count, int root)
{
    const size_t at = ((size_t)(of - teams) * SLOTS + (size_t)(of->steps++ % SLOTS)) * SPACE;
    int64_t *source = given + at, *dest = results + at;

    root %= shmem_team_n_pes(of->team);
    for (size_t i = 0; i < SPACE; i++) {
        source[i] = word(shmem_my_pe(), i);
    }
    if (operation == BROADCAST) {
        shmem_int64_broadcast(of->team, dest, source, count, root);
        for (size_t i = 0; i < count && shmem_team_my_pe(of->team) != root; i++) {
            check(of, "what is broadcast", i, dest[i], word(world_of(of, root), i));
        }
    } else if (operation <= ALLTOALL) {
        blocks(of, operation, dest, source, count);
    } else if (operation == ALLTOALLS) {
        apart(of, dest, source, count);
    } else if (operation <= MOST) {
        reduction(of, operation, dest, source, count);
    } else if (operation == RING) {
        ring(of, dest, source, count);
    }
    if (operation == SYNC || of->steps % SLOTS == 0) {
        shmem_team_sync(of->team);
    }
}

/* all, even and odd ones, all from the last down, halves that overlap, rows and columns */
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

int main(int argc, char **argv)
{
    const long steps = (argc == 3) ? strtol(argv[2], NULL, 10) : 0;

    if (steps <= 0) {
        fprintf(stderr, "usage: shmem_random SEED STEPS\n");
        return USAGE;
    }
    state = strtoull(argv[1], NULL, 10);
    shmem_init();
    given = shmem_calloc((size_t)TEAMS * SLOTS * SPACE, sizeof(*given));
    results = shmem_calloc((size_t)TEAMS * SLOTS * SPACE, sizeof(*results));
    signals = shmem_calloc(TEAMS, sizeof(*signals));
    teams_make();
    for (step = 0; step < steps; step++) {
        const int team = (int)draw(TEAMS), operation = (int)draw(OPERATIONS), root = (int)draw(MOST_PES);
        const size_t count = (size_t)(draw(4) == 0 ? draw(WORDS) : draw(9));

        if (teams[team].team != SHMEM_TEAM_INVALID) {
            take_part(&teams[team], operation, count, root);
        }
    }
    shmem_barrier_all();
    printf("shmem_random: PE %d: right\n", shmem_my_pe());
    shmem_finalize();
    return 0;
}
