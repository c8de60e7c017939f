/*
 * A set of ranks: a bit a rank, and a summary bit for each word of 64 ranks. Finding the next
 * member looks at one word of the summary for 4096 ranks. Members come in the order of ranks.
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

/* returns 0 without memory */
static inline int keel_rank_set_init(keel_rank_set_t *set, uint32_t ranks)
{
    set->count = ranks / 64 + 1;
    set->words = (uint64_t *)keel_alloc((set->count + set->count / 64 + 1) * sizeof(uint64_t), "set of ranks");
    set->summary = (set->words != NULL) ? set->words + set->count : NULL;
    return set->words != NULL;
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

/* the first member at or behind @a from; KEEL_RANK_SET_END: none */
static inline uint32_t keel_rank_set_next(const keel_rank_set_t *set, uint32_t from)
{
    uint32_t word = from / 64, part;
    int bit;

    if (word >= set->count) {
        return KEEL_RANK_SET_END;
    }
    bit = keel_rank_set_first(set->words[word], from % 64);
    if (bit >= 0) {
        return word * 64 + (uint32_t)bit;
    }
    word++;
    for (part = word / 64; part * 64 < set->count; ++part, word = part * 64) {
        bit = keel_rank_set_first(set->summary[part], word % 64);
        if (bit >= 0) {
            word = part * 64 + (uint32_t)bit;
            return word * 64 + (uint32_t)keel_rank_set_first(set->words[word], 0);
        }
    }
    return KEEL_RANK_SET_END;
}

#endif
