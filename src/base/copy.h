/*
 * Copying a put: the bytes go to two places, the log and the target, and are read once.
 *
 * Below KEEL_COPY_STREAM bytes both copies are plain stores, inline, and below KEEL_COPY_LONG bytes
 * plain copies. From there on non-temporal stores write the log's full cache lines: the lines are
 * not read soon, and a plain store would first fetch the line, which dominates the cost of a long
 * record. A flush waits until such stores are in memory, 140 ns, which dominates the cost of a
 * shorter record. Such stores are ordered among themselves and with others only by a fence or a
 * locked instruction; their own thread sees them in program order. So they suit memory that the
 * same thread reads (the log), never memory that another process waits for.
 */
#ifndef KEEL_BASE_COPY_H_
#define KEEL_BASE_COPY_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KEEL_COPY_STREAM 256u /* bytes */
#define KEEL_COPY_LONG   768u /* bytes */
#define KEEL_COPY_LINE   64u  /* bytes of a cache line */
/* Distance in bytes from the end of a record to the line prefetched during its write. A line of
 * a log comes from memory: its stores, and the locked instruction that waits for them, take that
 * long if the line is not in cache. */
#define KEEL_COPY_AHEAD 1024u
/* shorter records are prefetched; on longer ones the processor detects the stream of stores */
#define KEEL_COPY_FETCHED 2048u

/* prefetches a line for writing, in advance; a cold line costs more than the rest of a short put */
static inline void keel_prefetch_write(const void *address)
{
#if defined(__x86_64__)
    /* the builtin prefetches for reading here */
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1);
#endif
}

/* the same for all lines of @a length bytes */
static inline void keel_prefetch_write_all(const void *address, size_t length)
{
    for (size_t at = 0; at < length; at += KEEL_COPY_LINE) {
        keel_prefetch_write((const uint8_t *)address + at);
    }
}

/* 16 bytes without alignment */
typedef uint64_t keel_copy_block_t __attribute__((vector_size(16), aligned(1), may_alias));

/* Later reads of the copy use the bytes at @a to. Otherwise a compiler may copy twice from the
 * source, which other ranks may write. */
static inline void keel_copy_barrier(const void *to)
{
    __asm__ volatile("" : : "r"(to) : "memory");
}

typedef enum { KEEL_COPY_PORTABLE, KEEL_COPY_SSE2, KEEL_COPY_AVX, KEEL_COPY_KERNELS } keel_copy_kernel_t;
int keel_copy_has_kernel(keel_copy_kernel_t kernel);
/* uses the given kernel, for tests; at least 64 bytes */
void keel_copy_two_by(keel_copy_kernel_t kernel, void *streamed, void *plain, const void *from, size_t length);
/* Copies to @a first, then from there to @a second, so the source is read once. Plain stores. */
void keel_copy_two_cached(void *second, void *first, const void *from, size_t length);
/* uses the best kernel of this machine */
void keel_copy_two_stream(void *streamed, void *plain, const void *from, size_t length);

/* A single copy of whole lines to the start of a line. May be announced to other threads after
 * keel_copy_lines_done(). */
void keel_copy_lines_by(keel_copy_kernel_t kernel, void *streamed, const void *from, size_t length);
void keel_copy_lines(void *streamed, const void *from, size_t length);
void keel_copy_lines_done(void);

static inline void keel_copy_two_block(uint8_t *a, uint8_t *b, const uint8_t *from, size_t at)
{
    /* reads once */
    const keel_copy_block_t block = *(const volatile keel_copy_block_t *)(from + at);

    *(keel_copy_block_t *)(a + at) = block;
    *(keel_copy_block_t *)(b + at) = block;
}

typedef uint32_t keel_copy_half_t __attribute__((aligned(1), may_alias));

/* less than 16 bytes */
static inline void keel_copy_one_short(uint8_t *to, const uint8_t *from, size_t length)
{
    size_t at = 0;

    for (; at + sizeof(keel_copy_half_t) <= length; at += sizeof(keel_copy_half_t)) {
        *(volatile keel_copy_half_t *)(to + at) = *(const keel_copy_half_t *)(from + at);
    }
    for (; at < length; at++) {
        *(volatile uint8_t *)(to + at) = from[at];
    }
}

/* Less than 16 bytes, except 8. Stores halves of words whole, for programs that read them during
 * concurrent writes. */
static inline void keel_copy_two_short(uint8_t *a, uint8_t *b, const uint8_t *from, size_t length)
{
    size_t at = 0;

    for (; at + sizeof(keel_copy_half_t) <= length; at += sizeof(keel_copy_half_t)) {
        /* reads once */
        const keel_copy_half_t half = *(const volatile keel_copy_half_t *)(from + at);

        *(keel_copy_half_t *)(a + at) = half;
        *(keel_copy_half_t *)(b + at) = half;
    }
    for (; at < length; at++) {
        a[at] = b[at] = *(const volatile uint8_t *)(from + at);
    }
}

/*
 * A single copy to memory that its owner reads and writes concurrently: a word, or a few words, are
 * stored once each. memcpy() may store the bytes of a short copy twice, and undo a write of the
 * owner after it saw the first.
 */
static inline __attribute__((always_inline)) void keel_copy_one(void *to, const void *from, size_t length)
{
    uint8_t *target = (uint8_t *)to;
    const uint8_t *source = (const uint8_t *)from;
    uint64_t word;

    if (length % sizeof(word) == 0 && length <= KEEL_COPY_LINE) {
        for (size_t at = 0; at < length; at += sizeof(word)) {
            memcpy(&word, source + at, sizeof(word));
            /* prevents conversion into a call of memcpy() */
            __asm__ volatile("" : "+r"(word) : : "memory");
            memcpy(target + at, &word, sizeof(word));
        }
    } else if (length < 2 * sizeof(word)) {
        keel_copy_one_short(target, source, length);
    } else {
        memcpy(target, source, length);
    }
}

/* Stores each byte once, and aligned words whole: other processes may read and write @a to. */
static inline void keel_copy_once(uint8_t *to, const uint8_t *from, size_t length)
{
    size_t at = 0;

    for (; length - at >= sizeof(keel_copy_block_t); at += sizeof(keel_copy_block_t)) {
        *(volatile keel_copy_block_t *)(to + at) = *(const keel_copy_block_t *)(from + at);
    }
    for (; length - at >= sizeof(uint64_t); at += sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, from + at, sizeof(word));
        __asm__ volatile("" : "+r"(word)); /* prevents a wider store */
        memcpy(to + at, &word, sizeof(word));
    }
    keel_copy_one_short(to + at, from + at, length - at);
}

/*
 * Copies @a length bytes from @a from to @a streamed and to @a plain. No two of the three overlap,
 * but @a from and @a plain may be equal. Budget: 1 ns at 8 bytes, 3 ns at 64.
 */
static inline __attribute__((always_inline)) void keel_copy_two(void *streamed, void *plain, const void *from,
                                                                size_t length)
{
    uint8_t *a = (uint8_t *)streamed, *b = (uint8_t *)plain;
    const uint8_t *source = (const uint8_t *)from;
    uint64_t word;

    if (length == sizeof(word)) {
        memcpy(&word, source, sizeof(word));
        __asm__ volatile("" : "+r"(word)); /* reads once */
        memcpy(a, &word, sizeof(word));
        memcpy(b, &word, sizeof(word));
    } else if (length >= KEEL_COPY_LONG) {
        keel_copy_two_stream(streamed, plain, from, length);
    } else if (length >= KEEL_COPY_STREAM) {
        memcpy(a, source, length);
        keel_copy_barrier(a);
        keel_copy_once(b, a, length);
    } else if (length >= sizeof(keel_copy_block_t)) {
        size_t at = 0;

        for (; length - at >= sizeof(keel_copy_block_t); at += sizeof(keel_copy_block_t)) {
            keel_copy_two_block(a, b, source, at);
        }
        if (length - at >= sizeof(word)) { /* whole, and once */
            memcpy(&word, source + at, sizeof(word));
            __asm__ volatile("" : "+r"(word)); /* reads once */
            memcpy(a + at, &word, sizeof(word));
            memcpy(b + at, &word, sizeof(word));
            at += sizeof(word);
        }
        keel_copy_two_short(a + at, b + at, source + at, length - at);
    } else {
        keel_copy_two_short(a, b, source, length);
    }
}

#endif
