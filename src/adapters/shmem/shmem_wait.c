/* Waiting for words of the own memory, and testing them. */
#include "shmem_state.h"

#include <stdlib.h>
#include <string.h>

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

/* as Keel's comparisons take it: without a sign, or with it in all of 64 bits */
static uint64_t value_of(const keel_shmem_wait_t *wait)
{
    const unsigned shift = 64 - 8 * (unsigned)wait->size;
    uint64_t value = 0;

    memcpy(&value, wait->value, wait->size);
    if (wait->is_signed && wait->cmp != SHMEM_CMP_EQ && wait->cmp != SHMEM_CMP_NE) {
        value = (uint64_t)((int64_t)(value << shift) >> shift);
    }
    return value;
}

static void words_fill(const keel_shmem_wait_t *wait, keel_word_t *words, const char *call)
{
    const keel_compare_t compare = compare_of(wait, call);
    const uint64_t value = value_of(wait);

    for (size_t i = 0; i < wait->count; i++) {
        const char *word = (const char *)wait->words + i * wait->size;

        words[i] = (keel_word_t){
            .win = (wait->status == NULL || wait->status[i] == 0) ? keel_shmem.win : NULL,
            .offset = keel_shmem_offset(word, wait->size, (int)keel_shmem.pe, call),
            .size = wait->size,
            .compare = compare,
            .value = value,
        };
    }
}

static size_t words_tell(const keel_word_t *words, size_t count, size_t *indices)
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
    status = is_test ? keel_test(keel_shmem.ctx, how, words, (unsigned)wait->count, NULL)
                     : keel_wait(keel_shmem.ctx, how, words, (unsigned)wait->count, NULL);
    if (status == KEEL_OK) {
        met = words_tell(words, wait->count, indices);
    }
    if (words != few) {
        free(words); /* a jump to the restart point leaves it */
    }
    keel_shmem_end(status == KEEL_INPROGRESS ? KEEL_OK : status, call);
    return (status == KEEL_OK && how == KEEL_WAIT_ALL) ? 1 : met;
}

static size_t wait_any(const keel_shmem_wait_t *wait, int is_test, const char *call)
{
    size_t *indices = calloc(wait->count + 1, sizeof(*indices)), first = SIZE_MAX;

    if (indices == NULL) {
        keel_shmem_refuse(call, "no memory for so many words", wait->count);
    }
    if (keel_shmem_wait(wait, KEEL_WAIT_ANY, is_test, indices, call) > 0) {
        first = indices[0];
    }
    free(indices);
    return first;
}

#define IS_SIGNED(_type) ((_type)-1 < (_type)1)
#define WORDS(_type, _words, _count, _status)                                                         \
    {                                                                                                 \
        .words = (_words), .count = (_count), .size = sizeof(_type), .status = (_status), .cmp = cmp, \
        .is_signed = IS_SIGNED(_type), .value = &cmp_value                                            \
    }

#define DEFINE_WAIT(_name, _type)                                                                                    \
    void shmem_##_name##_wait_until(_type *ivar, int cmp, _type cmp_value)                                           \
    {                                                                                                                \
        const keel_shmem_wait_t wait = WORDS(_type, ivar, 1, NULL);                                                  \
                                                                                                                     \
        (void)keel_shmem_wait(&wait, KEEL_WAIT_ALL, 0, NULL, "shmem_" #_name "_wait_until");                         \
    }                                                                                                                \
    void shmem_##_name##_wait_until_all(_type *ivars, size_t nelems, const int *status, int cmp, _type cmp_value)    \
    {                                                                                                                \
        const keel_shmem_wait_t wait = WORDS(_type, ivars, nelems, status);                                          \
                                                                                                                     \
        (void)keel_shmem_wait(&wait, KEEL_WAIT_ALL, 0, NULL, "shmem_" #_name "_wait_until_all");                     \
    }                                                                                                                \
    size_t shmem_##_name##_wait_until_any(_type *ivars, size_t nelems, const int *status, int cmp, _type cmp_value)  \
    {                                                                                                                \
        const keel_shmem_wait_t wait = WORDS(_type, ivars, nelems, status);                                          \
                                                                                                                     \
        return wait_any(&wait, 0, "shmem_" #_name "_wait_until_any");                                                \
    }                                                                                                                \
    size_t shmem_##_name##_wait_until_some(_type *ivars, size_t nelems, size_t *indices, const int *status, int cmp, \
                                           _type cmp_value)                                                          \
    {                                                                                                                \
        const keel_shmem_wait_t wait = WORDS(_type, ivars, nelems, status);                                          \
                                                                                                                     \
        return keel_shmem_wait(&wait, KEEL_WAIT_ANY, 0, indices, "shmem_" #_name "_wait_until_some");                \
    }                                                                                                                \
    int shmem_##_name##_test(_type *ivar, int cmp, _type cmp_value)                                                  \
    {                                                                                                                \
        const keel_shmem_wait_t wait = WORDS(_type, ivar, 1, NULL);                                                  \
                                                                                                                     \
        return (int)keel_shmem_wait(&wait, KEEL_WAIT_ALL, 1, NULL, "shmem_" #_name "_test");                         \
    }                                                                                                                \
    int shmem_##_name##_test_all(_type *ivars, size_t nelems, const int *status, int cmp, _type cmp_value)           \
    {                                                                                                                \
        const keel_shmem_wait_t wait = WORDS(_type, ivars, nelems, status);                                          \
                                                                                                                     \
        return (int)keel_shmem_wait(&wait, KEEL_WAIT_ALL, 1, NULL, "shmem_" #_name "_test_all");                     \
    }                                                                                                                \
    size_t shmem_##_name##_test_any(_type *ivars, size_t nelems, const int *status, int cmp, _type cmp_value)        \
    {                                                                                                                \
        const keel_shmem_wait_t wait = WORDS(_type, ivars, nelems, status);                                          \
                                                                                                                     \
        return wait_any(&wait, 1, "shmem_" #_name "_test_any");                                                      \
    }                                                                                                                \
    size_t shmem_##_name##_test_some(_type *ivars, size_t nelems, size_t *indices, const int *status, int cmp,       \
                                     _type cmp_value)                                                                \
    {                                                                                                                \
        const keel_shmem_wait_t wait = WORDS(_type, ivars, nelems, status);                                          \
                                                                                                                     \
        return keel_shmem_wait(&wait, KEEL_WAIT_ANY, 1, indices, "shmem_" #_name "_test_some");                      \
    }
SHMEM_INTEGERS(DEFINE_WAIT)

uint64_t shmem_signal_fetch(const uint64_t *sig_addr)
{
    keel_shmem_begin_reading("shmem_signal_fetch");
    (void)keel_shmem_offset(sig_addr, sizeof(*sig_addr), (int)keel_shmem.pe, "shmem_signal_fetch");
    keel_shmem_end(keel_progress(keel_shmem.ctx), "shmem_signal_fetch");
    return __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE);
}

uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    const keel_shmem_wait_t wait = WORDS(uint64_t, sig_addr, 1, NULL);
    keel_word_t word;

    keel_shmem_begin_reading("shmem_signal_wait_until");
    words_fill(&wait, &word, "shmem_signal_wait_until");
    keel_shmem_end(keel_wait(keel_shmem.ctx, KEEL_WAIT_ALL, &word, 1, NULL), "shmem_signal_wait_until");
    return word.seen;
}
