/* OpenSHMEM on Keel: constants, handles and lists of types. Part of shmem.h. */
#ifndef KEEL_SHMEM_DEF_H_
#define KEEL_SHMEM_DEF_H_

#include <stddef.h>
#include <stdint.h>

#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 5
#define SHMEM_MAX_NAME_LEN  64
#define SHMEM_VENDOR_STRING "Keel"

#define SHMEM_API __attribute__((visibility("default")))
/*
 * Declares a function and its profiling name. shmem_ is weak: a tool may define it and call
 * pshmem_.
 */
#define SHMEM_FUNCTION(_result, _name, _arguments) \
    SHMEM_API _result shmem_##_name _arguments;    \
    SHMEM_API _result pshmem_##_name _arguments;
/*
 * Declares a function on the default context and its form with a context. The arguments have no
 * parentheses.
 */
#define SHMEM_FUNCTION_CTX(_result, _name, ...)   \
    SHMEM_FUNCTION(_result, _name, (__VA_ARGS__)) \
    SHMEM_FUNCTION(_result, ctx_##_name, (shmem_ctx_t ctx, __VA_ARGS__))

/* ---- handles: numbers, valid in every process of a PE ---- */

typedef struct shmem_team *shmem_team_t;
typedef struct shmem_ctx *shmem_ctx_t;

#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD   ((shmem_team_t)1)
#define SHMEM_TEAM_SHARED  ((shmem_team_t)2)
#define SHMEM_CTX_INVALID  ((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT  ((shmem_ctx_t)1)

/* ---- options ---- */

enum { SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED, SHMEM_THREAD_SERIALIZED, SHMEM_THREAD_MULTIPLE };

#define SHMEM_CTX_SERIALIZED        1l
#define SHMEM_CTX_PRIVATE           2l
#define SHMEM_CTX_NOSTORE           4l
#define SHMEM_TEAM_NUM_CONTEXTS     1l
#define SHMEM_MALLOC_ATOMICS_REMOTE 1l
#define SHMEM_MALLOC_SIGNAL_REMOTE  2l

enum { SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD };
enum { SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE };

/* ---- work arrays of collectives over active sets ---- */

#define SHMEM_SYNC_VALUE              0l
#define SHMEM_SYNC_SIZE               208
#define SHMEM_BARRIER_SYNC_SIZE       SHMEM_SYNC_SIZE
#define SHMEM_BCAST_SYNC_SIZE         SHMEM_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE       SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE        SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE      SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALLS_SYNC_SIZE     SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 128

/* ---- deprecated names of constants ---- */

#define _SHMEM_SYNC_VALUE              SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE       SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE         SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE       SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE        SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE
#define _SHMEM_MAJOR_VERSION           SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION           SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN            SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING           SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ                  SHMEM_CMP_EQ
#define _SHMEM_CMP_NE                  SHMEM_CMP_NE
#define _SHMEM_CMP_GT                  SHMEM_CMP_GT
#define _SHMEM_CMP_GE                  SHMEM_CMP_GE
#define _SHMEM_CMP_LT                  SHMEM_CMP_LT
#define _SHMEM_CMP_LE                  SHMEM_CMP_LE

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
#define SHMEM_ATOMIC_TYPES_EXTENDED(_) SHMEM_ATOMIC_TYPES(_) _(float, float) _(double, double)
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
/* types with and, or, xor in team reductions */
#define SHMEM_BIT_TYPES(_)        \
    SHMEM_ATOMIC_TYPES_BITWISE(_) \
    _(uchar, unsigned char)       \
    _(ushort, unsigned short)     \
    _(int8, int8_t)               \
    _(int16, int16_t)             \
    _(uint8, uint8_t)             \
    _(uint16, uint16_t)           \
    _(size, size_t)
/* types of reductions over active sets and of old waits; sizes in bits of sized forms */
#define SHMEM_ACTIVE_INTEGERS(_) _(short, short) _(int, int) _(long, long) _(longlong, long long)
#define SHMEM_SIZES(_)           _(8) _(16) _(32) _(64) _(128)
/* C's complex numbers, an extension in C++; std::complex<> has the same representation */
__extension__ typedef double _Complex shmemx_complexd_t;
__extension__ typedef float _Complex shmemx_complexf_t;
#define SHMEM_COMPLEX(_)           \
    _(complexd, shmemx_complexd_t) \
    _(complexf, shmemx_complexf_t)

#endif
