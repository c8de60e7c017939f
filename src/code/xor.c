/*
 * XOR over any number of buffers. ISA-L does the bulk if all buffers can be brought to a common
 * alignment. The rest (heads, odd alignments) uses words in plain C, which is also memory-bound
 * when blocked.
 */
#include "code/xor.h"

#include "base/vector.h"

#include <isa-l/raid.h>

#include <stdint.h>
#include <string.h>

/* widest vector stored by ISA-L, which documents 32 */
#define KEEL_XOR_ALIGN ((size_t)64)
/* bytes of each buffer in a pass, which stay cached */
#define KEEL_XOR_BLOCK      ((size_t)64 * 1024)
#define KEEL_XOR_SOURCE_MAX 32u /* sources of one pass */

/* bytes until the buffer is aligned */
static size_t keel_xor_head(const void *buffer)
{
    return -(uintptr_t)buffer & (KEEL_XOR_ALIGN - 1);
}

/* target ^= source, or target = source when it is the first */
static void keel_xor_words(char *target, const char *source, size_t length)
{
    uint64_t a, b;
    size_t i;

    for (i = 0; i + sizeof a <= length; i += sizeof a) {
        memcpy(&a, target + i, sizeof a);
        memcpy(&b, source + i, sizeof b);
        a ^= b;
        memcpy(target + i, &a, sizeof a);
    }
    for (; i < length; i++) {
        target[i] ^= source[i];
    }
}

/* Writes to @a target the XOR of a pass over the sources. Works in small parts, so a source
 * equal to the target is read first. */
static void keel_xor_plain(char *target, const char *const *sources, unsigned count, size_t offset, size_t length)
{
    char sum[1024];
    size_t done, part;
    unsigned i;

    for (done = 0; done < length; done += part) {
        part = (length - done < sizeof sum) ? length - done : sizeof sum;
        memcpy(sum, sources[0] + offset + done, part);
        for (i = 1; i < count; i++) {
            keel_xor_words(sum, sources[i] + offset + done, part);
        }
        memcpy(target + offset + done, sum, part);
    }
}

/* a pass with count 1 .. KEEL_XOR_SOURCE_MAX, length up to KEEL_XOR_BLOCK, all buffers aligned
 * at @a offset */
static void keel_xor_aligned(char *target, const char *const *sources, unsigned count, size_t offset, size_t length)
{
    void *vectors[KEEL_XOR_SOURCE_MAX + 1];
    unsigned i;

    if (count >= 2) {
        for (i = 0; i < count; i++) {
            vectors[i] = (void *)(sources[i] + offset);
        }
        vectors[count] = target + offset;
        if (xor_gen(count + 1, (int)length, vectors) == 0) {
            keel_vector_end();
            return;
        }
    }
    keel_xor_plain(target, sources, count, offset, length);
}

/* up to KEEL_XOR_SOURCE_MAX sources */
static void keel_xor_pass(char *target, const char *const *sources, unsigned count, size_t offset, size_t length)
{
    const size_t head = keel_xor_head(target + offset);
    size_t first;
    unsigned i;

    for (i = 0; i < count; i++) {
        if (keel_xor_head(sources[i] + offset) != head) {
            keel_xor_plain(target, sources, count, offset, length);
            return;
        }
    }
    first = (head < length) ? head : length;
    keel_xor_plain(target, sources, count, offset, first);
    if (length > first) {
        keel_xor_aligned(target, sources, count, offset + first, length - first);
    }
}

/*
 * Sources are taken in passes; from the second pass on the target is one of the sources. A source
 * equal to the target would be lost after the first pass, so such sources are removed: an even
 * number cancels, an odd number is the target once.
 */
static void keel_xor_block(char *target, const void *const *sources, unsigned count, int has_target, size_t offset,
                           size_t length)
{
    const char *part[KEEL_XOR_SOURCE_MAX];
    unsigned used = 0, next = 0;

    if (has_target) {
        part[used++] = target;
    }
    do {
        for (; (used < KEEL_XOR_SOURCE_MAX) && (next < count); next++) {
            if (sources[next] != target) {
                part[used++] = sources[next];
            }
        }
        if (used == 0) {
            memset(target + offset, 0, length);
            return;
        }
        keel_xor_pass(target, part, used, offset, length);
        part[0] = target;
        used = 1;
    } while (next < count);
}

void keel_xor(void *target, const void *const *sources, unsigned count, size_t length)
{
    size_t offset, part;
    int has_target = 0;
    unsigned i;

    for (i = 0; i < count; i++) {
        has_target ^= (sources[i] == target);
    }
    for (offset = 0; offset < length; offset += part) {
        part = (length - offset < KEEL_XOR_BLOCK) ? length - offset : KEEL_XOR_BLOCK;
        keel_xor_block(target, sources, count, has_target, offset, part);
    }
}

void keel_xor_into(void *target, const void *source, size_t length)
{
    const void *const sources[] = {target, source};

    keel_xor(target, sources, 2, length);
}

void keel_xor_reference(void *target, const void *const *sources, unsigned count, size_t length)
{
    unsigned char *bytes = target;
    unsigned char sum;
    size_t i;
    unsigned j;

    for (i = 0; i < length; i++) {
        sum = 0;
        for (j = 0; j < count; j++) {
            sum ^= ((const unsigned char *)sources[j])[i];
        }
        bytes[i] = sum;
    }
}
