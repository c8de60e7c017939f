/*
 * CRC-32C. ISA-L's crc32_iscsi() works on the bare register without preset and inversion. Both are
 * done here, so a result can be the next seed. ISA-L's length is an int.
 */
#include "base/crc.h"

#include "base/copy.h"
#include "base/vector.h"

#include <isa-l/crc.h>

#include <string.h>

#define KEEL_CRC_CALL_MAX   ((size_t)1 << 30) /* maximum bytes of an ISA-L call */
#define KEEL_CRC_COPY_BLOCK ((size_t)2048)    /* summed while the stores of its copy complete */
#define KEEL_CRC_COPY_AHEAD ((size_t)2048)    /* distance of prefetches of the source */
#define KEEL_CRC_KEPT_AHEAD ((uintptr_t)8192) /* distance of prefetches of lines for writing */
/* shorter copies are likely read soon and stay in the cache */
#define KEEL_CRC_STREAM_MIN ((size_t)4096)

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
    keel_vector_end();
    return ~crc;
}

/* without prefetch the sum waits for memory */
static void crc_prefetch(const char *from)
{
    for (size_t at = 0; at < KEEL_CRC_COPY_BLOCK; at += KEEL_COPY_LINE) {
        __builtin_prefetch(from + at);
    }
}

/* Copies at most a block. The source is read once, and the sum comes from a buffer: the program
 * may write the source concurrently, and the sum must match the copy. */
static uint32_t crc_copy_block(uint32_t seed, char *to, const char *from, size_t length, int is_streamed)
{
    char block[KEEL_CRC_COPY_BLOCK] __attribute__((aligned(KEEL_COPY_LINE)));

    if (is_streamed) {
        keel_copy_two_stream(to, block, from, length);
    } else {
        memcpy(block, from, length);
        keel_copy_barrier(block);
        memcpy(to, block, length);
    }
    return keel_crc(seed, block, length);
}

uint32_t keel_crc_copy_kept(uint32_t seed, void *target, const void *source, size_t length)
{
    const char *from = source;
    char *to = target;
    size_t part;

    for (; length > 0; length -= part, from += part, to += part) {
        part = (length < KEEL_CRC_COPY_BLOCK) ? length : KEEL_CRC_COPY_BLOCK;
        keel_prefetch_write_all((const void *)((uintptr_t)to + KEEL_CRC_KEPT_AHEAD), part);
        memcpy(to, from, part);
        keel_copy_barrier(to); /* the sum is of the copied bytes */
        seed = keel_crc(seed, to, part);
    }
    return seed;
}

uint32_t keel_crc_copy(uint32_t seed, void *target, const void *source, size_t length)
{
    const char *from = source;
    char *to = target;
    size_t part;

    if (length >= KEEL_CRC_STREAM_MIN) {
        part = -(uintptr_t)to & (KEEL_COPY_LINE - 1);
        seed = crc_copy_block(seed, to, from, part, 0);
        for (from += part, to += part, length -= part; length >= KEEL_CRC_COPY_BLOCK; length -= KEEL_CRC_COPY_BLOCK) {
            if (length >= KEEL_CRC_COPY_BLOCK + KEEL_CRC_COPY_AHEAD) {
                crc_prefetch(from + KEEL_CRC_COPY_AHEAD);
            }
            seed = crc_copy_block(seed, to, from, KEEL_CRC_COPY_BLOCK, 1);
            from += KEEL_CRC_COPY_BLOCK;
            to += KEEL_CRC_COPY_BLOCK;
        }
        keel_copy_lines_done();
    }
    for (; length > 0; length -= part, from += part, to += part) {
        part = (length < KEEL_CRC_COPY_BLOCK) ? length : KEEL_CRC_COPY_BLOCK;
        seed = crc_copy_block(seed, to, from, part, 0);
    }
    return seed;
}
