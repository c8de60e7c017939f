/*
 * The lock of a process's memory: one word for writers, one word a source for readers, in a region that peers reach.
 *
 * The writers' word holds the synchronisation counter SC and the owner's rank (0: free). Taking the lock and
 * SC + 1 are one compare-and-swap, so every number is somebody's. Behind the last number, 2^42 - 1, nobody gets the lock any
 * more, and is told so: numbers that began anew would not say which section came first. A reader stores its number of the acquisition in its own
 * word and then looks at the writers' word; a writer owns the writers' word and then looks at the readers' words: whoever
 * comes second sees the first. A reader that sees a writer takes its word back; a writer waits for the readers.
 *
 * A reader's word says whether it has looked: who died between finds out what it did by looking again.
 *
 * Nobody ever releases for the dead: a replacement has its predecessor's rank, and finds what it owned.
 */
#ifndef KEEL_PEER_LOCKWORD_H_
#define KEEL_PEER_LOCKWORD_H_

#include "peer/store.h"
#include "peer/winlock_word.h"

#include <stddef.h>
#include <stdint.h>

typedef struct keel_lock_area {
    uint64_t word;
    uint64_t first;   /* 1 + the phase in which somebody asked for the lock first, 0: nobody did */
    uint64_t biased;  /* how many locks of windows the owner of this memory shares by bias (order/win_share) */
    uint64_t revoked; /* 1 + the phase in which somebody wanted one for itself, and no more by bias; 0: nobody did */
    uint64_t reserved[4];
    uint64_t reading[]; /* by source: 2 * number of the acquisition, + 1 once it has looked at the word; 0: none */
} keel_lock_area_t;

#define KEEL_LOCK_WINDOWS 4084u /* after the readers' words: locks of windows, by number */

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
#define KEEL_LOCK_SPENT       UINT64_MAX /* instead of a number: the last one was taken */

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
/* of an acquisition for reading: the phase it is in, and the how manyth there it is */
#define KEEL_READING_BITS 31 /* a word has one more */
static inline uint64_t keel_reading(uint32_t phase, uint32_t count)
{
    return ((uint64_t)phase << KEEL_READING_BITS) | count;
}
static inline uint32_t keel_reading_phase(uint64_t number)
{
    return (uint32_t)(number >> KEEL_READING_BITS);
}
/* rank + 1, 0: free */
static inline uint32_t keel_lock_owner(uint64_t word)
{
    return (uint32_t)word & ((1u << KEEL_LOCK_RANK_BITS) - 1);
}

typedef struct keel_locker {
    uint32_t rank, ranks;
} keel_locker_t;

/* the counter under which the lock is held now, 0: it is somebody else's, or there are readers; or KEEL_LOCK_SPENT */
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

/* 1 + the counter under which it reads now, 0: it does not */
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
    /* it read before and asks again: an owner came later, waits for this reader, and its number is no section's yet */
    return keel_lock_counter(word) + (keel_lock_owner(word) == 0);
}

static inline void keel_lock_release_read(keel_lock_area_t *area, const keel_locker_t *who)
{
    keel_store_word_fenced(&area->reading[who->rank], 0);
}

/* own memory, while reading it: SC + 1 without an owner, so that the reading has its place among the writers; 0: a writer came; or
 * KEEL_LOCK_SPENT */
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
 * Locks that are shared by bias: the owner of this memory counts one and then looks whether that was revoked; who revokes says so
 * and then looks whether one is counted. Whoever comes second sees the first.
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
/* one of them is given up, or others see it now */
static inline void keel_lock_drop_bias(keel_lock_area_t *area)
{
    keel_store_word_fenced(&area->biased, area->biased - 1);
}
/* in @a phase, or earlier; how many there are still */
static inline uint64_t keel_lock_revoke_bias(keel_lock_area_t *area, uint64_t phase)
{
    const uint64_t before = __atomic_load_n(&area->revoked, __ATOMIC_RELAXED);

    keel_store_word_fenced(&area->revoked, (before != 0 && before <= phase + 1) ? before : phase + 1);
    return __atomic_load_n(&area->biased, __ATOMIC_SEQ_CST);
}

/* what a source asks of a lock area; the number is a keel_reading(), of a writer one of which the phase counts alone; or a window's */
typedef enum {
    KEEL_LOCK_TRY = 1,
    KEEL_LOCK_RELEASE,
    KEEL_LOCK_TRY_READ,
    KEEL_LOCK_RELEASE_READ,
    KEEL_LOCK_OWNS,       /* the counter under which the source owns it, 0: it does not */
    KEEL_LOCK_READS,      /* the number under which the source reads, 0: it does not */
    KEEL_LOCK_WINDOW_TRY, /* peer/winlock_word */
    KEEL_LOCK_WINDOW_RELEASE,
    KEEL_LOCK_WINDOW_TRY_SHARED,
    KEEL_LOCK_WINDOW_RELEASE_SHARED,
    KEEL_LOCK_REVOKE /* keel_lock_revoke_bias(); the number is the phase */
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
        /* all that ask are in one phase still */
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
