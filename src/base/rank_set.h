/*
 * A set of ranks: a bit a rank, and a summary bit for each word of 64 ranks. Finding the next
 * member looks at one word of the summary for 4096 ranks. Members come in the order of ranks.
 * Other processes may add members to a set in shared memory during a search (peer/source_set.h).
 */
#ifndef KEEL_BASE_RANK_SET_H_
#define KEEL_BASE_RANK_SET_H_

#include "base/memory.h"

#include <stdint.h>

typedef struct keel_rank_set {
    uint64_t *words, *summary; /* one allocation */
    uint32_t count;            /* of words */
} keel_rank_set_t;

#define KEEL_RANK_SET_END UINT32_MAX

/* number of words of a set: bits of ranks, then the summary */
#define KEEL_RANK_SET_COUNT(_ranks) ((_ranks) / 64 + 1)
#define KEEL_RANK_SET_WORDS(_ranks) (KEEL_RANK_SET_COUNT(_ranks) + KEEL_RANK_SET_COUNT(_ranks) / 64 + 1)

/* the set in given memory, which is zero for an empty set */
static inline keel_rank_set_t keel_rank_set_at(uint64_t *words, uint32_t ranks)
{
    const uint32_t count = KEEL_RANK_SET_COUNT(ranks);

    return (keel_rank_set_t){.words = words, .summary = words + count, .count = count};
}

/* returns 0 without memory */
static inline int keel_rank_set_init(keel_rank_set_t *set, uint32_t ranks)
{
    uint64_t *words = (uint64_t *)keel_alloc(KEEL_RANK_SET_WORDS((size_t)ranks) * sizeof(uint64_t), "set of ranks");

    if (words != NULL) {
        *set = keel_rank_set_at(words, ranks);
    }
    return words != NULL;
}

static inline void keel_rank_set_release(keel_rank_set_t *set)
{
    keel_free(set->words);
    set->words = set->summary = NULL;
}

static inline void keel_rank_set_add(keel_rank_set_t *set, uint32_t rank)
{
    const uint32_t word = rank / 64;

    set->words[word] |= 1ull << (rank % 64);
    set->summary[word / 64] |= 1ull << (word % 64);
}

static inline void keel_rank_set_remove(keel_rank_set_t *set, uint32_t rank)
{
    const uint32_t word = rank / 64;

    set->words[word] &= ~(1ull << (rank % 64));
    if (set->words[word] == 0) {
        set->summary[word / 64] &= ~(1ull << (word % 64));
    }
}

/* index of the first set bit at or behind @a from in bits of 64, or -1 */
static inline int keel_rank_set_first(uint64_t bits, uint32_t from)
{
    bits = (from < 64) ? bits & (~0ull << from) : 0;
    return (bits != 0) ? __builtin_ctzll(bits) : -1;
}

static inline uint64_t keel_rank_set_load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* the first member at or behind @a from; KEEL_RANK_SET_END: none */
static inline uint32_t keel_rank_set_next(const keel_rank_set_t *set, uint32_t from)
{
    uint32_t word = from / 64;
    int bit;

    if (word >= set->count) {
        return KEEL_RANK_SET_END;
    }
    bit = keel_rank_set_first(keel_rank_set_load(&set->words[word]), from % 64);
    if (bit >= 0) {
        return word * 64 + (uint32_t)bit;
    }
    for (word++; word < set->count; word = (word / 64 + 1) * 64) {
        const uint64_t summary = keel_rank_set_load(&set->summary[word / 64]);
        int part = keel_rank_set_first(summary, word % 64);

        /* a word without a member is about to get one */
        for (; part >= 0; part = keel_rank_set_first(summary, (uint32_t)part + 1)) {
            const uint32_t here = word / 64 * 64 + (uint32_t)part;

            bit = keel_rank_set_first(keel_rank_set_load(&set->words[here]), 0);
            if (bit >= 0) {
                return here * 64 + (uint32_t)bit;
            }
        }
    }
    return KEEL_RANK_SET_END;
}

#endif
