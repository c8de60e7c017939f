/* Atomics, and the locks that are made of them. */
#include "shmem_state.h"

#include <string.h>

void keel_shmem_atomic(keel_atomic_op_t op, const void *dest, size_t size, const void *operand, const void *compare,
                       void *result, int pe, const char *call)
{
    uint64_t offset, value = 0, condition = 0;

    if (result != NULL) {
        keel_shmem_begin_reading(call);
    } else if (keel_shmem_begin(call)) {
        return;
    }
    offset = keel_shmem_offset(dest, size, pe, call);
    memcpy(&value, operand, size);
    if (compare != NULL) {
        memcpy(&condition, compare, size);
    }
    keel_shmem_end(keel_atomic(keel_shmem.win, op, (uint32_t)pe, offset, size, value, condition, result), call);
}

#define DEFINE_WORD(_name, _type)                                                                                      \
    _type shmem_##_name##_atomic_fetch(const _type *source, int pe)                                                    \
    {                                                                                                                  \
        const uint64_t none = 0;                                                                                       \
        _type is;                                                                                                      \
                                                                                                                       \
        keel_shmem_atomic(KEEL_ATOMIC_ADD, source, sizeof(is), &none, NULL, &is, pe, "shmem_" #_name "_atomic_fetch"); \
        return is;                                                                                                     \
    }                                                                                                                  \
    void shmem_##_name##_atomic_set(_type *dest, _type value, int pe)                                                  \
    {                                                                                                                  \
        keel_shmem_atomic(KEEL_ATOMIC_SWAP, dest, sizeof(value), &value, NULL, NULL, pe,                               \
                          "shmem_" #_name "_atomic_set");                                                              \
    }                                                                                                                  \
    _type shmem_##_name##_atomic_swap(_type *dest, _type value, int pe)                                                \
    {                                                                                                                  \
        _type was;                                                                                                     \
                                                                                                                       \
        keel_shmem_atomic(KEEL_ATOMIC_SWAP, dest, sizeof(value), &value, NULL, &was, pe,                               \
                          "shmem_" #_name "_atomic_swap");                                                             \
        return was;                                                                                                    \
    }
SHMEM_ATOMIC_TYPES_EXTENDED(DEFINE_WORD)

/* two functions, _name(...) and its fetching form */
#define DEFINE_OP(_name, _type, _what, _op)                                                                           \
    void shmem_##_name##_atomic_##_what(_type *dest, _type value, int pe)                                             \
    {                                                                                                                 \
        keel_shmem_atomic(_op, dest, sizeof(value), &value, NULL, NULL, pe, "shmem_" #_name "_atomic_" #_what);       \
    }                                                                                                                 \
    _type shmem_##_name##_atomic_fetch_##_what(_type *dest, _type value, int pe)                                      \
    {                                                                                                                 \
        _type was;                                                                                                    \
                                                                                                                      \
        keel_shmem_atomic(_op, dest, sizeof(value), &value, NULL, &was, pe, "shmem_" #_name "_atomic_fetch_" #_what); \
        return was;                                                                                                   \
    }

#define DEFINE_ATOMIC(_name, _type)                                                         \
    DEFINE_OP(_name, _type, add, KEEL_ATOMIC_ADD)                                           \
    void shmem_##_name##_atomic_inc(_type *dest, int pe)                                    \
    {                                                                                       \
        shmem_##_name##_atomic_add(dest, 1, pe);                                            \
    }                                                                                       \
    _type shmem_##_name##_atomic_fetch_inc(_type *dest, int pe)                             \
    {                                                                                       \
        return shmem_##_name##_atomic_fetch_add(dest, 1, pe);                               \
    }                                                                                       \
    _type shmem_##_name##_atomic_compare_swap(_type *dest, _type cond, _type value, int pe) \
    {                                                                                       \
        _type was;                                                                          \
                                                                                            \
        keel_shmem_atomic(KEEL_ATOMIC_CSWAP, dest, sizeof(value), &value, &cond, &was, pe,  \
                          "shmem_" #_name "_atomic_compare_swap");                          \
        return was;                                                                         \
    }
SHMEM_ATOMIC_TYPES(DEFINE_ATOMIC)

#define DEFINE_BITWISE(_name, _type)              \
    DEFINE_OP(_name, _type, and, KEEL_ATOMIC_AND) \
    DEFINE_OP(_name, _type, or, KEEL_ATOMIC_OR)   \
    DEFINE_OP(_name, _type, xor, KEEL_ATOMIC_XOR)
SHMEM_ATOMIC_TYPES_BITWISE(DEFINE_BITWISE)

/* ---- locks: the word at PE 0 is 1 + the PE that has it ---- */

static int lock_try(long *lock, const char *call)
{
    const long none = 0, own = (long)keel_shmem.pe + 1;
    long was;

    keel_shmem_atomic(KEEL_ATOMIC_CSWAP, lock, sizeof(*lock), &own, &none, &was, 0, call);
    if (was == own) {
        keel_shmem_refuse(call, "this PE has that lock already", (uintptr_t)lock);
    }
    return was == none;
}

void shmem_set_lock(long *lock)
{
    while (!lock_try(lock, "shmem_set_lock")) {
        keel_shmem_end(keel_progress(keel_shmem.ctx), "shmem_set_lock");
    }
}

int shmem_test_lock(long *lock)
{
    return !lock_try(lock, "shmem_test_lock");
}

void shmem_clear_lock(long *lock)
{
    const long none = 0;

    shmem_quiet();
    keel_shmem_atomic(KEEL_ATOMIC_SWAP, lock, sizeof(*lock), &none, NULL, NULL, 0, "shmem_clear_lock");
    shmem_quiet();
}
