/* Atomics. */
#include "shmem_job.h"
#include "shmem_state.h"

void keel_shmem_atomic(const keel_shmem_atomic_t *atomic, const void *dest, int pe, const char *call)
{
    keel_shmem_place_t place;
    keel_status_t status;

    if (atomic->result != NULL) {
        keel_shmem_begin_reading(call);
    } else if (keel_shmem_begin(call)) {
        return;
    }
    place = keel_shmem_place(dest, atomic->size, pe, call);
    if (atomic->is_nbi) {
        status = KEEL_SHMEM_ALONE(keel_atomic_nbx(place.win, atomic->op, (uint32_t)pe, place.offset, atomic->size,
                                                  atomic->operand, atomic->compare, atomic->result, NULL, NULL));
    } else {
        status = KEEL_SHMEM_ALONE(keel_atomic(place.win, atomic->op, (uint32_t)pe, place.offset, atomic->size,
                                              atomic->operand, atomic->compare, atomic->result));
    }
    if (atomic->result == NULL) {
        keel_shmem_note_put();
    }
    keel_shmem_end(status == KEEL_INPROGRESS ? KEEL_OK : status, call);
}

/*
 * The operation of a fetch. In a program that waits, a fetch may be a poll, and KEEL_ATOMIC_FETCH
 * belongs to no class of atomics. Otherwise an addition of 0 takes the fast path.
 */
keel_atomic_op_t keel_shmem_fetch_op(void)
{
    return keel_shmem_job_polls() ? KEEL_ATOMIC_FETCH : KEEL_ATOMIC_ADD;
}

/* ---- the functions ---- */

#define BITS(_value) keel_shmem_bits(&(_value), sizeof(_value))
#define RUN(_op, _dest, _operand, _compare, _result, _is_nbi)                                                    \
    keel_shmem_atomic(&(const keel_shmem_atomic_t){_op, sizeof(*(_dest)), _operand, _compare, _result, _is_nbi}, \
                      _dest, keel_shmem_pe(ctx, pe, KEEL_SHMEM_CALL), KEEL_SHMEM_CALL);

/* three functions: posted, fetching, and fetching without blocking */
#define DEFINE_OP(_name, _type, _what, _op)                                                                    \
    KEEL_SHMEM_DEFINE_CTX(void, _name##_atomic_##_what, (_type * dest, _type value, int pe),                   \
                          RUN(_op, dest, BITS(value), 0, NULL, 0))                                             \
    KEEL_SHMEM_DEFINE_CTX(_type, _name##_atomic_fetch_##_what, (_type * dest, _type value, int pe), _type was; \
                          RUN(_op, dest, BITS(value), 0, &was, 0) return was;)                                 \
    KEEL_SHMEM_DEFINE_CTX(void, _name##_atomic_fetch_##_what##_nbi,                                            \
                          (_type * fetch, _type * dest, _type value, int pe),                                  \
                          RUN(_op, dest, BITS(value), 0, fetch, 1))

#define DEFINE_WORD(_name, _type)                                                                            \
    KEEL_SHMEM_DEFINE_CTX(_type, _name##_atomic_fetch, (const _type *source, int pe), _type is;              \
                          RUN(keel_shmem_fetch_op(), source, 0, 0, &is, 0) return is;)                       \
    KEEL_SHMEM_DEFINE_CTX(void, _name##_atomic_fetch_nbi, (_type * fetch, const _type *source, int pe),      \
                          RUN(keel_shmem_fetch_op(), source, 0, 0, fetch, 1))                                \
    KEEL_SHMEM_DEFINE_CTX(void, _name##_atomic_set, (_type * dest, _type value, int pe),                     \
                          RUN(KEEL_ATOMIC_SWAP, dest, BITS(value), 0, NULL, 0))                              \
    KEEL_SHMEM_DEFINE_CTX(_type, _name##_atomic_swap, (_type * dest, _type value, int pe), _type was;        \
                          RUN(KEEL_ATOMIC_SWAP, dest, BITS(value), 0, &was, 0) return was;)                  \
    KEEL_SHMEM_DEFINE_CTX(void, _name##_atomic_swap_nbi, (_type * fetch, _type * dest, _type value, int pe), \
                          RUN(KEEL_ATOMIC_SWAP, dest, BITS(value), 0, fetch, 1))
SHMEM_ATOMIC_TYPES_EXTENDED(DEFINE_WORD)

#define DEFINE_ATOMIC(_name, _type)                                                                                    \
    DEFINE_OP(_name, _type, add, KEEL_ATOMIC_ADD)                                                                      \
    KEEL_SHMEM_DEFINE_CTX(void, _name##_atomic_inc, (_type * dest, int pe), RUN(KEEL_ATOMIC_ADD, dest, 1, 0, NULL, 0)) \
    KEEL_SHMEM_DEFINE_CTX(_type, _name##_atomic_fetch_inc, (_type * dest, int pe), _type was;                          \
                          RUN(KEEL_ATOMIC_ADD, dest, 1, 0, &was, 0) return was;)                                       \
    KEEL_SHMEM_DEFINE_CTX(void, _name##_atomic_fetch_inc_nbi, (_type * fetch, _type * dest, int pe),                   \
                          RUN(KEEL_ATOMIC_ADD, dest, 1, 0, fetch, 1))                                                  \
    KEEL_SHMEM_DEFINE_CTX(_type, _name##_atomic_compare_swap, (_type * dest, _type cond, _type value, int pe),         \
                          _type was;                                                                                   \
                          RUN(KEEL_ATOMIC_CSWAP, dest, BITS(value), BITS(cond), &was, 0) return was;)                  \
    KEEL_SHMEM_DEFINE_CTX(void, _name##_atomic_compare_swap_nbi,                                                       \
                          (_type * fetch, _type * dest, _type cond, _type value, int pe),                              \
                          RUN(KEEL_ATOMIC_CSWAP, dest, BITS(value), BITS(cond), fetch, 1))
SHMEM_ATOMIC_TYPES(DEFINE_ATOMIC)

#define DEFINE_BITWISE(_name, _type)              \
    DEFINE_OP(_name, _type, and, KEEL_ATOMIC_AND) \
    DEFINE_OP(_name, _type, or, KEEL_ATOMIC_OR)   \
    DEFINE_OP(_name, _type, xor, KEEL_ATOMIC_XOR)
SHMEM_ATOMIC_TYPES_BITWISE(DEFINE_BITWISE)
