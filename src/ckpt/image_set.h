/*
 * Images of a group's members, one for each, and parity over them. There is a set in use, from
 * which dead members are rebuilt, and a set in the making. Generations (coordinated.h) and images
 * of single ranks (demand.h) share this machine and add rules of their own: the ranks that copy an
 * image, and the times at which a set is begun, used and given up.
 *
 * A set in the making advances by itself: the own image is compared with the previous image, the
 * group receives its announcement, the announcements of all members are awaited, and the own share
 * of parity is computed. Progress calls do all of this in bounded steps.
 *
 * Safety. A set has two slots for images and two slots for shares. The set in the making uses the
 * slots that the set in use does not, so it overwrites nothing that a member may read, and giving
 * it up leaves no trace. Parity does one job at a time: a set in the making waits while the share
 * of the set in use is recomputed.
 */
#ifndef KEEL_CKPT_IMAGE_SET_H_
#define KEEL_CKPT_IMAGE_SET_H_

#include "ckpt/budget.h"
#include "ckpt/image.h"
#include "ckpt/parity.h"
#include "ckpt/set_state.h"
#include "peer/peer.h"
#include "topo/group.h"

typedef struct keel_image_member {
    uint32_t position; /* gsync of the image; 0: the member has no image in this set */
    uint32_t slot;
    uint64_t size; /* bytes */
} keel_image_member_t;

typedef struct keel_images {
    uint32_t number; /* newest position in the set; 0: no set */
    uint32_t share_slot;
    uint32_t window_calls; /* collective window calls made before the set */
    uint32_t resume;       /* keel_resume_t */
    uint64_t sync_counter; /* SC of this process at the image */
    keel_image_member_t *members;
} keel_images_t;

/* announcement of an image to the group */
typedef struct keel_image_notice {
    uint32_t number; /* number of the set */
    uint32_t slot;
    uint64_t size;      /* 0: the image could not be made */
    uint32_t before;    /* number of the set that the map compares with, 0: no comparison */
    uint32_t map_bytes; /* bytes of the map of changes (changes.h) that follows */
    uint32_t window_calls;
    uint32_t reserved;
} keel_image_notice_t;

typedef struct keel_image_set {
    keel_lane_t *lane;
    const keel_groups_t *groups;
    const keel_parity_group_t *group; /* the group of this process; size 0: no parity */
    /* set with the images of members that have none here; NULL: none */
    const struct keel_image_set *below;
    keel_budget_t *budget;
    keel_parity_t *parity; /* NULL: none */
    unsigned first_slot;
    uint32_t notice_type, group_type; /* types of control messages */
    uint32_t count;                   /* members; 1 without a group */
    /* the group has changed since the set in use: the set gets no share any more */
    int is_regrouped;
    keel_set_state_t state;
    keel_images_t used, making;
    /* arrays by group index */
    keel_image_notice_t *notices; /* newest announcement of an image */
    /* map of an announcement; of this process the map in the making */
    uint8_t **maps;
    uint8_t *has; /* KEEL_PARITY_HAS_*: parts of the set in use that a member has */
    /* replacement: number of the set in use by the member's announcement */
    uint32_t *group_announced;
    /* scratch arrays: slots and sizes of a set and of the previous serving set */
    uint64_t *sizes;
    uint8_t *slots, *slots_before;
    const uint8_t **changes;

    uint64_t compared; /* bytes of the own image compared */
    uint64_t aborted;
    /* Times of the newest set: start, duration from start to use, start of encoding, duration
     * from the presence of all images to the share, time of the share, time taken from the
     * program for parity, time to make memory. */
    uint64_t started_ns, safe_ns, encode_started_ns, encode_ns, encoded_ns, parity_ns, made_ns;
    uint64_t parity_moved; /* bytes read and written for the newest share */
    /* bytes of other members used for own shares, and bytes skipped because unchanged */
    uint64_t parity_read, parity_spared;
} keel_image_set_t;

typedef struct keel_image_set_params {
    keel_lane_t *lane;
    const keel_groups_t *groups;
    const keel_parity_group_t *group;
    const keel_image_set_t *below;
    keel_budget_t *budget;
    unsigned first_slot;
    uint32_t notice_type, group_type;
} keel_image_set_params_t;

keel_status_t keel_image_set_init(keel_image_set_t *set, const keel_image_set_params_t *params);
void keel_image_set_release(keel_image_set_t *set);
/* The group has changed: only the own image of the set in use is known. @a before: the previous
 * index of this process. Precondition: no set is in the making. If memory is short, the set is
 * unusable and can be released. */
keel_status_t keel_image_set_regroup(keel_image_set_t *set, uint32_t before);

static inline int keel_image_set_is_armed(const keel_image_set_t *set)
{
    return set->state.share == KEEL_SHARE_ARMED;
}
static inline int keel_image_set_is_rearming(const keel_image_set_t *set)
{
    return set->state.share == KEEL_SHARE_REARMING;
}
/* further steps follow, here or at other members */
static inline int keel_image_set_is_making(const keel_image_set_t *set)
{
    return set->state.stage >= KEEL_SET_COMPARING && set->state.stage <= KEEL_SET_ENCODING;
}
static inline int keel_image_set_is_safe(const keel_image_set_t *set)
{
    return set->state.stage == KEEL_SET_SAFE;
}

/* Begins the set of gsync @a number. Members that are not expected to copy an image contribute
 * their serving image. */
void keel_image_set_begin(keel_image_set_t *set, uint32_t number);
void keel_image_set_expect(keel_image_set_t *set, uint32_t index);
/* does member @a index copy an image for the set in the making? */
static inline int keel_image_set_is_expected(const keel_image_set_t *set, uint32_t index)
{
    return set->making.members[index].position == set->making.number;
}
/* Copies the own image, which is expected. The announcement follows the comparison with the
 * previous image. If the image cannot be made, the group receives an announcement of size 0. @a
 * parts NULL: no memory for the list of parts. */
keel_status_t keel_image_set_copy(keel_image_set_t *set, const keel_image_meta_t *meta, const keel_part_t *parts,
                                  unsigned count);
/* marks the set in the making as failed */
void keel_image_set_refuse(keel_image_set_t *set);
void keel_image_set_step(keel_image_set_t *set);
/* Puts the set in the making into use; every member has its share. Returns 0 if this process has
 * not. */
int keel_image_set_use(keel_image_set_t *set);
/* gives up the set in the making; 0: there is none */
int keel_image_set_drop(keel_image_set_t *set);
/* no set is in use any more */
void keel_image_set_void(keel_image_set_t *set);

/* stops the recomputation of the share */
void keel_image_set_stop(keel_image_set_t *set);

/* applies an event; for exchange.c and repair.c */
void keel_image_set_on(keel_image_set_t *set, keel_set_event_t event);
/* serving image of a member: its image in the set in use, else in the set below */
keel_image_member_t keel_image_set_serving(const keel_image_set_t *set, uint32_t index);
/* number of the newest set with serving images; 0: none */
uint32_t keel_image_set_serving_number(const keel_image_set_t *set);
/* fill the scratch arrays for parity */
void keel_image_set_list(keel_image_set_t *set, const keel_images_t *images);
void keel_image_set_list_serving(keel_image_set_t *set);
/* keel_budget_region() with its time added to made_ns */
keel_status_t keel_image_set_region(keel_image_set_t *set, unsigned region, size_t bytes, size_t reserve,
                                    void **base_p);
/* Begins to compute the own share from members that have their images. @a has NULL: all have. @a
 * before may be NULL. */
keel_status_t keel_image_set_share(keel_image_set_t *set, const keel_images_t *images, const uint8_t *has,
                                   const keel_parity_before_t *before);

#endif
