/*
 * OpenSHMEM on Keel: generic names for compilers with _Generic. Part of shmem.h. Each C type
 * appears once in a list. The number of arguments tells whether a context comes first, so that
 * _Generic can select by the pointer's type.
 */
#ifndef KEEL_SHMEM_GENERIC_H_
#define KEEL_SHMEM_GENERIC_H_

#include "shmem_amo.h"
#include "shmem_old.h"
#include "shmem_rma.h"
#include "shmem_sync.h"
#include "shmem_teams.h"

#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L

/* ---- lists: the text before a type's name, and the text after ---- */

/* the formatter takes associations for labels */
/* clang-format off */
#define SHMEM_GENERIC_SIGNED(_ctx, _what) \
    int: shmem_##_ctx##int##_what, \
    long: shmem_##_ctx##long##_what, \
    long long: shmem_##_ctx##longlong##_what
#define SHMEM_GENERIC_WORDS(_ctx, _what) \
    SHMEM_GENERIC_SIGNED(_ctx, _what), \
    unsigned: shmem_##_ctx##uint##_what, \
    unsigned long: shmem_##_ctx##ulong##_what, \
    unsigned long long: shmem_##_ctx##ulonglong##_what
#define SHMEM_GENERIC_WORDS_FLOATS(_ctx, _what) \
    SHMEM_GENERIC_WORDS(_ctx, _what), \
    float: shmem_##_ctx##float##_what, \
    double: shmem_##_ctx##double##_what
#define SHMEM_GENERIC_BITS(_ctx, _what) \
    int: shmem_##_ctx##int32##_what, \
    long: shmem_##_ctx##int64##_what, \
    unsigned: shmem_##_ctx##uint##_what, \
    unsigned long: shmem_##_ctx##ulong##_what, \
    unsigned long long: shmem_##_ctx##ulonglong##_what
#define SHMEM_GENERIC_INTEGERS(_ctx, _what) \
    SHMEM_GENERIC_WORDS(_ctx, _what), \
    short: shmem_##_ctx##short##_what, \
    unsigned short: shmem_##_ctx##ushort##_what
#define SHMEM_GENERIC_TYPES(_ctx, _what) \
    SHMEM_GENERIC_INTEGERS(_ctx, _what), \
    float: shmem_##_ctx##float##_what, \
    double: shmem_##_ctx##double##_what, \
    long double: shmem_##_ctx##longdouble##_what, \
    char: shmem_##_ctx##char##_what, \
    signed char: shmem_##_ctx##schar##_what, \
    unsigned char: shmem_##_ctx##uchar##_what
#define SHMEM_GENERIC_SUMS(_ctx, _what) \
    SHMEM_GENERIC_TYPES(_ctx, _what), \
    double _Complex: shmem_##_ctx##complexd##_what, \
    float _Complex: shmem_##_ctx##complexf##_what
#define SHMEM_GENERIC_REDUCED_BITS(_ctx, _what) \
    SHMEM_GENERIC_BITS(_ctx, _what), \
    signed char: shmem_##_ctx##int8##_what, \
    unsigned char: shmem_##_ctx##uchar##_what, \
    short: shmem_##_ctx##int16##_what, \
    unsigned short: shmem_##_ctx##ushort##_what
/* clang-format on */

/* ---- number of arguments ---- */

#define SHMEM_NINTH(_1, _2, _3, _4, _5, _6, _7, _8, _9, ...) _9
#define SHMEM_COUNT(...)                                     SHMEM_NINTH(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SHMEM_PASTE(_a, _b)                                  _a##_b
#define SHMEM_NAME(_a, _b)                                   SHMEM_PASTE(_a, _b)

/* select by the type of the first or second pointer argument */
#define SHMEM_BY_FIRST(_list, _what, _first, ...) _Generic(*(_first), _list(, _what))(_first, __VA_ARGS__)
#define SHMEM_BY_SECOND(_list, _what, _first, _second, ...) \
    _Generic(*(_second), _list(, _what))(_first, _second, __VA_ARGS__)
#define SHMEM_BY_CTX(_list, _what, _ctx, _second, ...) \
    _Generic(*(_second), _list(ctx_, _what))(_ctx, _second, __VA_ARGS__)

/* a function with so many arguments, or one more with a context */
#define SHMEM_FORM_2_2 SHMEM_BY_FIRST
#define SHMEM_FORM_2_3 SHMEM_BY_CTX
#define SHMEM_FORM_3_3 SHMEM_BY_FIRST
#define SHMEM_FORM_3_4 SHMEM_BY_CTX
#define SHMEM_FORM_4_4 SHMEM_BY_FIRST
#define SHMEM_FORM_4_5 SHMEM_BY_CTX
#define SHMEM_FORM_5_5 SHMEM_BY_FIRST
#define SHMEM_FORM_5_6 SHMEM_BY_CTX
#define SHMEM_FORM_6_6 SHMEM_BY_FIRST
#define SHMEM_FORM_6_7 SHMEM_BY_CTX
#define SHMEM_FORM_7_7 SHMEM_BY_FIRST
#define SHMEM_FORM_7_8 SHMEM_BY_CTX
#define SHMEM_WITH_CTX(_list, _what, _count, ...) \
    SHMEM_NAME(SHMEM_FORM_##_count##_, SHMEM_COUNT(__VA_ARGS__))(_list, _what, __VA_ARGS__)

/* ---- puts and gets ---- */

#define shmem_put(...)            SHMEM_WITH_CTX(SHMEM_GENERIC_TYPES, _put, 4, __VA_ARGS__)
#define shmem_get(...)            SHMEM_WITH_CTX(SHMEM_GENERIC_TYPES, _get, 4, __VA_ARGS__)
#define shmem_put_nbi(...)        SHMEM_WITH_CTX(SHMEM_GENERIC_TYPES, _put_nbi, 4, __VA_ARGS__)
#define shmem_get_nbi(...)        SHMEM_WITH_CTX(SHMEM_GENERIC_TYPES, _get_nbi, 4, __VA_ARGS__)
#define shmem_p(...)              SHMEM_WITH_CTX(SHMEM_GENERIC_TYPES, _p, 3, __VA_ARGS__)
#define shmem_g(...)              SHMEM_WITH_CTX(SHMEM_GENERIC_TYPES, _g, 2, __VA_ARGS__)
#define shmem_iput(...)           SHMEM_WITH_CTX(SHMEM_GENERIC_TYPES, _iput, 6, __VA_ARGS__)
#define shmem_iget(...)           SHMEM_WITH_CTX(SHMEM_GENERIC_TYPES, _iget, 6, __VA_ARGS__)
#define shmem_put_signal(...)     SHMEM_WITH_CTX(SHMEM_GENERIC_TYPES, _put_signal, 7, __VA_ARGS__)
#define shmem_put_signal_nbi(...) SHMEM_WITH_CTX(SHMEM_GENERIC_TYPES, _put_signal_nbi, 7, __VA_ARGS__)

/* ---- atomics ---- */

#define shmem_atomic_fetch(...)            SHMEM_WITH_CTX(SHMEM_GENERIC_WORDS_FLOATS, _atomic_fetch, 2, __VA_ARGS__)
#define shmem_atomic_set(...)              SHMEM_WITH_CTX(SHMEM_GENERIC_WORDS_FLOATS, _atomic_set, 3, __VA_ARGS__)
#define shmem_atomic_swap(...)             SHMEM_WITH_CTX(SHMEM_GENERIC_WORDS_FLOATS, _atomic_swap, 3, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...)        SHMEM_WITH_CTX(SHMEM_GENERIC_WORDS_FLOATS, _atomic_fetch_nbi, 3, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...)         SHMEM_WITH_CTX(SHMEM_GENERIC_WORDS_FLOATS, _atomic_swap_nbi, 4, __VA_ARGS__)
#define shmem_atomic_add(...)              SHMEM_WITH_CTX(SHMEM_GENERIC_WORDS, _atomic_add, 3, __VA_ARGS__)
#define shmem_atomic_fetch_add(...)        SHMEM_WITH_CTX(SHMEM_GENERIC_WORDS, _atomic_fetch_add, 3, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...)    SHMEM_WITH_CTX(SHMEM_GENERIC_WORDS, _atomic_fetch_add_nbi, 4, __VA_ARGS__)
#define shmem_atomic_inc(...)              SHMEM_WITH_CTX(SHMEM_GENERIC_WORDS, _atomic_inc, 2, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...)        SHMEM_WITH_CTX(SHMEM_GENERIC_WORDS, _atomic_fetch_inc, 2, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...)    SHMEM_WITH_CTX(SHMEM_GENERIC_WORDS, _atomic_fetch_inc_nbi, 3, __VA_ARGS__)
#define shmem_atomic_compare_swap(...)     SHMEM_WITH_CTX(SHMEM_GENERIC_WORDS, _atomic_compare_swap, 4, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) SHMEM_WITH_CTX(SHMEM_GENERIC_WORDS, _atomic_compare_swap_nbi, 5, __VA_ARGS__)
#define shmem_atomic_and(...)              SHMEM_WITH_CTX(SHMEM_GENERIC_BITS, _atomic_and, 3, __VA_ARGS__)
#define shmem_atomic_fetch_and(...)        SHMEM_WITH_CTX(SHMEM_GENERIC_BITS, _atomic_fetch_and, 3, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...)    SHMEM_WITH_CTX(SHMEM_GENERIC_BITS, _atomic_fetch_and_nbi, 4, __VA_ARGS__)
#define shmem_atomic_or(...)               SHMEM_WITH_CTX(SHMEM_GENERIC_BITS, _atomic_or, 3, __VA_ARGS__)
#define shmem_atomic_fetch_or(...)         SHMEM_WITH_CTX(SHMEM_GENERIC_BITS, _atomic_fetch_or, 3, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...)     SHMEM_WITH_CTX(SHMEM_GENERIC_BITS, _atomic_fetch_or_nbi, 4, __VA_ARGS__)
#define shmem_atomic_xor(...)              SHMEM_WITH_CTX(SHMEM_GENERIC_BITS, _atomic_xor, 3, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...)        SHMEM_WITH_CTX(SHMEM_GENERIC_BITS, _atomic_fetch_xor, 3, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...)    SHMEM_WITH_CTX(SHMEM_GENERIC_BITS, _atomic_fetch_xor_nbi, 4, __VA_ARGS__)
/* deprecated names, for more types than the old functions had */
#define shmem_fetch(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WORDS_FLOATS, _atomic_fetch, __VA_ARGS__)
#define shmem_set(...)   SHMEM_BY_FIRST(SHMEM_GENERIC_WORDS_FLOATS, _atomic_set, __VA_ARGS__)
#define shmem_swap(...)  SHMEM_BY_FIRST(SHMEM_GENERIC_WORDS_FLOATS, _atomic_swap, __VA_ARGS__)
#define shmem_add(...)   SHMEM_BY_FIRST(SHMEM_GENERIC_WORDS, _atomic_add, __VA_ARGS__)
#define shmem_fadd(...)  SHMEM_BY_FIRST(SHMEM_GENERIC_WORDS, _atomic_fetch_add, __VA_ARGS__)
#define shmem_inc(...)   SHMEM_BY_FIRST(SHMEM_GENERIC_WORDS, _atomic_inc, __VA_ARGS__)
#define shmem_finc(...)  SHMEM_BY_FIRST(SHMEM_GENERIC_WORDS, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_cswap(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WORDS, _atomic_compare_swap, __VA_ARGS__)

/* ---- waits and tests ---- */

#define shmem_wait_until(...)             SHMEM_BY_FIRST(SHMEM_GENERIC_INTEGERS, _wait_until, __VA_ARGS__)
#define shmem_test(...)                   SHMEM_BY_FIRST(SHMEM_GENERIC_INTEGERS, _test, __VA_ARGS__)
#define shmem_wait_until_all(...)         SHMEM_BY_FIRST(SHMEM_GENERIC_INTEGERS, _wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...)         SHMEM_BY_FIRST(SHMEM_GENERIC_INTEGERS, _wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...)        SHMEM_BY_FIRST(SHMEM_GENERIC_INTEGERS, _wait_until_some, __VA_ARGS__)
#define shmem_test_all(...)               SHMEM_BY_FIRST(SHMEM_GENERIC_INTEGERS, _test_all, __VA_ARGS__)
#define shmem_test_any(...)               SHMEM_BY_FIRST(SHMEM_GENERIC_INTEGERS, _test_any, __VA_ARGS__)
#define shmem_test_some(...)              SHMEM_BY_FIRST(SHMEM_GENERIC_INTEGERS, _test_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...)  SHMEM_BY_FIRST(SHMEM_GENERIC_INTEGERS, _wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...)  SHMEM_BY_FIRST(SHMEM_GENERIC_INTEGERS, _wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) SHMEM_BY_FIRST(SHMEM_GENERIC_INTEGERS, _wait_until_some_vector, __VA_ARGS__)
#define shmem_test_all_vector(...)        SHMEM_BY_FIRST(SHMEM_GENERIC_INTEGERS, _test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...)        SHMEM_BY_FIRST(SHMEM_GENERIC_INTEGERS, _test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...)       SHMEM_BY_FIRST(SHMEM_GENERIC_INTEGERS, _test_some_vector, __VA_ARGS__)

/* ---- collectives of a team; shmem_sync also of an active set ---- */

#define shmem_broadcast(...)                           SHMEM_BY_SECOND(SHMEM_GENERIC_TYPES, _broadcast, __VA_ARGS__)
#define shmem_collect(...)                             SHMEM_BY_SECOND(SHMEM_GENERIC_TYPES, _collect, __VA_ARGS__)
#define shmem_fcollect(...)                            SHMEM_BY_SECOND(SHMEM_GENERIC_TYPES, _fcollect, __VA_ARGS__)
#define shmem_alltoall(...)                            SHMEM_BY_SECOND(SHMEM_GENERIC_TYPES, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...)                           SHMEM_BY_SECOND(SHMEM_GENERIC_TYPES, _alltoalls, __VA_ARGS__)
#define shmem_min_reduce(...)                          SHMEM_BY_SECOND(SHMEM_GENERIC_TYPES, _min_reduce, __VA_ARGS__)
#define shmem_max_reduce(...)                          SHMEM_BY_SECOND(SHMEM_GENERIC_TYPES, _max_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...)                          SHMEM_BY_SECOND(SHMEM_GENERIC_SUMS, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...)                         SHMEM_BY_SECOND(SHMEM_GENERIC_SUMS, _prod_reduce, __VA_ARGS__)
#define shmem_and_reduce(...)                          SHMEM_BY_SECOND(SHMEM_GENERIC_REDUCED_BITS, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...)                           SHMEM_BY_SECOND(SHMEM_GENERIC_REDUCED_BITS, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...)                          SHMEM_BY_SECOND(SHMEM_GENERIC_REDUCED_BITS, _xor_reduce, __VA_ARGS__)
#define SHMEM_SYNC_OF_1(_team)                         shmem_team_sync(_team)
#define SHMEM_SYNC_OF_4(_start, _stride, _size, _work) (shmem_sync)(_start, _stride, _size, _work)
#define shmem_sync(...)                                SHMEM_NAME(SHMEM_SYNC_OF_, SHMEM_COUNT(__VA_ARGS__))(__VA_ARGS__)

#endif
#endif
