/*
 * CRC-32C. ISA-L's crc32_iscsi() works on the bare register: it neither presets nor inverts, so both are done here,
 * which also makes a result usable as the next seed. Its length is an int.
 */
#include "base/crc.h"

#include "base/copy.h"

#include <isa-l/crc.h>

#include <string.h>

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

/* asks for what is summed next, while this block is: the sum waits for memory otherwise */
static void crc_prefetch(const char *from, size_t length)
{
    for (size_t at = 0; at < length; at += KEEL_COPY_LINE) {
        __builtin_prefetch(from + at);
    }
}

uint32_t keel_crc_copy(uint32_t seed, void *target, const void *source, size_t length)
{
    const char *from = source;
    char *to = target;

    if (length >= KEEL_CRC_STREAM_MIN) {
        const size_t head = -(uintptr_t)to & (KEEL_COPY_LINE - 1);

        seed = keel_crc(seed, from, head);
        memcpy(to, from, head);
        from += head;
        to += head;
        length -= head;
        while (length >= KEEL_CRC_COPY_BLOCK) {
            length -= KEEL_CRC_COPY_BLOCK;
            crc_prefetch(from + KEEL_CRC_COPY_BLOCK, length < KEEL_CRC_COPY_BLOCK ? length : KEEL_CRC_COPY_BLOCK);
            seed = keel_crc(seed, from, KEEL_CRC_COPY_BLOCK);
            keel_copy_lines(to, from, KEEL_CRC_COPY_BLOCK);
            from += KEEL_CRC_COPY_BLOCK;
            to += KEEL_CRC_COPY_BLOCK;
        }
        keel_copy_lines_done();
    }
    seed = keel_crc(seed, from, length);
    memcpy(to, from, length);
    return seed;
}
