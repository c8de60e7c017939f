/* Atomics under names without atomic_, and cache functions. */
#include "shmem_state.h"

#define DEFINE_OLD_WORD(_name, _type)                                           \
    KEEL_SHMEM_DEFINE(_type, _name##_fetch, (const _type *source, int pe))      \
    {                                                                           \
        return pshmem_##_name##_atomic_fetch(source, pe);                       \
    }                                                                           \
    KEEL_SHMEM_DEFINE(void, _name##_set, (_type * dest, _type value, int pe))   \
    {                                                                           \
        pshmem_##_name##_atomic_set(dest, value, pe);                           \
    }                                                                           \
    KEEL_SHMEM_DEFINE(_type, _name##_swap, (_type * dest, _type value, int pe)) \
    {                                                                           \
        return pshmem_##_name##_atomic_swap(dest, value, pe);                   \
    }
SHMEM_ATOMIC_TYPES_EXTENDED(DEFINE_OLD_WORD)

#define DEFINE_OLD_ATOMIC(_name, _type)                                                      \
    KEEL_SHMEM_DEFINE(void, _name##_add, (_type * dest, _type value, int pe))                \
    {                                                                                        \
        pshmem_##_name##_atomic_add(dest, value, pe);                                        \
    }                                                                                        \
    KEEL_SHMEM_DEFINE(_type, _name##_fadd, (_type * dest, _type value, int pe))              \
    {                                                                                        \
        return pshmem_##_name##_atomic_fetch_add(dest, value, pe);                           \
    }                                                                                        \
    KEEL_SHMEM_DEFINE(void, _name##_inc, (_type * dest, int pe))                             \
    {                                                                                        \
        pshmem_##_name##_atomic_inc(dest, pe);                                               \
    }                                                                                        \
    KEEL_SHMEM_DEFINE(_type, _name##_finc, (_type * dest, int pe))                           \
    {                                                                                        \
        return pshmem_##_name##_atomic_fetch_inc(dest, pe);                                  \
    }                                                                                        \
    KEEL_SHMEM_DEFINE(_type, _name##_cswap, (_type * dest, _type cond, _type value, int pe)) \
    {                                                                                        \
        return pshmem_##_name##_atomic_compare_swap(dest, cond, value, pe);                  \
    }
SHMEM_ATOMIC_TYPES(DEFINE_OLD_ATOMIC)

#define DEFINE_CACHE(_name, _arguments)        \
    KEEL_SHMEM_DEFINE(void, _name, _arguments) \
    {                                          \
    }
DEFINE_CACHE(clear_cache_inv, (void))
DEFINE_CACHE(set_cache_inv, (void))
DEFINE_CACHE(clear_cache_line_inv, (void *dest))
DEFINE_CACHE(set_cache_line_inv, (void *dest))
DEFINE_CACHE(udcflush, (void))
DEFINE_CACHE(udcflush_line, (void *dest))
