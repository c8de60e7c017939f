/*
 * Collectives of active sets: all PEs, and overlapping sets of every second PE from the last or the
 * last but one. Work arrays are unchanged afterwards.
 */
#include "shmem_chapter.h"

enum { BLOCK = 20, TURNS = 20 };

typedef struct {
    int start, log_stride, size, me;
} set_t;

static long *work, *other_work; /* pSync */

static int is_clean(const long *array)
{
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++) {
        if (array[i] != SHMEM_SYNC_VALUE) {
            return 0;
        }
    }
    return 1;
}

static void work_begin(void)
{
    work = shmem_malloc(SHMEM_SYNC_SIZE * sizeof(*work));
    other_work = shmem_malloc(SHMEM_SYNC_SIZE * sizeof(*work));
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++) {
        work[i] = other_work[i] = SHMEM_SYNC_VALUE;
    }
    shmem_barrier_all();
}

static void work_end(void)
{
    shmem_barrier_all();
    EXPECT(is_clean(work) && is_clean(other_work));
    shmem_free(other_work);
    shmem_free(work);
}

static set_t set_all(void)
{
    return (set_t){0, 0, pes, pe};
}

/* The PEs of the same parity; each PE is in one set. */
static set_t set_second(void)
{
    return (set_t){pe % 2, 1, (pes - pe % 2 + 1) / 2, pe / 2};
}

#define SET    set->start, set->log_stride, set->size, work
#define MEET() shmem_barrier(set->start, set->log_stride, set->size, other_work)

static void check_meeting(const set_t *set)
{
    long *seen = shmem_calloc((size_t)pes, sizeof(*seen));

    for (long turn = 1; turn <= TURNS; turn++) { /* immediately again with the same array */
        for (int m = 0; m < set->size; m++) {
            shmem_long_p(&seen[set->me], turn, set->start + m * (1 << set->log_stride));
        }
        if (turn % 2 == 0) {
            shmem_quiet();
            shmem_sync(set->start, set->log_stride, set->size, work);
        } else {
            shmem_barrier(set->start, set->log_stride, set->size, other_work);
        }
        for (int m = 0; m < set->size; m++) {
            EXPECT(seen[m] >= turn && seen[m] <= turn + 1);
        }
    }
    shmem_barrier_all();
    shmem_free(seen);
}

#define VALUE(_m, _i) (10 * ((_m) + 1) + (_i) % 7)
#define COLLECTED(_m) (5 * (size_t)((_m) % 3))

#define CHECK_MOVES(_bits, _type)                                                                         \
    {                                                                                                     \
        const int many = set->size * BLOCK, root = set->size - 1;                                         \
        _type *to = shmem_calloc(6 * (size_t)pes * BLOCK, sizeof(_type)), *from = to + 3 * pes * BLOCK;   \
        size_t at = 0;                                                                                    \
                                                                                                          \
        for (int i = 0; i < 3 * many; i++) {                                                              \
            from[i] = (_type)VALUE(set->me, i);                                                           \
        }                                                                                                 \
        MEET();                                                                                           \
        shmem_broadcast##_bits(to, from, BLOCK, root, SET);                                               \
        EXPECT(to[0] == (set->me == root ? 0 : (_type)VALUE(root, 0)));                                   \
        EXPECT(to[BLOCK - 1] == (set->me == root ? 0 : (_type)VALUE(root, BLOCK - 1)) && to[BLOCK] == 0); \
        MEET();                                                                                           \
        shmem_fcollect##_bits(to, from, BLOCK, SET);                                                      \
        for (int i = 0; i < many; i++) {                                                                  \
            EXPECT(to[i] == (_type)VALUE(i / BLOCK, i % BLOCK));                                          \
        }                                                                                                 \
        MEET();                                                                                           \
        shmem_collect##_bits(to, from, COLLECTED(set->me), SET);                                          \
        for (int m = 0; m < set->size; m++) {                                                             \
            for (size_t i = 0; i < COLLECTED(m); i++) {                                                   \
                EXPECT(to[at++] == (_type)VALUE(m, i));                                                   \
            }                                                                                             \
        }                                                                                                 \
        MEET();                                                                                           \
        shmem_alltoall##_bits(to, from, BLOCK, SET);                                                      \
        for (int i = 0; i < many; i++) {                                                                  \
            EXPECT(to[i] == (_type)VALUE(i / BLOCK, set->me * BLOCK + i % BLOCK));                        \
        }                                                                                                 \
        MEET();                                                                                           \
        shmem_alltoalls##_bits(to, from, 2, 3, BLOCK, SET);                                               \
        for (int i = 0; i < many; i++) {                                                                  \
            EXPECT(to[2 * i] == (_type)VALUE(i / BLOCK, 3 * (set->me * BLOCK + i % BLOCK)));              \
        }                                                                                                 \
        EXPECT(is_clean(work));                                                                           \
        shmem_barrier_all();                                                                              \
        shmem_free(to);                                                                                   \
    }

static void check_moves(const set_t *set)
{
    CHECK_MOVES(32, uint32_t)
    CHECK_MOVES(64, uint64_t)
}

/* Programs reuse an array at once, or two in turn, with another root each time. */
static void check_broadcasts(const set_t *set)
{
    uint64_t *to = shmem_calloc(TURNS, sizeof(*to)), *from = shmem_calloc(TURNS, sizeof(*from));
    uint64_t *all = shmem_calloc((size_t)(TURNS * pes), sizeof(*all));

    for (int turn = 0; turn < TURNS; turn++) {
        from[turn] = (uint64_t)(100 * turn + set->me);
        to[turn] = from[turn];
    }
    MEET();
    for (int turn = 0; turn < TURNS; turn++) {
        shmem_broadcast64(&to[turn], &from[turn], 1, turn / 3 % set->size, set->start, set->log_stride, set->size,
                          turn % 3 == 0 ? other_work : work);
        shmem_fcollect64(&all[turn * pes], &from[turn], 1, SET);
        shmem_collect64(&all[turn * pes], &from[turn], 1, SET);
    }
    for (int turn = 0; turn < TURNS; turn++) {
        EXPECT(to[turn] == (uint64_t)(100 * turn + turn / 3 % set->size));
        EXPECT(all[turn * pes + set->size - 1] == (uint64_t)(100 * turn + set->size - 1));
    }
    shmem_barrier_all();
    shmem_free(all);
    shmem_free(from);
    shmem_free(to);
}

void check_active(void)
{
    set_t set = set_all();

    work_begin();
    check_meeting(&set);
    check_moves(&set);
    check_broadcasts(&set);
    set = set_second();
    check_broadcasts(&set);
    check_meeting(&set);
    check_moves(&set);
    set = (set_t){pe, 3, 1, 0}; /* the PE alone */
    check_moves(&set);
    work_end();
}

/* ---- reductions: a few, which fit pWrk, and many ---- */

#define WORK_FOR(_count) \
    ((_count) / 2 + 1 > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? (_count) / 2 + 1 : SHMEM_REDUCE_MIN_WRKDATA_SIZE)

#define BEGIN(_type)                                                                       \
    _type *to = shmem_calloc(2 * MANY + WORK_FOR(MANY), sizeof(_type)), *from = to + MANY; \
    _type *room = from + MANY;
#define END()               \
    EXPECT(is_clean(work)); \
    shmem_barrier_all();    \
    shmem_free(to);

#define CHECK_SUMS(_name, _type)                                                                             \
    {                                                                                                        \
        BEGIN(_type)                                                                                         \
        _type prod = 1;                                                                                      \
                                                                                                             \
        for (int count = 1; count <= MANY; count = (count == 1) ? 40 : (count == 40 ? MANY : MANY + 1)) {    \
            for (int i = 0; i < count; i++) {                                                                \
                from[i] = (_type)(i % 13 + set->me);                                                         \
            }                                                                                                \
            MEET();                                                                                          \
            shmem_##_name##_sum_to_all(to, from, count, set->start, set->log_stride, set->size, room, work); \
            for (int i = 0; i < count; i++) {                                                                \
                EXPECT(to[i] == (_type)(set->size * (i % 13) + set->size * (set->size - 1) / 2));            \
            }                                                                                                \
        }                                                                                                    \
        for (int m = 0; m < set->size; m++) {                                                                \
            prod = (_type)(prod * (_type)(1 + m % 3));                                                       \
        }                                                                                                    \
        from[0] = (_type)(1 + set->me % 3);                                                                  \
        MEET();                                                                                              \
        shmem_##_name##_prod_to_all(from, from, 1, set->start, set->log_stride, set->size, room, work);      \
        EXPECT(from[0] == prod);                                                                             \
        END()                                                                                                \
    }
#define CHECK_EXTREMES(_name, _type)                                                                   \
    {                                                                                                  \
        BEGIN(_type)                                                                                   \
                                                                                                       \
        from[0] = (_type)-set->me;                                                                     \
        from[1] = (_type)set->me;                                                                      \
        MEET();                                                                                        \
        shmem_##_name##_min_to_all(to, from, 2, set->start, set->log_stride, set->size, room, work);   \
        EXPECT(to[0] == (_type)(1 - set->size) && to[1] == (_type)0);                                  \
        MEET();                                                                                        \
        shmem_##_name##_max_to_all(from, from, 2, set->start, set->log_stride, set->size, room, work); \
        EXPECT(from[0] == (_type)0 && from[1] == (_type)(set->size - 1));                              \
        END()                                                                                          \
    }
#define CHECK_BITS(_name, _type)                                                                          \
    {                                                                                                     \
        BEGIN(_type)                                                                                      \
        const _type all = (_type)((1 << set->size) - 1), own = (_type)(1 << set->me), none = (_type)~all; \
                                                                                                          \
        from[0] = own;                                                                                    \
        from[1] = (_type)~own;                                                                            \
        MEET();                                                                                           \
        shmem_##_name##_or_to_all(to, from, 1, set->start, set->log_stride, set->size, room, work);       \
        EXPECT(to[0] == all);                                                                             \
        MEET();                                                                                           \
        shmem_##_name##_and_to_all(to, from + 1, 1, set->start, set->log_stride, set->size, room, work);  \
        EXPECT(to[0] == none);                                                                            \
        MEET();                                                                                           \
        shmem_##_name##_xor_to_all(from, from, 1, set->start, set->log_stride, set->size, room, work);    \
        EXPECT(from[0] == all);                                                                           \
        END()                                                                                             \
    }

/* A work array of each kind, repeatedly, without a barrier between. */
static void check_again(const set_t *set)
{
    BEGIN(long)

    for (int turn = 0; turn < TURNS; turn++) {
        from[turn] = 100 * turn + set->me;
    }
    MEET();
    for (int turn = 0; turn < TURNS; turn++) {
        shmem_long_sum_to_all(&to[turn], &from[turn], 1, set->start, set->log_stride, set->size, room, work);
        EXPECT(to[turn] == set->size * (100 * turn) + set->size * (set->size - 1) / 2);
    }
    END()
}

static void check_set(const set_t *set)
{
    check_again(set);
    SHMEM_ACTIVE_INTEGERS(CHECK_SUMS)
    SHMEM_FLOATS(CHECK_SUMS)
    SHMEM_COMPLEX(CHECK_SUMS)
    SHMEM_ACTIVE_INTEGERS(CHECK_EXTREMES)
    SHMEM_FLOATS(CHECK_EXTREMES)
    SHMEM_ACTIVE_INTEGERS(CHECK_BITS)
}

void check_to_all(void)
{
    set_t set = set_all();

    work_begin();
    check_set(&set);
    set = set_second();
    check_set(&set);
    work_end();
}
