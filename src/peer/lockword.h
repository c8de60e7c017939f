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
 * clears its word; a writer waits for the readers.
 *
 * A reader's word says whether the reader has loaded the writers' word. The replacement of a reader
 * that died between the two steps loads it again.
 *
 * No process releases a lock of a dead rank: the replacement has the same rank and finds its
 * predecessor's locks.
 */
#ifndef KEEL_PEER_LOCKWORD_H_
#define KEEL_PEER_LOCKWORD_H_

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
    uint64_t reserved[4];
    /* by source: 2 * number of the acquisition, + 1 after the load of the writers' word; 0: none */
    uint64_t reading[];
} keel_lock_area_t;

#define KEEL_LOCK_WINDOWS 4084u /* locks of windows, by number, after the readers' words */

static inline size_t keel_lock_area_size(uint32_t ranks)
{
    return sizeof(keel_lock_area_t) + (ranks + KEEL_LOCK_WINDOWS) * sizeof(uint64_t);
}
static inline uint64_t *keel_lock_window(keel_lock_area_t *area, uint32_t ranks, unsigned window)
{
    return &area->reading[ranks + window];
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
    return keel_lock_counter(word) == KEEL_LOCK_COUNTER_MAX && !KEEL_PLANT(lock_unbounded);
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

/* Returns the counter of the acquisition, KEEL_LOCK_SPENT, or 0 if another rank owns the lock or
 * readers are present. */
static inline uint64_t keel_lock_try(keel_lock_area_t *area, const keel_locker_t *who)
{
    uint64_t word = __atomic_load_n(&area->word, __ATOMIC_ACQUIRE);

    if (keel_lock_owner(word) == 0) {
        const uint64_t mine = keel_lock_word(keel_lock_counter(word) + 1, who->rank);

        if (keel_lock_is_spent(word)) {
            return KEEL_LOCK_SPENT;
        }
        if (!keel_store_word_exchange(&area->word, &word, mine)) {
            return 0;
        }
        word = mine;
    }
    if (keel_lock_owner(word) != who->rank + 1) {
        return 0;
    }
    for (uint32_t r = 0; r < who->ranks; r++) {
        if (r != who->rank && !KEEL_PLANT(reader_unseen) && __atomic_load_n(&area->reading[r], __ATOMIC_SEQ_CST) != 0) {
            return 0;
        }
    }
    return keel_lock_counter(word);
}

static inline void keel_lock_release(keel_lock_area_t *area, const keel_locker_t *who)
{
    const uint64_t word = __atomic_load_n(&area->word, __ATOMIC_ACQUIRE);

    if (keel_lock_owner(word) == who->rank + 1) {
        keel_store_word_fenced(&area->word, keel_lock_word_free(keel_lock_counter(word)));
    }
}

/* Returns 1 + the counter at the time of reading, or 0 if the lock is not obtained. */
static inline uint64_t keel_lock_try_read(keel_lock_area_t *area, const keel_locker_t *who, uint64_t number)
{
    const int is_held = __atomic_load_n(&area->reading[who->rank], __ATOMIC_SEQ_CST) == (number << 1 | 1);
    uint64_t word;

    if (!is_held) {
        keel_store_word_fenced(&area->reading[who->rank], number << 1);
    }
    word = __atomic_load_n(&area->word, __ATOMIC_SEQ_CST);
    if (!is_held && keel_lock_owner(word) != 0) {
        keel_store_word_fenced(&area->reading[who->rank], 0);
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

/* Requests to a lock area. The number is a keel_reading(), of which a writer's request uses the
 * phase alone; or the number of a window. */
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

static inline uint64_t keel_lock_window_answer(keel_lock_area_t *area, const keel_locker_t *who, keel_lock_ask_t ask,
                                               uint64_t number)
{
    const int has_waited = (number & KEEL_WINLOCK_WAITED) != 0;
    uint64_t *lock;

    if ((uint32_t)number >= KEEL_LOCK_WINDOWS) {
        return 0;
    }
    lock = keel_lock_window(area, who->ranks, (uint32_t)number);
    switch (ask) {
    case KEEL_LOCK_WINDOW_TRY:
        return keel_winlock_try(lock, who->rank, has_waited);
    case KEEL_LOCK_WINDOW_TRY_SHARED:
        return keel_winlock_try_shared(lock, has_waited);
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

static inline uint64_t keel_lock_answer(keel_lock_area_t *area, const keel_locker_t *who, keel_lock_ask_t ask,
                                        uint64_t number)
{
    uint64_t word;

    if ((ask == KEEL_LOCK_TRY || ask == KEEL_LOCK_TRY_READ) && __atomic_load_n(&area->first, __ATOMIC_RELAXED) == 0) {
        /* all ranks that ask are in the same phase at this time */
        keel_store_word_release(&area->first, (uint64_t)keel_reading_phase(number) + 1);
    }
    switch (ask) {
    case KEEL_LOCK_TRY:
        return keel_lock_try(area, who);
    case KEEL_LOCK_RELEASE:
        keel_lock_release(area, who);
        return 0;
    case KEEL_LOCK_TRY_READ:
        return keel_lock_try_read(area, who, number);
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
