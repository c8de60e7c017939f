/*
 * Map of the blocks in which an image differs from the image of the previous generation. Both
 * images are in their slots, so the map results from a comparison and does not depend on hashes.
 * The map has a bit for each block. Each chunk (stripes.h) begins with a new block, so the blocks
 * of a stripe's members line up. A member that computes parity skips the blocks that did not
 * change.
 */
#ifndef KEEL_CKPT_CHANGES_H_
#define KEEL_CKPT_CHANGES_H_

#include "ckpt/stripes.h"

/* shape of a map; all members of a group have the same shape if their image sizes did not change */
typedef struct keel_changes_shape {
    uint64_t chunk; /* bytes */
    uint64_t block; /* bytes */
    uint64_t per_chunk;
    size_t bytes; /* length of a map, bytes */
} keel_changes_shape_t;

/* A block is a sixteenth of @a piece, or larger so that a map has at most @a most bytes. Field
 * bytes is 0 if no map fits. */
keel_changes_shape_t keel_changes_shape(const keel_stripes_t *stripes, const uint64_t *image_sizes, size_t piece,
                                        size_t most);

/*
 * Compares two images of @a size bytes from *position_p on, about @a budget bytes of each, and sets
 * the bits of the blocks that differ. @a bits is zero before the first call. Returns 1 when the
 * comparison is complete.
 */
int keel_changes_compare(const keel_changes_shape_t *shape, const void *image, const void *before, uint64_t size,
                         uint64_t budget, uint64_t *position_p, uint8_t *bits);

/* has the block at @a offset of chunk @a number changed? */
static inline int keel_changes_has(const keel_changes_shape_t *shape, const uint8_t *bits, uint64_t number,
                                   uint64_t offset)
{
    const uint64_t bit = number * shape->per_chunk + offset / shape->block;

    return bits[bit / 8] >> bit % 8 & 1;
}

#endif
