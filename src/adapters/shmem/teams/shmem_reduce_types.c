/* Reductions by type and operation, for teams and active sets, and scans. */
#include "teams/shmem_active.h"
#include "shmemx.h"

static int reduce(shmem_team_t team, void *dest, const void *source, const keel_shmem_numbers_t *numbers,
                  const char *call)
{
    keel_shmem_set_t set;

    if (!keel_shmem_team_set(team, call, &set)) {
        return -1;
    }
    keel_shmem_reduce(&set, dest, source, numbers);
    return 0;
}

static int scan(shmem_team_t team, void *dest, const void *source, const keel_shmem_numbers_t *numbers,
                int is_inclusive, const char *call)
{
    keel_shmem_set_t set;

    if (!keel_shmem_team_set(team, call, &set)) {
        return -1;
    }
    keel_shmem_scan(&set, dest, source, numbers, is_inclusive);
    return 0;
}

/* ---- operations ---- */

#define DEFINE_COMBINE(_name, _type, _op, _expression)                        \
    static void _name##_##_op(void *sum, const void *other, size_t count)     \
    {                                                                         \
        for (size_t i = 0; i < count; i++) {                                  \
            const _type a = ((_type *)sum)[i], b = ((const _type *)other)[i]; \
                                                                              \
            ((_type *)sum)[i] = (_type)(_expression);                         \
        }                                                                     \
    }
#define DEFINE_SUMS(_name, _type)            \
    DEFINE_COMBINE(_name, _type, sum, a + b) \
    DEFINE_COMBINE(_name, _type, prod, a *b)
#define DEFINE_EXTREMES(_name, _type)                \
    DEFINE_COMBINE(_name, _type, min, b < a ? b : a) \
    DEFINE_COMBINE(_name, _type, max, b > a ? b : a)
#define DEFINE_BITS(_name, _type)           \
    DEFINE_COMBINE(_name, _type, and, a &b) \
    DEFINE_COMBINE(_name, _type, or, a | b) \
    DEFINE_COMBINE(_name, _type, xor, a ^ b)

SHMEM_TYPES(DEFINE_SUMS)
SHMEM_COMPLEX(DEFINE_SUMS)
SHMEM_TYPES(DEFINE_EXTREMES)
SHMEM_BIT_TYPES(DEFINE_BITS)
/* active sets also reduce bits of signed types */
SHMEM_ACTIVE_INTEGERS(DEFINE_BITS)

/* ---- teams ---- */

#define DEFINE_REDUCE(_name, _type, _op)                                                      \
    KEEL_SHMEM_DEFINE(int, _name##_##_op##_reduce,                                            \
                      (shmem_team_t team, _type * dest, const _type *source, size_t nreduce)) \
    {                                                                                         \
        const keel_shmem_numbers_t numbers = {nreduce, sizeof(_type), _name##_##_op};         \
                                                                                              \
        return reduce(team, dest, source, &numbers, KEEL_SHMEM_CALL);                         \
    }
#define DEFINE_REDUCE_SUMS(_name, _type)     DEFINE_REDUCE(_name, _type, sum) DEFINE_REDUCE(_name, _type, prod)
#define DEFINE_REDUCE_EXTREMES(_name, _type) DEFINE_REDUCE(_name, _type, min) DEFINE_REDUCE(_name, _type, max)
#define DEFINE_REDUCE_BITS(_name, _type) \
    DEFINE_REDUCE(_name, _type, and) DEFINE_REDUCE(_name, _type, or) DEFINE_REDUCE(_name, _type, xor)
SHMEM_TYPES(DEFINE_REDUCE_SUMS)
SHMEM_COMPLEX(DEFINE_REDUCE_SUMS)
SHMEM_TYPES(DEFINE_REDUCE_EXTREMES)
SHMEM_BIT_TYPES(DEFINE_REDUCE_BITS)

#define DEFINE_SCAN(_name, _type, _form, _is_inclusive)                                                  \
    int shmemx_##_name##_sum_##_form(shmem_team_t team, _type *dest, const _type *source, size_t nelems) \
    {                                                                                                    \
        const keel_shmem_numbers_t numbers = {nelems, sizeof(_type), _name##_sum};                       \
                                                                                                         \
        return scan(team, dest, source, &numbers, _is_inclusive, __func__);                              \
    }
#define DEFINE_SCANS(_name, _type) DEFINE_SCAN(_name, _type, inscan, 1) DEFINE_SCAN(_name, _type, exscan, 0)
SHMEM_TYPES(DEFINE_SCANS)
SHMEM_COMPLEX(DEFINE_SCANS)

/* ---- active sets ---- */

#define DEFINE_TO_ALL(_name, _type, _op)                                                                            \
    KEEL_SHMEM_DEFINE(void, _name##_##_op##_to_all,                                                                 \
                      (_type * dest, const _type *source, int nreduce, int PE_start, int logPE_stride, int PE_size, \
                       _type *pWrk, long *pSync))                                                                   \
    {                                                                                                               \
        const keel_shmem_numbers_t numbers = {nreduce > 0 ? (size_t)nreduce : 0, sizeof(_type), _name##_##_op};     \
        const keel_shmem_active_t active = {PE_start, logPE_stride, PE_size, pSync, KEEL_SHMEM_CALL};               \
                                                                                                                    \
        keel_shmem_active_reduce(&active, dest, source, &numbers, pWrk);                                            \
    }
#define DEFINE_SUMS_TO_ALL(_name, _type)     DEFINE_TO_ALL(_name, _type, sum) DEFINE_TO_ALL(_name, _type, prod)
#define DEFINE_EXTREMES_TO_ALL(_name, _type) DEFINE_TO_ALL(_name, _type, min) DEFINE_TO_ALL(_name, _type, max)
#define DEFINE_BITS_TO_ALL(_name, _type) \
    DEFINE_TO_ALL(_name, _type, and) DEFINE_TO_ALL(_name, _type, or) DEFINE_TO_ALL(_name, _type, xor)
SHMEM_ACTIVE_INTEGERS(DEFINE_SUMS_TO_ALL)
SHMEM_FLOATS(DEFINE_SUMS_TO_ALL)
SHMEM_COMPLEX(DEFINE_SUMS_TO_ALL)
SHMEM_ACTIVE_INTEGERS(DEFINE_EXTREMES_TO_ALL)
SHMEM_FLOATS(DEFINE_EXTREMES_TO_ALL)
SHMEM_ACTIVE_INTEGERS(DEFINE_BITS_TO_ALL)
