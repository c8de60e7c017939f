/* Keel: element types and operations of accumulates and reductions. Part of <keel/keel.h>. */
#ifndef KEEL_OPS_H_
#define KEEL_OPS_H_

#include <keel/def.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Element types. LONG_DOUBLE, DOUBLE_COMPLEX and the pairs of 16 bytes exist on x86-64 alone;
 * calls elsewhere refuse them.
 *
 * Complex numbers are single elements, aligned to their size, without MIN and MAX. Pairs
 * (KEEL_TYPE_INT16_INT32 to KEEL_TYPE_DOUBLE_DOUBLE) are a value and an index, laid out as a C
 * struct of both and aligned to their size, with MINLOC, MAXLOC, REPLACE and NO_OP alone. Padding
 * in a pair is left alone; reductions leave 0 there.
 */
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
    KEEL_TYPE_FLOAT_COMPLEX,  /**< 8 bytes */
    KEEL_TYPE_LONG_DOUBLE,    /**< 16 bytes */
    KEEL_TYPE_DOUBLE_COMPLEX, /**< 16 bytes */
    KEEL_TYPE_INT16_INT32,    /**< pair of 8 bytes */
    KEEL_TYPE_INT32_INT32,    /**< pair of 8 bytes */
    KEEL_TYPE_FLOAT_INT32,    /**< pair of 8 bytes */
    KEEL_TYPE_FLOAT_FLOAT,    /**< pair of 8 bytes */
    KEEL_TYPE_INT64_INT32,    /**< pair of 16 bytes */
    KEEL_TYPE_DOUBLE_INT32,   /**< pair of 16 bytes */
    KEEL_TYPE_DOUBLE_DOUBLE,  /**< pair of 16 bytes */
    KEEL_TYPE_LAST
} keel_type_t;

/** Operations. BAND to LXOR are for integers alone, MINLOC and MAXLOC for pairs alone. */
typedef enum {
    KEEL_OP_SUM,  /**< integers: modulo 2^bits */
    KEEL_OP_PROD, /**< integers: modulo 2^bits */
    KEEL_OP_MIN,
    KEEL_OP_MAX,
    KEEL_OP_BAND, /**< bit by bit */
    KEEL_OP_BOR,  /**< bit by bit */
    KEEL_OP_BXOR, /**< bit by bit */
    KEEL_OP_LAND, /**< nonzero is true; the result is 1 or 0 */
    KEEL_OP_LOR,
    KEEL_OP_LXOR,
    KEEL_OP_REPLACE,
    KEEL_OP_NO_OP,  /**< leaves the element: with a result, an atomic get */
    KEEL_OP_MINLOC, /**< the pair of the smaller value, of equal values the smaller index */
    KEEL_OP_MAXLOC, /**< the pair of the larger value, of equal values the smaller index */
    KEEL_OP_LAST
} keel_op_t;

/** Size of an element in bytes. 0: no such type. */
KEEL_API size_t keel_type_size(keel_type_t type);

#ifdef __cplusplus
}
#endif
#endif
