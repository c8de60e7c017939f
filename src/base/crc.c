/*
 * CRC-32C. ISA-L's crc32_iscsi() works on the bare register: it neither presets nor inverts, so both are done here,
 * which also makes a result usable as the next seed. Its length is an int.
 */
#include "base/crc.h"

#include "base/copy.h"

#include <isa-l/crc.h>

#include <string.h>

#define KEEL_CRC_CALL_MAX   ((size_t)1 << 30) /* bytes of one ISA-L call */
#define KEEL_CRC_COPY_BLOCK ((size_t)512)     /* summed while the stores of its copy are under way: 8 lines */
#define KEEL_CRC_COPY_AHEAD ((size_t)2048)    /* asked for so far ahead */
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

/* the sum waits for memory otherwise */
static void crc_prefetch(const char *from)
{
    for (size_t at = 0; at < KEEL_CRC_COPY_BLOCK; at += KEEL_COPY_LINE) {
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
            if (length >= KEEL_CRC_COPY_AHEAD) {
                crc_prefetch(from + KEEL_CRC_COPY_AHEAD);
            }
            keel_copy_lines(to, from, KEEL_CRC_COPY_BLOCK);
            seed = keel_crc(seed, from, KEEL_CRC_COPY_BLOCK);
            from += KEEL_CRC_COPY_BLOCK;
            to += KEEL_CRC_COPY_BLOCK;
        }
        keel_copy_lines_done();
    }
    seed = keel_crc(seed, from, length);
    memcpy(to, from, length);
    return seed;
}
