/* An atomic as the CPU does it, on own memory or a mapped peer's. Budget: the locked instruction, and a predicted jump. */
#ifndef KEEL_PEER_APPLY_H_
#define KEEL_PEER_APPLY_H_

#include "peer/store.h"
#include "wire/record.h"

#include <keel/keel.h>

/* operations with records of their own, of words of 4 and 8 bytes: the first ones; the others are accumulates (peer/combine) */
#define KEEL_ATOMIC_LOGGED (KEEL_ATOMIC_CSWAP + 1)

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

/* the old value; @a word is aligned to the atomic's size */
static inline __attribute__((always_inline)) uint64_t keel_apply_atomic(void *word, const keel_record_atomic_t *atomic)
{
    uint64_t old;

    KEEL_STORE_FENCE();
    old = (atomic->size == sizeof(uint64_t))
              ? keel_apply_word((uint64_t *)word, atomic->op, atomic->operand, atomic->compare)
              : keel_apply_half((uint32_t *)word, atomic->op, (uint32_t)atomic->operand, (uint32_t)atomic->compare);
    KEEL_STORES();
    return old;
}

#endif
