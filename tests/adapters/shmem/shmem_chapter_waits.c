/* Waits and tests of all types: every PE puts 1 + its number to every other PE; the own word stays
 * 0. */
#include "shmem_chapter.h"

typedef struct {
    int *out; /* words left out; for the waits for all: the own word */
    size_t *found;
} lists_t;

#define PUT_TO_ALL(_name, _type)                               \
    for (int r = 0; r < pes; r++) {                            \
        if (r != pe) {                                         \
            shmem_##_name##_p(&words[pe], (_type)(pe + 1), r); \
        }                                                      \
    }
/* Waits for the words in turn; words found before are left out. */
#define CHECK_ANY(_name, _type, _form, _value)                                                                       \
    for (size_t count = 0; count < (size_t)pes - 1;) {                                                               \
        const size_t one = (count % 2 == 0)                                                                          \
                               ? shmem_##_name##_wait_until_any##_form(words, pes, lists->out, SHMEM_CMP_GT, _value) \
                               : shmem_##_name##_test_any##_form(words, pes, lists->out, SHMEM_CMP_GT, _value);      \
        if (one != SIZE_MAX) {                                                                                       \
            EXPECT(words[one] == (_type)(one + 1));                                                                  \
            lists->out[one] = 1;                                                                                     \
            count++;                                                                                                 \
        }                                                                                                            \
    }                                                                                                                \
    EXPECT(shmem_##_name##_wait_until_any##_form(words, pes, lists->out, SHMEM_CMP_GT, _value) == SIZE_MAX);         \
    EXPECT(shmem_##_name##_wait_until_some##_form(words, pes, lists->found, lists->out, SHMEM_CMP_GT, _value) == 0); \
    EXPECT(shmem_##_name##_test_any##_form(words, 0, NULL, SHMEM_CMP_GT, _value) == SIZE_MAX);                       \
    EXPECT(shmem_##_name##_test_all##_form(words, 0, NULL, SHMEM_CMP_GT, _value) == 1);                              \
    memset(lists->out, 0, (size_t)pes * sizeof(int));                                                                \
    lists->out[pe] = 1;

#define CHECK_SEVERAL(_name, _type)                                                                        \
    {                                                                                                      \
        _type *words = shmem_calloc(pes, sizeof(_type));                                                   \
                                                                                                           \
        EXPECT(shmem_##_name##_test_any(words, pes, lists->out, SHMEM_CMP_NE, 0) == SIZE_MAX || pes > 1);  \
        PUT_TO_ALL(_name, _type)                                                                           \
        CHECK_ANY(_name, _type, , 0)                                                                       \
        shmem_##_name##_wait_until_all(words, pes, lists->out, SHMEM_CMP_GE, 1);                           \
        EXPECT(shmem_##_name##_test_all(words, pes, lists->out, SHMEM_CMP_LE, (_type)pes) == 1);           \
        EXPECT(shmem_##_name##_test_all(words, pes, NULL, SHMEM_CMP_NE, 0) == 0);                          \
        EXPECT(shmem_##_name##_wait_until_some(words, pes, lists->found, lists->out, SHMEM_CMP_LT, 100) == \
               (size_t)pes - 1);                                                                           \
        EXPECT(shmem_##_name##_test_some(words, pes, lists->found, NULL, SHMEM_CMP_EQ, 0) == 1 &&          \
               lists->found[0] == (size_t)pe);                                                             \
        shmem_barrier_all();                                                                               \
        shmem_free(words);                                                                                 \
    }
#define CHECK_VECTOR(_name, _type)                                                                                  \
    {                                                                                                               \
        _type *words = shmem_calloc(pes, sizeof(_type)), *values = calloc(pes, sizeof(_type));                      \
                                                                                                                    \
        PUT_TO_ALL(_name, _type)                                                                                    \
        for (int i = 0; i < pes; i++) {                                                                             \
            values[i] = (_type)i;                                                                                   \
        }                                                                                                           \
        CHECK_ANY(_name, _type, _vector, values)                                                                    \
        for (int i = 0; i < pes; i++) {                                                                             \
            values[i] = (_type)(i == pe ? 0 : i + 1);                                                               \
        }                                                                                                           \
        shmem_##_name##_wait_until_all_vector(words, pes, NULL, SHMEM_CMP_EQ, values);                              \
        EXPECT(shmem_##_name##_test_all_vector(words, pes, NULL, SHMEM_CMP_EQ, values) == 1);                       \
        values[pes - 1]++;                                                                                          \
        EXPECT(shmem_##_name##_test_all_vector(words, pes, NULL, SHMEM_CMP_EQ, values) == 0);                       \
        EXPECT(shmem_##_name##_test_some_vector(words, pes, lists->found, NULL, SHMEM_CMP_NE, values) == 1 &&       \
               lists->found[0] == (size_t)pes - 1);                                                                 \
        EXPECT(shmem_##_name##_wait_until_some_vector(words, pes, lists->found, NULL, SHMEM_CMP_LT, values) == 1 && \
               lists->found[0] == (size_t)pes - 1);                                                                 \
        shmem_barrier_all();                                                                                        \
        shmem_free(words);                                                                                          \
        free(values);                                                                                               \
    }
/* -1 is negative, or the largest value. */
#define CHECK_ONE(_name, _type)                                         \
    {                                                                   \
        _type *word = shmem_calloc(1, sizeof(_type));                   \
                                                                        \
        EXPECT(shmem_##_name##_test(word, SHMEM_CMP_EQ, 0) == 1);       \
        EXPECT(shmem_##_name##_test(word, SHMEM_CMP_NE, 0) == 0);       \
        shmem_barrier_all();                                            \
        shmem_##_name##_p(word, (_type)-1, right);                      \
        if ((_type)-1 < (_type)1) {                                     \
            shmem_##_name##_wait_until(word, SHMEM_CMP_LT, 0);          \
            EXPECT(shmem_##_name##_test(word, SHMEM_CMP_GE, 0) == 0);   \
        } else {                                                        \
            shmem_##_name##_wait_until(word, SHMEM_CMP_GT, 100);        \
            EXPECT(shmem_##_name##_test(word, SHMEM_CMP_LE, 100) == 0); \
        }                                                               \
        shmem_##_name##_wait_until(word, SHMEM_CMP_EQ, (_type)-1);      \
        shmem_barrier_all();                                            \
        shmem_free(word);                                               \
    }

static void check_several(const lists_t *lists)
{
    SHMEM_INTEGERS(CHECK_SEVERAL)
}

static void check_vectors(const lists_t *lists)
{
    SHMEM_INTEGERS(CHECK_VECTOR)
}

/* If several words hold, each gets a turn. */
static void check_turns(void)
{
    enum { WORDS = 5 };
    long *words = shmem_calloc(WORDS, sizeof(*words));
    int is_seen[WORDS] = {0};

    for (int i = 0; i < WORDS; i++) {
        is_seen[shmem_long_test_any(words, WORDS, NULL, SHMEM_CMP_EQ, 0)]++;
        is_seen[shmem_long_wait_until_any(words, WORDS, NULL, SHMEM_CMP_LE, 0)]++;
    }
    for (int i = 0; i < WORDS; i++) {
        EXPECT(is_seen[i] == 2);
    }
    shmem_free(words);
}

void check_waits(void)
{
    lists_t lists = {calloc((size_t)pes, sizeof(int)), calloc((size_t)pes, sizeof(size_t))};

    lists.out[pe] = 1;
    check_several(&lists);
    check_vectors(&lists);
    check_turns();
    SHMEM_INTEGERS(CHECK_ONE)
    free(lists.out);
    free(lists.found);
}
