/* Accumulates of several words. */
#include "many.h"

#include <stdlib.h>
#include <string.h>

/* The accumulate operation with the same effect. */
static keel_op_t many_op(keel_atomic_op_t atomic)
{
    static const uint8_t ops[KEEL_ATOMIC_LAST] = {
        [KEEL_ATOMIC_ADD] = KEEL_OP_SUM,        [KEEL_ATOMIC_AND] = KEEL_OP_BAND,
        [KEEL_ATOMIC_OR] = KEEL_OP_BOR,         [KEEL_ATOMIC_XOR] = KEEL_OP_BXOR,
        [KEEL_ATOMIC_SWAP] = KEEL_OP_LAST,      [KEEL_ATOMIC_CSWAP] = KEEL_OP_LAST,
        [KEEL_ATOMIC_FETCH] = KEEL_OP_LAST,     [KEEL_ATOMIC_SET] = KEEL_OP_REPLACE,
        [KEEL_ATOMIC_MIN] = KEEL_OP_MIN,        [KEEL_ATOMIC_MAX] = KEEL_OP_MAX,
        [KEEL_ATOMIC_MIN_SIGNED] = KEEL_OP_MIN, [KEEL_ATOMIC_MAX_SIGNED] = KEEL_OP_MAX};

    return (keel_op_t)ops[atomic];
}

int many_is_known(keel_atomic_op_t atomic)
{
    return many_op(atomic) != KEEL_OP_LAST;
}

static keel_type_t many_type(keel_atomic_op_t atomic, size_t size)
{
    const int is_signed = atomic == KEEL_ATOMIC_MIN_SIGNED || atomic == KEEL_ATOMIC_MAX_SIGNED;

    return (size == 8) ? (is_signed ? KEEL_TYPE_INT64 : KEEL_TYPE_UINT64)
                       : (is_signed ? KEEL_TYPE_INT32 : KEEL_TYPE_UINT32);
}

/* The operand that leaves an element unchanged. SET has none, but is used for one element only. */
static uint64_t many_nothing(keel_atomic_op_t atomic, size_t size)
{
    const uint64_t all = ~0ull >> (64 - 8 * size);

    switch (atomic) {
    case KEEL_ATOMIC_AND:
    case KEEL_ATOMIC_MIN:
        return all;
    case KEEL_ATOMIC_MIN_SIGNED:
        return all / 2;
    case KEEL_ATOMIC_MAX_SIGNED:
        return all / 2 + 1;
    default:
        return 0;
    }
}

keel_status_t many_atomics(keel_win_h win, keel_atomic_op_t atomic, uint32_t rank, uint64_t offset, size_t size,
                           uint64_t operand, size_t changed, size_t count, const keel_rma_params_t *params,
                           keel_req_h *req_p)
{
    const uint64_t nothing = many_nothing(atomic, size);
    unsigned char *values = malloc(count * size);
    keel_status_t status;

    if (values == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(values + i * size, i == changed ? &operand : &nothing, size);
    }
    status = keel_accumulate_nbx(win, many_op(atomic), many_type(atomic, size), rank, offset, values, count, NULL,
                                 params, req_p);
    free(values); /* the caller may free the values when the call has returned */
    return status;
}
