/*
 * Layout of a group's images and their parity. Of k members, stripe s (0 .. k-1) has its m parity
 * chunks at members s, s+1, .. s+m-1 and its k-m data chunks at the following members (modulo k).
 * So every member has k-m data chunks, its image, and m parity chunks, its share. Chunk n of an
 * image is the data chunk at place n of its stripe; chunk p of a share is parity chunk p of its
 * stripe: the place determines the stripe. Images count as padded with zeros to the size of the
 * group's largest image; chunk = largest image / (k - m), rounded up to KEEL_IMAGE_ALIGN. Overhead
 * of parity: m chunks for each member. Two members with one parity mirror each other.
 *
 * With dedicated checksum processes [F 6] there is only stripe 0: the first m members have its
 * parity chunks as shares and no images; the other members have its data chunks as whole images and
 * no shares.
 */
#ifndef KEEL_CKPT_STRIPES_H_
#define KEEL_CKPT_STRIPES_H_

#include <stddef.h>
#include <stdint.h>

typedef struct keel_stripes {
    uint32_t size;     /* k: members, also stripes */
    uint32_t parities; /* m: 1 .. k - 1 */
    int is_dedicated;
} keel_stripes_t;

/* bytes of a chunk for these image sizes (by member) */
uint64_t keel_stripes_chunk(const keel_stripes_t *stripes, const uint64_t *image_sizes);

static inline uint32_t keel_stripes_data(const keel_stripes_t *stripes)
{
    return stripes->size - stripes->parities;
}
/* chunks of an image, for a member with an image */
static inline uint32_t keel_stripes_image_chunks(const keel_stripes_t *stripes)
{
    return stripes->is_dedicated ? 1 : keel_stripes_data(stripes);
}
static inline uint32_t keel_stripes_share_chunks(const keel_stripes_t *stripes)
{
    return stripes->is_dedicated ? 1 : stripes->parities;
}
static inline int keel_stripes_has_image(const keel_stripes_t *stripes, uint32_t member)
{
    return !stripes->is_dedicated || member >= stripes->parities;
}
static inline int keel_stripes_has_share(const keel_stripes_t *stripes, uint32_t member)
{
    return !stripes->is_dedicated || member < stripes->parities;
}

/* place in its stripe of chunk @a number of the member's image: data first, then parity
 * (code/rs.h) */
static inline uint32_t keel_stripes_image_place(const keel_stripes_t *stripes, uint32_t member, uint32_t number)
{
    return stripes->is_dedicated ? member - stripes->parities : number;
}
static inline uint32_t keel_stripes_share_place(const keel_stripes_t *stripes, uint32_t member, uint32_t number)
{
    return keel_stripes_data(stripes) + (stripes->is_dedicated ? member : number);
}
/* number, within its image or share, of the chunk at a place */
static inline uint32_t keel_stripes_number(const keel_stripes_t *stripes, uint32_t place)
{
    const uint32_t data = keel_stripes_data(stripes);

    return stripes->is_dedicated ? 0 : place < data ? place : place - data;
}
/* member with the chunk at a place of the stripe; keel_stripes_stripe() is the inverse */
static inline uint32_t keel_stripes_member(const keel_stripes_t *stripes, uint32_t stripe, uint32_t place)
{
    return (stripe + stripes->parities + place) % stripes->size;
}
static inline uint32_t keel_stripes_stripe(const keel_stripes_t *stripes, uint32_t member, uint32_t place)
{
    return (member + 2 * stripes->size - stripes->parities - place) % stripes->size;
}

#endif
