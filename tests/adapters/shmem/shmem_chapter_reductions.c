/* Reductions of all types and operations, short and long, in place and not, over the world and
 * teams; and scans. */
#include "shmem_chapter.h"

#define NUMBER(_m, _i) ((_i) % 13 + (_m))

/* The sum of the numbers 0 .. size - 1. */
static int sum_of(int size)
{
    return size * (size - 1) / 2;
}

#define CHECK_SUMS(_name, _type)                                                                            \
    {                                                                                                       \
        _type *to = shmem_calloc(MANY, sizeof(_type)), *from = shmem_calloc(MANY, sizeof(_type)), prod = 1; \
                                                                                                            \
        for (int i = 0; i < MANY; i++) {                                                                    \
            from[i] = (_type)NUMBER(group->me, i);                                                          \
        }                                                                                                   \
        EXPECT(shmem_##_name##_sum_reduce(group->team, to, from, MANY) == 0);                               \
        for (int i = 0; i < MANY; i++) {                                                                    \
            EXPECT(to[i] == (_type)(group->size * (i % 13) + sum_of(group->size)));                         \
        }                                                                                                   \
        EXPECT(shmem_team_sync(group->team) == 0);                                                          \
        EXPECT(shmem_##_name##_sum_reduce(group->team, from, from, MANY) == 0);                             \
        EXPECT(memcmp(to, from, sizeof(_type)) == 0 && to[MANY - 1] == from[MANY - 1]);                     \
        for (int m = 0; m < group->size; m++) {                                                             \
            prod = (_type)(prod * (_type)(1 + m % 3));                                                      \
        }                                                                                                   \
        from[0] = from[1] = (_type)(1 + group->me % 3);                                                     \
        EXPECT(shmem_##_name##_prod_reduce(group->team, from, from, 2) == 0);                               \
        EXPECT(from[0] == prod && from[1] == prod);                                                         \
        EXPECT(shmem_##_name##_sum_reduce(group->team, to, from, 0) == 0);                                  \
        EXPECT(shmem_##_name##_prod_reduce(SHMEM_TEAM_INVALID, to, from, 1) != 0);                          \
        shmem_barrier_all();                                                                                \
        shmem_free(to);                                                                                     \
        shmem_free(from);                                                                                   \
    }
#define CHECK_EXTREMES(_name, _type)                                                              \
    {                                                                                             \
        _type *to = shmem_calloc(MANY, sizeof(_type)), *from = shmem_calloc(MANY, sizeof(_type)); \
                                                                                                  \
        for (int i = 0; i < MANY; i++) {                                                          \
            from[i] = (_type)NUMBER((group->me + i) % group->size, i);                            \
        }                                                                                         \
        EXPECT(shmem_##_name##_max_reduce(group->team, to, from, MANY) == 0);                     \
        for (int i = 0; i < MANY; i++) {                                                          \
            EXPECT(to[i] == (_type)(i % 13 + group->size - 1));                                   \
        }                                                                                         \
        EXPECT(shmem_##_name##_min_reduce(group->team, from, from, MANY) == 0);                   \
        for (int i = 0; i < MANY; i++) {                                                          \
            EXPECT(from[i] == (_type)(i % 13));                                                   \
        }                                                                                         \
        from[0] = (_type)-group->me; /* negative, or the largest value */                         \
        from[1] = (_type)group->me;                                                               \
        EXPECT(shmem_##_name##_min_reduce(group->team, &to[0], &from[0], 1) == 0);                \
        EXPECT(shmem_##_name##_max_reduce(group->team, &to[1], &from[1], 1) == 0);                \
        EXPECT(to[0] == ((_type)-1 < (_type)1 ? (_type)(1 - group->size) : (_type)0));            \
        EXPECT(to[1] == (_type)(group->size - 1));                                                \
        shmem_barrier_all();                                                                      \
        shmem_free(to);                                                                           \
        shmem_free(from);                                                                         \
    }
#define CHECK_BITS(_name, _type)                                                                              \
    {                                                                                                         \
        const _type all = (_type)((1 << group->size) - 1), own = (_type)(1 << group->me), none = (_type)~all; \
        _type *to = shmem_calloc(3, sizeof(_type)), *from = shmem_calloc(3, sizeof(_type));                   \
                                                                                                              \
        from[0] = from[2] = own;                                                                              \
        from[1] = (_type)~own;                                                                                \
        EXPECT(shmem_##_name##_or_reduce(group->team, to, from, 1) == 0 && to[0] == all);                     \
        EXPECT(shmem_##_name##_and_reduce(group->team, to + 1, from + 1, 1) == 0 && to[1] == none);           \
        EXPECT(shmem_##_name##_xor_reduce(group->team, to + 2, from + 2, 1) == 0 && to[2] == all);            \
        shmem_barrier_all();                                                                                  \
        from[0] = (_type)3;                                                                                   \
        EXPECT(shmem_##_name##_xor_reduce(group->team, from, from, 1) == 0);                                  \
        EXPECT(from[0] == (_type)(group->size % 2 * 3));                                                      \
        shmem_barrier_all();                                                                                  \
        shmem_free(to);                                                                                       \
        shmem_free(from);                                                                                     \
    }

static void check_group(const group_t *group)
{
    SHMEM_TYPES(CHECK_SUMS)
    SHMEM_TYPES(CHECK_EXTREMES)
    SHMEM_BIT_TYPES(CHECK_BITS)
}

static void check_complex(const group_t *group)
{
    SHMEM_COMPLEX(CHECK_SUMS)
}

/* A sum that rounds differently in another order is identical at all PEs, for short and long
 * reductions. */
static void check_same_bits(void)
{
    double *to = shmem_calloc(MANY, sizeof(*to)), *from = shmem_calloc(MANY, sizeof(*from));
    uint64_t *bits = shmem_calloc(2 * MANY, sizeof(*bits));

    for (int i = 0; i < MANY; i++) {
        from[i] = 1.0 / (3 + pe * pe + i) * (pe % 2 == 0 ? 1e10 : 1e-3);
    }
    for (int count = 1; count <= MANY; count = (count == 1) ? MANY : MANY + 1) {
        EXPECT(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, to, from, (size_t)count) == 0);
        memcpy(bits, to, (size_t)count * sizeof(*to));
        shmem_sync_all();
        EXPECT(shmem_uint64_and_reduce(SHMEM_TEAM_WORLD, bits + MANY, bits, (size_t)count) == 0);
        EXPECT(memcmp(bits, bits + MANY, (size_t)count * sizeof(*bits)) == 0);
        shmem_sync_all();
    }
    shmem_free(bits);
    shmem_free(from);
    shmem_free(to);
}

void check_reductions(void)
{
    group_t group = group_world();

    check_group(&group);
    check_complex(&group);
    group = group_split();
    check_group(&group);
    check_complex(&group);
    group_destroy(&group);
    check_same_bits();
}

#define CHECK_SCAN(_name, _type)                                                                  \
    {                                                                                             \
        _type *to = shmem_calloc(MANY, sizeof(_type)), *from = shmem_calloc(MANY, sizeof(_type)); \
                                                                                                  \
        for (int i = 0; i < MANY; i++) {                                                          \
            from[i] = (_type)NUMBER(group->me, i);                                                \
        }                                                                                         \
        EXPECT(shmemx_##_name##_sum_exscan(group->team, to, from, MANY) == 0);                    \
        for (int i = 0; i < MANY; i++) {                                                          \
            EXPECT(to[i] == (_type)(group->me * (i % 13) + sum_of(group->me)));                   \
        }                                                                                         \
        EXPECT(shmemx_##_name##_sum_inscan(group->team, from, from, MANY) == 0);                  \
        for (int i = 0; i < MANY; i++) {                                                          \
            EXPECT(from[i] == (_type)((group->me + 1) * (i % 13) + sum_of(group->me + 1)));       \
        }                                                                                         \
        EXPECT(shmemx_##_name##_sum_inscan(SHMEM_TEAM_INVALID, from, from, 1) != 0);              \
        shmem_barrier_all();                                                                      \
        shmem_free(to);                                                                           \
        shmem_free(from);                                                                         \
    }

static void check_scan(const group_t *group)
{
    SHMEM_TYPES(CHECK_SCAN)
    SHMEM_COMPLEX(CHECK_SCAN)
}

void check_scans(void)
{
    group_t group = group_world();
    const double begin = shmemx_wtime();

    check_scan(&group);
    group = group_split();
    check_scan(&group);
    group_destroy(&group);
    EXPECT(shmemx_wtime() >= begin);
}
