/* Teams: members, teams made from other teams, the maximal number of teams; and contexts. */
#include "shmem_chapter.h"

enum { MANY_TEAMS = 62 /* besides the two predefined teams */, MANY_CONTEXTS = 255 };

static void check_predefined(void)
{
    static shmem_team_t world = SHMEM_TEAM_WORLD; /* a constant */
    shmem_team_config_t config = {-1};

    EXPECT(shmem_team_my_pe(world) == pe && shmem_team_n_pes(world) == pes);
    EXPECT(shmem_team_translate_pe(SHMEM_TEAM_SHARED, shmem_team_my_pe(SHMEM_TEAM_SHARED), SHMEM_TEAM_WORLD) == pe);
    EXPECT(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1 && shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1);
    EXPECT(shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, &config) == 0 && config.num_contexts >= 0);
    EXPECT(shmem_team_get_config(SHMEM_TEAM_INVALID, 0, &config) != 0);
    EXPECT(shmem_team_sync(SHMEM_TEAM_WORLD) == 0 && shmem_team_sync(SHMEM_TEAM_SHARED) == 0);
    EXPECT(shmem_team_sync(SHMEM_TEAM_INVALID) != 0 && shmem_sync(SHMEM_TEAM_WORLD) == 0);
    EXPECT(shmemx_team_ptr(SHMEM_TEAM_SHARED, &config, 0) == NULL && shmemx_team_ptr(world, &config, pes) == NULL);
    EXPECT(shmemx_team_ptr(SHMEM_TEAM_SHARED, &world, shmem_team_my_pe(SHMEM_TEAM_SHARED)) == &world &&
           shmemx_team_ptr(world, &world, pes) == NULL);
    shmem_team_destroy(SHMEM_TEAM_INVALID);
}

/* Loads and stores to the memory of other PEs: only of the team's PEs, of a global variable, and
 * with the neighbours' stores. */
static void check_shared(void)
{
    static long numbers[64];
    const char *lanes = getenv("KEEL_LANES"), *promise = getenv("SHMEM_KEEL_DETERMINISTIC");
    const int size = shmem_team_n_pes(SHMEM_TEAM_SHARED), me = shmem_team_my_pe(SHMEM_TEAM_SHARED);
    long *stored = shmem_calloc(2, sizeof(long)), *theirs;

    EXPECT(lanes == NULL || size == (strcmp(lanes, "direct") == 0 && promise == NULL ? pes : 1));
    numbers[pe] = 100 + pe;
    shmem_barrier_all();
    theirs = shmemx_team_ptr(SHMEM_TEAM_SHARED, stored, (me + 1) % size);
    EXPECT(theirs != NULL);
    theirs[1] = 7 + me;
    for (int i = 0; i < pes; i++) {
        const long *global = shmem_ptr(numbers, i);
        const int is_shared = shmem_team_translate_pe(SHMEM_TEAM_WORLD, i, SHMEM_TEAM_SHARED) >= 0;

        EXPECT((global != NULL) == is_shared && (global == NULL || global[i] == 100 + i));
    }
    shmem_barrier_all();
    EXPECT(stored[1] == 7 + (me + size - 1) % size);
    numbers[pe] = 0;
    shmem_free(stored);
}

/* The upper half, and every second PE of it, by numbers of the world and of the half; the teams
 * overlap. */
static void check_strided(void)
{
    const int half = (pes + 1) / 2, size = pes - pes / 2;
    const shmem_team_config_t config = {.num_contexts = 3};
    shmem_team_config_t got = {0};
    shmem_team_t upper, second, back;

    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes / 2, 1, size, &config, SHMEM_TEAM_NUM_CONTEXTS, &upper) == 0);
    EXPECT((upper != SHMEM_TEAM_INVALID) == (pe >= pes / 2));
    if (upper != SHMEM_TEAM_INVALID) {
        EXPECT(shmem_team_my_pe(upper) == pe - pes / 2 && shmem_team_n_pes(upper) == half);
        EXPECT(shmem_team_translate_pe(upper, half - 1, SHMEM_TEAM_WORLD) == pes - 1);
        EXPECT(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pes - 1, upper) == half - 1);
        EXPECT(pes == 1 || shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, upper) == -1);
        EXPECT(shmem_team_translate_pe(upper, half, SHMEM_TEAM_WORLD) == -1);
        EXPECT(shmem_team_translate_pe(upper, -1, SHMEM_TEAM_WORLD) == -1);
        EXPECT(shmem_team_translate_pe(upper, 0, SHMEM_TEAM_INVALID) == -1);
        EXPECT(shmem_team_get_config(upper, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0 && got.num_contexts == 3);
        EXPECT(shmem_team_split_strided(upper, 0, 2, (half + 1) / 2, NULL, 0, &second) == 0);
        EXPECT((second != SHMEM_TEAM_INVALID) == ((pe - pes / 2) % 2 == 0));
        if (second != SHMEM_TEAM_INVALID) {
            EXPECT(shmem_team_my_pe(second) == (pe - pes / 2) / 2 && shmem_team_n_pes(second) == (half + 1) / 2);
            EXPECT(half < 2 || shmem_team_translate_pe(upper, 1, second) == -1);
            EXPECT(shmem_team_sync(second) == 0);
            shmem_team_destroy(second);
        }
        EXPECT(shmem_team_sync(upper) == 0);
        shmem_team_destroy(upper);
    }
    /* from the last PE down */
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &back) == 0);
    EXPECT(shmem_team_my_pe(back) == pes - 1 - pe && shmem_team_sync(back) == 0);
    shmem_team_destroy(back);
}

static void check_refused(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD, other = SHMEM_TEAM_WORLD;

    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes + 1, NULL, 0, &team) != 0);
    EXPECT(team == SHMEM_TEAM_INVALID);
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 0, NULL, 0, &team) != 0);
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, -1, 1, 1, NULL, 0, &team) != 0);
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes, 1, 1, NULL, 0, &team) != 0);
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 0, 2, NULL, 0, &team) != 0);
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, INT32_MAX, INT32_MAX, NULL, 0, &team) != 0);
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &team) != 0);
    EXPECT(shmem_team_split_2d(SHMEM_TEAM_WORLD, 0, NULL, 0, &team, NULL, 0, &other) != 0);
    EXPECT(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &team, NULL, 0, &other) != 0);
    EXPECT(team == SHMEM_TEAM_INVALID && other == SHMEM_TEAM_INVALID);
}

static void check_2d(int range)
{
    const int width = (range < pes) ? range : pes, x = pe % width, y = pe / width;
    shmem_team_t xteam, yteam;

    EXPECT(shmem_team_split_2d(SHMEM_TEAM_WORLD, range, NULL, 0, &xteam, NULL, 0, &yteam) == 0);
    EXPECT(shmem_team_my_pe(xteam) == x && shmem_team_my_pe(yteam) == y);
    EXPECT(shmem_team_n_pes(xteam) == ((y + 1) * width <= pes ? width : pes - y * width));
    EXPECT(shmem_team_n_pes(yteam) == (pes - x + width - 1) / width);
    EXPECT(shmem_team_translate_pe(xteam, 0, SHMEM_TEAM_WORLD) == y * width);
    EXPECT(shmem_team_translate_pe(yteam, 0, SHMEM_TEAM_WORLD) == x);
    EXPECT(shmem_team_sync(yteam) == 0 && shmem_team_sync(xteam) == 0);
    shmem_team_destroy(xteam);
    shmem_team_destroy(yteam);
}

static void check_count(void)
{
    shmem_team_t teams[MANY_TEAMS], other, more;

    for (int i = 0; i < MANY_TEAMS; i++) {
        EXPECT(shmem_team_split_strided(i == 0 ? SHMEM_TEAM_WORLD : teams[i - 1], 0, 1, pes, NULL, 0, &teams[i]) == 0);
    }
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &more) != 0 && more == SHMEM_TEAM_INVALID);
    shmem_team_destroy(teams[1]);
    /* this split needs two teams */
    EXPECT(shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &more, NULL, 0, &other) != 0);
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &more) == 0 && more != teams[1]);
    EXPECT(shmem_team_sync(more) == 0 && shmem_team_sync(teams[MANY_TEAMS - 1]) == 0);
    teams[1] = more;
    for (int i = 0; i < MANY_TEAMS; i++) {
        shmem_team_destroy(teams[i]);
    }
}

void check_teams(void)
{
    check_predefined();
    check_shared();
    check_strided();
    check_refused();
    for (int range = 1; range <= pes + 1; range++) {
        check_2d(range);
    }
    check_count();
}

void check_contexts(void)
{
    static const long options[] = {0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE,
                                   SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE};
    static shmem_ctx_t ctx = SHMEM_CTX_DEFAULT; /* a constant */
    shmem_ctx_t many[MANY_CONTEXTS], more = SHMEM_CTX_DEFAULT;
    shmem_team_t team;
    int *word = shmem_calloc(1, sizeof(*word)), value = pe + 1;

    EXPECT(shmem_ctx_get_team(ctx, &team) == 0 && team == SHMEM_TEAM_WORLD);
    EXPECT(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0 && team == SHMEM_TEAM_INVALID);
    EXPECT(shmem_ctx_create(1l << 20, &more) != 0 && more == SHMEM_CTX_INVALID);
    EXPECT(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &more) != 0 && more == SHMEM_CTX_INVALID);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        EXPECT(shmem_ctx_create(options[i], &ctx) == 0 && ctx != SHMEM_CTX_INVALID);
        EXPECT(shmem_ctx_get_team(ctx, &team) == 0 && team == SHMEM_TEAM_WORLD);
        value += 100;
        shmem_ctx_int_put_nbi(ctx, word, &value, 1, right);
        shmem_ctx_destroy(ctx); /* completes the put */
        EXPECT(shmem_int_g(word, right) == value);
    }
    for (int i = 0; i < MANY_CONTEXTS; i++) {
        EXPECT(shmem_ctx_create(0, &many[i]) == 0);
    }
    EXPECT(shmem_ctx_create(0, &more) != 0 && more == SHMEM_CTX_INVALID);
    for (int i = 0; i < MANY_CONTEXTS; i++) {
        shmem_ctx_destroy(many[i]);
    }
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &team) == 0);
    EXPECT(shmem_team_create_ctx(team, SHMEM_CTX_SERIALIZED, &ctx) == 0);
    shmem_team_destroy(team); /* frees its context, too */
    EXPECT(shmem_ctx_create(0, &more) == 0 && more != ctx);
    shmem_ctx_destroy(more);
    shmem_barrier_all();
    shmem_free(word);
}
