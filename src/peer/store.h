/*
 * Stores to memory that others see: a peer's that is mapped here, and the own regions that peers map. All of them go through
 * here, so that the simulator's copy of the layers can hold each back, and show it to others as late, and in such an order, as a
 * processor may: one of x86 stores in order, but what it streams past its caches, until an order or a fence; others in any order
 * but for what is released. Here and there each is the plain instruction.
 *
 * Which one: a word whose order with other stores does not matter, or is kept by a later release: store. A word that says that
 * what was stored before it is there: release. A word behind which this process looks at what others may have stored before they
 * looked at this one: fenced. Instructions that read and write at once are fences.
 */
#ifndef KEEL_PEER_STORE_H_
#define KEEL_PEER_STORE_H_

#include "base/copy.h"
#include "check/plant.h"

#include <string.h>

#define KEEL_STORE_INLINE static inline __attribute__((always_inline))

/* what is loaded after it is not older than what was before */
KEEL_STORE_INLINE void keel_load_fence(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* what was stored before is seen before what is stored after it, but for what was streamed past the caches */
KEEL_STORE_INLINE void keel_store_barrier(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
    KEEL_STORE_BARRIER();
}

/* all that was stored before is seen before what this process does next, also before what it loads */
KEEL_STORE_INLINE void keel_store_fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    KEEL_STORE_FENCE();
}

#define KEEL_STORE_KINDS(_) \
    _(word, uint64_t)       \
    _(half, uint32_t)

#define KEEL_STORE_FUNCTIONS(_kind, _type)                                                                 \
    KEEL_STORE_INLINE void keel_store_##_kind(_type *to, _type value)                                      \
    {                                                                                                      \
        KEEL_HOLD(to, sizeof(*to), KEEL_STORED_PLAIN);                                                     \
        __atomic_store_n(to, value, __ATOMIC_RELAXED);                                                     \
        KEEL_STORES();                                                                                     \
    }                                                                                                      \
    KEEL_STORE_INLINE void keel_store_##_kind##_release(_type *to, _type value)                            \
    {                                                                                                      \
        KEEL_HOLD(to, sizeof(*to), KEEL_PLANT(release_relaxed) ? KEEL_STORED_PLAIN : KEEL_STORED_RELEASE); \
        __atomic_store_n(to, value, __ATOMIC_RELEASE);                                                     \
        KEEL_STORES();                                                                                     \
    }                                                                                                      \
    /* 1: it was @a *before, which else is what it is now */                                               \
    KEEL_STORE_INLINE int keel_store_##_kind##_exchange(_type *to, _type *before, _type value)             \
    {                                                                                                      \
        int is_done;                                                                                       \
                                                                                                           \
        KEEL_STORE_FENCE();                                                                                \
        is_done = __atomic_compare_exchange_n(to, before, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);   \
        KEEL_STORES();                                                                                     \
        return is_done;                                                                                    \
    }
KEEL_STORE_KINDS(KEEL_STORE_FUNCTIONS)
#undef KEEL_STORE_FUNCTIONS
#undef KEEL_STORE_KINDS

KEEL_STORE_INLINE void keel_store_word_fenced(uint64_t *to, uint64_t value)
{
    KEEL_HOLD(to, sizeof(*to), KEEL_STORED_RELEASE);
    __atomic_store_n(to, value, __ATOMIC_SEQ_CST);
    if (!KEEL_PLANT(store_unfenced)) {
        KEEL_STORE_FENCE();
    }
    KEEL_STORES();
}

/* bytes, in any order among themselves but for aligned words, which are whole, and of which a few are stored once */
KEEL_STORE_INLINE void keel_store_bytes(void *to, const void *from, size_t length)
{
    KEEL_HOLD(to, length, KEEL_STORED_PLAIN);
    keel_copy_one(to, from, length);
    KEEL_STORES();
}

/* own memory that nobody else looks at now */
KEEL_STORE_INLINE void keel_store_zero(void *to, size_t length)
{
    KEEL_STORE_FENCE();
    memset(to, 0, length);
}

/* the same as keel_store_bytes(), and to @a log, which nobody else sees; keel_copy_two() */
KEEL_STORE_INLINE void keel_store_two(void *log, void *to, const void *from, size_t length)
{
    KEEL_HOLD(to, length, KEEL_STORED_PLAIN);
    keel_copy_two(log, to, from, length);
    KEEL_STORES();
}

#endif
