/*
 * The board: in every process one slot a source, written by that source alone (by stores on the direct lane, by the
 * service thread on its behalf on the served one). All values are absolute, so writing one twice does no harm.
 *
 * Safety: a source writes the other words before `arrive` (release), readers read `arrive` first (acquire). flags is
 * kept for two gsyncs because a source may arrive at n + 1 while a reader still looks at n, never at n + 2. The other words
 * may be looked at while they are written: each is loaded and stored whole (keel_board_get, keel_board_set).
 */
#ifndef KEEL_PEER_BOARD_H_
#define KEEL_PEER_BOARD_H_

#include <keel/keel.h>

#include "peer/store.h"

#include <stdint.h>

typedef struct keel_board_slot {
    uint64_t arrive;      /* keel_arrive(): every action of phases before n towards the reader is complete */
    uint64_t second;      /* keel_arrive(): the image of generation n is copied */
    uint64_t flags[2];    /* of gsync n, at n & 1: KEEL_ARRIVE_* */
    uint64_t parity_done; /* generation whose parity share the source has */
    uint64_t committed;   /* generation the source knows complete in the whole job */
    uint64_t lost_gets;   /* 1 + the last phase in which the source has a get without record; 0: none */
    uint64_t atomics;     /* keel_atomics_word() */
    /* opened, done and clock: phase << 32 | value. Programs that wait inside phases (sync/waits) number all that they do, others by
     * stores their atomics alone */
    uint64_t waits;  /* 1 + the first phase that begins with everybody knowing that the program waits; 0: it does not */
    uint64_t opened; /* direct lane: 1 + number of the record that the source has begun to do */
    uint64_t done;   /* records of the source that are done here */
    uint64_t
        clock; /* in the owner's own slot alone: the highest that anybody had who did something here, itself included */
    uint64_t first; /* 1 + the phase of the first one here, or of atomics that it told of, ever; 0: none */
    uint64_t
        classes; /* of atomics, that the source has used: keel_classes_bit(); the owner's own for who fetches here */
    uint64_t opened_atomic; /* as `opened`, of the last one that is an atomic: done again, it would not be the same */
    uint64_t
        own_open; /* 1 + the phase in which the source fetches from its own memory, of which there is no record yet; 0: it has one */
} keel_board_slot_t;
_Static_assert(sizeof(keel_board_slot_t) == 128, "two cache lines a source");

static inline uint64_t keel_board_get(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}
static inline void keel_board_set(uint64_t *word, uint64_t value)
{
    keel_store_word(word, value);
}

/* all write it, each what it knows: the highest stays */
static inline void keel_board_raise(uint64_t *word, uint64_t value)
{
    uint64_t before = keel_board_get(word);

    while (before < value && !keel_store_word_exchange(word, &before, value)) {
    }
}

/* the source has a get of @a phase without record; what is known of a later phase stays */
static inline void keel_board_lose_get(keel_board_slot_t *slot, uint32_t phase)
{
    if (keel_board_get(&slot->lost_gets) <= phase) {
        keel_board_set(&slot->lost_gets, (uint64_t)phase + 1);
    }
}

/*
 * Two phases, each + 1 and 0 for none: the low half is the last one in which the source issued an atomic to the reader, or
 * fetched at all; the high half the last one with an atomic of which nobody can tell, should the source die, whether it
 * took effect or what it fetched: by stores in a critical section or without a number, or fetched from own memory.
 */
static inline uint64_t keel_atomics_word(uint64_t before, uint32_t phase, int is_in_doubt)
{
    const uint64_t now = (uint64_t)phase + 1;
    uint64_t any = before & UINT32_MAX, in_doubt = before >> 32;

    any = (now > any) ? now : any; /* what is known of a later phase stays: logs are handed over phase by phase */
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

/* the source issues atomics in @a phase; those that follow look at the word alone */
static inline void keel_board_mark(keel_board_slot_t *slot, uint32_t phase, int is_in_doubt)
{
    if (slot->first == 0) {
        keel_board_set(&slot->first, (uint64_t)phase + 1);
    }
    keel_board_set(&slot->atomics, keel_atomics_word(keel_board_get(&slot->atomics), phase, is_in_doubt));
}

/* what a process uses, as it tells those to whom it may matter (sync/atomics); phases are + 1, and 0 for none */
typedef struct keel_kinds {
    uint32_t classes;  /* keel_classes_bit() */
    uint32_t fetched;  /* the last in which it fetches from others */
    uint32_t in_doubt; /* from its own memory, and nobody could tell what it found */
    uint32_t begun;    /* that of its first access, in a program that is not deterministic */
    uint32_t waits;    /* that of its first wait for what others put, + 2: as on the board */
} keel_kinds_t;

static inline void keel_board_tell(keel_board_slot_t *slot, const keel_kinds_t *kinds)
{
    const uint32_t any = (kinds->fetched > kinds->begun) ? kinds->fetched : kinds->begun;

    if (any > 0) {
        keel_board_mark(slot, any - 1, 0);
    }
    if (kinds->in_doubt > 0) {
        keel_board_mark(slot, kinds->in_doubt - 1, 1);
    }
    if (kinds->waits > 0) {
        keel_board_set(&slot->waits, kinds->waits);
    }
    keel_board_set(&slot->classes, keel_board_get(&slot->classes) | kinds->classes); /* its predecessor's, too */
}

/* a bit for each class of atomics (keel_atomic_op_t): the low bits of those at others, the next ones of those at itself */
#define KEEL_CLASSES_BITS 12
_Static_assert(KEEL_ATOMIC_LAST <= KEEL_CLASSES_BITS, "a bit for each");
static inline uint32_t keel_classes_bit(unsigned op, int is_own)
{
    return 1u << (op + (is_own ? KEEL_CLASSES_BITS : 0));
}
/* kept with them, and told like them, though no class of atomics: the source accesses without locks (told to whom it accesses
 * first); and it mixes ways to synchronise (order/mix; told to all) */
#define KEEL_CLASS_BARE  (1u << 24)
#define KEEL_CLASS_MIXES (1u << 25)
/* it has asked for what a word held */
#define KEEL_CLASS_FETCHES (1u << 26)

static inline uint32_t keel_classes_others(uint32_t classes)
{
    return classes & ((1u << KEEL_CLASSES_BITS) - 1);
}
static inline uint32_t keel_classes_own(uint32_t classes)
{
    return (classes >> KEEL_CLASSES_BITS) & ((1u << KEEL_CLASSES_BITS) - 1);
}

/* those that change a word by what others did before, and are no additions: two of them do not commute */
#define KEEL_CLASSES_CHANGE                                                           \
    (keel_classes_bit(KEEL_ATOMIC_SWAP, 0) | keel_classes_bit(KEEL_ATOMIC_CSWAP, 0) | \
     keel_classes_bit(KEEL_ATOMIC_SET, 0))

static inline int keel_atomic_may_change(unsigned op)
{
    return (keel_classes_bit(op, 0) & KEEL_CLASSES_CHANGE) != 0;
}

/* beside classes, of records: it is known by how much they changed words, so they are additions to who replays them */
#define KEEL_KIND_CHANGE (1u << 15)
_Static_assert(KEEL_CLASSES_BITS <= 15, "a bit beside those of classes");

/* of a record of such an atomic; @a is_known: who logs it applies it, or has seen what it found */
static inline uint32_t keel_classes_kind(unsigned op, int is_known)
{
    return (is_known && keel_atomic_may_change(op)) ? KEEL_KIND_CHANGE : keel_classes_bit(op, 0);
}

/* atomics of different classes do not, nor do two that set: no replay could reproduce their order */
static inline int keel_classes_commute(uint32_t classes)
{
    const uint32_t alone = KEEL_PLANT(sets_commute) ? keel_classes_bit(KEEL_ATOMIC_SET, 0) : 0;

    if (classes & KEEL_KIND_CHANGE) {
        return (classes & ~(KEEL_KIND_CHANGE | keel_classes_bit(KEEL_ATOMIC_ADD, 0))) == 0;
    }
    return (classes & (classes - 1)) == 0 && (classes & KEEL_CLASSES_CHANGE & ~alone) == 0;
}

static inline uint64_t keel_phase_word(uint32_t phase, uint32_t value)
{
    return ((uint64_t)phase << 32) | value;
}

/* how many atomics of this phase are done that the source counts itself; when it has opened none, what the service side has counted is
 * something else */
static inline uint32_t keel_board_counted(const keel_board_slot_t *slot, uint32_t phase)
{
    const uint64_t opened = keel_board_get(&slot->opened), done = keel_board_get(&slot->done);

    return (opened >> 32 == phase && (uint32_t)opened != 0 && done >> 32 == phase) ? (uint32_t)done : 0;
}

/* 1 + the last phase in which the source did anything here that it numbers itself; 0: none */
static inline uint32_t keel_board_opened(const keel_board_slot_t *slot)
{
    const uint64_t opened = keel_board_get(&slot->opened);

    return (opened != 0) ? (uint32_t)(opened >> 32) + 1 : 0;
}

/* the source died while it did an atomic here, or a put, and nobody can tell whether it was done: 1 + its phase; 0: it did none */
static inline uint32_t keel_board_half_done(const keel_board_slot_t *slot, int is_put_too)
{
    const uint64_t opened = keel_board_get(&slot->opened);

    return (opened > keel_board_get(&slot->done) && (is_put_too || opened == keel_board_get(&slot->opened_atomic)))
               ? (uint32_t)(opened >> 32) + 1
               : 0;
}

/* likewise, of its own memory */
static inline uint32_t keel_board_own_open(const keel_board_slot_t *slot)
{
    return (uint32_t)keel_board_get(&slot->own_open);
}

/* the first @a records of @a phase are done */
static inline void keel_board_done(keel_board_slot_t *slot, uint32_t phase, uint32_t records)
{
    if (slot->first == 0) {
        keel_board_set(&slot->first, (uint64_t)phase + 1);
    }
    keel_store_word_release(&slot->done, keel_phase_word(phase, records));
}

enum {
    /* rank 0 only */
    KEEL_ARRIVE_CHECKPOINT = 1, /* take a coordinated checkpoint in this gsync */
    KEEL_ARRIVE_EXPLICIT = 2,   /* the next gsync is to find it complete */
    KEEL_ARRIVE_FINAL = 4,      /* this gsync is the last */
    /* ckpt/demand.h */
    KEEL_ARRIVE_IMAGE = 8,   /* the source copies its image in this gsync */
    KEEL_ARRIVE_SHARED = 16, /* it has its share of parity with the images its group is waiting for */
    KEEL_ARRIVE_CANNOT = 32, /* or will not have it */
    /* sync/atomics.h */
    KEEL_ARRIVE_NEWS = 64 /* in the phase that ends the source has begun to use something, or fetched */
};
/* after these: which call the gsync is of (engine/context.h), 0: not told */
#define KEEL_ARRIVE_CALL_SHIFT 7
#define KEEL_ARRIVE_CALL_STOP \
    8u /* the source joins a stop (epoch/stop.h): its replacement may do more in the phase first */

static inline unsigned keel_arrive_call(uint64_t flags)
{
    return (unsigned)(flags >> KEEL_ARRIVE_CALL_SHIFT);
}

#define KEEL_ARRIVE_INCARNATION_MAX \
    UINT16_MAX /* of a rank; words of older rollback numbers are cleared by each rollback */

static inline uint64_t keel_arrive(uint32_t rollback, uint32_t incarnation, uint32_t number)
{
    return ((uint64_t)(rollback & 0xffff) << 48) | ((uint64_t)(incarnation & 0xffff) << 32) | number;
}
/* the gsync number in @a word, 0 when it is of another rollback number or incarnation */
static inline uint32_t keel_arrive_number(uint64_t word, uint32_t rollback, uint32_t incarnation)
{
    return (word >> 32) == (keel_arrive(rollback, incarnation, 0) >> 32) ? (uint32_t)word : 0;
}

#endif
