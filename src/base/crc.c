/*
 * CRC-32C. ISA-L's crc32_iscsi() works on the bare register: it neither presets nor inverts, so both are done here,
 * which also makes a result usable as the next seed. Its length is an int.
 */
#include "base/crc.h"

#include <isa-l/crc.h>

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define KEEL_CRC_CALL_MAX   ((size_t)1 << 30) /* bytes of one ISA-L call */
#define KEEL_CRC_COPY_BLOCK ((size_t)4096)    /* summed, then copied while it is in the first-level cache */
#define KEEL_CRC_STREAM_MIN ((size_t)4096)    /* shorter copies are likely read soon: keep them in the cache */

uint32_t keel_crc(uint32_t seed, const void *data, size_t length)
{
    unsigned char *bytes = (unsigned char *)data; /* ISA-L's prototype lacks the const */
    uint32_t crc = ~seed;
    size_t part;

    while (length > 0) {
        part = (length < KEEL_CRC_CALL_MAX) ? length : KEEL_CRC_CALL_MAX;
        crc = crc32_iscsi(bytes, (int)part, crc);
        bytes += part;
        length -= part;
    }
    return ~crc;
}

#ifdef __SSE2__
/* copies past the cache; target 16-byte aligned, length a multiple of 64 */
static void keel_crc_stream(char *target, const char *source, size_t length)
{
    size_t i;

    for (i = 0; i < length; i += 64) {
        const __m128i a = _mm_loadu_si128((const __m128i *)(source + i));
        const __m128i b = _mm_loadu_si128((const __m128i *)(source + i + 16));
        const __m128i c = _mm_loadu_si128((const __m128i *)(source + i + 32));
        const __m128i d = _mm_loadu_si128((const __m128i *)(source + i + 48));
        _mm_stream_si128((__m128i *)(target + i), a);
        _mm_stream_si128((__m128i *)(target + i + 16), b);
        _mm_stream_si128((__m128i *)(target + i + 32), c);
        _mm_stream_si128((__m128i *)(target + i + 48), d);
    }
}
#endif

uint32_t keel_crc_copy(uint32_t seed, void *target, const void *source, size_t length)
{
    const char *from = source;
    char *to = target;

#ifdef __SSE2__
    if (length >= KEEL_CRC_STREAM_MIN) {
        const size_t head = -(uintptr_t)to & 15;

        seed = keel_crc(seed, from, head);
        memcpy(to, from, head);
        from += head;
        to += head;
        length -= head;
        while (length >= KEEL_CRC_COPY_BLOCK) {
            seed = keel_crc(seed, from, KEEL_CRC_COPY_BLOCK);
            keel_crc_stream(to, from, KEEL_CRC_COPY_BLOCK);
            from += KEEL_CRC_COPY_BLOCK;
            to += KEEL_CRC_COPY_BLOCK;
            length -= KEEL_CRC_COPY_BLOCK;
        }
        _mm_sfence(); /* streamed bytes are visible before whatever the caller publishes next */
    }
#endif
    seed = keel_crc(seed, from, length);
    memcpy(to, from, length);
    return seed;
}
