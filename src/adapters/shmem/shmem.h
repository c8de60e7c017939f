/*
 * OpenSHMEM on Keel: programs that survive the death of PEs. What of OpenSHMEM 1.5 is here has its names and meaning; what is not is
 * not declared: contexts, teams but the world's, deprecated names.
 *
 * A death is a rollback of all PEs to the newest shmemx_checkpoint(); without one, or in a program that has no
 * SHMEMX_RESTART_POINT(), the job ends with status 75, and oshrun starts it anew, once. With the promise of shmemx_init_attr() (shmemx.h) the
 * dead PE alone is run again, where that is possible. A call that cannot be carried out ends the job with a message. One thread at a time.
 */
#ifndef KEEL_SHMEM_H_
#define KEEL_SHMEM_H_

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 5
#define SHMEM_MAX_NAME_LEN  64
#define SHMEM_VENDOR_STRING "Keel"

#define SHMEM_API __attribute__((visibility("default")))

/* ---- set-up ---- */

enum { SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED, SHMEM_THREAD_SERIALIZED, SHMEM_THREAD_MULTIPLE };

SHMEM_API void shmem_init(void);
/** @a provided is SHMEM_THREAD_SERIALIZED at most. */
SHMEM_API int shmem_init_thread(int requested, int *provided);
SHMEM_API void shmem_query_thread(int *provided);
SHMEM_API void shmem_finalize(void);
SHMEM_API void shmem_global_exit(int status) __attribute__((noreturn));
SHMEM_API int shmem_my_pe(void);
SHMEM_API int shmem_n_pes(void);
SHMEM_API int shmem_pe_accessible(int pe);
SHMEM_API int shmem_addr_accessible(const void *addr, int pe);
/** Own memory; NULL for another PE's: what is stored there is not logged. */
SHMEM_API void *shmem_ptr(const void *dest, int pe);
SHMEM_API void shmem_info_get_version(int *major, int *minor);
SHMEM_API void shmem_info_get_name(char *name);

/* ---- memory: SHMEM_SYMMETRIC_SIZE bytes, 64 MiB; collective ---- */

#define SHMEM_MALLOC_ATOMICS_REMOTE 1l
#define SHMEM_MALLOC_SIGNAL_REMOTE  2l

SHMEM_API void *shmem_malloc(size_t size);
SHMEM_API void *shmem_calloc(size_t count, size_t size);
SHMEM_API void *shmem_align(size_t alignment, size_t size);
SHMEM_API void *shmem_realloc(void *ptr, size_t size);
SHMEM_API void *shmem_malloc_with_hints(size_t size, long hints);
SHMEM_API void shmem_free(void *ptr);

/* ---- types: name, type ---- */

#define SHMEM_ATOMIC_TYPES_BITWISE(_) \
    _(int32, int32_t)                 \
    _(int64, int64_t)                 \
    _(uint, unsigned)                 \
    _(ulong, unsigned long)           \
    _(ulonglong, unsigned long long)  \
    _(uint32, uint32_t)               \
    _(uint64, uint64_t)
#define SHMEM_ATOMIC_TYPES(_)     \
    SHMEM_ATOMIC_TYPES_BITWISE(_) \
    _(int, int)                   \
    _(long, long)                 \
    _(longlong, long long)        \
    _(ptrdiff, ptrdiff_t)         \
    _(size, size_t)
#define SHMEM_INTEGERS(_) \
    SHMEM_ATOMIC_TYPES(_) \
    _(short, short)       \
    _(ushort, unsigned short)
#define SHMEM_FLOATS(_) \
    _(float, float)     \
    _(double, double)   \
    _(longdouble, long double)
#define SHMEM_BYTES(_)      \
    _(char, char)           \
    _(schar, signed char)   \
    _(uchar, unsigned char) \
    _(int8, int8_t)         \
    _(uint8, uint8_t)       \
    _(int16, int16_t)       \
    _(uint16, uint16_t)
#define SHMEM_TYPES(_) SHMEM_INTEGERS(_) SHMEM_FLOATS(_) SHMEM_BYTES(_)

/* ---- remote memory access ---- */

#define SHMEM_DECLARE_RMA(_name, _type)                                                                                \
    SHMEM_API void shmem_##_name##_put(_type *dest, const _type *source, size_t nelems, int pe);                       \
    SHMEM_API void shmem_##_name##_get(_type *dest, const _type *source, size_t nelems, int pe);                       \
    SHMEM_API void shmem_##_name##_put_nbi(_type *dest, const _type *source, size_t nelems, int pe);                   \
    SHMEM_API void shmem_##_name##_get_nbi(_type *dest, const _type *source, size_t nelems, int pe);                   \
    SHMEM_API void shmem_##_name##_p(_type *dest, _type value, int pe);                                                \
    SHMEM_API _type shmem_##_name##_g(const _type *source, int pe);                                                    \
    SHMEM_API void shmem_##_name##_iput(_type *dest, const _type *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                                        int pe);                                                                       \
    SHMEM_API void shmem_##_name##_iget(_type *dest, const _type *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                                        int pe);                                                                       \
    SHMEM_API void shmem_##_name##_put_signal(_type *dest, const _type *source, size_t nelems, uint64_t *sig_addr,     \
                                              uint64_t signal, int sig_op, int pe);
SHMEM_TYPES(SHMEM_DECLARE_RMA)
#undef SHMEM_DECLARE_RMA

SHMEM_API void shmem_putmem(void *dest, const void *source, size_t nelems, int pe);
SHMEM_API void shmem_getmem(void *dest, const void *source, size_t nelems, int pe);
SHMEM_API void shmem_putmem_nbi(void *dest, const void *source, size_t nelems, int pe);
SHMEM_API void shmem_getmem_nbi(void *dest, const void *source, size_t nelems, int pe);
SHMEM_API void shmem_fence(void);
SHMEM_API void shmem_quiet(void);

/* ---- signals ---- */

enum { SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD };

SHMEM_API void shmem_putmem_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,
                                   int sig_op, int pe);
SHMEM_API uint64_t shmem_signal_fetch(const uint64_t *sig_addr);
SHMEM_API uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value);

/* ---- atomics: words of 4 and 8 bytes ---- */

#define SHMEM_ATOMIC_TYPES_EXTENDED(_) SHMEM_ATOMIC_TYPES(_) _(float, float) _(double, double)

#define SHMEM_DECLARE_WORD(_name, _type)                                         \
    SHMEM_API _type shmem_##_name##_atomic_fetch(const _type *source, int pe);   \
    SHMEM_API void shmem_##_name##_atomic_set(_type *dest, _type value, int pe); \
    SHMEM_API _type shmem_##_name##_atomic_swap(_type *dest, _type value, int pe);
SHMEM_ATOMIC_TYPES_EXTENDED(SHMEM_DECLARE_WORD)
#undef SHMEM_DECLARE_WORD

#define SHMEM_DECLARE_ATOMIC(_name, _type)                                              \
    SHMEM_API void shmem_##_name##_atomic_add(_type *dest, _type value, int pe);        \
    SHMEM_API _type shmem_##_name##_atomic_fetch_add(_type *dest, _type value, int pe); \
    SHMEM_API void shmem_##_name##_atomic_inc(_type *dest, int pe);                     \
    SHMEM_API _type shmem_##_name##_atomic_fetch_inc(_type *dest, int pe);              \
    SHMEM_API _type shmem_##_name##_atomic_compare_swap(_type *dest, _type cond, _type value, int pe);
SHMEM_ATOMIC_TYPES(SHMEM_DECLARE_ATOMIC)
#undef SHMEM_DECLARE_ATOMIC

#define SHMEM_DECLARE_BITWISE(_name, _type)                                             \
    SHMEM_API void shmem_##_name##_atomic_and(_type *dest, _type value, int pe);        \
    SHMEM_API void shmem_##_name##_atomic_or(_type *dest, _type value, int pe);         \
    SHMEM_API void shmem_##_name##_atomic_xor(_type *dest, _type value, int pe);        \
    SHMEM_API _type shmem_##_name##_atomic_fetch_and(_type *dest, _type value, int pe); \
    SHMEM_API _type shmem_##_name##_atomic_fetch_or(_type *dest, _type value, int pe);  \
    SHMEM_API _type shmem_##_name##_atomic_fetch_xor(_type *dest, _type value, int pe);
SHMEM_ATOMIC_TYPES_BITWISE(SHMEM_DECLARE_BITWISE)
#undef SHMEM_DECLARE_BITWISE

/* ---- waiting: a status that is not 0 leaves its word out; NULL: none is ---- */

enum { SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE };

#define SHMEM_DECLARE_WAIT(_name, _type)                                                                              \
    SHMEM_API void shmem_##_name##_wait_until(_type *ivar, int cmp, _type cmp_value);                                 \
    SHMEM_API void shmem_##_name##_wait_until_all(_type *ivars, size_t nelems, const int *status, int cmp,            \
                                                  _type cmp_value);                                                   \
    SHMEM_API size_t shmem_##_name##_wait_until_any(_type *ivars, size_t nelems, const int *status, int cmp,          \
                                                    _type cmp_value);                                                 \
    SHMEM_API size_t shmem_##_name##_wait_until_some(_type *ivars, size_t nelems, size_t *indices, const int *status, \
                                                     int cmp, _type cmp_value);                                       \
    SHMEM_API int shmem_##_name##_test(_type *ivar, int cmp, _type cmp_value);                                        \
    SHMEM_API int shmem_##_name##_test_all(_type *ivars, size_t nelems, const int *status, int cmp, _type cmp_value); \
    SHMEM_API size_t shmem_##_name##_test_any(_type *ivars, size_t nelems, const int *status, int cmp,                \
                                              _type cmp_value);                                                       \
    SHMEM_API size_t shmem_##_name##_test_some(_type *ivars, size_t nelems, size_t *indices, const int *status,       \
                                               int cmp, _type cmp_value);
SHMEM_INTEGERS(SHMEM_DECLARE_WAIT)
#undef SHMEM_DECLARE_WAIT

/* ---- collectives, of all PEs ---- */

typedef struct shmem_team *shmem_team_t;
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD   shmem_team_world()

SHMEM_API shmem_team_t shmem_team_world(void);
SHMEM_API int shmem_team_my_pe(shmem_team_t team);
SHMEM_API int shmem_team_n_pes(shmem_team_t team);
SHMEM_API void shmem_barrier_all(void);
SHMEM_API void shmem_sync_all(void);
SHMEM_API int shmem_team_sync(shmem_team_t team);

#define SHMEM_DECLARE_COLLECT(_name, _type)                                                                     \
    SHMEM_API int shmem_##_name##_broadcast(shmem_team_t team, _type *dest, const _type *source, size_t nelems, \
                                            int PE_root);                                                       \
    SHMEM_API int shmem_##_name##_fcollect(shmem_team_t team, _type *dest, const _type *source, size_t nelems); \
    SHMEM_API int shmem_##_name##_alltoall(shmem_team_t team, _type *dest, const _type *source, size_t nelems);
SHMEM_TYPES(SHMEM_DECLARE_COLLECT)
#undef SHMEM_DECLARE_COLLECT
SHMEM_API int shmem_broadcastmem(shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root);
SHMEM_API int shmem_fcollectmem(shmem_team_t team, void *dest, const void *source, size_t nelems);
SHMEM_API int shmem_alltoallmem(shmem_team_t team, void *dest, const void *source, size_t nelems);

#define SHMEM_DECLARE_REDUCE(_name, _type, _op) \
    SHMEM_API int shmem_##_name##_##_op##_reduce(shmem_team_t team, _type *dest, const _type *source, size_t nreduce);
#define SHMEM_DECLARE_NUMBERS(_name, _type)  \
    SHMEM_DECLARE_REDUCE(_name, _type, sum)  \
    SHMEM_DECLARE_REDUCE(_name, _type, prod) \
    SHMEM_DECLARE_REDUCE(_name, _type, min)  \
    SHMEM_DECLARE_REDUCE(_name, _type, max)
#define SHMEM_DECLARE_BITS(_name, _type)    \
    SHMEM_DECLARE_REDUCE(_name, _type, and) \
    SHMEM_DECLARE_REDUCE(_name, _type, or)  \
    SHMEM_DECLARE_REDUCE(_name, _type, xor)
SHMEM_INTEGERS(SHMEM_DECLARE_NUMBERS)
SHMEM_FLOATS(SHMEM_DECLARE_NUMBERS)
SHMEM_INTEGERS(SHMEM_DECLARE_BITS)
#undef SHMEM_DECLARE_BITS
#undef SHMEM_DECLARE_NUMBERS
#undef SHMEM_DECLARE_REDUCE

/* ---- locks: 0 at first ---- */

SHMEM_API void shmem_set_lock(long *lock);
SHMEM_API void shmem_clear_lock(long *lock);
SHMEM_API int shmem_test_lock(long *lock);

/* ---- generic names, where the compiler has _Generic ---- */

#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
/* each of C's types once */
#define SHMEM_GENERIC_WORDS(_what)                                           \
    int : shmem_int_##_what,                                                 \
          long : shmem_long_##_what,                                         \
                 long long : shmem_longlong_##_what,                         \
                             unsigned : shmem_uint_##_what,                  \
                                        unsigned long : shmem_ulong_##_what, \
                                                        unsigned long long : shmem_ulonglong_##_what
#define SHMEM_GENERIC_INTEGERS(_what) \
    short : shmem_short_##_what, unsigned short : shmem_ushort_##_what, SHMEM_GENERIC_WORDS(_what)
#define SHMEM_GENERIC_FLOATS(_what) float : shmem_float_##_what, double : shmem_double_##_what
#define SHMEM_GENERIC_NUMBERS(_what) \
    SHMEM_GENERIC_INTEGERS(_what), SHMEM_GENERIC_FLOATS(_what), long double : shmem_longdouble_##_what
#define SHMEM_GENERIC_TYPES(_what) \
    SHMEM_GENERIC_NUMBERS(_what),  \
        char : shmem_char_##_what, signed char : shmem_schar_##_what, unsigned char : shmem_uchar_##_what
#define SHMEM_GENERIC_BITS(_what)                                \
    int : shmem_int32_##_what,                                   \
          long : shmem_int64_##_what,                            \
                 unsigned : shmem_uint_##_what,                  \
                            unsigned long : shmem_ulong_##_what, \
                                            unsigned long long : shmem_ulonglong_##_what
#define shmem_put(dest, source, nelems, pe) _Generic(*(dest), SHMEM_GENERIC_TYPES(put))(dest, source, nelems, pe)
#define shmem_get(dest, source, nelems, pe) _Generic(*(dest), SHMEM_GENERIC_TYPES(get))(dest, source, nelems, pe)
#define shmem_put_nbi(dest, source, nelems, pe) \
    _Generic(*(dest), SHMEM_GENERIC_TYPES(put_nbi))(dest, source, nelems, pe)
#define shmem_get_nbi(dest, source, nelems, pe) \
    _Generic(*(dest), SHMEM_GENERIC_TYPES(get_nbi))(dest, source, nelems, pe)
#define shmem_p(dest, value, pe) _Generic(*(dest), SHMEM_GENERIC_TYPES(p))(dest, value, pe)
#define shmem_g(source, pe)      _Generic(*(source), SHMEM_GENERIC_TYPES(g))(source, pe)
#define shmem_iput(dest, source, dst, sst, nelems, pe) \
    _Generic(*(dest), SHMEM_GENERIC_TYPES(iput))(dest, source, dst, sst, nelems, pe)
#define shmem_iget(dest, source, dst, sst, nelems, pe) \
    _Generic(*(dest), SHMEM_GENERIC_TYPES(iget))(dest, source, dst, sst, nelems, pe)
#define shmem_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe) \
    _Generic(*(dest), SHMEM_GENERIC_TYPES(put_signal))(dest, source, nelems, sig_addr, signal, sig_op, pe)
#define shmem_atomic_fetch(source, pe) \
    _Generic(*(source), SHMEM_GENERIC_WORDS(atomic_fetch), SHMEM_GENERIC_FLOATS(atomic_fetch))(source, pe)
#define shmem_atomic_set(dest, value, pe) \
    _Generic(*(dest), SHMEM_GENERIC_WORDS(atomic_set), SHMEM_GENERIC_FLOATS(atomic_set))(dest, value, pe)
#define shmem_atomic_swap(dest, value, pe) \
    _Generic(*(dest), SHMEM_GENERIC_WORDS(atomic_swap), SHMEM_GENERIC_FLOATS(atomic_swap))(dest, value, pe)
#define shmem_atomic_add(dest, value, pe) _Generic(*(dest), SHMEM_GENERIC_WORDS(atomic_add))(dest, value, pe)
#define shmem_atomic_fetch_add(dest, value, pe) \
    _Generic(*(dest), SHMEM_GENERIC_WORDS(atomic_fetch_add))(dest, value, pe)
#define shmem_atomic_inc(dest, pe)       _Generic(*(dest), SHMEM_GENERIC_WORDS(atomic_inc))(dest, pe)
#define shmem_atomic_fetch_inc(dest, pe) _Generic(*(dest), SHMEM_GENERIC_WORDS(atomic_fetch_inc))(dest, pe)
#define shmem_atomic_compare_swap(dest, cond, value, pe) \
    _Generic(*(dest), SHMEM_GENERIC_WORDS(atomic_compare_swap))(dest, cond, value, pe)
#define shmem_atomic_and(dest, value, pe)       _Generic(*(dest), SHMEM_GENERIC_BITS(atomic_and))(dest, value, pe)
#define shmem_atomic_fetch_and(dest, value, pe) _Generic(*(dest), SHMEM_GENERIC_BITS(atomic_fetch_and))(dest, value, pe)
#define shmem_atomic_or(dest, value, pe)        _Generic(*(dest), SHMEM_GENERIC_BITS(atomic_or))(dest, value, pe)
#define shmem_atomic_fetch_or(dest, value, pe)  _Generic(*(dest), SHMEM_GENERIC_BITS(atomic_fetch_or))(dest, value, pe)
#define shmem_atomic_xor(dest, value, pe)       _Generic(*(dest), SHMEM_GENERIC_BITS(atomic_xor))(dest, value, pe)
#define shmem_atomic_fetch_xor(dest, value, pe) _Generic(*(dest), SHMEM_GENERIC_BITS(atomic_fetch_xor))(dest, value, pe)
#define shmem_wait_until(ivar, cmp, cmp_value) \
    _Generic(*(ivar), SHMEM_GENERIC_INTEGERS(wait_until))(ivar, cmp, cmp_value)
#define shmem_test(ivar, cmp, cmp_value) _Generic(*(ivar), SHMEM_GENERIC_INTEGERS(test))(ivar, cmp, cmp_value)
#define shmem_wait_until_all(ivars, nelems, status, cmp, cmp_value) \
    _Generic(*(ivars), SHMEM_GENERIC_INTEGERS(wait_until_all))(ivars, nelems, status, cmp, cmp_value)
#define shmem_wait_until_any(ivars, nelems, status, cmp, cmp_value) \
    _Generic(*(ivars), SHMEM_GENERIC_INTEGERS(wait_until_any))(ivars, nelems, status, cmp, cmp_value)
#define shmem_test_all(ivars, nelems, status, cmp, cmp_value) \
    _Generic(*(ivars), SHMEM_GENERIC_INTEGERS(test_all))(ivars, nelems, status, cmp, cmp_value)
#define shmem_test_any(ivars, nelems, status, cmp, cmp_value) \
    _Generic(*(ivars), SHMEM_GENERIC_INTEGERS(test_any))(ivars, nelems, status, cmp, cmp_value)
#define shmem_wait_until_some(ivars, nelems, indices, status, cmp, cmp_value) \
    _Generic(*(ivars), SHMEM_GENERIC_INTEGERS(wait_until_some))(ivars, nelems, indices, status, cmp, cmp_value)
#define shmem_test_some(ivars, nelems, indices, status, cmp, cmp_value) \
    _Generic(*(ivars), SHMEM_GENERIC_INTEGERS(test_some))(ivars, nelems, indices, status, cmp, cmp_value)
#define shmem_broadcast(team, dest, source, nelems, PE_root) \
    _Generic(*(dest), SHMEM_GENERIC_TYPES(broadcast))(team, dest, source, nelems, PE_root)
#define shmem_fcollect(team, dest, source, nelems) \
    _Generic(*(dest), SHMEM_GENERIC_TYPES(fcollect))(team, dest, source, nelems)
#define shmem_alltoall(team, dest, source, nelems) \
    _Generic(*(dest), SHMEM_GENERIC_TYPES(alltoall))(team, dest, source, nelems)
#define shmem_sum_reduce(team, dest, source, nreduce) \
    _Generic(*(dest), SHMEM_GENERIC_NUMBERS(sum_reduce))(team, dest, source, nreduce)
#define shmem_prod_reduce(team, dest, source, nreduce) \
    _Generic(*(dest), SHMEM_GENERIC_NUMBERS(prod_reduce))(team, dest, source, nreduce)
#define shmem_min_reduce(team, dest, source, nreduce) \
    _Generic(*(dest), SHMEM_GENERIC_NUMBERS(min_reduce))(team, dest, source, nreduce)
#define shmem_max_reduce(team, dest, source, nreduce) \
    _Generic(*(dest), SHMEM_GENERIC_NUMBERS(max_reduce))(team, dest, source, nreduce)
#define shmem_and_reduce(team, dest, source, nreduce) \
    _Generic(*(dest), SHMEM_GENERIC_INTEGERS(and_reduce))(team, dest, source, nreduce)
#define shmem_or_reduce(team, dest, source, nreduce) \
    _Generic(*(dest), SHMEM_GENERIC_INTEGERS(or_reduce))(team, dest, source, nreduce)
#define shmem_xor_reduce(team, dest, source, nreduce) \
    _Generic(*(dest), SHMEM_GENERIC_INTEGERS(xor_reduce))(team, dest, source, nreduce)
#endif

/* ---- surviving ---- */

/** Adds private memory to what a checkpoint has; each @a id once, at the same place in all PEs, ahead of the first checkpoint. */
SHMEM_API void shmemx_protect(unsigned id, void *address, size_t bytes);
/** Collective, a barrier: memory in use of the symmetric heap, and what is protected, are kept in other PEs' memory. */
SHMEM_API void shmemx_checkpoint(void);
/**
 * Where the program goes on after a death, in all PEs; a replacement comes here from main(). The rules of setjmp() hold. What a
 * replacement puts ahead of this, and its barriers there, are left out, for they have been done: ahead of this a program must neither
 * read what others have nor depend on what they put.
 *
 *     SHMEMX_RESTART_POINT();
 *     if (shmemx_restarted()) {
 *         shmemx_restore();
 *     }
 */
#define SHMEMX_RESTART_POINT() (void)setjmp(*shmemx_restart_buffer())
SHMEM_API jmp_buf *shmemx_restart_buffer(void);
SHMEM_API int shmemx_restarted(void);
/** How many processes this PE had before. */
SHMEM_API unsigned shmemx_incarnation(void);
/** Puts the newest checkpoint back. Where there is none yet the job ends with status 75. */
SHMEM_API void shmemx_restore(void);

#ifdef __cplusplus
}
#endif

#include "shmemx.h"

#endif
