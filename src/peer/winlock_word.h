/*
 * The lock of a window at a process: one word, shared or exclusive, in the lock area that peers
 * reach (peer/lockword).
 *
 * The word holds the exclusive owner, the number of sharers, and the number of grants, by which
 * waiting ranks take turns (peer/lock_claim). Every step is an atomic instruction. The word keeps
 * its value when a process dies, and the rollback sets the word.
 */
#ifndef KEEL_PEER_WINLOCK_WORD_H_
#define KEEL_PEER_WINLOCK_WORD_H_

#include "peer/store.h"

#include <stdint.h>

#define KEEL_WINLOCK_RANK_BITS  22
#define KEEL_WINLOCK_SHARE_BITS 20
#define KEEL_WINLOCK_OWNER      ((1ull << KEEL_WINLOCK_RANK_BITS) - 1) /* rank + 1; 0: no owner */
#define KEEL_WINLOCK_ONE        (1ull << KEEL_WINLOCK_RANK_BITS)       /* one sharer */
#define KEEL_WINLOCK_GRANT      (KEEL_WINLOCK_ONE << KEEL_WINLOCK_SHARE_BITS)
#define KEEL_WINLOCK_SHARES     (KEEL_WINLOCK_GRANT - KEEL_WINLOCK_ONE)
#define KEEL_WINLOCK_GRANTS_MAX (UINT64_MAX / KEEL_WINLOCK_GRANT) /* then the count wraps to 0 */

static inline uint64_t keel_winlock_grants(const uint64_t *lock)
{
    return __atomic_load_n(lock, __ATOMIC_ACQUIRE) / KEEL_WINLOCK_GRANT;
}

/* Returns 1 if @a rank obtained the lock, or 0. */
static inline uint64_t keel_winlock_try(uint64_t *lock, uint32_t rank)
{
    uint64_t word = __atomic_load_n(lock, __ATOMIC_ACQUIRE);

    while ((word & (KEEL_WINLOCK_GRANT - 1)) == 0 || KEEL_PLANT(winlock_word_taken)) {
        if (keel_store_word_exchange(lock, &word, (word & -KEEL_WINLOCK_GRANT) + KEEL_WINLOCK_GRANT + rank + 1)) {
            return 1;
        }
    }
    return 0;
}

static inline uint64_t keel_winlock_try_shared(uint64_t *lock)
{
    uint64_t word = __atomic_load_n(lock, __ATOMIC_ACQUIRE);

    while ((word & KEEL_WINLOCK_OWNER) == 0 && (word & KEEL_WINLOCK_SHARES) != KEEL_WINLOCK_SHARES) {
        if (keel_store_word_exchange(lock, &word, word + KEEL_WINLOCK_ONE + KEEL_WINLOCK_GRANT)) {
            return 1;
        }
    }
    return 0;
}

static inline void keel_winlock_release(uint64_t *lock, uint32_t rank)
{
    uint64_t word = __atomic_load_n(lock, __ATOMIC_ACQUIRE);

    while ((word & KEEL_WINLOCK_OWNER) == rank + 1ull) {
        if (keel_store_word_exchange(lock, &word, word & ~KEEL_WINLOCK_OWNER)) {
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
