/*
 * The board: in every process one slot for each source, written by the source alone (by stores on
 * the direct lane, by the service thread on its behalf on the served lane). All values are
 * absolute, so a repeated write does no harm. Behind the slots is the set of the sources that ever
 * opened a number here.
 *
 * Safety: a source writes the other words before `arrive` (release), readers read `arrive` first
 * (acquire). flags is kept for two gsyncs because a source may arrive at n + 1 while a reader still
 * reads n, never at n + 2. Other words may be read while they are written: each is loaded and
 * stored whole (keel_board_get, keel_board_set).
 */
#ifndef KEEL_PEER_BOARD_H_
#define KEEL_PEER_BOARD_H_

#include <keel/keel.h>

#include "peer/source_set.h"

#include <stdint.h>

typedef struct keel_board_slot {
    /* keel_arrive(): every action of phases before n towards the reader is complete */
    uint64_t arrive;
    /* keel_arrive(): the image of generation n is copied */
    uint64_t image_copied;
    uint64_t flags[2];    /* of gsync n at [n & 1]: KEEL_ARRIVE_* */
    uint64_t parity_done; /* last generation with the parity share at the source */
    uint64_t committed;   /* generation known to the source as complete in the whole job */
    uint64_t lost_gets;   /* last phase with a get of the source without a record, + 1; 0: none */
    uint64_t atomics;     /* keel_atomics_word() */
    /* first phase in which all ranks know of waits from the beginning, + 1; 0: no waits */
    uint64_t waits;
    /*
     * opened, done and clock: phase << 32 | value. Programs that wait inside phases (sync/waits)
     * number all their records, others only their atomics by stores.
     */
    uint64_t opened; /* direct lane: number of the last record begun by the source, + 1 */
    uint64_t done;   /* records of the source applied here */
    /* in the owner's own slot only: the highest clock of an effect here, own ones included */
    uint64_t clock;
    /* phase of the source's first effect here, or of its first announced atomics, + 1; 0: none */
    uint64_t first;
    /* announced by the source: keel_classes_bit(); in the owner's slot its own, for fetches */
    uint64_t classes;
    /* `opened` of the last atomic: an atomic applied twice has another result */
    uint64_t opened_atomic;
    /* phase of a fetch by the source from its own memory without a record yet, + 1; 0: none */
    uint64_t own_open;
} keel_board_slot_t;
_Static_assert(sizeof(keel_board_slot_t) == 128, "two cache lines a source");

static inline size_t keel_board_size(uint32_t ranks)
{
    return ranks * sizeof(keel_board_slot_t) + KEEL_RANK_SET_WORDS((size_t)ranks) * sizeof(uint64_t);
}
/* The sources that ever set `opened`. The set stays when a rollback clears the slots. */
static inline keel_rank_set_t keel_board_sources(keel_board_slot_t *board, uint32_t ranks)
{
    return keel_rank_set_at((uint64_t *)(board + ranks), ranks);
}

static inline uint64_t keel_board_get(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}
static inline void keel_board_set(uint64_t *word, uint64_t value)
{
    keel_store_word(word, value);
}

/* Every rank writes the word: the highest value stays. */
static inline void keel_board_raise(uint64_t *word, uint64_t value)
{
    uint64_t before = keel_board_get(word);

    while (before < value && !keel_store_word_exchange(word, &before, value)) {
    }
}

/* Notes a get of the source in @a phase without a record; a later phase stays. */
static inline void keel_board_lose_get(keel_board_slot_t *slot, uint32_t phase)
{
    if (keel_board_get(&slot->lost_gets) <= phase) {
        keel_board_set(&slot->lost_gets, (uint64_t)phase + 1);
    }
}

/*
 * Two phases, each + 1, 0 for none. Low half: the last phase in which the source issued an atomic
 * to the reader, or fetched at all. High half: the last phase with an atomic in doubt: if the
 * source dies, no rank knows the effect or the value found. In doubt are atomics by stores in a
 * critical section or without a number, and fetches from own memory.
 */
static inline uint64_t keel_atomics_word(uint64_t before, uint32_t phase, int is_in_doubt)
{
    const uint64_t now = (uint64_t)phase + 1;
    uint64_t any = before & UINT32_MAX, in_doubt = before >> 32;

    any = (now > any) ? now : any; /* a later phase stays: logs are handed over phase by phase */
    in_doubt = (is_in_doubt && now > in_doubt) ? now : in_doubt;
    return (in_doubt << 32) | any;
}
static inline uint32_t keel_atomics_any(uint64_t word)
{
    return (uint32_t)word;
}
static inline uint32_t keel_atomics_in_doubt(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

/* The source issues atomics in @a phase; for later ones a look at the word is enough. */
static inline void keel_board_mark(keel_board_slot_t *slot, uint32_t phase, int is_in_doubt)
{
    if (slot->first == 0) {
        keel_board_set(&slot->first, (uint64_t)phase + 1);
    }
    keel_board_set(&slot->atomics, keel_atomics_word(keel_board_get(&slot->atomics), phase, is_in_doubt));
}

static inline uint64_t keel_phase_word(uint32_t phase, uint32_t value)
{
    return ((uint64_t)phase << 32) | value;
}

/*
 * Number of applied atomics of this phase counted by the source. If the source has opened none, the
 * count of the service side is of other records.
 */
static inline uint32_t keel_board_counted(const keel_board_slot_t *slot, uint32_t phase)
{
    const uint64_t opened = keel_board_get(&slot->opened), done = keel_board_get(&slot->done);

    return (opened >> 32 == phase && (uint32_t)opened != 0 && done >> 32 == phase) ? (uint32_t)done : 0;
}

/* Last phase with a record numbered by the source, + 1; 0: none. */
static inline uint32_t keel_board_opened(const keel_board_slot_t *slot)
{
    const uint64_t opened = keel_board_get(&slot->opened);

    return (opened != 0) ? (uint32_t)(opened >> 32) + 1 : 0;
}

/* Phase of an atomic or a put, + 1, that the source began here before a death; 0: none. */
static inline uint32_t keel_board_half_done(const keel_board_slot_t *slot, int is_put_too)
{
    const uint64_t opened = keel_board_get(&slot->opened);

    return (opened > keel_board_get(&slot->done) && (is_put_too || opened == keel_board_get(&slot->opened_atomic)))
               ? (uint32_t)(opened >> 32) + 1
               : 0;
}

/* The same for an atomic of the source at its own memory. */
static inline uint32_t keel_board_own_open(const keel_board_slot_t *slot)
{
    return (uint32_t)keel_board_get(&slot->own_open);
}

/* The first @a records of @a phase are applied. */
static inline void keel_board_done(keel_board_slot_t *slot, uint32_t phase, uint32_t records)
{
    if (slot->first == 0) {
        keel_board_set(&slot->first, (uint64_t)phase + 1);
    }
    keel_store_word_release(&slot->done, keel_phase_word(phase, records));
}

enum {
    /* the leader only */
    KEEL_ARRIVE_CHECKPOINT = 1, /* take a coordinated checkpoint in this gsync */
    KEEL_ARRIVE_EXPLICIT = 2,   /* the next gsync waits until it is complete */
    KEEL_ARRIVE_FINAL = 4,      /* this gsync is the last */
    /* ckpt/demand.h */
    KEEL_ARRIVE_IMAGE = 8,   /* the source copies its image in this gsync */
    KEEL_ARRIVE_SHARED = 16, /* the source has the share of parity awaited by the group */
    KEEL_ARRIVE_CANNOT = 32, /* the source will not have the share */
    /* sync/announced.h */
    KEEL_ARRIVE_NEWS = 64 /* in the phase that ends the usage of the source has changed */
};
/* Higher bits: the call of the gsync (engine/context.h), 0: not known. */
#define KEEL_ARRIVE_CALL_SHIFT 7
/*
 * The source joins a stop (epoch/stop.h): a replacement may have more effects in the phase first.
 */
#define KEEL_ARRIVE_CALL_STOP 8u

static inline unsigned keel_arrive_call(uint64_t flags)
{
    return (unsigned)(flags >> KEEL_ARRIVE_CALL_SHIFT);
}

/* Of a rank; each rollback clears the words of older rollback numbers. */
#define KEEL_ARRIVE_INCARNATION_MAX UINT16_MAX

static inline uint64_t keel_arrive(uint32_t rollback, uint32_t incarnation, uint32_t number)
{
    return ((uint64_t)(rollback & 0xffff) << 48) | ((uint64_t)(incarnation & 0xffff) << 32) | number;
}
/* The gsync number in @a word, 0 if the word is of another rollback number or incarnation. */
static inline uint32_t keel_arrive_number(uint64_t word, uint32_t rollback, uint32_t incarnation)
{
    return (word >> 32) == (keel_arrive(rollback, incarnation, 0) >> 32) ? (uint32_t)word : 0;
}

#endif
