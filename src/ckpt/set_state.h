/*
 * The states of a set of images (image_set.h), and what leads from one to the next: of the set in the making a stage, and
 * beside it whether the own share of the set in use is there.
 */
#ifndef KEEL_CKPT_SET_STATE_H_
#define KEEL_CKPT_SET_STATE_H_

/* of the set in the making */
typedef enum {
    KEEL_SET_IDLE,      /* there is none */
    KEEL_SET_COMPARING, /* the own image lies in its slot, and is compared with the one before */
    KEEL_SET_IMAGES,    /* members are to tell of theirs */
    KEEL_SET_ENCODING,  /* the own share is computed */
    KEEL_SET_SAFE,      /* it is there */
    KEEL_SET_FAILED,    /* it cannot be had: nobody will have this set */
    KEEL_SET_STAGES
} keel_set_stage_t;

/* the own share of the set in use */
typedef enum {
    KEEL_SHARE_ARMED, /* it is there, or there is no set */
    KEEL_SHARE_LACKING,
    KEEL_SHARE_REARMING, /* it is computed again */
    KEEL_SHARE_STATES
} keel_set_share_t;

typedef enum {
    KEEL_SET_BEGUN,
    KEEL_SET_COPIED, /* the own image, which can be compared */
    KEEL_SET_TOLD,   /* the group, of a compared image */
    KEEL_SET_GATHERED,
    KEEL_SET_ENCODED,
    KEEL_SET_REFUSED, /* an image or a share cannot be made */
    KEEL_SET_USED,
    KEEL_SET_DROPPED,
    KEEL_SET_LOST,    /* a replacement has no share yet */
    KEEL_SET_VOID,    /* there is no set in use any more */
    KEEL_SET_REARM,   /* the share is begun, */
    KEEL_SET_REARMED, /* there, */
    KEEL_SET_UNARMED, /* or given up */
    KEEL_SET_EVENTS
} keel_set_event_t;

typedef struct keel_set_state {
    keel_set_stage_t stage;
    keel_set_share_t share;
} keel_set_state_t;

/* what follows; 0 when the event cannot come in this state */
int keel_set_state_next(keel_set_state_t state, keel_set_event_t event, keel_set_state_t *next_p);

#endif
