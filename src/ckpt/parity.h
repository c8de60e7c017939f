/*
 * Parity of a group, rotating over it or with members of its own: any m members may be lost, image and share (stripes.h
 * says what lies where).
 *
 * Every member computes its own share by reading the others' image slots one-sidedly, in pieces, in the background:
 * keel_parity_step() does a bounded amount of work and never blocks. On the direct lane it computes straight from the
 * mapped slots, otherwise from pieces it reads ahead. The same machine rebuilds what was lost, an image or a share, from
 * the image slots and parity slots of members that have theirs: several lost members do so at the same time, none waits
 * for another.
 */
#ifndef KEEL_CKPT_PARITY_H_
#define KEEL_CKPT_PARITY_H_

#include "ckpt/changes.h"
#include "ckpt/stripes.h"
#include "peer/peer.h"

typedef struct keel_parity keel_parity_t;

typedef struct keel_parity_group {
    const uint32_t *members; /* ranks, by index */
    uint32_t size;           /* k >= 2 */
    uint32_t index;          /* of this process */
    uint32_t parities;       /* m, 1 .. k - 1 */
    int is_dedicated;        /* the first m members have shares and no images, the others images and no shares */
} keel_parity_group_t;

static inline keel_stripes_t keel_parity_stripes(const keel_parity_group_t *group)
{
    return (keel_stripes_t){.size = group->size, .parities = group->parities, .is_dedicated = group->is_dedicated};
}

/* this member holds parity and has no image; it has a share; member @a index has an image */
static inline int keel_parity_is_checksum(const keel_parity_group_t *group)
{
    return group->is_dedicated && group->index < group->parities;
}
static inline int keel_parity_has_share(const keel_parity_group_t *group)
{
    return group->size > 0 && (!group->is_dedicated || keel_parity_is_checksum(group));
}
static inline int keel_parity_has_image(const keel_parity_group_t *group, uint32_t index)
{
    return !group->is_dedicated || index >= group->parities;
}

/* what a member has in the slot that is worked on */
enum { KEEL_PARITY_HAS_IMAGE = 1, KEEL_PARITY_HAS_SHARE = 2, KEEL_PARITY_HAS_ALL = 3 };

/* what a share may be computed from besides: the same of the generation before, in the other slot, complete everywhere */
typedef struct keel_parity_before {
    const uint8_t
        *image_slots;  /* by member index, copied: where the images were; NULL: all in the other of slots 0 and 1 */
    const void *share; /* own, of the same image sizes */
    const uint8_t *const
        *changes; /* by member index: maps of keel_parity_changes_shape(); copied. NULL: nothing changed. */
} keel_parity_before_t;

typedef struct keel_parity_work {
    unsigned slot;               /* of shares, and of images unless */
    const uint8_t *image_slots;  /* by member index, copied; NULL: the same */
    const uint64_t *image_sizes; /* by member index; copied */
    const uint8_t
        *has;     /* by member index, KEEL_PARITY_HAS_*; copied; NULL: all have all. Of this member nothing is used. */
    void *output; /* own slot's memory */
    const keel_parity_before_t *before; /* of a share: what did not change is not read; NULL: nothing is known */
} keel_parity_work_t;

keel_status_t keel_parity_create(keel_lane_t *lane, const keel_parity_group_t *group, keel_parity_t **parity_p);
/* allowed while reads are outstanding: what they need stays until the last one has ended; NULL: nothing */
void keel_parity_destroy(keel_parity_t *parity);

keel_changes_shape_t keel_parity_changes_shape(const keel_parity_t *parity, const uint64_t *image_sizes);
/* bytes of the member's parity share for these image sizes (by member index) */
size_t keel_parity_share_size(const keel_parity_group_t *group, const uint64_t *image_sizes);

/*
 * Both begin work and move no data yet. What members have stays unchanged until the work has ended. KEEL_ERR_STATE: other
 * work is under way (cancel it first); KEEL_ERR_INVALID_PARAM: also when members have too little. Sizes are checked against the
 * peers' regions as they are read: KEEL_ERR_CORRUPT ends the work when a region is too short, KEEL_ERR_UNREACHABLE when it
 * is not known or its mapping is gone. A member that is replaced while work is under way is not noticed here: cancel at a
 * change of the view.
 */
/* this member's share, keel_parity_share_size() bytes */
keel_status_t keel_parity_encode(keel_parity_t *parity, const keel_parity_work_t *work);
/* this member's image, image_sizes[index] bytes */
keel_status_t keel_parity_rebuild(keel_parity_t *parity, const keel_parity_work_t *work);
/* some work; KEEL_OK when finished or nothing is to do, KEEL_INPROGRESS, or the error that ended it (again at each call
 * until something is begun or cancelled) */
keel_status_t keel_parity_step(keel_parity_t *parity);
/* gives up what is under way; safe while reads are outstanding (their buffers are kept until they end) */
void keel_parity_cancel(keel_parity_t *parity);
/* bytes of member @a index that went into the work begun last; its image or share, without padding, when finished */
uint64_t keel_parity_bytes_from(const keel_parity_t *parity, uint32_t index);
/* and what was not read because it had not changed */
uint64_t keel_parity_bytes_spared(const keel_parity_t *parity);
/* read and written by it so far, the share of the generation before included */
uint64_t keel_parity_bytes_moved(const keel_parity_t *parity);
/* bytes of buffers for what is read, at most so far */
size_t keel_parity_buffer_peak(const keel_parity_t *parity);

#endif
