/*
 * Stores to memory that other processes see: mapped memory of peers, and own regions mapped by
 * peers. All such stores go through the file, so the simulator's copy of the layers can delay each
 * store and show stores to other processes in any order that a processor allows. An x86 processor
 * stores in order, except for stores past its caches, up to a barrier or fence. Other processors
 * store in any order, except for releases. In the shipped library each function is the plain
 * instruction.
 *
 * Choice of the function. Store: a word needs no order with other stores, or a later release orders
 * the word. Release: a word announces earlier stores. Fenced: the process stores a word and then
 * loads words that other processes store before loading the first. Read-modify-write instructions
 * are fences.
 */
#ifndef KEEL_PEER_STORE_H_
#define KEEL_PEER_STORE_H_

#include "base/copy.h"
#include "check/plant.h"

#include <string.h>

#define KEEL_STORE_INLINE static inline __attribute__((always_inline))

/* Loads after the fence are not older than loads before the fence. */
KEEL_STORE_INLINE void keel_load_fence(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* Stores before the barrier are visible before stores after it, except for stores past the
 * caches. */
KEEL_STORE_INLINE void keel_store_barrier(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
    KEEL_STORE_BARRIER();
}

/* Stores before the fence are visible before all later stores and loads of the process. */
KEEL_STORE_INLINE void keel_store_fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    KEEL_STORE_FENCE();
}

#define KEEL_STORE_KINDS(_) \
    _(word, uint64_t)       \
    _(half, uint32_t)

/* _exchange is a compare-and-swap: returns 1 on success, else stores the present value to
 * *before. */
#define KEEL_STORE_FUNCTIONS(_kind, _type)                                                                       \
    KEEL_STORE_INLINE void keel_store_##_kind(_type *to, _type value)                                            \
    {                                                                                                            \
        KEEL_HOLD(to, sizeof(*to), KEEL_STORED_PLAIN);                                                           \
        __atomic_store_n(to, value, __ATOMIC_RELAXED);                                                           \
        KEEL_STORES();                                                                                           \
    }                                                                                                            \
    KEEL_STORE_INLINE void keel_store_##_kind##_release(_type *to, _type value)                                  \
    {                                                                                                            \
        KEEL_HOLD(to, sizeof(*to), KEEL_PLANT(store_release_relaxed) ? KEEL_STORED_PLAIN : KEEL_STORED_RELEASE); \
        __atomic_store_n(to, value, __ATOMIC_RELEASE);                                                           \
        KEEL_STORES();                                                                                           \
    }                                                                                                            \
    KEEL_STORE_INLINE int keel_store_##_kind##_exchange(_type *to, _type *before, _type value)                   \
    {                                                                                                            \
        int is_done;                                                                                             \
                                                                                                                 \
        KEEL_STORE_FENCE();                                                                                      \
        is_done = __atomic_compare_exchange_n(to, before, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);         \
        KEEL_STORES();                                                                                           \
        return is_done;                                                                                          \
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

/* Stores bytes in any order among themselves. Aligned words are stored whole, and a few aligned
 * words are stored once. */
KEEL_STORE_INLINE void keel_store_bytes(void *to, const void *from, size_t length)
{
    KEEL_HOLD(to, length, KEEL_STORED_PLAIN);
    keel_copy_one(to, from, length);
    KEEL_STORES();
}

/* Stores four words, in any order among themselves. */
KEEL_STORE_INLINE void keel_store_four(uint64_t *to, uint64_t first, uint64_t second, uint64_t third, uint64_t fourth)
{
    KEEL_HOLD(to, 4 * sizeof(*to), KEEL_STORED_PLAIN);
    __atomic_store_n(&to[0], first, __ATOMIC_RELAXED);
    __atomic_store_n(&to[1], second, __ATOMIC_RELAXED);
    __atomic_store_n(&to[2], third, __ATOMIC_RELAXED);
    __atomic_store_n(&to[3], fourth, __ATOMIC_RELAXED);
    KEEL_STORES();
}

/* Clears own memory while no other process accesses the memory. */
KEEL_STORE_INLINE void keel_store_zero(void *to, size_t length)
{
    KEEL_STORE_FENCE();
    memset(to, 0, length);
}

/* Stores as keel_store_bytes() does, and also to the private memory @a log; see keel_copy_two(). */
KEEL_STORE_INLINE void keel_store_two(void *log, void *to, const void *from, size_t length)
{
    KEEL_HOLD(to, length, KEEL_STORED_PLAIN);
    keel_copy_two(log, to, from, length);
    KEEL_STORES();
}

/* Copies what a get reads, @a length bytes from @a from, to the record @a to and to the caller's
 * @a buffer. @a is_streamed: the record is stored past the caches, and complete behind the call. */
KEEL_STORE_INLINE void keel_store_got(void *to, void *buffer, const void *from, size_t length, int is_streamed)
{
    KEEL_HOLD(to, length, is_streamed ? KEEL_STORED_STREAMED : KEEL_STORED_PLAIN);
    if (is_streamed) {
        keel_copy_two_stream(to, buffer, from, length);
        keel_copy_lines_done();
        KEEL_STORE_ORDER();
    } else {
        keel_copy_two_cached(to, buffer, from, length);
    }
    KEEL_STORES();
}

#endif
