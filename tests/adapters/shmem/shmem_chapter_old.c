/* Names that the specification deprecates. */
#include "shmem_chapter.h"

#define CHECK_WORD(_name, _type)                                                \
    {                                                                           \
        _type *word = shmem_calloc(1, sizeof(_type));                           \
                                                                                \
        shmem_##_name##_set(word, (_type)(pe + 3), right);                      \
        EXPECT(shmem_##_name##_fetch(word, right) == (_type)(pe + 3));          \
        EXPECT(shmem_##_name##_swap(word, (_type)7, right) == (_type)(pe + 3)); \
        EXPECT(shmem_fetch(word, right) == (_type)7);                           \
        shmem_set(word, (_type)8, right);                                       \
        EXPECT(shmem_swap(word, (_type)9, right) == (_type)8);                  \
        shmem_barrier_all();                                                    \
        EXPECT(*word == (_type)9);                                              \
        shmem_free(word);                                                       \
    }
#define CHECK_ATOMIC(_name, _type)                                                    \
    {                                                                                 \
        _type *word = shmem_calloc(1, sizeof(_type));                                 \
                                                                                      \
        shmem_##_name##_add(word, (_type)10, right);                                  \
        EXPECT(shmem_##_name##_fadd(word, (_type)5, right) == (_type)10);             \
        shmem_##_name##_inc(word, right);                                             \
        EXPECT(shmem_##_name##_finc(word, right) == (_type)16);                       \
        EXPECT(shmem_##_name##_cswap(word, (_type)17, (_type)3, right) == (_type)17); \
        shmem_add(word, (_type)1, right);                                             \
        EXPECT(shmem_fadd(word, (_type)1, right) == (_type)4);                        \
        shmem_inc(word, right);                                                       \
        EXPECT(shmem_finc(word, right) == (_type)6);                                  \
        EXPECT(shmem_cswap(word, (_type)0, (_type)1, right) == (_type)7);             \
        shmem_barrier_all();                                                          \
        EXPECT(*word == (_type)7);                                                    \
        shmem_free(word);                                                             \
    }
#define CHECK_WAIT(_name, _type)                         \
    {                                                    \
        _type *word = shmem_calloc(1, sizeof(_type));    \
                                                         \
        shmem_##_name##_p(word, (_type)(pe + 1), right); \
        shmem_##_name##_wait(word, 0);                   \
        EXPECT(*word == (_type)(left + 1));              \
        shmem_free(word);                                \
    }

static void check_waits_of_long(void)
{
    long *word = shmem_calloc(2, sizeof(*word));

    shmem_long_p(&word[0], 4, right);
    shmem_wait(&word[0], 0);
    shmem_long_p(&word[1], -5, right);
    (shmem_wait_until)(&word[1], SHMEM_CMP_LT, 0);
    EXPECT(word[0] == 4 && word[1] == -5);
    shmem_barrier_all();
    shmem_free(word);
}

static void check_caches(void)
{
    int word = 0;

    shmem_clear_cache_inv();
    shmem_set_cache_inv();
    shmem_clear_cache_line_inv(&word);
    shmem_set_cache_line_inv(&word);
    shmem_udcflush();
    shmem_udcflush_line(&word);
    shmem_pcontrol(1, "anything");
}

static void check_heap(void)
{
    char *memory = shmalloc(100), *aligned = shmemalign(256, 10);

    EXPECT(memory != NULL && (uintptr_t)aligned % 256 == 0);
    memory[99] = 7;
    memory = shrealloc(memory, 1000);
    EXPECT(memory[99] == 7);
    shfree(memory);
    shfree(aligned);
}

void check_old(void)
{
    start_pes(0); /* a second call has no effect */
    EXPECT(_my_pe() == pe && _num_pes() == pes);
    EXPECT(_SHMEM_CMP_GE == SHMEM_CMP_GE && _SHMEM_MAX_NAME_LEN == SHMEM_MAX_NAME_LEN && _SHMEM_MAJOR_VERSION == 1);
    check_heap();
    SHMEM_ATOMIC_TYPES_EXTENDED(CHECK_WORD)
    SHMEM_ATOMIC_TYPES(CHECK_ATOMIC)
    SHMEM_ACTIVE_INTEGERS(CHECK_WAIT)
    check_waits_of_long();
    check_caches();
}
