/*
 * Claims of ranks that poll for a lock. A rank that releases a lock and asks again at once looks
 * long before a rank that sleeps between its looks, and shared holders that overlap leave no
 * moment for an exclusive one. Therefore each rank has a word in the lock area of a process: the
 * lock that the rank waits for, and the grants of that lock when the wait began.
 *
 * Fairness. A rank takes no lock exclusively past a rank that has waited during KEEL_CLAIM_GRANTS
 * grants, unless the own wait is older. A rank shares no lock past an older claim for the exclusive
 * lock. So a waiting rank sees at most KEEL_CLAIM_GRANTS grants that exclude the rank, and one more
 * for each other rank, if no other rank has looked KEEL_CLAIM_LOST times meanwhile. Reading epochs
 * of own memory (keel_lock_count_read()) do not count.
 *
 * Progress. A claim holds up no rank for ever. A rank passes an exclusive claim to share a lock
 * after a number of looks, since a holder may wait for this rank and the claimant for that holder.
 * The number doubles with the grants since the claim. A rank that wants the lock exclusively ends a
 * claim after KEEL_CLAIM_LOST looks. The claims of a dead rank are dropped.
 *
 * Safety. A claim excludes no rank and orders nothing: claims only keep ranks from trying. The
 * numbers of critical sections (peer/lockword) order a replay. A lost or stale claim costs looks.
 */
#ifndef KEEL_PEER_LOCK_CLAIM_H_
#define KEEL_PEER_LOCK_CLAIM_H_

#include "peer/store.h"

#include <stdint.h>

#define KEEL_CLAIM_GRANTS        64u
#define KEEL_CLAIM_PATIENCE      64u   /* looks before a rank shares past an exclusive claim */
#define KEEL_CLAIM_PATIENCE_BITS 5     /* 2^5 grants double these looks, */
#define KEEL_CLAIM_DOUBLED_MAX   6     /* at most so often */
#define KEEL_CLAIM_LOST          4096u /* looks before a rank passes any claim */

/* A rank's word: grants, lock, a bit if the lock is to be shared, and a bit that is always set. */
#define KEEL_CLAIM_GRANTS_SHIFT 16
#define KEEL_CLAIM_LOCK_SHIFT   2
#define KEEL_CLAIM_SHARED       2u
#define KEEL_CLAIM_SET          1u

/* The claims in a lock area. */
typedef struct keel_claims {
    uint64_t *waiting;    /* a word for each rank, 0: the rank does not wait */
    uint64_t *is_awaited; /* 0: no rank waits, or a waiting rank sets this at its next look */
    uint32_t ranks;
} keel_claims_t;

/* What a rank asks for. */
typedef struct keel_claim {
    uint32_t rank;
    uint32_t lock; /* 0: the lock for critical sections, else 1 + the number of a window */
    int is_shared;
    uint64_t grants, mask; /* of the lock so far, modulo mask + 1 */
    uint64_t looks;        /* of the rank for this grant, before this look */
    int waits;             /* the rank looks again if the lock is refused */
} keel_claim_t;

static inline int keel_claim_is_for(uint64_t word, uint32_t lock)
{
    return (word & KEEL_CLAIM_SET) != 0 &&
           (word & ((1u << KEEL_CLAIM_GRANTS_SHIFT) - 1)) >> KEEL_CLAIM_LOCK_SHIFT == lock;
}

/* Returns the number of grants since the rank set its word. */
static inline uint64_t keel_claim_age(const keel_claim_t *claim, uint64_t word)
{
    return (claim->grants - (word >> KEEL_CLAIM_GRANTS_SHIFT)) & claim->mask;
}

/* Returns whether the claim of @a other is older than the caller's, which saw @a age grants. */
static inline int keel_claim_is_before(const keel_claim_t *claim, uint64_t age, uint32_t other, uint64_t word)
{
    const uint64_t others = keel_claim_age(claim, word);

    if (claim->is_shared ? (word & KEEL_CLAIM_SHARED) != 0 : others < KEEL_CLAIM_GRANTS) {
        return 0;
    }
    return others > age || (others == age && other < claim->rank);
}

static inline int keel_claim_is_passed(const keel_claim_t *claim, uint64_t word)
{
    const uint64_t doubled = keel_claim_age(claim, word) >> KEEL_CLAIM_PATIENCE_BITS;

    if (!claim->is_shared || doubled >= KEEL_CLAIM_DOUBLED_MAX) {
        return claim->looks >= KEEL_CLAIM_LOST;
    }
    return claim->looks >= (uint64_t)KEEL_CLAIM_PATIENCE << doubled;
}

/* Returns whether the caller leaves the lock to another rank, even if the lock is free. */
static inline int keel_claim_is_behind(const keel_claims_t *claims, const keel_claim_t *claim)
{
    int is_any = 0;
    uint64_t word, age;

    if (__atomic_load_n(claims->is_awaited, __ATOMIC_RELAXED) == 0 || KEEL_PLANT(lock_claim_unfair)) {
        return 0;
    }
    word = __atomic_load_n(&claims->waiting[claim->rank], __ATOMIC_RELAXED);
    age = keel_claim_is_for(word, claim->lock) ? keel_claim_age(claim, word) : 0;
    for (uint32_t r = 0; r < claims->ranks; r++) {
        word = __atomic_load_n(&claims->waiting[r], __ATOMIC_ACQUIRE);
        is_any |= word != 0;
        if (r == claim->rank || !keel_claim_is_for(word, claim->lock) || !keel_claim_is_before(claim, age, r, word)) {
            continue;
        }
        if (!keel_claim_is_passed(claim, word)) {
            return 1;
        }
        if (!claim->is_shared) {
            keel_store_word(&claims->waiting[r], 0);
        }
    }
    if (!is_any) {
        keel_store_word(claims->is_awaited, 0);
    }
    return 0;
}

/* Sets the word of a rank after a refusal. A set word stays, since threads of a rank may wait for
 * several locks. */
static inline void keel_claim_make(const keel_claims_t *claims, const keel_claim_t *claim)
{
    if (!claim->waits) {
        return;
    }
    if (__atomic_load_n(&claims->waiting[claim->rank], __ATOMIC_RELAXED) == 0) {
        keel_store_word_release(&claims->waiting[claim->rank],
                                claim->grants << KEEL_CLAIM_GRANTS_SHIFT | claim->lock << KEEL_CLAIM_LOCK_SHIFT |
                                    (claim->is_shared ? KEEL_CLAIM_SHARED : 0) | KEEL_CLAIM_SET);
    }
    if (__atomic_load_n(claims->is_awaited, __ATOMIC_RELAXED) == 0) {
        keel_store_word_release(claims->is_awaited, 1);
    }
}

/* Clears the word of a rank that obtained the lock, or never will. */
static inline void keel_claim_end(const keel_claims_t *claims, uint32_t rank, uint32_t lock)
{
    if (keel_claim_is_for(__atomic_load_n(&claims->waiting[rank], __ATOMIC_RELAXED), lock)) {
        keel_store_word_release(&claims->waiting[rank], 0);
    }
}

/* Clears the word of a dead rank. Each process that reaches the words calls this, since the claim
 * may hold up any of them. */
static inline void keel_claim_drop(const keel_claims_t *claims, uint32_t rank)
{
    if (__atomic_load_n(&claims->waiting[rank], __ATOMIC_RELAXED) != 0 && !KEEL_PLANT(lock_claim_kept)) {
        keel_store_word_release(&claims->waiting[rank], 0);
    }
}

/* Returns the rank that a lock just released is left to, or the number of ranks. */
static inline uint32_t keel_claim_first(const keel_claims_t *claims, const keel_claim_t *claim)
{
    uint32_t next = claims->ranks;
    uint64_t age = KEEL_CLAIM_GRANTS - 1;

    if (__atomic_load_n(claims->is_awaited, __ATOMIC_RELAXED) == 0) {
        return next;
    }
    for (uint32_t r = 0; r < claims->ranks; r++) {
        const uint64_t word = __atomic_load_n(&claims->waiting[r], __ATOMIC_ACQUIRE);

        if (keel_claim_is_for(word, claim->lock) && keel_claim_age(claim, word) > age) {
            age = keel_claim_age(claim, word);
            next = r;
        }
    }
    return next;
}

#endif
