/*
 * OpenSHMEM by chapter, each call's values checked on every PE; with a word behind it, one call that is wrong: shmem_chapters [WORD].
 */
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 3000 };

static int pe, pes, right, left, flaws;
static int global;

#define EXPECT(_what) expect((_what) != 0, #_what, __LINE__)

static void expect(int is_right, const char *what, int line)
{
    if (!is_right) {
        printf("shmem_chapters: PE %d, line %d: not %s\n", pe, line, what);
        flaws++;
    }
}

static void check_setup(void)
{
    char name[SHMEM_MAX_NAME_LEN];
    int major, minor, provided;

    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    shmem_query_thread(&provided);
    EXPECT(major == 1 && minor == 5 && strcmp(name, "Keel") == 0 && provided == SHMEM_THREAD_SERIALIZED);
    EXPECT(shmem_pe_accessible(0) && shmem_pe_accessible(pes - 1) && !shmem_pe_accessible(pes) &&
           !shmem_pe_accessible(-1));
    EXPECT(!shmem_addr_accessible(&global, 0) && shmem_ptr(&global, pe) == NULL);
    EXPECT(shmem_team_my_pe(SHMEM_TEAM_WORLD) == pe && shmem_team_n_pes(SHMEM_TEAM_WORLD) == pes);
    EXPECT(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1 && shmem_team_sync(SHMEM_TEAM_INVALID) == -1);
    EXPECT(shmem_team_sync(SHMEM_TEAM_WORLD) == 0);
}

static void check_memory(void)
{
    char *a = shmem_malloc(1000), *b = shmem_align(4096, 5000), *c = shmem_calloc(30, 10), *d, *e;
    uintptr_t *others = shmem_malloc(sizeof(uintptr_t) * 4);

    EXPECT(a != NULL && b != NULL && c != NULL && (uintptr_t)b % 4096 == 0 && (uintptr_t)a % 16 == 0);
    EXPECT(a + 1000 <= b && (c >= b + 5000 || (c >= a + 1000 && c + 300 <= b)));
    EXPECT(shmem_malloc(0) == NULL && shmem_malloc((size_t)1 << 40) == NULL && shmem_align(3, 8) == NULL);
    EXPECT(shmem_calloc(SIZE_MAX, 2) == NULL && shmem_malloc_with_hints(0, SHMEM_MALLOC_ATOMICS_REMOTE) == NULL);
    EXPECT(shmem_addr_accessible(b, right) && shmem_ptr(b, pe) == b && (pes == 1 || shmem_ptr(b, right) == NULL));
    memset(b, 7, 5000);
    shmem_free(a);
    d = shmem_malloc(900); /* where that was */
    EXPECT(d == a);
    e = shmem_realloc(b, 100000);
    EXPECT(e != b && e[0] == 7 && e[4999] == 7);
    EXPECT(shmem_realloc(e, 10) == e && shmem_realloc(NULL, 0) == NULL);
    others[0] = (uintptr_t)a;
    others[1] = (uintptr_t)c;
    others[2] = (uintptr_t)e;
    shmem_barrier_all();
    for (int i = 0; i < 3; i++) { /* the same everywhere */
        EXPECT(shmem_ulong_g((unsigned long *)&others[i], right) == others[i]);
    }
    shmem_barrier_all();
    shmem_free(NULL);
    EXPECT(shmem_realloc(e, 0) == NULL);
    shmem_free(c);
    shmem_free(d);
    shmem_free(others);
}

#define CHECK_RMA(_name, _type)                                                             \
    {                                                                                       \
        _type *to = shmem_calloc(MANY, sizeof(_type)), *from = calloc(MANY, sizeof(_type)); \
        _type *back = calloc(MANY, sizeof(_type));                                          \
                                                                                            \
        for (int i = 0; i < MANY; i++) {                                                    \
            from[i] = (_type)(i % 60 + pe);                                                 \
        }                                                                                   \
        shmem_##_name##_put(to, from, MANY / 2, right);                                     \
        shmem_##_name##_put_nbi(to + MANY / 2, from + MANY / 2, MANY / 2, right);           \
        shmem_quiet();                                                                      \
        shmem_##_name##_get(back, to, MANY / 2, right);                                     \
        shmem_##_name##_get_nbi(back + MANY / 2, to + MANY / 2, MANY / 2, right);           \
        shmem_quiet();                                                                      \
        EXPECT(memcmp(back, from, MANY * sizeof(_type)) == 0);                              \
        shmem_barrier_all();                                                                \
        EXPECT(to[MANY - 1] == (_type)((MANY - 1) % 60 + left));                            \
        shmem_barrier_all();                                                                \
        shmem_##_name##_p(to, (_type)99, right);                                            \
        shmem_##_name##_iput(to + 1, from, 2, 3, 5, right);                                 \
        shmem_##_name##_put(to, from, 0, right);                                            \
        shmem_barrier_all();                                                                \
        EXPECT(to[0] == (_type)99 && to[1] == (_type)left && to[9] == (_type)(12 + left));  \
        EXPECT(shmem_##_name##_g(to, right) == (_type)99);                                  \
        shmem_##_name##_iget(back, to + 1, 3, 2, 5, right);                                 \
        EXPECT(back[12] == (_type)(12 + pe));                                               \
        shmem_barrier_all();                                                                \
        shmem_free(to);                                                                     \
        free(from);                                                                         \
        free(back);                                                                         \
    }

static void check_rma(void)
{
    SHMEM_TYPES(CHECK_RMA)
}

static void check_mem(void)
{
    char *to = shmem_calloc(MANY, 1), from[MANY], back[MANY];

    memset(from, pe + 1, sizeof(from));
    shmem_putmem(to, from, 100, right);
    shmem_putmem_nbi(to + 100, from, 100, right);
    shmem_fence();
    shmem_quiet();
    shmem_getmem(back, to, 100, right);
    shmem_getmem_nbi(back + 100, to + 100, 101, right);
    shmem_quiet();
    EXPECT(back[0] == pe + 1 && back[199] == pe + 1 && back[200] == 0);
    shmem_barrier_all();
    EXPECT(to[0] == left + 1);
    shmem_free(to);
}

static void check_signals(void)
{
    long *data = shmem_calloc(2, sizeof(*data)), said = pe + 5;
    uint64_t *signal = shmem_calloc(2, sizeof(*signal));

    shmem_long_put_signal(data, &said, 1, signal, 7, SHMEM_SIGNAL_SET, right);
    EXPECT(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 7) == 7 && data[0] == left + 5);
    for (int i = 0; i < 3; i++) {
        shmem_putmem_signal(&data[1], &said, sizeof(said), &signal[1], 2, SHMEM_SIGNAL_ADD, right);
    }
    EXPECT(shmem_signal_wait_until(&signal[1], SHMEM_CMP_GE, 6) == 6 && data[1] == left + 5);
    EXPECT(shmem_signal_fetch(signal) == 7);
    shmem_barrier_all();
    shmem_free(signal);
    shmem_free(data);
}

#define CHECK_WORD(_name, _type)                                                            \
    {                                                                                       \
        _type *word = shmem_calloc(pes, sizeof(_type));                                     \
                                                                                            \
        shmem_##_name##_atomic_set(&word[pe], (_type)(pe + 3), right);                      \
        EXPECT(shmem_##_name##_atomic_fetch(&word[pe], right) == (_type)(pe + 3));          \
        EXPECT(shmem_##_name##_atomic_swap(&word[pe], (_type)7, right) == (_type)(pe + 3)); \
        shmem_barrier_all();                                                                \
        EXPECT(word[left] == (_type)7);                                                     \
        shmem_free(word);                                                                   \
    }
#define CHECK_ATOMIC(_name, _type)                                                         \
    {                                                                                      \
        _type *word = shmem_calloc(2, sizeof(_type)), was;                                 \
                                                                                           \
        shmem_##_name##_atomic_add(word, (_type)10, 0);                                    \
        shmem_##_name##_atomic_inc(word, 0);                                               \
        was = shmem_##_name##_atomic_fetch_add(word, (_type)5, 0);                         \
        EXPECT(was >= (_type)11 && was < (_type)(17 * pes));                               \
        was = shmem_##_name##_atomic_fetch_inc(word, 0);                                   \
        EXPECT(was >= (_type)16);                                                          \
        was = shmem_##_name##_atomic_compare_swap(&word[1], (_type)0, (_type)(pe + 1), 0); \
        shmem_barrier_all();                                                               \
        EXPECT(shmem_##_name##_g(word, 0) == (_type)(17 * pes));                           \
        EXPECT((was == 0) == (shmem_##_name##_g(&word[1], 0) == (_type)(pe + 1)));         \
        shmem_free(word);                                                                  \
    }
#define CHECK_BITWISE(_name, _type)                                                             \
    {                                                                                           \
        _type *word = shmem_calloc(3, sizeof(_type));                                           \
                                                                                                \
        shmem_##_name##_atomic_or(word, (_type)(1 << pe), 0);                                   \
        EXPECT(shmem_##_name##_atomic_fetch_or(word, (_type)(256 << pe), 0) & (1 << pe));       \
        shmem_##_name##_atomic_xor(&word[1], (_type)1, 0);                                      \
        (void)shmem_##_name##_atomic_fetch_xor(&word[1], (_type)(2 << pe), 0);                  \
        shmem_barrier_all();                                                                    \
        EXPECT(shmem_##_name##_g(word, 0) == (_type)(257 * ((1 << pes) - 1)));                  \
        EXPECT(shmem_##_name##_g(&word[1], 0) == (_type)(2 * ((1 << pes) - 1) + pes % 2));      \
        shmem_barrier_all();                                                                    \
        shmem_##_name##_atomic_and(word, (_type) ~(1 << pe), 0);                                \
        EXPECT(!(shmem_##_name##_atomic_fetch_and(word, (_type) ~(256 << pe), 0) & (1 << pe))); \
        shmem_barrier_all();                                                                    \
        EXPECT(shmem_##_name##_g(word, 0) == 0);                                                \
        shmem_free(word);                                                                       \
    }

static void check_atomics(void)
{
    SHMEM_ATOMIC_TYPES_EXTENDED(CHECK_WORD)
    SHMEM_ATOMIC_TYPES(CHECK_ATOMIC)
    SHMEM_ATOMIC_TYPES_BITWISE(CHECK_BITWISE)
}

/* everybody puts to everybody; the own word is left out */
#define CHECK_WAIT(_name, _type)                                                                                    \
    {                                                                                                               \
        _type *words = shmem_calloc(pes, sizeof(_type));                                                            \
        int *out = calloc(pes, sizeof(int));                                                                        \
        size_t *found = calloc(pes, sizeof(*found)), count = 0;                                                     \
                                                                                                                    \
        out[pe] = 1;                                                                                                \
        EXPECT(shmem_##_name##_test_any(words, pes, out, SHMEM_CMP_NE, 0) == SIZE_MAX || pes > 1);                  \
        for (int r = 0; r < pes; r++) {                                                                             \
            if (r != pe) {                                                                                          \
                shmem_##_name##_p(&words[pe], (_type)(pe + 1), r);                                                  \
            }                                                                                                       \
        }                                                                                                           \
        while (count < (size_t)pes - 1) {                                                                           \
            size_t one = (count % 2 == 0) ? shmem_##_name##_wait_until_any(words, pes, out, SHMEM_CMP_GT, 0)        \
                                          : shmem_##_name##_test_any(words, pes, out, SHMEM_CMP_GT, 0);             \
            if (one != SIZE_MAX) {                                                                                  \
                EXPECT(words[one] == (_type)(one + 1));                                                             \
                out[one] = 1;                                                                                       \
                count++;                                                                                            \
            }                                                                                                       \
        }                                                                                                           \
        EXPECT(shmem_##_name##_wait_until_any(words, pes, out, SHMEM_CMP_GT, 0) == SIZE_MAX);                       \
        memset(out, 0, pes * sizeof(int));                                                                          \
        out[pe] = 1;                                                                                                \
        shmem_##_name##_wait_until_all(words, pes, out, SHMEM_CMP_GE, 1);                                           \
        EXPECT(shmem_##_name##_test_all(words, pes, out, SHMEM_CMP_LE, (_type)pes) == 1);                           \
        EXPECT(shmem_##_name##_test_all(words, pes, NULL, SHMEM_CMP_NE, 0) == 0);                                   \
        EXPECT(shmem_##_name##_wait_until_some(words, pes, found, out, SHMEM_CMP_LT, 100) == (size_t)pes - 1);      \
        EXPECT(shmem_##_name##_test_some(words, pes, found, NULL, SHMEM_CMP_EQ, 0) == 1 && found[0] == (size_t)pe); \
        EXPECT(shmem_##_name##_test(&words[pe], SHMEM_CMP_EQ, 0) == 1);                                             \
        EXPECT(shmem_##_name##_test(&words[pe], SHMEM_CMP_NE, 0) == 0);                                             \
        shmem_barrier_all();                                                                                        \
        shmem_##_name##_p(&words[right], (_type)-1, right); /* it is below 0, or the largest there is */            \
        if ((_type)-1 < (_type)1) {                                                                                 \
            shmem_##_name##_wait_until(&words[pe], SHMEM_CMP_LT, 0);                                                \
        } else {                                                                                                    \
            shmem_##_name##_wait_until(&words[pe], SHMEM_CMP_GT, 100);                                              \
        }                                                                                                           \
        shmem_##_name##_wait_until(&words[pe], SHMEM_CMP_EQ, (_type)-1);                                            \
        shmem_barrier_all();                                                                                        \
        shmem_free(words);                                                                                          \
        free(out);                                                                                                  \
        free(found);                                                                                                \
    }

static void check_waits(void)
{
    SHMEM_INTEGERS(CHECK_WAIT)
}

#define CHECK_COLLECT(_name, _type)                                                                       \
    {                                                                                                     \
        _type *to = shmem_calloc(20 * pes, sizeof(_type)), *from = shmem_calloc(20 * pes, sizeof(_type)); \
                                                                                                          \
        for (int i = 0; i < 20 * pes; i++) {                                                              \
            from[i] = (_type)(pe * 10 + i / 20);                                                          \
        }                                                                                                 \
        EXPECT(shmem_##_name##_broadcast(SHMEM_TEAM_WORLD, to, from, 20, pes - 1) == 0);                  \
        EXPECT(to[0] == (_type)(pes * 10 - 10) && to[19] == to[0]);                                       \
        shmem_sync_all();                                                                                 \
        EXPECT(shmem_##_name##_fcollect(SHMEM_TEAM_WORLD, to, from, 20) == 0);                            \
        EXPECT(to[19] == 0 && to[20 * pes - 1] == (_type)(pes * 10 - 10));                                \
        shmem_sync_all();                                                                                 \
        EXPECT(shmem_##_name##_alltoall(SHMEM_TEAM_WORLD, to, from, 20) == 0);                            \
        EXPECT(to[20 * right] == (_type)(right * 10 + pe) && to[20 * right + 19] == to[20 * right]);      \
        EXPECT(shmem_##_name##_fcollect(SHMEM_TEAM_INVALID, to, from, 20) == -1);                         \
        shmem_free(to);                                                                                   \
        shmem_free(from);                                                                                 \
    }
#define CHECK_NUMBERS(_name, _type)                                                                               \
    {                                                                                                             \
        _type *to = shmem_calloc(MANY, sizeof(_type)), *from = shmem_calloc(MANY, sizeof(_type)), prod = 1;       \
                                                                                                                  \
        for (int i = 0; i < MANY; i++) {                                                                          \
            from[i] = (_type)(i % 50 + pe);                                                                       \
        }                                                                                                         \
        for (int r = 0; r < pes; r++) {                                                                           \
            prod = (_type)(prod * (_type)(1 + r % 3));                                                            \
        }                                                                                                         \
        EXPECT(shmem_##_name##_sum_reduce(SHMEM_TEAM_WORLD, to, from, MANY) == 0);                                \
        EXPECT(to[0] == (_type)(pes * (pes - 1) / 2) && to[MANY - 1] == (_type)(49 * pes + pes * (pes - 1) / 2)); \
        shmem_sync_all();                                                                                         \
        EXPECT(shmem_##_name##_max_reduce(SHMEM_TEAM_WORLD, to, from, MANY) == 0);                                \
        EXPECT(to[10] == (_type)(10 + pes - 1) && to[MANY - 1] == (_type)(49 + pes - 1));                         \
        shmem_sync_all();                                                                                         \
        EXPECT(shmem_##_name##_min_reduce(SHMEM_TEAM_WORLD, from, from, MANY) == 0); /* in its place */           \
        EXPECT(from[10] == (_type)10 && from[MANY - 1] == (_type)49);                                             \
        from[0] = (_type)(1 + pe % 3);                                                                            \
        shmem_sync_all();                                                                                         \
        EXPECT(shmem_##_name##_prod_reduce(SHMEM_TEAM_WORLD, to, from, 1) == 0 && to[0] == prod);                 \
        shmem_free(to);                                                                                           \
        shmem_free(from);                                                                                         \
    }
#define CHECK_BITS(_name, _type)                                                                                 \
    {                                                                                                            \
        _type *to = shmem_calloc(1, sizeof(_type)), *from = shmem_calloc(1, sizeof(_type));                      \
                                                                                                                 \
        *from = (_type)(1 << pe);                                                                                \
        EXPECT(shmem_##_name##_or_reduce(SHMEM_TEAM_WORLD, to, from, 1) == 0 && *to == (_type)((1 << pes) - 1)); \
        *from = (_type)(1 << pe | 1024);                                                                         \
        shmem_sync_all();                                                                                        \
        EXPECT(shmem_##_name##_and_reduce(SHMEM_TEAM_WORLD, to, from, 1) == 0 &&                                 \
               *to == (_type)(pes == 1 ? 1025 : 1024));                                                          \
        shmem_sync_all();                                                                                        \
        EXPECT(shmem_##_name##_xor_reduce(SHMEM_TEAM_WORLD, to, from, 1) == 0 &&                                 \
               *to == (_type)((1 << pes) - 1 + pes % 2 * 1024));                                                 \
        shmem_free(to);                                                                                          \
        shmem_free(from);                                                                                        \
    }

static void check_collectives(void)
{
    char *bytes = shmem_calloc(pes, 1), own = (char)(pe + 1);

    SHMEM_TYPES(CHECK_COLLECT)
    SHMEM_INTEGERS(CHECK_NUMBERS)
    SHMEM_FLOATS(CHECK_NUMBERS)
    SHMEM_BIT_TYPES(CHECK_BITS)
    EXPECT(shmem_fcollectmem(SHMEM_TEAM_WORLD, bytes, &own, 1) == 0 && bytes[right] == right + 1);
    shmem_sync_all();
    EXPECT(shmem_broadcastmem(SHMEM_TEAM_WORLD, bytes, &own, 1, 0) == 0 && bytes[0] == 1);
    EXPECT(shmem_alltoallmem(SHMEM_TEAM_WORLD, bytes, bytes, 0) == 0);
    shmem_sync_all();
    shmem_free(bytes);
}

/* each type by its generic names */
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

static void check_generics(void)
{
    SHMEM_TYPES(CHECK_GENERIC)
    SHMEM_INTEGERS(CHECK_GENERIC_INTEGER)
    SHMEM_ATOMIC_TYPES(CHECK_GENERIC_WORD)
    SHMEM_ATOMIC_TYPES_BITWISE(CHECK_GENERIC_BITS)
}

static void check_locks(void)
{
    long *lock = shmem_calloc(1, sizeof(*lock)), *count = shmem_calloc(1, sizeof(*count));

    for (int i = 0; i < 5; i++) {
        if (i % 2 == 0) {
            shmem_set_lock(lock);
        } else {
            while (shmem_test_lock(lock) != 0) {
            }
        }
        shmem_long_p(count, shmem_long_g(count, 0) + 1, 0);
        shmem_clear_lock(lock);
    }
    shmem_barrier_all();
    EXPECT(shmem_long_g(count, 0) == 5l * pes);
    shmem_barrier_all();
    shmem_free(count);
    shmem_free(lock);
}

/* does not return when it is noticed */
static void do_wrong(const char *what)
{
    int *word = shmem_calloc(1, sizeof(*word)), none = 0;
    long *lock = shmem_calloc(1, sizeof(*lock));
    uint64_t *signal = shmem_calloc(1, sizeof(*signal));

    if (pe != 0) {
        shmem_barrier_all(); /* in which it is killed */
    } else if (strcmp(what, "pe") == 0) {
        shmem_int_put(word, &none, 1, 2);
    } else if (strcmp(what, "negative") == 0) {
        shmem_int_get(&none, word, 1, -1);
    } else if (strcmp(what, "global") == 0) {
        shmem_int_put(&global, &none, 1, 1);
    } else if (strcmp(what, "beyond") == 0) {
        shmem_putmem(word, &none, (size_t)1 << 30, 1);
    } else if (strcmp(what, "much") == 0) {
        shmem_int_put(word, &none, SIZE_MAX / 4 + 2, 1);
    } else if (strcmp(what, "freed") == 0) {
        shmem_free(word + 1);
    } else if (strcmp(what, "comparison") == 0) {
        shmem_int_wait_until(word, SHMEM_CMP_LE + 1, 0);
    } else if (strcmp(what, "signal") == 0) {
        shmem_putmem_signal(word, &none, 1, signal, 1, 2, 1);
    } else if (strcmp(what, "lock") == 0) {
        shmem_set_lock(lock);
        shmem_set_lock(lock);
    } else if (strcmp(what, "root") == 0) {
        shmem_int_broadcast(SHMEM_TEAM_WORLD, word, word, 1, 2);
    } else if (strcmp(what, "exit") == 0) {
        shmem_global_exit(9);
    }
}

int main(int argc, char **argv)
{
    int provided = -1;

    if (argc > 1 && strcmp(argv[1], "early") == 0) {
        return shmem_n_pes();
    }
    EXPECT(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_SERIALIZED);
    pe = shmem_my_pe();
    pes = shmem_n_pes();
    right = (pe + 1) % pes;
    left = (pe + pes - 1) % pes;
    if (argc > 1) {
        do_wrong(argv[1]);
        return 0;
    }
    check_setup();
    check_memory();
    check_rma();
    check_mem();
    check_signals();
    check_atomics();
    check_waits();
    check_collectives();
    check_generics();
    check_locks();
    printf("shmem_chapters: PE %d: %s\n", pe, flaws == 0 ? "right" : "WRONG");
    shmem_finalize();
    return flaws != 0;
}
