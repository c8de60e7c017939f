/* Collectives that move data, of all types, over the world, teams of every second PE, and
 * overlapping teams. */
#include "shmem_chapter.h"

enum { BLOCK = 20, LARGE = 20000 };

/* Element i of the data of PE m of the group. */
#define VALUE(_m, _i) (10 * ((_m) + 1) + (_i) % 7)

/* Bytes of PE m of the group: m % 3 times 5, so some have none. Broadcasts need no barrier between
 * them: each root has a separate place. */
#define COLLECTED(_m) (5 * (size_t)((_m) % 3))

#define CHECK_MOVES(_broadcast, _collect, _fcollect, _alltoall, _alltoalls, _type, _cell)                          \
    {                                                                                                              \
        const size_t all = (size_t)BLOCK * (size_t)pes;                                                            \
        _cell *to = shmem_calloc(3 * all, sizeof(_cell)), *from = shmem_calloc(3 * all, sizeof(_cell));            \
        size_t at = 0;                                                                                             \
                                                                                                                   \
        for (size_t i = 0; i < 3 * all; i++) {                                                                     \
            from[i] = (_cell)VALUE(group->me, i);                                                                  \
        }                                                                                                          \
        for (int root = 0; root < group->size; root++) {                                                           \
            EXPECT(_broadcast(group->team, to + root * BLOCK, from, BLOCK, root) == 0);                            \
        }                                                                                                          \
        for (int i = 0; i < group->size * BLOCK; i++) {                                                            \
            EXPECT(to[i] == (_cell)VALUE(i / BLOCK, i % BLOCK));                                                   \
        }                                                                                                          \
        EXPECT(_fcollect(group->team, to + all, from, BLOCK) == 0);                                                \
        for (int i = 0; i < group->size * BLOCK; i++) {                                                            \
            EXPECT(to[all + (size_t)i] == (_cell)VALUE(i / BLOCK, i % BLOCK));                                     \
        }                                                                                                          \
        EXPECT(_collect(group->team, to + 2 * all, from, COLLECTED(group->me)) == 0);                              \
        for (int m = 0; m < group->size; m++) {                                                                    \
            for (size_t i = 0; i < COLLECTED(m); i++) {                                                            \
                EXPECT(to[2 * all + at++] == (_cell)VALUE(m, i));                                                  \
            }                                                                                                      \
        }                                                                                                          \
        EXPECT(to[2 * all + at] == 0);                                                                             \
        EXPECT(shmem_team_sync(group->team) == 0);                                                                 \
        EXPECT(_alltoall(group->team, to, from, BLOCK) == 0);                                                      \
        for (int i = 0; i < group->size * BLOCK; i++) {                                                            \
            EXPECT(to[i] == (_cell)VALUE(i / BLOCK, group->me * BLOCK + i % BLOCK));                               \
        }                                                                                                          \
        memset(to + all, 0, 2 * all * sizeof(_cell));                                                              \
        EXPECT(shmem_team_sync(group->team) == 0);                                                                 \
        EXPECT(_alltoalls(group->team, to + all, from, 2, 3, BLOCK) == 0);                                         \
        for (int i = 0; i < group->size * BLOCK; i++) {                                                            \
            EXPECT(to[all + 2 * (size_t)i] == (_cell)VALUE(i / BLOCK, 3 * (group->me * BLOCK + i % BLOCK)));       \
            EXPECT(to[all + 2 * (size_t)i + 1] == 0);                                                              \
        }                                                                                                          \
        EXPECT(_broadcast(group->team, to, from, 0, 0) == 0 && _fcollect(group->team, to, from, 0) == 0);          \
        EXPECT(_collect(group->team, to, from, 0) == 0 && _alltoall(group->team, to, from, 0) == 0);               \
        EXPECT(_alltoalls(group->team, to, from, 1, 1, 0) == 0);                                                   \
        EXPECT(_broadcast(SHMEM_TEAM_INVALID, to, from, 1, 0) != 0 &&                                              \
               _collect(SHMEM_TEAM_INVALID, to, from, 1) != 0 && _fcollect(SHMEM_TEAM_INVALID, to, from, 1) != 0); \
        EXPECT(_alltoall(SHMEM_TEAM_INVALID, to, from, 1) != 0 &&                                                  \
               _alltoalls(SHMEM_TEAM_INVALID, to, from, 1, 1, 1) != 0);                                            \
        shmem_barrier_all();                                                                                       \
        shmem_free(from);                                                                                          \
        shmem_free(to);                                                                                            \
    }
#define CHECK_TYPE(_name, _type)                                                              \
    CHECK_MOVES(shmem_##_name##_broadcast, shmem_##_name##_collect, shmem_##_name##_fcollect, \
                shmem_##_name##_alltoall, shmem_##_name##_alltoalls, _type, _type)

static void check_types(const group_t *group)
{
    SHMEM_TYPES(CHECK_TYPE)
}

static void check_mem(const group_t *group)
{
    CHECK_MOVES(shmem_broadcastmem, shmem_collectmem, shmem_fcollectmem, shmem_alltoallmem, shmem_alltoallsmem, void,
                char)
}

/* Data larger than any chunk; blocks of very different sizes. */
static void check_large(const group_t *group)
{
    const size_t own = (group->me % 2 == 0) ? LARGE : 3;
    long *to = shmem_calloc((size_t)LARGE * (size_t)pes, sizeof(*to)), *from = shmem_calloc(LARGE, sizeof(*from));
    size_t at = 0;

    for (int i = 0; i < LARGE; i++) {
        from[i] = 1000l * group->me + i;
    }
    EXPECT(shmem_long_collect(group->team, to, from, own) == 0);
    for (int m = 0; m < group->size; m++) {
        const size_t count = (m % 2 == 0) ? LARGE : 3;

        EXPECT(to[at] == 1000l * m && to[at + count - 1] == 1000l * m + (long)count - 1);
        at += count;
    }
    EXPECT(shmem_team_sync(group->team) == 0);
    EXPECT(shmem_long_broadcast(group->team, to, from, LARGE, group->size - 1) == 0);
    EXPECT(to[0] == 1000l * (group->size - 1) && to[LARGE - 1] == 1000l * (group->size - 1) + LARGE - 1);
    EXPECT(shmem_team_sync(group->team) == 0);
    EXPECT(shmem_long_fcollect(group->team, to, from, LARGE) == 0);
    EXPECT(to[0] == 0 && to[LARGE * group->size - 1] == 1000l * (group->size - 1) + LARGE - 1);
    shmem_barrier_all();
    shmem_free(from);
    shmem_free(to);
}

/* Two teams for each PE, each shared with other PEs. Collectives of both take turns, and the next
 * begins while other PEs are in the current one. */
static void check_overlap(void)
{
    shmem_team_t xteam, yteam;
    long *sums = shmem_calloc(4, sizeof(*sums)), *all = shmem_calloc((size_t)pes, sizeof(*all)), x = 0, y = 0;

    EXPECT(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &xteam, NULL, 0, &yteam) == 0);
    for (int i = 0; i < shmem_team_n_pes(xteam); i++) {
        x += shmem_team_translate_pe(xteam, i, SHMEM_TEAM_WORLD);
    }
    for (int i = 0; i < shmem_team_n_pes(yteam); i++) {
        y += shmem_team_translate_pe(yteam, i, SHMEM_TEAM_WORLD);
    }
    for (long turn = 0; turn < 50; turn++) {
        sums[0] = turn + pe;
        EXPECT(shmem_long_sum_reduce(xteam, &sums[1], &sums[0], 1) == 0);
        EXPECT(sums[1] == x + turn * shmem_team_n_pes(xteam));
        EXPECT(shmem_long_sum_reduce(yteam, &sums[2], &sums[0], 1) == 0);
        EXPECT(sums[2] == y + turn * shmem_team_n_pes(yteam));
        EXPECT(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sums[3], &sums[2], 1) == 0);
        EXPECT(turn % 7 != 0 || shmem_long_collect(yteam, all, &sums[0], 1) == 0);
        EXPECT(turn % 7 != 0 || all[shmem_team_my_pe(yteam)] == turn + pe);
    }
    shmem_team_destroy(yteam);
    shmem_team_destroy(xteam);
    shmem_free(all);
    shmem_free(sums);
}

void check_collectives(void)
{
    group_t group = group_world();

    check_types(&group);
    check_mem(&group);
    check_large(&group);
    group = group_split();
    check_types(&group);
    check_large(&group);
    group_destroy(&group);
    check_overlap();
    shmem_sync_all();
}
