/*
 * The lock of a window at a process: one word, shared or exclusive, in the lock area that peers
 * reach (peer/lockword).
 *
 * The word holds the exclusive owner, the number of sharers, and a wish for exclusive access. The
 * wish keeps new sharers out, so a writer gets its turn among readers that follow each other
 * without a gap. A rank that has waited long shares in spite of the wish; otherwise a reader that
 * waits for another reader would wait for ever. The next exclusive owner clears the wish, whichever
 * rank had the wish. Every step is one atomic instruction. The word keeps its value when a process
 * dies, and the rollback sets the word.
 */
#ifndef KEEL_PEER_WINLOCK_WORD_H_
#define KEEL_PEER_WINLOCK_WORD_H_

#include "peer/store.h"

#include <stdint.h>

#define KEEL_WINLOCK_OWNER  UINT32_MAX   /* low half: rank + 1; 0: no owner */
#define KEEL_WINLOCK_ONE    (1ull << 32) /* one sharer */
#define KEEL_WINLOCK_WISH   (1ull << 63)
#define KEEL_WINLOCK_SHARES (KEEL_WINLOCK_WISH - KEEL_WINLOCK_ONE)

/* Request flag beside the number of the window: the rank has waited. */
#define KEEL_WINLOCK_WAITED (1ull << 32)

/* Returns 1 if rank @a rank owns the lock now, else 0. @a wishes: keep new sharers out. */
static inline uint64_t keel_winlock_try(uint64_t *lock, uint32_t rank, int wishes)
{
    uint64_t word = __atomic_load_n(lock, __ATOMIC_ACQUIRE);

    while ((word & ~KEEL_WINLOCK_WISH) == 0 || KEEL_PLANT(winlock_taken)) {
        if (keel_store_word_exchange(lock, &word, rank + 1ull)) {
            return 1;
        }
    }
    if (wishes) {
        KEEL_STORE_FENCE();
        __atomic_fetch_or(lock, KEEL_WINLOCK_WISH, __ATOMIC_ACQ_REL);
    }
    return 0;
}

static inline uint64_t keel_winlock_try_shared(uint64_t *lock, int insists)
{
    uint64_t word = __atomic_load_n(lock, __ATOMIC_ACQUIRE);

    while ((word & KEEL_WINLOCK_OWNER) == 0 && ((word & KEEL_WINLOCK_WISH) == 0 || insists)) {
        if (keel_store_word_exchange(lock, &word, word + KEEL_WINLOCK_ONE)) {
            return 1;
        }
    }
    return 0;
}

static inline void keel_winlock_release(uint64_t *lock, uint32_t rank)
{
    uint64_t word = __atomic_load_n(lock, __ATOMIC_ACQUIRE);

    while ((word & KEEL_WINLOCK_OWNER) == rank + 1ull) {
        if (keel_store_word_exchange(lock, &word, word & ~(uint64_t)KEEL_WINLOCK_OWNER)) {
            return;
        }
    }
}

static inline void keel_winlock_release_shared(uint64_t *lock)
{
    uint64_t word = __atomic_load_n(lock, __ATOMIC_ACQUIRE);

    while ((word & KEEL_WINLOCK_SHARES) != 0) {
        if (keel_store_word_exchange(lock, &word, word - KEEL_WINLOCK_ONE)) {
            return;
        }
    }
}

#endif
