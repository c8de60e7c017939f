/*
 * Usage: what peers must know about a rank before they act on its effects, because the recovery
 * from a death of the rank depends on it: classes of atomics, the last phases with fetches, the
 * first access, the first wait.
 *
 * A usage is one value with one operation. The merge is commutative, associative and idempotent
 * (tests/unit/test_usage.c), so announcements may be repeated, reordered or combined, and the
 * result is the same.
 */
#ifndef KEEL_PEER_USAGE_H_
#define KEEL_PEER_USAGE_H_

#include "check/plant.h"
#include "peer/board.h"
#include "wire/wire.h"

#include <keel/keel.h>

struct keel_lane;

/* Phases are stored + 1; 0: none. */
typedef struct keel_usage {
    uint32_t classes; /* keel_classes_bit(), KEEL_CLASS_* */
    uint32_t fetched; /* last phase with a fetch from another rank */
    /* last phase with a fetch from own memory for which no record will exist */
    uint32_t in_doubt;
    uint32_t begun; /* phase of the first access, in a program that is not deterministic */
    /* phase of the first wait, + 2: in the next phase every rank knows of the wait */
    uint32_t waits;
} keel_usage_t;

static inline keel_usage_t keel_usage_none(void)
{
    return (keel_usage_t){.classes = 0, .fetched = 0, .in_doubt = 0, .begun = 0, .waits = 0};
}

/* The earliest first wait counts, and 0 is none. */
static inline uint32_t keel_usage_earlier(uint32_t a, uint32_t b)
{
    return (a == 0 || (b != 0 && b < a)) ? b : a;
}

/* Adds @a from to @a into. Returns 1 if @a into has changed. */
static inline int keel_usage_merge(keel_usage_t *into, const keel_usage_t *from)
{
    const keel_usage_t before = *into;

    into->classes |= from->classes;
    into->fetched = (from->fetched > into->fetched) ? from->fetched : into->fetched;
    into->in_doubt = (from->in_doubt > into->in_doubt) ? from->in_doubt : into->in_doubt;
    into->begun = (from->begun > into->begun) ? from->begun : into->begun;
    into->waits = keel_usage_earlier(into->waits, from->waits);
    return ((before.classes ^ into->classes) | (before.fetched ^ into->fetched) | (before.in_doubt ^ into->in_doubt) |
            (before.begun ^ into->begun) | (before.waits ^ into->waits)) != 0;
}

static inline int keel_usage_is_none(const keel_usage_t *usage)
{
    return (usage->classes | usage->fetched | usage->in_doubt | usage->begun | usage->waits) == 0;
}

/* ---- announcements ---- */

/* Sets the usage for arrivals of this rank, and for replies to ranks that fetch from it. */
void keel_usage_publish(struct keel_lane *lane, const keel_usage_t *usage);
/* Service side, with the lane's lock: takes a KEEL_WIRE_USAGE message. */
void keel_usage_receive(struct keel_lane *lane, const keel_wire_t *wire);
/* Merges @a usage into the board slot of the announcing rank. */
void keel_usage_store(keel_board_slot_t *slot, const keel_usage_t *usage);

/*
 * The usage of phase @a number - 1 in one word, for arrival @a number (keel_wire_body_t.arrive):
 * the classes, and a flag for each phase field that has the value of the arrival.
 */
uint32_t keel_usage_pack(const keel_usage_t *usage, uint32_t number);
keel_usage_t keel_usage_unpack(uint32_t packed, uint32_t number);

/* ---- classes of atomics ---- */

/*
 * One bit for each class of atomics (keel_atomic_op_t): low bits for atomics at other ranks, the
 * next bits for atomics at the own rank.
 */
#define KEEL_CLASSES_BITS 12
_Static_assert(KEEL_ATOMIC_LAST <= KEEL_CLASSES_BITS, "a bit for each");
static inline uint32_t keel_classes_bit(unsigned op, int is_own)
{
    return 1u << (op + (is_own ? KEEL_CLASSES_BITS : 0));
}
/* The rank accesses memory without locks. Only the ranks accessed first learn the bit. */
#define KEEL_CLASS_BARE (1u << 24)
/* The program mixes ways to synchronise (order/mix). */
#define KEEL_CLASS_MIXES (1u << 25)
/* The rank has asked for the value of a word. */
#define KEEL_CLASS_FETCHES (1u << 26)
/* keel_usage_pack() */
#define KEEL_USAGE_FETCHED  (1u << 27)
#define KEEL_USAGE_IN_DOUBT (1u << 28)
#define KEEL_USAGE_WAITS    (1u << 29)
#define KEEL_USAGE_FLAGS    (KEEL_USAGE_FETCHED | KEEL_USAGE_IN_DOUBT | KEEL_USAGE_WAITS)
_Static_assert(2 * KEEL_CLASSES_BITS <= 24, "classes, then the other bits");

static inline uint32_t keel_classes_others(uint32_t classes)
{
    return classes & ((1u << KEEL_CLASSES_BITS) - 1);
}
static inline uint32_t keel_classes_own(uint32_t classes)
{
    return (classes >> KEEL_CLASSES_BITS) & ((1u << KEEL_CLASSES_BITS) - 1);
}

/* Classes, other than additions, with an effect that depends on earlier atomics: no two commute. */
#define KEEL_CLASSES_CHANGE                                                           \
    (keel_classes_bit(KEEL_ATOMIC_SWAP, 0) | keel_classes_bit(KEEL_ATOMIC_CSWAP, 0) | \
     keel_classes_bit(KEEL_ATOMIC_SET, 0))

static inline int keel_atomic_may_change(unsigned op)
{
    return (keel_classes_bit(op, 0) & KEEL_CLASSES_CHANGE) != 0;
}

/* A class of records: the record has the difference made to the word, and a replay adds it. */
#define KEEL_KIND_CHANGE (1u << 15)
_Static_assert(KEEL_CLASSES_BITS <= 15, "a bit beside those of classes");

/*
 * The class of an atomic's record. @a is_known: the logging rank applies the atomic, or knows the
 * value found.
 */
static inline uint32_t keel_classes_kind(unsigned op, int is_known)
{
    return (is_known && keel_atomic_may_change(op)) ? KEEL_KIND_CHANGE : keel_classes_bit(op, 0);
}

/* Atomics of different classes do not commute, nor do two SETs: no replay can restore an order. */
static inline int keel_classes_commute(uint32_t classes)
{
    const uint32_t alone = KEEL_PLANT(usage_sets_commute) ? keel_classes_bit(KEEL_ATOMIC_SET, 0) : 0;

    if (classes & KEEL_KIND_CHANGE) {
        return (classes & ~(KEEL_KIND_CHANGE | keel_classes_bit(KEEL_ATOMIC_ADD, 0))) == 0;
    }
    return (classes & (classes - 1)) == 0 && (classes & KEEL_CLASSES_CHANGE & ~alone) == 0;
}

#endif
