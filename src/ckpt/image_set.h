/*
 * The images of a group's members, one each, and parity over them: a set in use, from which members that die are rebuilt,
 * and a set in the making. Generations (coordinated.h) and images of single ranks (demand.h) are this machine with rules of
 * their own on top: who copies an image, when a set is begun, is used and is given up.
 *
 * A set in the making goes from stage to stage by itself: the own image is compared with the one before it, the group is
 * told of it, all members' are awaited, the own share of parity is computed. All of it is bounded steps, from progress.
 *
 * Safety. A set has two slots for images and two for shares. What is in the making lies in the one that the set in use does
 * not, so it overwrites nothing that anybody may read, and is given up without a trace. Parity does one thing at a time: a
 * set in the making waits while the share of the set in use is computed again.
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
    uint32_t position; /* of its image: the gsync it was taken at; 0: it has none here */
    uint32_t slot;
    uint64_t size; /* bytes */
} keel_image_member_t;

typedef struct keel_images {
    uint32_t number; /* the newest position in it; 0: there is none */
    uint32_t share_slot;
    uint32_t window_calls; /* collective window calls before it */
    uint32_t resume;       /* keel_resume_t */
    uint64_t sync_counter; /* of this process then */
    keel_image_member_t *members;
} keel_images_t;

/* what members tell each other of their images */
typedef struct keel_image_told {
    uint32_t number; /* of the set */
    uint32_t slot;
    uint64_t size;      /* 0: it could not be made */
    uint32_t before;    /* number of the set it was compared with, 0: none; then */
    uint32_t map_bytes; /* a map of what changed follows (changes.h) */
    uint32_t window_calls;
    uint32_t reserved;
} keel_image_told_t;

typedef struct keel_image_set {
    keel_lane_t *lane;
    const keel_groups_t *groups;
    const keel_parity_group_t *group;   /* of this process; size 0: no parity */
    const struct keel_image_set *below; /* has the images of members that have none here; NULL: nothing has */
    keel_budget_t *budget;
    keel_parity_t *parity; /* NULL: none */
    unsigned first_slot;
    uint32_t told_type, group_type; /* control messages */
    uint32_t count;                 /* members; 1 without a group */
    keel_set_state_t state;
    keel_images_t used, making;
    /* by group index */
    keel_image_told_t *told; /* the newest word on an image, */
    uint8_t **maps;          /* and its map; of this process the one being made */
    uint8_t *has;            /* what is there of the set in use: KEEL_PARITY_HAS_* */
    uint32_t *group_told;    /* a replacement: number of the set it was told of */
    /* scratch: of a set, and of what served before it */
    uint64_t *sizes;
    uint8_t *slots, *slots_before;
    const uint8_t **changes;

    uint64_t compared; /* bytes of the own image */
    uint64_t aborted;
    /* of the newest set: from its begin to its use; from all images being there to the share, and when that was; of it the
     * program's time; making memory */
    uint64_t started_ns, safe_ns, encode_started_ns, encode_ns, encoded_ns, parity_ns, made_ns;
    uint64_t parity_moved;               /* bytes read and written for the newest share */
    uint64_t parity_read, parity_spared; /* bytes of others that went into own shares, or did not because unchanged */
} keel_image_set_t;

typedef struct keel_image_set_params {
    keel_lane_t *lane;
    const keel_groups_t *groups;
    const keel_parity_group_t *group;
    const keel_image_set_t *below;
    keel_budget_t *budget;
    unsigned first_slot;
    uint32_t told_type, group_type;
} keel_image_set_params_t;

keel_status_t keel_image_set_init(keel_image_set_t *set, const keel_image_set_params_t *params);
void keel_image_set_release(keel_image_set_t *set);

static inline int keel_image_set_is_armed(const keel_image_set_t *set)
{
    return set->state.share == KEEL_SHARE_ARMED;
}
static inline int keel_image_set_is_rearming(const keel_image_set_t *set)
{
    return set->state.share == KEEL_SHARE_REARMING;
}
/* steps lead on, here or at other members */
static inline int keel_image_set_is_making(const keel_image_set_t *set)
{
    return set->state.stage >= KEEL_SET_COMPARING && set->state.stage <= KEEL_SET_ENCODING;
}
static inline int keel_image_set_is_safe(const keel_image_set_t *set)
{
    return set->state.stage == KEEL_SET_SAFE;
}

/* begins the set of gsync @a number; of members that are not expected to copy an image what serves goes on serving */
void keel_image_set_begin(keel_image_set_t *set, uint32_t number);
void keel_image_set_expect(keel_image_set_t *set, uint32_t index);
/* member @a index copies an image for it */
static inline int keel_image_set_is_expected(const keel_image_set_t *set, uint32_t index)
{
    return set->making.members[index].position == set->making.number;
}
/* copies the own image, which is expected; the group is told of it when it is compared. Where it cannot be made, the group
 * is told of that. @a parts NULL: no memory for them. */
keel_status_t keel_image_set_copy(keel_image_set_t *set, const keel_image_meta_t *meta, const keel_part_t *parts,
                                  unsigned count);
/* it cannot be had */
void keel_image_set_refuse(keel_image_set_t *set);
void keel_image_set_step(keel_image_set_t *set);
/* the set in the making, which every member has its share of, becomes the one in use; 0: this process has not */
int keel_image_set_use(keel_image_set_t *set);
/* gives up what is in the making; 0: nothing is */
int keel_image_set_drop(keel_image_set_t *set);
/* there is no set in use any more */
void keel_image_set_void(keel_image_set_t *set);

/* the share is not computed again for now */
void keel_image_set_stop(keel_image_set_t *set);

/* for exchange.c and repair.c */
void keel_image_set_on(keel_image_set_t *set, keel_set_event_t event);
/* what serves of a member: its image in the set in use, or below it */
keel_image_member_t keel_image_set_serving(const keel_image_set_t *set, uint32_t index);
/* the number of the newest set that serves; 0: there is none */
uint32_t keel_image_set_serving_number(const keel_image_set_t *set);
/* fills the scratch arrays for parity */
void keel_image_set_list(keel_image_set_t *set, const keel_images_t *images);
void keel_image_set_list_serving(keel_image_set_t *set);
/* keel_budget_region(), and counts the time that it takes */
keel_status_t keel_image_set_region(keel_image_set_t *set, unsigned region, size_t bytes, size_t reserve,
                                    void **base_p);
/* begins to compute the own share from members that have theirs; @a has NULL: all; @a before may be NULL */
keel_status_t keel_image_set_share(keel_image_set_t *set, const keel_images_t *images, const uint8_t *has,
                                   const keel_parity_before_t *before);

#endif
