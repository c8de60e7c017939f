/* Keel: what accumulates and reductions combine, and how. Part of <keel/keel.h>. */
#ifndef KEEL_OPS_H_
#define KEEL_OPS_H_

#include <keel/def.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    KEEL_TYPE_INT8,
    KEEL_TYPE_INT16,
    KEEL_TYPE_INT32,
    KEEL_TYPE_INT64,
    KEEL_TYPE_UINT8,
    KEEL_TYPE_UINT16,
    KEEL_TYPE_UINT32,
    KEEL_TYPE_UINT64,
    KEEL_TYPE_FLOAT,
    KEEL_TYPE_DOUBLE,
    KEEL_TYPE_FLOAT_COMPLEX,  /**< two of them, which are one element, aligned to 8 bytes; no MIN or MAX */
    KEEL_TYPE_LONG_DOUBLE,    /**< 16 bytes; this one and the next on x86-64 alone, elsewhere they are refused */
    KEEL_TYPE_DOUBLE_COMPLEX, /**< one element of 16 bytes, aligned to as many; no MIN or MAX */
    /** a value and an index, as C's struct of both: one element of 8 bytes, aligned to as many; MINLOC, MAXLOC, REPLACE and NO_OP
     *  alone. What lies between the two, or behind them, is nobody's: it stays as it is, and reductions leave 0 there. */
    KEEL_TYPE_INT16_INT32,
    KEEL_TYPE_INT32_INT32,
    KEEL_TYPE_FLOAT_INT32,
    KEEL_TYPE_FLOAT_FLOAT,
    KEEL_TYPE_INT64_INT32, /**< the same of 16 bytes, from here on; on x86-64 alone, elsewhere they are refused */
    KEEL_TYPE_DOUBLE_INT32,
    KEEL_TYPE_DOUBLE_DOUBLE,
    KEEL_TYPE_LAST
} keel_type_t;

typedef enum {
    KEEL_OP_SUM, /**< integers: modulo 2^bits, PROD too */
    KEEL_OP_PROD,
    KEEL_OP_MIN,
    KEEL_OP_MAX,
    KEEL_OP_BAND, /**< bit by bit; this one and those up to LXOR of integers only */
    KEEL_OP_BOR,
    KEEL_OP_BXOR,
    KEEL_OP_LAND, /**< not 0 is true; writes 1 or 0 */
    KEEL_OP_LOR,
    KEEL_OP_LXOR,
    KEEL_OP_REPLACE,
    KEEL_OP_NO_OP,  /**< leaves the element: with a result it is an atomic get */
    KEEL_OP_MINLOC, /**< the pair whose value is less, of equal ones that whose index is; of pairs only, as MAXLOC */
    KEEL_OP_MAXLOC, /**< the pair whose value is greater, of equal ones that whose index is less */
    KEEL_OP_LAST
} keel_op_t;

KEEL_API size_t keel_type_size(keel_type_t type); /**< bytes; 0: there is no such type */

#ifdef __cplusplus
}
#endif
#endif
