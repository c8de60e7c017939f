/*
 * The streaming copy. Its kernels differ only in the width of their stores: 32-byte stores write a
 * line nearly twice as fast as 16-byte stores.
 */
#include "base/copy.h"

/* whole lines; @a streamed is at the start of a line; without second copy if @a plain is NULL */
typedef void (*lines_fn_t)(uint8_t *streamed, uint8_t *plain, const uint8_t *from, size_t length);

static void lines_portable(uint8_t *streamed, uint8_t *plain, const uint8_t *from, size_t length)
{
    memcpy(streamed, from, length);
    if (plain != NULL) {
        keel_copy_barrier(streamed);
        memcpy(plain, streamed, length);
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

static void lines_sse2(uint8_t *streamed, uint8_t *plain, const uint8_t *from, size_t length)
{
    for (size_t at = 0; at < length; at += KEEL_COPY_LINE) {
        for (size_t part = at; part < at + KEEL_COPY_LINE; part += sizeof(__m128i)) {
            __m128i data = _mm_loadu_si128((const __m128i *)(from + part));

            __asm__ volatile("" : "+x"(data)); /* read once */
            _mm_stream_si128((__m128i *)(streamed + part), data);
            if (plain != NULL) {
                _mm_storeu_si128((__m128i *)(plain + part), data);
            }
        }
    }
}

__attribute__((target("avx"))) static void lines_avx(uint8_t *streamed, uint8_t *plain, const uint8_t *from,
                                                     size_t length)
{
    for (size_t at = 0; at < length; at += KEEL_COPY_LINE) {
        __m256i low = _mm256_loadu_si256((const __m256i *)(from + at));
        __m256i high = _mm256_loadu_si256((const __m256i *)(from + at + KEEL_COPY_LINE / 2));

        __asm__ volatile("" : "+x"(low), "+x"(high)); /* read once */
        _mm256_stream_si256((__m256i *)(streamed + at), low);
        _mm256_stream_si256((__m256i *)(streamed + at + KEEL_COPY_LINE / 2), high);
        if (plain != NULL) {
            _mm256_storeu_si256((__m256i *)(plain + at), low);
            _mm256_storeu_si256((__m256i *)(plain + at + KEEL_COPY_LINE / 2), high);
        }
    }
}
#endif

static lines_fn_t lines_kernel(keel_copy_kernel_t kernel)
{
#if defined(__x86_64__)
    if (kernel == KEEL_COPY_AVX) {
        return lines_avx;
    }
    if (kernel == KEEL_COPY_SSE2) {
        return lines_sse2;
    }
#endif
    return lines_portable;
}

static keel_copy_kernel_t copy_best_kernel(void)
{
    return keel_copy_has_kernel(KEEL_COPY_AVX) ? KEEL_COPY_AVX : KEEL_COPY_SSE2;
}

int keel_copy_has_kernel(keel_copy_kernel_t kernel)
{
#if defined(__x86_64__)
    return kernel != KEEL_COPY_AVX || __builtin_cpu_supports("avx");
#else
    return kernel == KEEL_COPY_PORTABLE;
#endif
}

void keel_copy_two_by(keel_copy_kernel_t kernel, void *streamed, void *plain, const void *from, size_t length)
{
    /* other records share the lines at both ends, and plain stores write them */
    const size_t head = -(uintptr_t)streamed & (KEEL_COPY_LINE - 1);
    const size_t lines = (length - head) & ~(size_t)(KEEL_COPY_LINE - 1);
    const size_t tail = length - head - lines;
    const uint8_t *source = from;
    uint8_t *a = streamed, *b = plain;

    memcpy(a, source, head);
    lines_kernel(kernel)(a + head, b + head, source + head, lines);
    memcpy(a + head + lines, source + head + lines, tail);
    keel_copy_barrier(a); /* reads each byte of the source once */
    memcpy(b, a, head);
    memcpy(b + head + lines, a + head + lines, tail);
}

void keel_copy_two_stream(void *streamed, void *plain, const void *from, size_t length)
{
    keel_copy_two_by(copy_best_kernel(), streamed, plain, from, length);
}

void keel_copy_two_cached(void *second, void *first, const void *from, size_t length)
{
    memcpy(first, from, length);
    keel_copy_barrier(first);
    memcpy(second, first, length);
}

void keel_copy_lines_by(keel_copy_kernel_t kernel, void *streamed, const void *from, size_t length)
{
    lines_kernel(kernel)(streamed, NULL, from, length);
}

void keel_copy_lines(void *streamed, const void *from, size_t length)
{
    keel_copy_lines_by(copy_best_kernel(), streamed, from, length);
}

void keel_copy_lines_done(void)
{
#if defined(__x86_64__)
    _mm_sfence();
#endif
}
