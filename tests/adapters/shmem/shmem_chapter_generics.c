/* C11's generic names, with and without a context. */
#include "shmem_chapter.h"

/* Each type by its generic names. */
#define CHECK_GENERIC(_name, _type)                                                                      \
    {                                                                                                    \
        _type *to = shmem_calloc(4, sizeof(_type)), from[4] = {(_type)(pe + 1), 2, 3, 4}, back[4] = {0}; \
                                                                                                         \
        shmem_put(to, from, 2, right);                                                                   \
        shmem_put_nbi(to + 2, from + 2, 1, right);                                                       \
        shmem_p(to + 3, (_type)9, right);                                                                \
        shmem_quiet();                                                                                   \
        shmem_get(back, to, 3, right);                                                                   \
        shmem_get_nbi(back + 3, to + 3, 1, right);                                                       \
        shmem_quiet();                                                                                   \
        EXPECT(back[0] == (_type)(pe + 1) && back[2] == (_type)3 && back[3] == (_type)9);                \
        EXPECT(shmem_g(to + 1, right) == (_type)2);                                                      \
        shmem_iput(to, from, 2, 2, 2, right);                                                            \
        shmem_quiet();                                                                                   \
        shmem_iget(back, to, 1, 2, 2, right);                                                            \
        EXPECT(back[0] == (_type)(pe + 1) && back[1] == (_type)3);                                       \
        shmem_sync_all();                                                                                \
        EXPECT(shmem_broadcast(SHMEM_TEAM_WORLD, to, from, 1, 0) == 0 && to[0] == (_type)1);             \
        shmem_barrier_all();                                                                             \
        shmem_free(to);                                                                                  \
    }
#define CHECK_GENERIC_INTEGER(_name, _type)                                                                    \
    {                                                                                                          \
        _type *to = shmem_calloc(2, sizeof(_type)), *from = shmem_calloc(2, sizeof(_type));                    \
        size_t found = 9;                                                                                      \
                                                                                                               \
        from[0] = (_type)(pe + 1);                                                                             \
        shmem_p(to, (_type)5, right);                                                                          \
        shmem_wait_until(to, SHMEM_CMP_EQ, 5);                                                                 \
        shmem_wait_until_all(to, 1, NULL, SHMEM_CMP_GE, 5);                                                    \
        EXPECT(shmem_wait_until_any(to, 2, NULL, SHMEM_CMP_GT, 4) == 0);                                       \
        EXPECT(shmem_wait_until_some(to, 2, &found, NULL, SHMEM_CMP_GT, 4) == 1 && found == 0);                \
        EXPECT(shmem_test(to, SHMEM_CMP_LT, 6) == 1 && shmem_test_all(to, 2, NULL, SHMEM_CMP_EQ, 5) == 0);     \
        EXPECT(shmem_test_any(to, 2, NULL, SHMEM_CMP_EQ, 0) == 1);                                             \
        EXPECT(shmem_test_some(to, 2, &found, NULL, SHMEM_CMP_EQ, 0) == 1 && found == 1);                      \
        shmem_sync_all();                                                                                      \
        EXPECT(shmem_max_reduce(SHMEM_TEAM_WORLD, to, from, 1) == 0 && to[0] == (_type)pes);                   \
        shmem_sync_all();                                                                                      \
        EXPECT(shmem_min_reduce(SHMEM_TEAM_WORLD, to, from, 1) == 0 && to[0] == (_type)1);                     \
        shmem_sync_all();                                                                                      \
        EXPECT(shmem_sum_reduce(SHMEM_TEAM_WORLD, to, from, 1) == 0 && to[0] == (_type)(pes * (pes + 1) / 2)); \
        shmem_free(to);                                                                                        \
        shmem_free(from);                                                                                      \
    }
#define CHECK_GENERIC_WORD(_name, _type)                                                    \
    {                                                                                       \
        _type *word = shmem_calloc(2, sizeof(_type));                                       \
                                                                                            \
        shmem_atomic_add(word, (_type)2, 0);                                                \
        shmem_atomic_inc(word, 0);                                                          \
        EXPECT(shmem_atomic_fetch_add(word, (_type)0, 0) >= (_type)3);                      \
        (void)shmem_atomic_fetch_inc(word, 0);                                              \
        shmem_atomic_set(word + 1, (_type)7, right);                                        \
        EXPECT(shmem_atomic_swap(word + 1, (_type)8, right) == (_type)7);                   \
        EXPECT(shmem_atomic_compare_swap(word + 1, (_type)8, (_type)9, right) == (_type)8); \
        shmem_barrier_all();                                                                \
        EXPECT(shmem_atomic_fetch(word, 0) == (_type)(4 * pes) && word[1] == (_type)9);     \
        shmem_barrier_all();                                                                \
        shmem_free(word);                                                                   \
    }
#define CHECK_GENERIC_BITS(_name, _type)                                                                     \
    {                                                                                                        \
        _type *word = shmem_calloc(1, sizeof(_type));                                                        \
                                                                                                             \
        shmem_atomic_or(word, (_type)6, right);                                                              \
        EXPECT(shmem_atomic_fetch_or(word, (_type)1, right) == (_type)6);                                    \
        shmem_atomic_and(word, (_type)5, right);                                                             \
        EXPECT(shmem_atomic_fetch_and(word, (_type)4, right) == (_type)5);                                   \
        shmem_atomic_xor(word, (_type)5, right);                                                             \
        EXPECT(shmem_atomic_fetch_xor(word, (_type)1, right) == (_type)1);                                   \
        shmem_barrier_all();                                                                                 \
        word[0] = (_type)(1 << pe);                                                                          \
        EXPECT(shmem_or_reduce(SHMEM_TEAM_WORLD, word, word, 1) == 0 && word[0] == (_type)((1 << pes) - 1)); \
        shmem_free(word);                                                                                    \
    }

void check_generics(void)
{
    SHMEM_TYPES(CHECK_GENERIC)
    SHMEM_INTEGERS(CHECK_GENERIC_INTEGER)
    SHMEM_ATOMIC_TYPES(CHECK_GENERIC_WORD)
    SHMEM_ATOMIC_TYPES_BITWISE(CHECK_GENERIC_BITS)
}
