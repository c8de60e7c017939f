/*
 * The sources that ever stored to an area of shared memory: a set of ranks in the area, so that a
 * process looks at the words of these sources alone. A source joins the set before the first own
 * store, and no source leaves.
 *
 * Safety: joining ends with a read-modify-write instruction, a fence. So a process that sees a
 * store of a source finds the source in the set, and so does a process with a store that the
 * source does not see. The bit of the summary comes first: a source that dies between the two bits
 * has not joined, and the replacement joins again.
 */
#ifndef KEEL_PEER_SOURCE_SET_H_
#define KEEL_PEER_SOURCE_SET_H_

#include "base/rank_set.h"
#include "peer/store.h"

static inline void keel_source_set_bit(uint64_t *word, uint64_t bit)
{
    uint64_t before = __atomic_load_n(word, __ATOMIC_RELAXED);

    while ((before & bit) == 0 && !keel_store_word_exchange(word, &before, before | bit)) {
    }
}

static inline void keel_source_join(const keel_rank_set_t *set, uint32_t source)
{
    const uint32_t word = source / 64;
    const uint64_t bit = 1ull << (source % 64);

    if ((__atomic_load_n(&set->words[word], __ATOMIC_RELAXED) & bit) == 0) {
        keel_source_set_bit(&set->summary[word / 64], 1ull << (word % 64));
        keel_source_set_bit(&set->words[word], bit);
    }
}

#endif
