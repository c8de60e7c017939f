/*
 * Which blocks of an image differ from the image of the generation before, which is still in its slot: found by comparing
 * the two, so nothing depends on a hash. A bit a block; blocks begin anew with every chunk (stripes.h), so that blocks of
 * the members of a stripe lie side by side. Whoever computes parity need not read what did not change.
 */
#ifndef KEEL_CKPT_CHANGES_H_
#define KEEL_CKPT_CHANGES_H_

#include "ckpt/stripes.h"

/* the same for all members of a group whose image sizes are the same as before */
typedef struct keel_changes_shape {
    uint64_t chunk; /* bytes */
    uint64_t block; /* bytes */
    uint64_t per_chunk;
    size_t bytes; /* of a map */
} keel_changes_shape_t;

/* blocks of a sixteenth of @a piece, or larger, so that a map has at most @a most bytes; bytes 0: there is no such map */
keel_changes_shape_t keel_changes_shape(const keel_stripes_t *stripes, const uint64_t *image_sizes, size_t piece,
                                        size_t most);

/*
 * Compares two images of @a size bytes from *position_p on, about @a budget bytes of each, and sets the bits of blocks that
 * differ. @a bits is zero at the start. 1 when all is compared.
 */
int keel_changes_compare(const keel_changes_shape_t *shape, const void *image, const void *before, uint64_t size,
                         uint64_t budget, uint64_t *position_p, uint8_t *bits);

/* the block that has this offset of chunk @a number */
static inline int keel_changes_has(const keel_changes_shape_t *shape, const uint8_t *bits, uint64_t number,
                                   uint64_t offset)
{
    const uint64_t bit = number * shape->per_chunk + offset / shape->block;

    return bits[bit / 8] >> bit % 8 & 1;
}

#endif
