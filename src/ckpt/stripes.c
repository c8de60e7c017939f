/* Sizes of chunks. */
#include "ckpt/stripes.h"

#include "ckpt/image.h"

uint64_t keel_stripes_chunk(const keel_stripes_t *stripes, const uint64_t *image_sizes)
{
    const uint64_t chunks = keel_stripes_image_chunks(stripes);
    uint64_t largest = 0, chunk;

    for (uint32_t i = 0; i < stripes->size; i++) {
        largest = image_sizes[i] > largest ? image_sizes[i] : largest;
    }
    chunk = largest / chunks + (largest % chunks != 0);
    return (chunk + KEEL_IMAGE_ALIGN - 1) / KEEL_IMAGE_ALIGN * KEEL_IMAGE_ALIGN;
}
