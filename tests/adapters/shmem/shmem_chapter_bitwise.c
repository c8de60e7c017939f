/* Bitwise atomics of all types: PE i of a group sets bits i and 8 + i, flips these bits and a
 * common bit, and clears them. */
#include "shmem_chapter.h"

#define NO_CTX(...) __VA_ARGS__
#define IN_CTX(...) group->ctx, __VA_ARGS__

#define CHECK_BITWISE(_form, _ctx, _name, _type)                                                                    \
    {                                                                                                               \
        _type *word = shmem_calloc(2, sizeof(_type)), was = 0;                                                      \
        const _type low = (_type)((_type)1 << group->me), high = (_type)((_type)256 << group->me);                  \
        const _type all = (_type)(((_type)1 << group->size) - 1);                                                   \
                                                                                                                    \
        shmem_##_form##_name##_atomic_or(_ctx(word, low, 0));                                                       \
        EXPECT(shmem_##_form##_name##_atomic_fetch_or(_ctx(word, high, 0)) & low);                                  \
        shmem_##_form##_name##_atomic_fetch_or_nbi(_ctx(&was, word, high, 0));                                      \
        shmem_ctx_quiet(group->ctx);                                                                                \
        EXPECT((was & high) != 0);                                                                                  \
        shmem_##_form##_name##_atomic_xor(_ctx(&word[1], low, 0));                                                  \
        EXPECT(shmem_##_form##_name##_atomic_fetch_xor(_ctx(&word[1], high, 0)) & low);                             \
        shmem_##_form##_name##_atomic_fetch_xor_nbi(_ctx(&was, &word[1], (_type)((_type)1 << 30), 0));              \
        shmem_ctx_quiet(group->ctx);                                                                                \
        EXPECT((was & high) != 0);                                                                                  \
        shmem_barrier_all();                                                                                        \
        EXPECT(shmem_##_form##_name##_g(_ctx(word, 0)) == (_type)(257 * all));                                      \
        EXPECT(shmem_##_form##_name##_g(_ctx(&word[1], 0)) == (_type)(257 * all | (_type)(group->size % 2) << 30)); \
        shmem_barrier_all();                                                                                        \
        shmem_##_form##_name##_atomic_and(_ctx(word, (_type)~low, 0));                                              \
        EXPECT(!(shmem_##_form##_name##_atomic_fetch_and(_ctx(word, (_type)~high, 0)) & low));                      \
        shmem_##_form##_name##_atomic_fetch_and_nbi(_ctx(&was, word, (_type)~high, 0));                             \
        shmem_ctx_quiet(group->ctx);                                                                                \
        EXPECT((was & high) == 0);                                                                                  \
        shmem_barrier_all();                                                                                        \
        EXPECT(shmem_##_form##_name##_g(_ctx(word, 0)) == 0);                                                       \
        shmem_barrier_all();                                                                                        \
        shmem_free(word);                                                                                           \
    }
#define CHECK_WORLD(_name, _type) CHECK_BITWISE(, NO_CTX, _name, _type)
#define CHECK_TEAM(_name, _type)  CHECK_BITWISE(ctx_, IN_CTX, _name, _type)

static void check_world(const group_t *group)
{
    SHMEM_ATOMIC_TYPES_BITWISE(CHECK_WORLD)
}

static void check_team(const group_t *group)
{
    SHMEM_ATOMIC_TYPES_BITWISE(CHECK_TEAM)
}

void check_bitwise(void)
{
    group_t group = group_world();

    check_world(&group);
    group = group_split();
    check_team(&group);
    group_destroy(&group);
}
