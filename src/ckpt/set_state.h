/*
 * States of a set of images (image_set.h) and their transitions: the stage of the set in the
 * making, and independently the presence of the own share of the set in use.
 */
#ifndef KEEL_CKPT_SET_STATE_H_
#define KEEL_CKPT_SET_STATE_H_

/* stage of the set in the making */
typedef enum {
    KEEL_SET_IDLE,      /* no set in the making */
    KEEL_SET_COMPARING, /* the own image is in its slot and is compared with the previous image */
    KEEL_SET_IMAGES,    /* announcements of the other members' images are awaited */
    KEEL_SET_ENCODING,  /* the own share is computed */
    KEEL_SET_SAFE,      /* the own share is complete */
    KEEL_SET_FAILED,    /* the image or share cannot be made: no rank will use this set */
    KEEL_SET_STAGES
} keel_set_stage_t;

/* own share of the set in use */
typedef enum {
    KEEL_SHARE_ARMED, /* complete, or there is no set */
    KEEL_SHARE_LACKING,
    KEEL_SHARE_REARMING, /* recomputed at the moment */
    KEEL_SHARE_STATES
} keel_set_share_t;

typedef enum {
    KEEL_SET_BEGUN,
    KEEL_SET_COPIED,    /* the own image is copied and can be compared */
    KEEL_SET_ANNOUNCED, /* the compared image is announced to the group */
    KEEL_SET_GATHERED,
    KEEL_SET_ENCODED,
    KEEL_SET_REFUSED, /* an image or a share cannot be made */
    KEEL_SET_USED,
    KEEL_SET_DROPPED,
    KEEL_SET_LOST,    /* a replacement has no share yet */
    KEEL_SET_VOID,    /* no set is in use any more */
    KEEL_SET_REARM,   /* the recomputation of the share begins */
    KEEL_SET_REARMED, /* the recomputed share is complete */
    KEEL_SET_UNARMED, /* the recomputation is given up */
    KEEL_SET_EVENTS
} keel_set_event_t;

typedef struct keel_set_state {
    keel_set_stage_t stage;
    keel_set_share_t share;
} keel_set_state_t;

/* Computes the next state. Returns 0 if the event cannot occur in this state. */
int keel_set_state_next(keel_set_state_t state, keel_set_event_t event, keel_set_state_t *next_p);

#endif
