/*
 * Parity of a group, rotating over its members or on dedicated members. Any m members may be lost,
 * with their images and shares. stripes.h defines the layout.
 *
 * Every member computes its own share in the background: it reads the other members' image slots
 * one-sidedly, in pieces. keel_parity_step() does a bounded amount of work and never blocks. On the
 * direct lane the sources are the mapped slots, otherwise pieces read ahead. The same machine
 * rebuilds a lost image or share from the image and parity slots of members that have theirs.
 * Several lost members rebuild at the same time; none waits for another.
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
    uint32_t index;          /* index of this process */
    uint32_t parities;       /* m, 1 .. k - 1 */
    /* the first m members have shares and no images, the other members images and no shares */
    int is_dedicated;
} keel_parity_group_t;

static inline keel_stripes_t keel_parity_stripes(const keel_parity_group_t *group)
{
    return (keel_stripes_t){.size = group->size, .parities = group->parities, .is_dedicated = group->is_dedicated};
}

/* this member holds parity and has no image */
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

/* contents of a member's slots */
enum { KEEL_PARITY_HAS_IMAGE = 1, KEEL_PARITY_HAS_SHARE = 2, KEEL_PARITY_HAS_ALL = 3 };

/* Optional base of a share: the previous generation in the other slot, complete at every member. */
typedef struct keel_parity_before {
    /* by member index, copied: slots of the previous images; NULL: all in the other one of
     * slots 0 and 1 */
    const uint8_t *image_slots;
    const void *share; /* own previous share, of equal image sizes */
    /* by member index, copied: maps of keel_parity_changes_shape(); NULL: nothing changed */
    const uint8_t *const *changes;
} keel_parity_before_t;

typedef struct keel_parity_work {
    unsigned slot;               /* slot of the shares, and of the images if image_slots is NULL */
    const uint8_t *image_slots;  /* by member index, copied; NULL: all images are in slot */
    const uint64_t *image_sizes; /* by member index; copied */
    /* by member index, KEEL_PARITY_HAS_*, copied; NULL: all have all. The entry of this
     * member is ignored. */
    const uint8_t *has;
    void *output; /* memory of the own slot */
    /* shares only: unchanged blocks are not read; NULL: no previous share is known */
    const keel_parity_before_t *before;
} keel_parity_work_t;

keel_status_t keel_parity_create(keel_lane_t *lane, const keel_parity_group_t *group, keel_parity_t **parity_p);
/* Allowed while reads are outstanding: their memory stays until the last one has ended. NULL: no
 * effect. */
void keel_parity_destroy(keel_parity_t *parity);

keel_changes_shape_t keel_parity_changes_shape(const keel_parity_t *parity, const uint64_t *image_sizes);
/* bytes of this member's share for these image sizes (by member index) */
size_t keel_parity_share_size(const keel_parity_group_t *group, const uint64_t *image_sizes);

/*
 * Encode and rebuild begin work and move no data yet. The members' slots must stay unchanged until
 * the work has ended. KEEL_ERR_STATE: other work is in progress, cancel it first.
 * KEEL_ERR_INVALID_PARAM: also if members have too little. Each read checks its range against the
 * peer's region: KEEL_ERR_CORRUPT ends the work if a region is too short, KEEL_ERR_UNREACHABLE if
 * the region is unknown or its mapping is gone. The replacement of a member during the work is not
 * noticed here: cancel at a change of the view.
 */
/* computes this member's share, keel_parity_share_size() bytes */
keel_status_t keel_parity_encode(keel_parity_t *parity, const keel_parity_work_t *work);
/* computes this member's image, image_sizes[index] bytes */
keel_status_t keel_parity_rebuild(keel_parity_t *parity, const keel_parity_work_t *work);
/* Does a bounded amount of work. KEEL_OK: finished, or nothing to do. KEEL_INPROGRESS: call
 * again. Otherwise the error that ended the work, repeated at each call until new work is begun
 * or cancelled. */
keel_status_t keel_parity_step(keel_parity_t *parity);
/* Gives up the work in progress. Safe while reads are outstanding: their buffers are kept until
 * they end. */
void keel_parity_cancel(keel_parity_t *parity);
/* bytes of member @a index used by the work begun last; the size of its image or share without
 * padding after the end */
uint64_t keel_parity_bytes_from(const keel_parity_t *parity, uint32_t index);
/* bytes not read because they had not changed */
uint64_t keel_parity_bytes_spared(const keel_parity_t *parity);
/* bytes read and written by the work until now, the previous share included */
uint64_t keel_parity_bytes_moved(const keel_parity_t *parity);
/* maximum bytes of read buffers until now */
size_t keel_parity_buffer_peak(const keel_parity_t *parity);

#endif
