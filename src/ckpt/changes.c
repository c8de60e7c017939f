/* Maps of changes. */
#include "ckpt/changes.h"

#include "ckpt/image.h"

#include <string.h>

#define CHANGES_BLOCKS_A_PIECE 16

keel_changes_shape_t keel_changes_shape(const keel_stripes_t *stripes, const uint64_t *image_sizes, size_t piece,
                                        size_t most)
{
    const uint64_t chunks = keel_stripes_image_chunks(stripes);
    keel_changes_shape_t shape = {.chunk = keel_stripes_chunk(stripes, image_sizes)};
    uint64_t bytes;

    shape.block = piece / CHANGES_BLOCKS_A_PIECE / KEEL_IMAGE_ALIGN * KEEL_IMAGE_ALIGN;
    if (shape.chunk == 0 || shape.block == 0 || most < chunks) {
        return shape;
    }
    do {
        shape.per_chunk = (shape.chunk + shape.block - 1) / shape.block;
        bytes = (chunks * shape.per_chunk + 7) / 8;
    } while (bytes > most && (shape.block *= 2) > 0);
    shape.bytes = bytes;
    return shape;
}

int keel_changes_compare(const keel_changes_shape_t *shape, const void *image, const void *before, uint64_t size,
                         uint64_t budget, uint64_t *position_p, uint8_t *bits)
{
    const uint8_t *const a = image, *const b = before;
    uint64_t position = *position_p;
    const uint64_t end = (size - position < budget) ? size : position + budget;

    while (position < end) {
        const uint64_t number = position / shape->chunk, offset = position % shape->chunk;
        const uint64_t bit = number * shape->per_chunk + offset / shape->block;
        uint64_t length = shape->block;

        length = length < shape->chunk - offset ? length : shape->chunk - offset;
        length = length < size - position ? length : size - position;
        if (memcmp(a + position, b + position, length) != 0) {
            bits[bit / 8] |= (uint8_t)(1u << bit % 8);
        }
        position += length;
    }
    *position_p = position;
    return position == size;
}
