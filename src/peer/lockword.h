/*
 * The lock of a process's memory: one word for writers and one word a source for readers, in a
 * region that peers reach.
 *
 * The writers' word holds the synchronisation counter SC and the rank of the owner (0: free). One
 * compare-and-swap takes the lock and increments SC, so every number belongs to one acquisition.
 * After the last number, 2^42 - 1, no rank gets the lock any more, and callers get an error:
 * repeated numbers would lose the order of sections. A reader stores the number of its acquisition
 * in its own word and then loads the writers' word. A writer owns the writers' word and then loads
 * the readers' words. So the later of the two sees the earlier one. A reader that sees a writer
 * clears its word; a writer waits for the readers. A writer looks at ranks that ever read here
 * alone: a reader joins these before it stores its word.
 *
 * A reader's word says whether the reader has loaded the writers' word. The replacement of a reader
 * that died between the two steps loads it again.
 *
 * No process releases a lock of a dead rank: the replacement has the same rank and finds its
 * predecessor's locks.
 */
#ifndef KEEL_PEER_LOCKWORD_H_
#define KEEL_PEER_LOCKWORD_H_

#include "peer/combine/combine_area.h"
#include "peer/lock_claim.h"
#include "peer/source_set.h"
#include "peer/store.h"
#include "peer/winlock_word.h"

#include <stddef.h>
#include <stdint.h>

typedef struct keel_lock_area {
    uint64_t word;
    uint64_t first; /* 1 + the phase of the first request for the lock; 0: none */
    /* number of window locks that the owner of this memory shares by bias (order/win_share) */
    uint64_t biased;
    /* 1 + the phase in which a rank asked for one exclusively, which ended locking by bias; 0:
     * none */
    uint64_t revoked;
    uint64_t is_awaited; /* keel_claims_t */
    uint64_t reserved[3];
    keel_combine_area_t combine; /* no lock of the program: exclusion of accumulates */
    /* by source: 2 * number of the acquisition, + 1 after the load of the writers' word; 0: none */
    uint64_t reading[];
} keel_lock_area_t;

#define KEEL_LOCK_WINDOWS 4084u /* locks of windows, by number; they follow the claims */
/* words behind keel_lock_area_t: readers, claims, locks of windows, the set of readers */
#define KEEL_LOCK_WORDS(_ranks) (2 * (_ranks) + KEEL_LOCK_WINDOWS + KEEL_RANK_SET_WORDS(_ranks))

static inline size_t keel_lock_area_size(uint32_t ranks)
{
    return sizeof(keel_lock_area_t) + KEEL_LOCK_WORDS((size_t)ranks) * sizeof(uint64_t);
}
/* the ranks that ever read here */
static inline keel_rank_set_t keel_lock_readers(keel_lock_area_t *area, uint32_t ranks)
{
    return keel_rank_set_at(&area->reading[2 * (size_t)ranks + KEEL_LOCK_WINDOWS], ranks);
}
/* before a word of the rank is stored to `reading` */
static inline void keel_lock_join_readers(keel_lock_area_t *area, uint32_t ranks, uint32_t rank)
{
    const keel_rank_set_t readers = keel_lock_readers(area, ranks);

    if (!KEEL_PLANT(lockword_reader_unjoined)) {
        keel_source_join(&readers, rank);
    }
}
static inline keel_claims_t keel_lock_claims(keel_lock_area_t *area, uint32_t ranks)
{
    return (keel_claims_t){.waiting = &area->reading[ranks], .is_awaited = &area->is_awaited, .ranks = ranks};
}
static inline uint64_t *keel_lock_window(keel_lock_area_t *area, uint32_t ranks, unsigned window)
{
    return &area->reading[2 * (size_t)ranks + window];
}

#define KEEL_LOCK_RANK_BITS   22
#define KEEL_LOCK_COUNTER_MAX (UINT64_MAX >> KEEL_LOCK_RANK_BITS)
#define KEEL_LOCK_SPENT       UINT64_MAX /* instead of a number: the last number is used up */

static inline uint64_t keel_lock_word_free(uint64_t counter)
{
    return counter << KEEL_LOCK_RANK_BITS;
}
static inline uint64_t keel_lock_word(uint64_t counter, uint32_t rank)
{
    return keel_lock_word_free(counter) | (rank + 1);
}
static inline uint64_t keel_lock_counter(uint64_t word)
{
    return word >> KEEL_LOCK_RANK_BITS;
}
static inline int keel_lock_is_spent(uint64_t word)
{
    return keel_lock_counter(word) == KEEL_LOCK_COUNTER_MAX && !KEEL_PLANT(lockword_unbounded);
}
/* Number of an acquisition for reading: the phase, and its count within the phase. */
#define KEEL_READING_BITS 31 /* 32 bits less the flag in a reader's word */
static inline uint64_t keel_reading(uint32_t phase, uint32_t count)
{
    return ((uint64_t)phase << KEEL_READING_BITS) | count;
}
static inline uint32_t keel_reading_phase(uint64_t number)
{
    return (uint32_t)(number >> KEEL_READING_BITS);
}
/* rank + 1; 0: free */
static inline uint32_t keel_lock_owner(uint64_t word)
{
    return (uint32_t)word & ((1u << KEEL_LOCK_RANK_BITS) - 1);
}

typedef struct keel_locker {
    uint32_t rank, ranks;
} keel_locker_t;

/* Returns the claim of a rank on the lock for critical sections; @a word: the word before. */
static inline keel_claim_t keel_lock_claim(const keel_locker_t *who, uint64_t word, int is_read, uint64_t looks)
{
    return (keel_claim_t){.rank = who->rank,
                          .lock = 0,
                          .is_shared = is_read,
                          .grants = keel_lock_counter(word),
                          .mask = KEEL_LOCK_COUNTER_MAX,
                          .looks = looks,
                          .waits = 1};
}

/* Returns 1 if the rank owns the word now, 0 if it does not, or KEEL_LOCK_SPENT. */
static inline uint64_t keel_lock_own(keel_lock_area_t *area, const keel_locker_t *who, uint64_t looks)
{
    const keel_claims_t claims = keel_lock_claims(area, who->ranks);
    uint64_t word = __atomic_load_n(&area->word, __ATOMIC_ACQUIRE);
    const keel_claim_t claim = keel_lock_claim(who, word, 0, looks);
    const uint32_t owner = keel_lock_owner(word);
    int is_own = owner == who->rank + 1;

    if (owner == 0 && keel_lock_is_spent(word)) {
        keel_claim_end(&claims, who->rank, 0);
        return KEEL_LOCK_SPENT;
    }
    if (owner == 0 && !keel_claim_is_behind(&claims, &claim)) {
        is_own = keel_store_word_exchange(&area->word, &word, keel_lock_word(keel_lock_counter(word) + 1, who->rank));
    }
    if (is_own) {
        keel_claim_end(&claims, who->rank, 0);
    } else {
        keel_claim_make(&claims, &claim);
    }
    return (uint64_t)is_own;
}

/* Returns the counter of the acquisition, KEEL_LOCK_SPENT, or 0 if another rank owns the lock or
 * readers are present. @a looks: keel_claim_t. */
static inline uint64_t keel_lock_try(keel_lock_area_t *area, const keel_locker_t *who, uint64_t looks)
{
    const keel_rank_set_t readers = keel_lock_readers(area, who->ranks);
    const uint64_t owns = keel_lock_own(area, who, looks);

    if (owns != 1) {
        return owns;
    }
    for (uint32_t r = keel_rank_set_next(&readers, 0); r != KEEL_RANK_SET_END;
         r = keel_rank_set_next(&readers, r + 1)) {
        if (r != who->rank && !KEEL_PLANT(lockword_reader_unseen) &&
            __atomic_load_n(&area->reading[r], __ATOMIC_SEQ_CST) != 0) {
            return 0;
        }
    }
    return keel_lock_counter(__atomic_load_n(&area->word, __ATOMIC_ACQUIRE));
}

static inline void keel_lock_release(keel_lock_area_t *area, const keel_locker_t *who)
{
    const uint64_t word = __atomic_load_n(&area->word, __ATOMIC_ACQUIRE);

    if (keel_lock_owner(word) == who->rank + 1) {
        keel_store_word_fenced(&area->word, keel_lock_word_free(keel_lock_counter(word)));
    }
}

/* Returns 1 + the counter at the time of reading, or 0 if the lock is not obtained. The caller ends
 * the claim of a reader that obtained the lock. */
static inline uint64_t keel_lock_try_read(keel_lock_area_t *area, const keel_locker_t *who, uint64_t number)
{
    const int is_held = __atomic_load_n(&area->reading[who->rank], __ATOMIC_SEQ_CST) == (number << 1 | 1);
    const keel_claims_t claims = keel_lock_claims(area, who->ranks);
    keel_claim_t claim;
    uint64_t word;

    if (!is_held) {
        keel_lock_join_readers(area, who->ranks, who->rank);
        keel_store_word_fenced(&area->reading[who->rank], number << 1);
    }
    word = __atomic_load_n(&area->word, __ATOMIC_SEQ_CST);
    if (!is_held && keel_lock_owner(word) != 0) {
        keel_store_word_fenced(&area->reading[who->rank], 0);
        claim = keel_lock_claim(who, word, 1, 0);
        keel_claim_make(&claims, &claim);
        return 0;
    }
    keel_store_word_fenced(&area->reading[who->rank], number << 1 | 1);
    /* A repeated request of a reader: a later owner waits for this reader, and the owner's
     * number belongs to no section yet. */
    return keel_lock_counter(word) + (keel_lock_owner(word) == 0);
}

static inline void keel_lock_release_read(keel_lock_area_t *area, const keel_locker_t *who)
{
    keel_store_word_fenced(&area->reading[who->rank], 0);
}

/* Own memory, while this process reads it: increments SC without an owner, so that the reading
 * has a place in the order of writers. Returns the counter, 0 if a writer came first, or
 * KEEL_LOCK_SPENT. */
static inline uint64_t keel_lock_count_read(keel_lock_area_t *area)
{
    uint64_t word = __atomic_load_n(&area->word, __ATOMIC_SEQ_CST);

    if (keel_lock_is_spent(word)) {
        return KEEL_LOCK_SPENT;
    }
    if (keel_lock_owner(word) != 0 ||
        !keel_store_word_exchange(&area->word, &word, keel_lock_word_free(keel_lock_counter(word) + 1))) {
        return 0;
    }
    return keel_lock_counter(word) + 1;
}

/* Own memory: returns the counter of the reading, 0 if a writer is present, or KEEL_LOCK_SPENT. */
static inline uint64_t keel_lock_try_own_read(keel_lock_area_t *area, const keel_locker_t *who, uint64_t number)
{
    const keel_claims_t claims = keel_lock_claims(area, who->ranks);
    const uint64_t counter = keel_lock_try_read(area, who, number) != 0 ? keel_lock_count_read(area) : 0;

    if (counter == 0 || counter == KEEL_LOCK_SPENT) {
        keel_lock_release_read(area, who);
    }
    if (counter != 0) {
        keel_claim_end(&claims, who->rank, 0);
    }
    return counter;
}

/*
 * Locks that are shared by bias. The owner of this memory counts a lock and then loads the
 * revocation. A revoking rank stores the revocation and then loads the count. So the later of the
 * two sees the earlier one.
 */
static inline int keel_lock_try_bias(keel_lock_area_t *area)
{
    if (__atomic_load_n(&area->revoked, __ATOMIC_SEQ_CST) != 0) {
        return 0;
    }
    keel_store_word_fenced(&area->biased, area->biased + 1);
    if (__atomic_load_n(&area->revoked, __ATOMIC_SEQ_CST) == 0) {
        return 1;
    }
    keel_store_word_fenced(&area->biased, area->biased - 1);
    return 0;
}
/* Ends one lock by bias: it was released, or became visible to others. */
static inline void keel_lock_drop_bias(keel_lock_area_t *area)
{
    keel_store_word_fenced(&area->biased, area->biased - 1);
}
/* Revokes locking by bias, in @a phase or earlier; returns the number of such locks still held. */
static inline uint64_t keel_lock_revoke_bias(keel_lock_area_t *area, uint64_t phase)
{
    const uint64_t before = __atomic_load_n(&area->revoked, __ATOMIC_RELAXED);

    keel_store_word_fenced(&area->revoked, (before != 0 && before <= phase + 1) ? before : phase + 1);
    return __atomic_load_n(&area->biased, __ATOMIC_SEQ_CST);
}

/* Requests to a lock area. The number is a keel_reading(), in a writer's request with the looks in
 * place of the count; or keel_lock_of_window(). */
typedef enum {
    KEEL_LOCK_TRY = 1,
    KEEL_LOCK_RELEASE,
    KEEL_LOCK_TRY_READ,
    KEEL_LOCK_RELEASE_READ,
    KEEL_LOCK_OWNS,  /* reply: counter of the source's ownership; 0: the source is not the owner */
    KEEL_LOCK_READS, /* reply: number of the source's reading; 0: the source does not read */
    /* window locks: peer/winlock_word */
    KEEL_LOCK_WINDOW_TRY,
    KEEL_LOCK_WINDOW_RELEASE,
    KEEL_LOCK_WINDOW_TRY_SHARED,
    KEEL_LOCK_WINDOW_RELEASE_SHARED,
    KEEL_LOCK_REVOKE /* keel_lock_revoke_bias(); number: the phase */
} keel_lock_ask_t;

#define KEEL_LOCK_WINDOW_BITS 32
/* Returns the number to ask a window's lock with. @a waits, @a looks: keel_claim_t. */
static inline uint64_t keel_lock_of_window(unsigned window, int waits, uint64_t looks)
{
    return (looks << 1 | (waits != 0)) << KEEL_LOCK_WINDOW_BITS | window;
}

/* Returns the claim of a rank on a window's lock. */
static inline keel_claim_t keel_lock_window_claim(keel_lock_area_t *area, const keel_locker_t *who, uint32_t window)
{
    return (keel_claim_t){.rank = who->rank,
                          .lock = 1 + window,
                          .is_shared = 0,
                          .grants = keel_winlock_grants(keel_lock_window(area, who->ranks, window)),
                          .mask = KEEL_WINLOCK_GRANTS_MAX,
                          .looks = 0,
                          .waits = 0};
}

static inline uint64_t keel_lock_window_take(keel_lock_area_t *area, const keel_locker_t *who, int is_shared,
                                             uint64_t number)
{
    const keel_claims_t claims = keel_lock_claims(area, who->ranks);
    uint64_t *lock = keel_lock_window(area, who->ranks, (uint32_t)number);
    keel_claim_t claim = keel_lock_window_claim(area, who, (uint32_t)number);
    uint64_t is_taken = 0;

    claim.is_shared = is_shared;
    claim.looks = number >> (KEEL_LOCK_WINDOW_BITS + 1);
    claim.waits = (int)(number >> KEEL_LOCK_WINDOW_BITS & 1);
    if (!keel_claim_is_behind(&claims, &claim)) {
        is_taken = is_shared ? keel_winlock_try_shared(lock) : keel_winlock_try(lock, who->rank);
    }
    if (is_taken) {
        keel_claim_end(&claims, who->rank, claim.lock);
    } else {
        keel_claim_make(&claims, &claim);
    }
    return is_taken;
}

static inline uint64_t keel_lock_window_answer(keel_lock_area_t *area, const keel_locker_t *who, keel_lock_ask_t ask,
                                               uint64_t number)
{
    uint64_t *lock;

    if ((uint32_t)number >= KEEL_LOCK_WINDOWS) {
        return 0;
    }
    lock = keel_lock_window(area, who->ranks, (uint32_t)number);
    switch (ask) {
    case KEEL_LOCK_WINDOW_TRY:
    case KEEL_LOCK_WINDOW_TRY_SHARED:
        return keel_lock_window_take(area, who, ask == KEEL_LOCK_WINDOW_TRY_SHARED, number);
    case KEEL_LOCK_WINDOW_RELEASE:
        keel_winlock_release(lock, who->rank);
        return 0;
    case KEEL_LOCK_WINDOW_RELEASE_SHARED:
        keel_winlock_release_shared(lock);
        return 0;
    default:
        return 0;
    }
}

/* keel_claim_first() of a lock, by keel_claim_t.lock */
static inline uint32_t keel_lock_next(keel_lock_area_t *area, const keel_locker_t *who, uint32_t lock)
{
    const keel_claims_t claims = keel_lock_claims(area, who->ranks);
    const uint64_t word = __atomic_load_n(&area->word, __ATOMIC_RELAXED);
    const keel_claim_t claim =
        (lock == 0) ? keel_lock_claim(who, word, 0, 0) : keel_lock_window_claim(area, who, lock - 1);

    return keel_claim_first(&claims, &claim);
}

static inline uint64_t keel_lock_answer(keel_lock_area_t *area, const keel_locker_t *who, keel_lock_ask_t ask,
                                        uint64_t number)
{
    const keel_claims_t claims = keel_lock_claims(area, who->ranks);
    uint64_t word;

    if ((ask == KEEL_LOCK_TRY || ask == KEEL_LOCK_TRY_READ) && __atomic_load_n(&area->first, __ATOMIC_RELAXED) == 0) {
        /* all ranks that ask are in the same phase at this time */
        keel_store_word_release(&area->first, (uint64_t)keel_reading_phase(number) + 1);
    }
    switch (ask) {
    case KEEL_LOCK_TRY:
        return keel_lock_try(area, who, number & ((1ull << KEEL_READING_BITS) - 1));
    case KEEL_LOCK_RELEASE:
        keel_lock_release(area, who);
        return 0;
    case KEEL_LOCK_TRY_READ:
        word = keel_lock_try_read(area, who, number);
        if (word != 0) {
            keel_claim_end(&claims, who->rank, 0);
        }
        return word;
    case KEEL_LOCK_RELEASE_READ:
        keel_lock_release_read(area, who);
        return 0;
    case KEEL_LOCK_OWNS:
        word = __atomic_load_n(&area->word, __ATOMIC_ACQUIRE);
        return keel_lock_owner(word) == who->rank + 1 ? keel_lock_counter(word) : 0;
    case KEEL_LOCK_READS:
        word = __atomic_load_n(&area->reading[who->rank], __ATOMIC_ACQUIRE);
        return (word & 1) ? word >> 1 : 0;
    case KEEL_LOCK_REVOKE:
        return keel_lock_revoke_bias(area, number);
    default:
        return keel_lock_window_answer(area, who, ask, number);
    }
}

#endif
