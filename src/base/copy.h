/*
 * Copying a put: its bytes go to two places, the log and the target, and are read once.
 *
 * Below KEEL_COPY_STREAM bytes both are plain stores, inline. From there on the log's full cache lines are written by
 * non-temporal stores: nobody reads them soon, and a plain store would first fetch the line, which is what a long record
 * costs. Such stores are ordered among themselves and with others only by a fence or a locked instruction; the thread
 * that made them sees them in program order. So they are for memory that the same thread reads (the log), never for
 * what another process waits for.
 */
#ifndef KEEL_BASE_COPY_H_
#define KEEL_BASE_COPY_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KEEL_COPY_STREAM 256u /* bytes */
#define KEEL_COPY_LINE   64u  /* bytes of a cache line */
/* bytes from the end of a record to the line that is fetched while it is written. A line of a log comes from memory: its stores, and
 * the locked instruction that waits for them, take that long when it is not there. */
#define KEEL_COPY_AHEAD 1024u
/* shorter ones are fetched so; on longer ones the processor sees by itself where the stores go */
#define KEEL_COPY_FETCHED 2048u

/* fetches a line that will be written, before anybody needs it; a cold line costs more than all else in a short put */
static inline void keel_prefetch_write(const void *address)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address)); /* the builtin is one for reading here */
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

/* 16 bytes that may lie anywhere */
typedef uint64_t keel_copy_block_t __attribute__((vector_size(16), aligned(1), may_alias));

/* Behind it what was copied to @a to is read there. A compiler may else copy twice from where it came from, and others write there. */
static inline void keel_copy_settle(const void *to)
{
    __asm__ volatile("" : : "r"(to) : "memory");
}

typedef enum { KEEL_COPY_PORTABLE, KEEL_COPY_SSE2, KEEL_COPY_AVX, KEEL_COPY_KERNELS } keel_copy_kernel_t;
int keel_copy_has_kernel(keel_copy_kernel_t kernel);
/* by a given kernel, for tests; at least 64 bytes */
void keel_copy_two_by(keel_copy_kernel_t kernel, void *streamed, void *plain, const void *from, size_t length);
/* by the best one this machine has */
void keel_copy_two_stream(void *streamed, void *plain, const void *from, size_t length);

/* one copy, of whole lines to the start of one. Others may be told of it after keel_copy_lines_done(). */
void keel_copy_lines_by(keel_copy_kernel_t kernel, void *streamed, const void *from, size_t length);
void keel_copy_lines(void *streamed, const void *from, size_t length);
void keel_copy_lines_done(void);

static inline void keel_copy_two_block(uint8_t *a, uint8_t *b, const uint8_t *from, size_t at)
{
    const keel_copy_block_t block = *(const volatile keel_copy_block_t *)(from + at); /* once */

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

/* less than 16 bytes, but for 8; halves of words whole, for programs that look at them while others write */
static inline void keel_copy_two_short(uint8_t *a, uint8_t *b, const uint8_t *from, size_t length)
{
    size_t at = 0;

    for (; at + sizeof(keel_copy_half_t) <= length; at += sizeof(keel_copy_half_t)) {
        const keel_copy_half_t half = *(const volatile keel_copy_half_t *)(from + at); /* once */

        *(keel_copy_half_t *)(a + at) = half;
        *(keel_copy_half_t *)(b + at) = half;
    }
    for (; at < length; at++) {
        a[at] = b[at] = *(const volatile uint8_t *)(from + at);
    }
}

/*
 * One copy, to memory that its owner looks at and writes meanwhile: a word on its own, or a few, are stored once. memcpy() may store the
 * bytes of a short one twice, and undo what the owner wrote when it had seen the first.
 */
static inline __attribute__((always_inline)) void keel_copy_one(void *to, const void *from, size_t length)
{
    uint8_t *target = (uint8_t *)to;
    const uint8_t *source = (const uint8_t *)from;
    uint64_t word;

    if (length % sizeof(word) == 0 && length <= KEEL_COPY_LINE) {
        for (size_t at = 0; at < length; at += sizeof(word)) {
            memcpy(&word, source + at, sizeof(word));
            __asm__ volatile("" : "+r"(word) : : "memory"); /* no call of memcpy() is made of it */
            memcpy(target + at, &word, sizeof(word));
        }
    } else if (length < 2 * sizeof(word)) {
        keel_copy_one_short(target, source, length);
    } else {
        memcpy(target, source, length);
    }
}

/*
 * @a length bytes from @a from to @a streamed and to @a plain. No two of the three overlap, but @a from and @a plain may
 * be one. Budget: 1 ns at 8 bytes, 3 ns at 64.
 */
static inline __attribute__((always_inline)) void keel_copy_two(void *streamed, void *plain, const void *from,
                                                                size_t length)
{
    uint8_t *a = (uint8_t *)streamed, *b = (uint8_t *)plain;
    const uint8_t *source = (const uint8_t *)from;
    uint64_t word;

    if (length == sizeof(word)) {
        memcpy(&word, source, sizeof(word));
        __asm__ volatile("" : "+r"(word)); /* once */
        memcpy(a, &word, sizeof(word));
        memcpy(b, &word, sizeof(word));
    } else if (length >= KEEL_COPY_STREAM) {
        keel_copy_two_stream(streamed, plain, from, length);
    } else if (length >= sizeof(keel_copy_block_t)) {
        for (size_t at = 0; at < length - sizeof(keel_copy_block_t); at += sizeof(keel_copy_block_t)) {
            keel_copy_two_block(a, b, source, at);
        }
        keel_copy_two_block(a, b, source, length - sizeof(keel_copy_block_t));
    } else {
        keel_copy_two_short(a, b, source, length);
    }
}

#endif
