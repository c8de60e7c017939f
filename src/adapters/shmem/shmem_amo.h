/* OpenSHMEM on Keel: atomics on words of 4 and 8 bytes. Part of shmem.h. */
#ifndef KEEL_SHMEM_AMO_H_
#define KEEL_SHMEM_AMO_H_

#include "shmem_def.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SHMEM_DECLARE_WORD(_name, _type)                                                          \
    SHMEM_FUNCTION_CTX(_type, _name##_atomic_fetch, const _type *source, int pe)                  \
    SHMEM_FUNCTION_CTX(void, _name##_atomic_set, _type *dest, _type value, int pe)                \
    SHMEM_FUNCTION_CTX(_type, _name##_atomic_swap, _type *dest, _type value, int pe)              \
    SHMEM_FUNCTION_CTX(void, _name##_atomic_fetch_nbi, _type *fetch, const _type *source, int pe) \
    SHMEM_FUNCTION_CTX(void, _name##_atomic_swap_nbi, _type *fetch, _type *dest, _type value, int pe)
/* operations with an operand */
#define SHMEM_DECLARE_OPERATION(_name, _type, _what)                                          \
    SHMEM_FUNCTION_CTX(void, _name##_atomic_##_what, _type *dest, _type value, int pe)        \
    SHMEM_FUNCTION_CTX(_type, _name##_atomic_fetch_##_what, _type *dest, _type value, int pe) \
    SHMEM_FUNCTION_CTX(void, _name##_atomic_fetch_##_what##_nbi, _type *fetch, _type *dest, _type value, int pe)
#define SHMEM_DECLARE_ATOMIC(_name, _type)                                                                        \
    SHMEM_DECLARE_OPERATION(_name, _type, add)                                                                    \
    SHMEM_FUNCTION_CTX(void, _name##_atomic_inc, _type *dest, int pe)                                             \
    SHMEM_FUNCTION_CTX(_type, _name##_atomic_fetch_inc, _type *dest, int pe)                                      \
    SHMEM_FUNCTION_CTX(void, _name##_atomic_fetch_inc_nbi, _type *fetch, _type *dest, int pe)                     \
    SHMEM_FUNCTION_CTX(_type, _name##_atomic_compare_swap, _type *dest, _type cond, _type value, int pe)          \
    SHMEM_FUNCTION_CTX(void, _name##_atomic_compare_swap_nbi, _type *fetch, _type *dest, _type cond, _type value, \
                       int pe)
#define SHMEM_DECLARE_BITWISE(_name, _type)    \
    SHMEM_DECLARE_OPERATION(_name, _type, and) \
    SHMEM_DECLARE_OPERATION(_name, _type, or)  \
    SHMEM_DECLARE_OPERATION(_name, _type, xor)

SHMEM_ATOMIC_TYPES_EXTENDED(SHMEM_DECLARE_WORD)
SHMEM_ATOMIC_TYPES(SHMEM_DECLARE_ATOMIC)
SHMEM_ATOMIC_TYPES_BITWISE(SHMEM_DECLARE_BITWISE)

#undef SHMEM_DECLARE_BITWISE
#undef SHMEM_DECLARE_ATOMIC
#undef SHMEM_DECLARE_OPERATION
#undef SHMEM_DECLARE_WORD

#ifdef __cplusplus
}
#endif
#endif
