/*
 * The lock of a window at a process: one word, shared or exclusive, in the lock area that peers reach (peer/lockword).
 *
 * A word says who has it exclusively, how many share it, and whether somebody wants it exclusively. The wish keeps newcomers from
 * sharing, so a writer comes in among readers that follow each other without a gap; but who has waited long shares all the same, or a
 * reader that waits for another one would wait for ever. It is taken back by the exclusive lock itself, whoever gets that.
 * Every step is one atomic instruction; a process that dies leaves the word as it is, and the rollback sets it.
 */
#ifndef KEEL_PEER_WINLOCK_WORD_H_
#define KEEL_PEER_WINLOCK_WORD_H_

#include "peer/store.h"

#include <stdint.h>

#define KEEL_WINLOCK_OWNER  UINT32_MAX   /* the low half: rank + 1, 0: nobody */
#define KEEL_WINLOCK_ONE    (1ull << 32) /* who shares it */
#define KEEL_WINLOCK_WISH   (1ull << 63)
#define KEEL_WINLOCK_SHARES (KEEL_WINLOCK_WISH - KEEL_WINLOCK_ONE)

/* after the number of the window, in what is asked: of one that wants to lock, whether it has waited */
#define KEEL_WINLOCK_WAITED (1ull << 32)

/* 1: it is @a rank's; 0: not now. @a wishes: others are to let it in */
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
