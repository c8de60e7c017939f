/* OpenSHMEM on Keel: waits for own words, tests, and locks. Part of shmem.h. */
#ifndef KEEL_SHMEM_SYNC_H_
#define KEEL_SHMEM_SYNC_H_

#include "shmem_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A status other than 0 excludes its word; NULL: excludes none. SIZE_MAX: no word meets, or all are
 * excluded.
 */
#define SHMEM_DECLARE_SEVERAL(_name, _type, _form, _value)                                                     \
    SHMEM_FUNCTION(void, _name##_wait_until_all##_form,                                                        \
                   (_type * ivars, size_t nelems, const int *status, int cmp, _type _value))                   \
    SHMEM_FUNCTION(size_t, _name##_wait_until_any##_form,                                                      \
                   (_type * ivars, size_t nelems, const int *status, int cmp, _type _value))                   \
    SHMEM_FUNCTION(size_t, _name##_wait_until_some##_form,                                                     \
                   (_type * ivars, size_t nelems, size_t * indices, const int *status, int cmp, _type _value)) \
    SHMEM_FUNCTION(int, _name##_test_all##_form,                                                               \
                   (_type * ivars, size_t nelems, const int *status, int cmp, _type _value))                   \
    SHMEM_FUNCTION(size_t, _name##_test_any##_form,                                                            \
                   (_type * ivars, size_t nelems, const int *status, int cmp, _type _value))                   \
    SHMEM_FUNCTION(size_t, _name##_test_some##_form,                                                           \
                   (_type * ivars, size_t nelems, size_t * indices, const int *status, int cmp, _type _value))
#define SHMEM_DECLARE_WAIT(_name, _type)                                               \
    SHMEM_FUNCTION(void, _name##_wait_until, (_type * ivar, int cmp, _type cmp_value)) \
    SHMEM_FUNCTION(int, _name##_test, (_type * ivar, int cmp, _type cmp_value))        \
    SHMEM_DECLARE_SEVERAL(_name, _type, , cmp_value)                                   \
    SHMEM_DECLARE_SEVERAL(_name, _type, _vector, *cmp_values)

SHMEM_INTEGERS(SHMEM_DECLARE_WAIT)

#undef SHMEM_DECLARE_WAIT
#undef SHMEM_DECLARE_SEVERAL

/* ---- locks: symmetric, initially 0 ---- */

SHMEM_FUNCTION(void, set_lock, (long *lock))
SHMEM_FUNCTION(void, clear_lock, (long *lock))
SHMEM_FUNCTION(int, test_lock, (long *lock)) /**< 0: this PE now holds the lock */

#ifdef __cplusplus
}
#endif
#endif
