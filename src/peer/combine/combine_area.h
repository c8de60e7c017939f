/*
 * Exclusion of accumulates of many elements and single atomics, in the lock area of a process.
 *
 * An accumulate of many elements owns the word `holder` while elements change. In blocks without
 * a single atomic so far the elements change by plain loads and stores, in the other blocks by
 * locked instructions. A single atomic never waits for an accumulate, except for the first atomic
 * in a block: a rank sets the bit of the block in `touched`, and after it has seen no holder, sets
 * the bit in `settled`. From then on atomics of all ranks in that block are single instructions.
 *
 * Safety. A holder loads `touched` after it has stored `holder`; a rank that settles a block loads
 * `holder` after it has stored `touched`. So a holder that the rank does not see will see the bit.
 * Those loads are sequentially consistent, like the stores. Bits are never cleared while a rank may
 * access the memory: a rollback clears the lock area between its two barriers.
 *
 * Death. A holder that dies between its first and its last store has opened an atomic on the board
 * (peer/board) and closed none, so the job rolls back. A holder that dies before or after changes
 * nothing. Therefore any rank may take the word from a holder that is known to be dead.
 */
#ifndef KEEL_PEER_COMBINE_AREA_H_
#define KEEL_PEER_COMBINE_AREA_H_

#include "peer/store.h"

#include <stdint.h>

#define KEEL_COMBINE_BLOCK  128u    /* bytes */
#define KEEL_COMBINE_BLOCKS 131072u /* bits; blocks of further memory share them */
/* distance of the blocks of two windows at the same offset, odd */
#define KEEL_COMBINE_STRIDE 8191u

typedef struct keel_combine_area {
    uint64_t holder; /* incarnation << 32 | 1 + rank; 0: none */
    uint64_t reserved[7];
    uint64_t touched[KEEL_COMBINE_BLOCKS / 64];
    uint64_t settled[KEEL_COMBINE_BLOCKS / 64];
} keel_combine_area_t;

/* The block of the element that begins at @a offset. */
static inline __attribute__((always_inline)) uint32_t keel_combine_block(unsigned region, uint64_t offset)
{
    return ((uint32_t)(offset / KEEL_COMBINE_BLOCK) + region * KEEL_COMBINE_STRIDE) % KEEL_COMBINE_BLOCKS;
}

static inline __attribute__((always_inline)) int keel_combine_is_set(const uint64_t *bits, uint32_t block)
{
    return (int)(__atomic_load_n(&bits[block / 64], __ATOMIC_SEQ_CST) >> (block % 64) & 1);
}

/* Visible to all ranks before any later load of the caller. */
static inline void keel_combine_set(uint64_t *bits, uint32_t block)
{
    const uint64_t bit = UINT64_C(1) << (block % 64);
    uint64_t before = __atomic_load_n(&bits[block / 64], __ATOMIC_ACQUIRE);

    while ((before & bit) == 0 && !keel_store_word_exchange(&bits[block / 64], &before, before | bit)) {
    }
}

#endif
