/* Atomics by the CPU, on own memory or on a mapped peer's. Budget: the locked instruction and a
 * predicted jump. */
#ifndef KEEL_PEER_APPLY_H_
#define KEEL_PEER_APPLY_H_

#include "check/plant.h"
#include "peer/store.h"
#include "peer/usage.h"
#include "wire/record.h"

#include <keel/keel.h>

/* Operations with records of their own, on words of 4 and 8 bytes. FETCH is a poll or, like
 * operations on other sizes, an accumulate (peer/combine). */
static inline int keel_atomic_is_logged(unsigned op)
{
    return op < KEEL_ATOMIC_LAST && op != KEEL_ATOMIC_FETCH;
}
/* operations below are single instructions of the processor */
#define KEEL_ATOMIC_FAST (KEEL_ATOMIC_CSWAP + 1)

#define KEEL_APPLY_TO(_word, _op, _operand, _compare)                                                         \
    switch (_op) {                                                                                            \
    case KEEL_ATOMIC_ADD:                                                                                     \
        return __atomic_fetch_add(_word, _operand, __ATOMIC_ACQ_REL);                                         \
    case KEEL_ATOMIC_AND:                                                                                     \
        return __atomic_fetch_and(_word, _operand, __ATOMIC_ACQ_REL);                                         \
    case KEEL_ATOMIC_OR:                                                                                      \
        return __atomic_fetch_or(_word, _operand, __ATOMIC_ACQ_REL);                                          \
    case KEEL_ATOMIC_XOR:                                                                                     \
        return __atomic_fetch_xor(_word, _operand, __ATOMIC_ACQ_REL);                                         \
    case KEEL_ATOMIC_SWAP:                                                                                    \
        return __atomic_exchange_n(_word, _operand, __ATOMIC_ACQ_REL);                                        \
    default:                                                                                                  \
        (void)__atomic_compare_exchange_n(_word, &_compare, _operand, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); \
        return _compare;                                                                                      \
    }

static inline __attribute__((always_inline)) uint64_t keel_apply_word(uint64_t *word, unsigned op, uint64_t operand,
                                                                      uint64_t compare)
{
    KEEL_APPLY_TO(word, op, operand, compare)
}
static inline __attribute__((always_inline)) uint64_t keel_apply_half(uint32_t *word, unsigned op, uint32_t operand,
                                                                      uint32_t compare)
{
    KEEL_APPLY_TO(word, op, operand, compare)
}
#undef KEEL_APPLY_TO

/* SET, MIN and MAX; returns the old value. */
#define KEEL_APPLY_BOUND(_name, _word_t, _signed_t)                                                                    \
    static __attribute__((noinline, unused)) uint64_t _name(_word_t *word, unsigned op, _word_t operand)               \
    {                                                                                                                  \
        _word_t old = __atomic_load_n(word, __ATOMIC_ACQUIRE);                                                         \
        int is_kept;                                                                                                   \
                                                                                                                       \
        do {                                                                                                           \
            is_kept = (op == KEEL_ATOMIC_MIN && old <= operand) || (op == KEEL_ATOMIC_MAX && old >= operand) ||        \
                      (op == KEEL_ATOMIC_MIN_SIGNED && (_signed_t)old <= (_signed_t)operand) ||                        \
                      (op == KEEL_ATOMIC_MAX_SIGNED && (_signed_t)old >= (_signed_t)operand);                          \
        } while (                                                                                                      \
            !__atomic_compare_exchange_n(word, &old, is_kept ? old : operand, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)); \
        return old;                                                                                                    \
    }
KEEL_APPLY_BOUND(keel_apply_bound_word, uint64_t, int64_t)
KEEL_APPLY_BOUND(keel_apply_bound_half, uint32_t, int32_t)
#undef KEEL_APPLY_BOUND

/* Returns the old value. @a word is aligned to the size of the atomic. */
static inline __attribute__((always_inline)) uint64_t keel_apply_atomic(void *word, const keel_record_atomic_t *atomic)
{
    const int is_word = atomic->size == sizeof(uint64_t);
    uint64_t old;

    KEEL_STORE_FENCE();
    if (__builtin_expect(atomic->op >= KEEL_ATOMIC_FAST, 0)) {
        old = is_word ? keel_apply_bound_word((uint64_t *)word, atomic->op, atomic->operand)
                      : keel_apply_bound_half((uint32_t *)word, atomic->op, (uint32_t)atomic->operand);
    } else {
        old = is_word
                  ? keel_apply_word((uint64_t *)word, atomic->op, atomic->operand, atomic->compare)
                  : keel_apply_half((uint32_t *)word, atomic->op, (uint32_t)atomic->operand, (uint32_t)atomic->compare);
    }
    KEEL_STORES();
    return old;
}

/* Applies the logged form of an atomic: an addition of the known change, if any, so that replay
 * commutes with all additions (protocol/changes.md). */
static inline uint64_t keel_apply_logged(void *word, const keel_record_atomic_t *atomic)
{
    keel_record_atomic_t change = *atomic;

    if (!atomic->is_changed || KEEL_PLANT(apply_change_again)) {
        return keel_apply_atomic(word, atomic);
    }
    change.op = KEEL_ATOMIC_ADD;
    change.operand = atomic->change;
    return keel_apply_atomic(word, &change);
}

/* The change that the atomic made to a word with the value @a old. */
static inline uint64_t keel_atomic_change(const keel_record_atomic_t *atomic, uint64_t old)
{
    const uint64_t all = (atomic->size == sizeof(uint64_t)) ? UINT64_MAX : UINT32_MAX;
    const int is_kept = atomic->op == KEEL_ATOMIC_CSWAP && ((old ^ atomic->compare) & all) != 0;

    return is_kept ? 0 : (atomic->operand - old) & all;
}

/* Completes the log record of @a atomic with the value that it found. */
static inline __attribute__((always_inline)) void keel_atomic_found(keel_record_t *record,
                                                                    const keel_record_atomic_t *atomic, uint64_t old)
{
    keel_record_atomic_t *payload = (keel_record_atomic_t *)(record + 1);

    if (keel_atomic_may_change(atomic->op)) {
        payload->change = keel_atomic_change(atomic, old);
        payload->is_changed = 1;
    }
    payload->is_value_known = 1;
}

#endif
