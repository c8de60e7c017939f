/* OpenSHMEM on Keel: deprecated functions of the specification. Part of shmem.h. */
#ifndef KEEL_SHMEM_OLD_H_
#define KEEL_SHMEM_OLD_H_

#include "shmem_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- set-up and memory ---- */

SHMEM_API void start_pes(int npes);
SHMEM_API int _my_pe(void);
SHMEM_API int _num_pes(void);
SHMEM_API void *shmalloc(size_t size);
SHMEM_API void shfree(void *ptr);
SHMEM_API void *shrealloc(void *ptr, size_t size);
SHMEM_API void *shmemalign(size_t alignment, size_t size);

/* ---- caches: no-ops, since caches are coherent ---- */

SHMEM_FUNCTION(void, clear_cache_inv, (void))
SHMEM_FUNCTION(void, set_cache_inv, (void))
SHMEM_FUNCTION(void, clear_cache_line_inv, (void *dest))
SHMEM_FUNCTION(void, set_cache_line_inv, (void *dest))
SHMEM_FUNCTION(void, udcflush, (void))
SHMEM_FUNCTION(void, udcflush_line, (void *dest))

/* ---- atomics with old names, for all present types since programs expect them; waits ---- */

#define SHMEM_DECLARE_OLD_WORD(_name, _type)                               \
    SHMEM_FUNCTION(_type, _name##_fetch, (const _type *source, int pe))    \
    SHMEM_FUNCTION(void, _name##_set, (_type * dest, _type value, int pe)) \
    SHMEM_FUNCTION(_type, _name##_swap, (_type * dest, _type value, int pe))
#define SHMEM_DECLARE_OLD_ATOMIC(_name, _type)                               \
    SHMEM_FUNCTION(void, _name##_add, (_type * dest, _type value, int pe))   \
    SHMEM_FUNCTION(_type, _name##_fadd, (_type * dest, _type value, int pe)) \
    SHMEM_FUNCTION(void, _name##_inc, (_type * dest, int pe))                \
    SHMEM_FUNCTION(_type, _name##_finc, (_type * dest, int pe))              \
    SHMEM_FUNCTION(_type, _name##_cswap, (_type * dest, _type cond, _type value, int pe))
/* Waits until the value differs. */
#define SHMEM_DECLARE_OLD_WAIT(_name, _type) SHMEM_FUNCTION(void, _name##_wait, (_type * ivar, _type cmp_value))

SHMEM_ATOMIC_TYPES_EXTENDED(SHMEM_DECLARE_OLD_WORD)
SHMEM_ATOMIC_TYPES(SHMEM_DECLARE_OLD_ATOMIC)
SHMEM_ACTIVE_INTEGERS(SHMEM_DECLARE_OLD_WAIT)
SHMEM_FUNCTION(void, wait, (long *ivar, long cmp_value))
SHMEM_FUNCTION(void, wait_until, (long *ivar, int cmp, long cmp_value))

/*
 * ---- collectives of active sets: pSync has SHMEM_SYNC_SIZE words of SHMEM_SYNC_VALUE, before and
 * after ----
 */

SHMEM_FUNCTION(void, barrier, (int PE_start, int logPE_stride, int PE_size, long *pSync))
SHMEM_FUNCTION(void, sync, (int PE_start, int logPE_stride, int PE_size, long *pSync))

#define SHMEM_DECLARE_ACTIVE(_bits)                                                                                \
    SHMEM_FUNCTION(void, broadcast##_bits,                                                                         \
                   (void *dest, const void *source, size_t nelems, int PE_root, int PE_start, int logPE_stride,    \
                    int PE_size, long *pSync))                                                                     \
    SHMEM_FUNCTION(                                                                                                \
        void, collect##_bits,                                                                                      \
        (void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync)) \
    SHMEM_FUNCTION(                                                                                                \
        void, fcollect##_bits,                                                                                     \
        (void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync)) \
    SHMEM_FUNCTION(                                                                                                \
        void, alltoall##_bits,                                                                                     \
        (void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync)) \
    SHMEM_FUNCTION(void, alltoalls##_bits,                                                                         \
                   (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int PE_start,     \
                    int logPE_stride, int PE_size, long *pSync))
SHMEM_DECLARE_ACTIVE(32)
SHMEM_DECLARE_ACTIVE(64)

#define SHMEM_DECLARE_TO_ALL(_name, _type, _op)                                                                  \
    SHMEM_FUNCTION(void, _name##_##_op##_to_all,                                                                 \
                   (_type * dest, const _type *source, int nreduce, int PE_start, int logPE_stride, int PE_size, \
                    _type *pWrk, long *pSync))
#define SHMEM_DECLARE_SUMS_TO_ALL(_name, _type) \
    SHMEM_DECLARE_TO_ALL(_name, _type, sum)     \
    SHMEM_DECLARE_TO_ALL(_name, _type, prod)
#define SHMEM_DECLARE_EXTREMES_TO_ALL(_name, _type) \
    SHMEM_DECLARE_TO_ALL(_name, _type, min)         \
    SHMEM_DECLARE_TO_ALL(_name, _type, max)
#define SHMEM_DECLARE_BITS_TO_ALL(_name, _type) \
    SHMEM_DECLARE_TO_ALL(_name, _type, and)     \
    SHMEM_DECLARE_TO_ALL(_name, _type, or)      \
    SHMEM_DECLARE_TO_ALL(_name, _type, xor)
SHMEM_ACTIVE_INTEGERS(SHMEM_DECLARE_SUMS_TO_ALL)
SHMEM_FLOATS(SHMEM_DECLARE_SUMS_TO_ALL)
SHMEM_COMPLEX(SHMEM_DECLARE_SUMS_TO_ALL)
SHMEM_ACTIVE_INTEGERS(SHMEM_DECLARE_EXTREMES_TO_ALL)
SHMEM_FLOATS(SHMEM_DECLARE_EXTREMES_TO_ALL)
SHMEM_ACTIVE_INTEGERS(SHMEM_DECLARE_BITS_TO_ALL)

#undef SHMEM_DECLARE_BITS_TO_ALL
#undef SHMEM_DECLARE_EXTREMES_TO_ALL
#undef SHMEM_DECLARE_SUMS_TO_ALL
#undef SHMEM_DECLARE_TO_ALL
#undef SHMEM_DECLARE_ACTIVE
#undef SHMEM_DECLARE_OLD_WAIT
#undef SHMEM_DECLARE_OLD_ATOMIC
#undef SHMEM_DECLARE_OLD_WORD

#ifdef __cplusplus
}
#endif
#endif
