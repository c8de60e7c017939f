/* Waits for words of the PE's own memory, and tests. */
#include "shmem_state.h"

#include <stdlib.h>

static keel_compare_t compare_of(const keel_shmem_wait_t *wait, const char *call)
{
    static const keel_compare_t compares[][2] = {[SHMEM_CMP_EQ] = {KEEL_COMPARE_EQ, KEEL_COMPARE_EQ},
                                                 [SHMEM_CMP_NE] = {KEEL_COMPARE_NE, KEEL_COMPARE_NE},
                                                 [SHMEM_CMP_GT] = {KEEL_COMPARE_GT, KEEL_COMPARE_GT_SIGNED},
                                                 [SHMEM_CMP_GE] = {KEEL_COMPARE_GE, KEEL_COMPARE_GE_SIGNED},
                                                 [SHMEM_CMP_LT] = {KEEL_COMPARE_LT, KEEL_COMPARE_LT_SIGNED},
                                                 [SHMEM_CMP_LE] = {KEEL_COMPARE_LE, KEEL_COMPARE_LE_SIGNED}};

    if (wait->cmp < 0 || wait->cmp > SHMEM_CMP_LE) {
        keel_shmem_refuse(call, "no comparison", (uint64_t)(int64_t)wait->cmp);
    }
    return compares[wait->cmp][wait->is_signed];
}

/* Converts a value for Keel's comparisons: unsigned, or sign-extended to 64 bits. */
static uint64_t value_of(const keel_shmem_wait_t *wait, size_t i)
{
    const unsigned shift = 64 - 8 * (unsigned)wait->size;
    uint64_t value = 0;

    memcpy(&value, (const char *)wait->values + i * wait->value_step, wait->size);
    if (wait->is_signed && wait->cmp != SHMEM_CMP_EQ && wait->cmp != SHMEM_CMP_NE) {
        value = (uint64_t)((int64_t)(value << shift) >> shift);
    }
    return value;
}

static void words_fill(const keel_shmem_wait_t *wait, keel_word_t *words, const char *call)
{
    const keel_compare_t compare = compare_of(wait, call);

    for (size_t i = 0; i < wait->count; i++) {
        const keel_shmem_place_t place =
            keel_shmem_place((const char *)wait->words + i * wait->size, wait->size, (int)keel_shmem.pe, call);

        words[i] = (keel_word_t){
            .win = (wait->status == NULL || wait->status[i] == 0) ? place.win : NULL,
            .offset = place.offset,
            .size = wait->size,
            .compare = compare,
            .value = value_of(wait, i),
        };
    }
}

static size_t words_list_met(const keel_word_t *words, size_t count, size_t *indices)
{
    size_t met = 0;

    for (size_t i = 0; i < count; i++) {
        if (words[i].win != NULL && words[i].is_met) {
            if (indices != NULL) {
                indices[met] = i;
            }
            met++;
        }
    }
    return met;
}

static keel_status_t look(keel_wait_for_t how, keel_word_t *words, size_t count)
{
    return KEEL_SHMEM_ALONE(keel_test(keel_shmem.ctx, how, words, (unsigned)count, NULL));
}

/* With several threads, waits by single looks: another thread's put may meet the condition. */
static keel_status_t wait_for(keel_wait_for_t how, keel_word_t *words, size_t count)
{
    keel_status_t status;

    if (!keel_shmem_is_threaded) {
        return keel_wait(keel_shmem.ctx, how, words, (unsigned)count, NULL);
    }
    while ((status = look(how, words, count)) == KEEL_INPROGRESS) {
        keel_shmem_threads_yield();
    }
    return status;
}

/* Waits for one word: the only kind of wait that logs can answer after a death. */
static keel_status_t wait_for_one(keel_word_t *word)
{
    return keel_shmem_is_threaded ? wait_for(KEEL_WAIT_ALL, word, 1)
                                  : keel_wait_until(word->win, word->offset, word->size, word->compare, word->value);
}

/* Waits for one word after the other, for the same reason. */
static keel_status_t wait_all(keel_word_t *words, size_t count)
{
    keel_status_t status = KEEL_OK;

    for (size_t i = 0; i < count && status == KEEL_OK; i++) {
        if (words[i].win != NULL) {
            status = wait_for_one(&words[i]);
        }
    }
    return status;
}

size_t keel_shmem_wait(const keel_shmem_wait_t *wait, keel_wait_for_t how, int is_test, size_t *indices,
                       const char *call)
{
    enum { FEW = 8 };
    keel_word_t few[FEW], *words = few;
    keel_status_t status;
    size_t met = 0;

    keel_shmem_begin_reading(call);
    if (wait->count > FEW) {
        words = (wait->count <= UINT32_MAX) ? malloc(wait->count * sizeof(*words)) : NULL;
        if (words == NULL) {
            keel_shmem_refuse(call, "no memory for so many words", wait->count);
        }
    }
    words_fill(wait, words, call);
    if (how == KEEL_WAIT_ALL && !is_test) {
        status = wait_all(words, wait->count);
    } else {
        status = is_test ? look(how, words, wait->count) : wait_for(how, words, wait->count);
    }
    if (status == KEEL_OK && how == KEEL_WAIT_ANY) {
        met = words_list_met(words, wait->count, indices);
    }
    if (words != few) {
        free(words); /* leaked if the wait ends by a jump to the restart point */
    }
    keel_shmem_end(status == KEEL_INPROGRESS ? KEEL_OK : status, call);
    return (status == KEEL_OK && how == KEEL_WAIT_ALL) ? 1 : met;
}

/* Takes the next match behind the last result, around the array: so each match has its turn. */
static size_t wait_any(const keel_shmem_wait_t *wait, int is_test, const char *call)
{
    const size_t last = __atomic_load_n(&keel_shmem.last_any_index, __ATOMIC_RELAXED);
    size_t *indices = calloc(wait->count + 1, sizeof(*indices)), count, next = 0, index = SIZE_MAX;

    if (indices == NULL) {
        keel_shmem_refuse(call, "no memory for so many words", wait->count);
    }
    count = keel_shmem_wait(wait, KEEL_WAIT_ANY, is_test, indices, call);
    while (next < count && indices[next] <= last) {
        next++;
    }
    if (count > 0) {
        index = indices[next < count ? next : 0];
        __atomic_store_n(&keel_shmem.last_any_index, index, __ATOMIC_RELAXED);
    }
    free(indices);
    return index;
}

static void wait_one(const keel_shmem_wait_t *wait, const char *call)
{
    keel_word_t word;

    keel_shmem_begin_reading(call);
    words_fill(wait, &word, call);
    keel_shmem_end(wait_for_one(&word), call);
}

void keel_shmem_await(const uint64_t *word, keel_compare_t compare, uint64_t value, const char *call)
{
    const keel_shmem_place_t place = keel_shmem_place(word, sizeof(*word), (int)keel_shmem.pe, call);
    keel_word_t one = {
        .win = place.win, .offset = place.offset, .size = sizeof(*word), .compare = compare, .value = value};

    keel_shmem_end(wait_for_one(&one), call);
}

/* ---- the functions ---- */

#define IS_SIGNED(_type) ((_type)-1 < (_type)1)
#define WORDS(_type, _words, _count, _status, _values, _step)                                         \
    {                                                                                                 \
        .words = (_words), .count = (_count), .size = sizeof(_type), .status = (_status), .cmp = cmp, \
        .is_signed = IS_SIGNED(_type), .values = (_values), .value_step = (_step)                     \
    }

/* several words: one value for all, or a vector of values */
#define DEFINE_SEVERAL(_name, _type, _form, _value, _values, _step)                                               \
    KEEL_SHMEM_DEFINE(void, _name##_wait_until_all##_form,                                                        \
                      (_type * ivars, size_t nelems, const int *status, int cmp, _type _value))                   \
    {                                                                                                             \
        const keel_shmem_wait_t wait = WORDS(_type, ivars, nelems, status, _values, _step);                       \
                                                                                                                  \
        (void)keel_shmem_wait(&wait, KEEL_WAIT_ALL, 0, NULL, KEEL_SHMEM_CALL);                                    \
    }                                                                                                             \
    KEEL_SHMEM_DEFINE(size_t, _name##_wait_until_any##_form,                                                      \
                      (_type * ivars, size_t nelems, const int *status, int cmp, _type _value))                   \
    {                                                                                                             \
        const keel_shmem_wait_t wait = WORDS(_type, ivars, nelems, status, _values, _step);                       \
                                                                                                                  \
        return wait_any(&wait, 0, KEEL_SHMEM_CALL);                                                               \
    }                                                                                                             \
    KEEL_SHMEM_DEFINE(size_t, _name##_wait_until_some##_form,                                                     \
                      (_type * ivars, size_t nelems, size_t * indices, const int *status, int cmp, _type _value)) \
    {                                                                                                             \
        const keel_shmem_wait_t wait = WORDS(_type, ivars, nelems, status, _values, _step);                       \
                                                                                                                  \
        return keel_shmem_wait(&wait, KEEL_WAIT_ANY, 0, indices, KEEL_SHMEM_CALL);                                \
    }                                                                                                             \
    KEEL_SHMEM_DEFINE(int, _name##_test_all##_form,                                                               \
                      (_type * ivars, size_t nelems, const int *status, int cmp, _type _value))                   \
    {                                                                                                             \
        const keel_shmem_wait_t wait = WORDS(_type, ivars, nelems, status, _values, _step);                       \
                                                                                                                  \
        return (int)keel_shmem_wait(&wait, KEEL_WAIT_ALL, 1, NULL, KEEL_SHMEM_CALL);                              \
    }                                                                                                             \
    KEEL_SHMEM_DEFINE(size_t, _name##_test_any##_form,                                                            \
                      (_type * ivars, size_t nelems, const int *status, int cmp, _type _value))                   \
    {                                                                                                             \
        const keel_shmem_wait_t wait = WORDS(_type, ivars, nelems, status, _values, _step);                       \
                                                                                                                  \
        return wait_any(&wait, 1, KEEL_SHMEM_CALL);                                                               \
    }                                                                                                             \
    KEEL_SHMEM_DEFINE(size_t, _name##_test_some##_form,                                                           \
                      (_type * ivars, size_t nelems, size_t * indices, const int *status, int cmp, _type _value)) \
    {                                                                                                             \
        const keel_shmem_wait_t wait = WORDS(_type, ivars, nelems, status, _values, _step);                       \
                                                                                                                  \
        return keel_shmem_wait(&wait, KEEL_WAIT_ANY, 1, indices, KEEL_SHMEM_CALL);                                \
    }

#define DEFINE_WAIT(_name, _type)                                                         \
    KEEL_SHMEM_DEFINE(void, _name##_wait_until, (_type * ivar, int cmp, _type cmp_value)) \
    {                                                                                     \
        const keel_shmem_wait_t wait = WORDS(_type, ivar, 1, NULL, &cmp_value, 0);        \
                                                                                          \
        wait_one(&wait, KEEL_SHMEM_CALL);                                                 \
    }                                                                                     \
    KEEL_SHMEM_DEFINE(int, _name##_test, (_type * ivar, int cmp, _type cmp_value))        \
    {                                                                                     \
        const keel_shmem_wait_t wait = WORDS(_type, ivar, 1, NULL, &cmp_value, 0);        \
                                                                                          \
        return (int)keel_shmem_wait(&wait, KEEL_WAIT_ALL, 1, NULL, KEEL_SHMEM_CALL);      \
    }                                                                                     \
    DEFINE_SEVERAL(_name, _type, , cmp_value, &cmp_value, 0)                              \
    DEFINE_SEVERAL(_name, _type, _vector, *cmp_values, cmp_values, sizeof(_type))
SHMEM_INTEGERS(DEFINE_WAIT)

/* ---- deprecated ---- */

#define DEFINE_OLD_WAIT(_name, _type)                                      \
    KEEL_SHMEM_DEFINE(void, _name##_wait, (_type * ivar, _type cmp_value)) \
    {                                                                      \
        pshmem_##_name##_wait_until(ivar, SHMEM_CMP_NE, cmp_value);        \
    }
SHMEM_ACTIVE_INTEGERS(DEFINE_OLD_WAIT)

KEEL_SHMEM_DEFINE(void, wait, (long *ivar, long cmp_value))
{
    pshmem_long_wait_until(ivar, SHMEM_CMP_NE, cmp_value);
}

#undef shmem_wait_until
KEEL_SHMEM_DEFINE(void, wait_until, (long *ivar, int cmp, long cmp_value))
{
    pshmem_long_wait_until(ivar, cmp, cmp_value);
}

/* ---- signals ---- */

KEEL_SHMEM_DEFINE(uint64_t, signal_fetch, (const uint64_t *sig_addr))
{
    const uint64_t none = 0;
    const int cmp = SHMEM_CMP_GE; /* a test with a logged result */
    const keel_shmem_wait_t wait = WORDS(uint64_t, sig_addr, 1, NULL, &none, 0);
    keel_word_t word;

    keel_shmem_begin_reading(KEEL_SHMEM_CALL);
    words_fill(&wait, &word, KEEL_SHMEM_CALL);
    keel_shmem_end(look(KEEL_WAIT_ALL, &word, 1), KEEL_SHMEM_CALL);
    return word.seen;
}

KEEL_SHMEM_DEFINE(uint64_t, signal_wait_until, (uint64_t * sig_addr, int cmp, uint64_t cmp_value))
{
    const keel_shmem_wait_t wait = WORDS(uint64_t, sig_addr, 1, NULL, &cmp_value, 0);
    keel_word_t word;

    if (cmp == SHMEM_CMP_EQ) {
        wait_one(&wait, KEEL_SHMEM_CALL);
        return cmp_value;
    }
    keel_shmem_begin_reading(KEEL_SHMEM_CALL);
    words_fill(&wait, &word, KEEL_SHMEM_CALL);
    keel_shmem_end(wait_for(KEEL_WAIT_ALL, &word, 1), KEEL_SHMEM_CALL);
    return word.seen;
}
