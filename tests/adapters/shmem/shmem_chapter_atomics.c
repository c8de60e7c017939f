/* Atomics of all types, on the default context and on a team's. All PEs of a group access its first
 * PE, and their neighbours. */
#include "shmem_chapter.h"

#define NO_CTX(...) __VA_ARGS__
#define IN_CTX(...) group->ctx, __VA_ARGS__

#define CHECK_WORD(_form, _ctx, _name, _type)                                                              \
    {                                                                                                      \
        _type *word = shmem_calloc(1, sizeof(_type)), was = 0;                                             \
                                                                                                           \
        shmem_##_form##_name##_atomic_set(_ctx(word, (_type)(pe + 3), group->right));                      \
        EXPECT(shmem_##_form##_name##_atomic_fetch(_ctx(word, group->right)) == (_type)(pe + 3));          \
        EXPECT(shmem_##_form##_name##_atomic_swap(_ctx(word, (_type)7, group->right)) == (_type)(pe + 3)); \
        shmem_##_form##_name##_atomic_fetch_nbi(_ctx(&was, word, group->right));                           \
        shmem_ctx_quiet(group->ctx);                                                                       \
        EXPECT(was == (_type)7);                                                                           \
        shmem_##_form##_name##_atomic_swap_nbi(_ctx(&was, word, (_type)(9 + pe), group->right));           \
        shmem_ctx_quiet(group->ctx);                                                                       \
        EXPECT(was == (_type)7);                                                                           \
        shmem_barrier_all();                                                                               \
        EXPECT(*word == (_type)(9 + group->world_left));                                                   \
        shmem_free(word);                                                                                  \
    }
/* Adds 1, 10, 1, 5, 1, 2. */
#define CHECK_ATOMIC(_form, _ctx, _name, _type)                                                                        \
    {                                                                                                                  \
        _type *word = shmem_calloc(3, sizeof(_type)), was = 0;                                                         \
                                                                                                                       \
        shmem_##_form##_name##_atomic_inc(_ctx(word, 0));                                                              \
        shmem_##_form##_name##_atomic_add(_ctx(word, (_type)10, 0));                                                   \
        was = shmem_##_form##_name##_atomic_fetch_inc(_ctx(word, 0));                                                  \
        EXPECT(was >= (_type)11 && was < (_type)(20 * group->size));                                                   \
        was = shmem_##_form##_name##_atomic_fetch_add(_ctx(word, (_type)5, 0));                                        \
        EXPECT(was >= (_type)12);                                                                                      \
        shmem_##_form##_name##_atomic_fetch_inc_nbi(_ctx(&was, word, 0));                                              \
        shmem_ctx_quiet(group->ctx);                                                                                   \
        EXPECT(was >= (_type)17);                                                                                      \
        shmem_##_form##_name##_atomic_fetch_add_nbi(_ctx(&was, word, (_type)2, 0));                                    \
        shmem_ctx_quiet(group->ctx);                                                                                   \
        EXPECT(was >= (_type)18);                                                                                      \
        was = shmem_##_form##_name##_atomic_compare_swap(_ctx(&word[1], (_type)0, (_type)(group->me + 1), 0));         \
        shmem_barrier_all();                                                                                           \
        EXPECT(shmem_##_form##_name##_g(_ctx(word, 0)) == (_type)(20 * group->size));                                  \
        EXPECT((was == 0) == (shmem_##_form##_name##_g(_ctx(&word[1], 0)) == (_type)(group->me + 1)));                 \
        shmem_##_form##_name##_atomic_compare_swap_nbi(_ctx(&was, &word[2], (_type)0, (_type)(pe + 1), group->right)); \
        shmem_ctx_quiet(group->ctx);                                                                                   \
        EXPECT(was == 0);                                                                                              \
        shmem_##_form##_name##_atomic_compare_swap_nbi(_ctx(&was, &word[2], (_type)100, (_type)0, group->right));      \
        shmem_ctx_quiet(group->ctx);                                                                                   \
        EXPECT(was == (_type)(pe + 1));                                                                                \
        shmem_barrier_all();                                                                                           \
        EXPECT(word[2] == (_type)(group->world_left + 1));                                                             \
        shmem_free(word);                                                                                              \
    }
#define CHECK_WORD_WORLD(_name, _type)   CHECK_WORD(, NO_CTX, _name, _type)
#define CHECK_WORD_TEAM(_name, _type)    CHECK_WORD(ctx_, IN_CTX, _name, _type)
#define CHECK_ATOMIC_WORLD(_name, _type) CHECK_ATOMIC(, NO_CTX, _name, _type)
#define CHECK_ATOMIC_TEAM(_name, _type)  CHECK_ATOMIC(ctx_, IN_CTX, _name, _type)

static void check_world(const group_t *group)
{
    SHMEM_ATOMIC_TYPES_EXTENDED(CHECK_WORD_WORLD)
    SHMEM_ATOMIC_TYPES(CHECK_ATOMIC_WORLD)
}

static void check_team(const group_t *group)
{
    SHMEM_ATOMIC_TYPES_EXTENDED(CHECK_WORD_TEAM)
    SHMEM_ATOMIC_TYPES(CHECK_ATOMIC_TEAM)
}

void check_atomics(void)
{
    group_t group = group_world();

    check_world(&group);
    group = group_split();
    check_team(&group);
    group_destroy(&group);
}
