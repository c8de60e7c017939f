/* Puts, gets and signals of all types and sizes, on the default context and on a team's. */
#include "shmem_chapter.h"

/* what stands before a name and its arguments */
#define NO_CTX(...) __VA_ARGS__
#define IN_CTX(...) group->ctx, __VA_ARGS__

/* Puts MANY elements to the right neighbour and gets them back; source: i % 60 + the caller's
 * number in the world. Then signals without data, and puts to the caller. */
#define CHECK_BLOCKS(_ctx, _put, _get, _put_nbi, _get_nbi, _put_signal, _put_signal_nbi, _type, _bytes)         \
    {                                                                                                           \
        char *to = shmem_calloc(MANY, _bytes), *from = calloc(MANY, _bytes), *back = calloc(MANY, _bytes);      \
        uint64_t *signal = shmem_calloc(3, sizeof(*signal));                                                    \
        const size_t half = MANY / 2;                                                                           \
                                                                                                                \
        for (size_t i = 0; i < MANY * (_bytes); i++) {                                                          \
            from[i] = (char)(i % 60 + (size_t)pe);                                                              \
        }                                                                                                       \
        _put(_ctx((_type *)to, (_type *)from, half, group->right));                                             \
        _put_nbi(_ctx((_type *)(to + half * (_bytes)), (_type *)(from + half * (_bytes)), half, group->right)); \
        shmem_ctx_quiet(group->ctx);                                                                            \
        _get(_ctx((_type *)back, (_type *)to, half, group->right));                                             \
        _get_nbi(_ctx((_type *)(back + half * (_bytes)), (_type *)(to + half * (_bytes)), half, group->right)); \
        shmem_ctx_quiet(group->ctx);                                                                            \
        EXPECT(memcmp(back, from, MANY *(_bytes)) == 0);                                                        \
        shmem_barrier_all();                                                                                    \
        EXPECT(to[MANY * (_bytes)-1] == (char)((MANY * (_bytes)-1) % 60 + (size_t)group->world_left));          \
        memset(to, 0, MANY *(_bytes));                                                                          \
        shmem_barrier_all();                                                                                    \
        _put_signal(_ctx((_type *)to, (_type *)from, half, signal, 7, SHMEM_SIGNAL_SET, group->right));         \
        EXPECT(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 7) == 7 && shmem_signal_fetch(signal) == 7);       \
        EXPECT(to[half * (_bytes)-1] == (char)((half * (_bytes)-1) % 60 + (size_t)group->world_left));          \
        for (int i = 0; i < 3; i++) {                                                                           \
            _put_signal_nbi(_ctx((_type *)(to + half * (_bytes)), (_type *)from, half, &signal[1], 2,           \
                                 SHMEM_SIGNAL_ADD, group->right));                                              \
        }                                                                                                       \
        EXPECT(shmem_signal_wait_until(&signal[1], SHMEM_CMP_GE, 6) == 6);                                      \
        EXPECT(to[MANY * (_bytes)-1] == (char)((half * (_bytes)-1) % 60 + (size_t)group->world_left));          \
        _put_signal(_ctx((_type *)to, (_type *)from, 0, &signal[2], 9, SHMEM_SIGNAL_SET, group->right));        \
        EXPECT(shmem_signal_wait_until(&signal[2], SHMEM_CMP_GT, 7) == 9);                                      \
        _put(_ctx((_type *)to, (_type *)from, 0, group->right));                                                \
        _get(_ctx((_type *)back, (_type *)to, 0, group->right));                                                \
        _put(_ctx((_type *)to, (_type *)from, 1, group->me));                                                   \
        EXPECT(memcmp(to, from, _bytes) == 0);                                                                  \
        shmem_barrier_all();                                                                                    \
        shmem_free(signal);                                                                                     \
        shmem_free(to);                                                                                         \
        free(from);                                                                                             \
        free(back);                                                                                             \
    }
#define CHECK_BLOCKS_OF(_form, _ctx, _put, _get, _type, _bytes)                                                        \
    CHECK_BLOCKS(_ctx, shmem_##_form##_put, shmem_##_form##_get, shmem_##_form##_put##_nbi, shmem_##_form##_get##_nbi, \
                 shmem_##_form##_put##_signal, shmem_##_form##_put##_signal_nbi, _type, _bytes)

#define CHECK_STRIDED(_ctx, _iput, _iget, _type, _bytes)                                         \
    {                                                                                            \
        char *to = shmem_calloc(40, _bytes), from[40 * (_bytes)], back[40 * (_bytes)];           \
                                                                                                 \
        for (size_t i = 0; i < sizeof(from); i++) {                                              \
            from[i] = (char)(1 + i / (_bytes) + 30 * (size_t)pe);                                \
        }                                                                                        \
        memset(back, 0, sizeof(back));                                                           \
        _iput(_ctx((_type *)(to + (_bytes)), (_type *)from, 2, 3, 5, group->right));             \
        shmem_barrier_all();                                                                     \
        EXPECT(to[0] == 0 && to[2 * (_bytes)] == 0 && to[10 * (_bytes)] == 0);                   \
        EXPECT(to[(_bytes)] == (char)(1 + 30 * group->world_left) &&                             \
               to[10 * (_bytes)-1] == (char)(13 + 30 * group->world_left));                      \
        _iget(_ctx((_type *)back, (_type *)(to + (_bytes)), 3, 2, 5, group->right));             \
        EXPECT(back[0] == (char)(1 + 30 * pe) && back[13 * (_bytes)-1] == (char)(13 + 30 * pe)); \
        EXPECT(back[(_bytes)] == 0 && back[13 * (_bytes)] == 0);                                 \
        _iput(_ctx((_type *)to, (_type *)from, 1, 1, 0, group->right));                          \
        _iget(_ctx((_type *)back, (_type *)to, 1, 1, 0, group->right));                          \
        shmem_barrier_all();                                                                     \
        shmem_free(to);                                                                          \
    }

#define CHECK_TYPE(_form, _ctx, _name, _type)                                                           \
    CHECK_BLOCKS_OF(_form, _ctx, _name##_put, _name##_get, _type, sizeof(_type))                        \
    CHECK_STRIDED(_ctx, shmem_##_form##_name##_iput, shmem_##_form##_name##_iget, _type, sizeof(_type)) \
    {                                                                                                   \
        _type *to = shmem_calloc(1, sizeof(_type));                                                     \
                                                                                                        \
        shmem_##_form##_name##_p(_ctx(to, (_type)(99 + pe), group->right));                             \
        shmem_barrier_all();                                                                            \
        EXPECT(*to == (_type)(99 + group->world_left));                                                 \
        EXPECT(shmem_##_form##_name##_g(_ctx(to, group->right)) == (_type)(99 + pe));                   \
        shmem_barrier_all();                                                                            \
        shmem_free(to);                                                                                 \
    }
#define CHECK_WORLD(_name, _type) CHECK_TYPE(, NO_CTX, _name, _type)
#define CHECK_TEAM(_name, _type)  CHECK_TYPE(ctx_, IN_CTX, _name, _type)

static void check_types(const group_t *group)
{
    SHMEM_TYPES(CHECK_WORLD)
}

static void check_types_ctx(const group_t *group)
{
    SHMEM_TYPES(CHECK_TEAM)
}

void check_rma(void)
{
    group_t group = group_world();

    check_types(&group);
    group = group_split();
    check_types_ctx(&group);
    group_destroy(&group);
}

#define CHECK_SIZE(_form, _ctx, _bits)                                              \
    CHECK_BLOCKS_OF(_form, _ctx, put##_bits, get##_bits, void, (size_t)(_bits) / 8) \
    CHECK_STRIDED(_ctx, shmem_##_form##iput##_bits, shmem_##_form##iget##_bits, void, (size_t)(_bits) / 8)
#define CHECK_SIZE_WORLD(_bits) CHECK_SIZE(, NO_CTX, _bits)
#define CHECK_SIZE_TEAM(_bits)  CHECK_SIZE(ctx_, IN_CTX, _bits)

static void check_world(const group_t *group)
{
    SHMEM_SIZES(CHECK_SIZE_WORLD)
    CHECK_BLOCKS_OF(, NO_CTX, putmem, getmem, void, (size_t)1)
    shmem_fence();
    shmem_quiet();
}

static void check_team(const group_t *group)
{
    SHMEM_SIZES(CHECK_SIZE_TEAM)
    CHECK_BLOCKS_OF(ctx_, IN_CTX, putmem, getmem, void, (size_t)1)
    shmem_ctx_fence(group->ctx);
}

void check_sizes(void)
{
    group_t group = group_world();

    check_world(&group);
    group = group_split();
    check_team(&group);
    group_destroy(&group);
}
