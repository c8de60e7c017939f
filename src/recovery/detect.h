/* Who of the others has stopped to answer (detect.c). */
#ifndef KEEL_RECOVERY_DETECT_H_
#define KEEL_RECOVERY_DETECT_H_

#include "peer/peer.h"

#include <stdint.h>

typedef enum {
    KEEL_WATCH_HEARING, /* it is asked now and then, and answers */
    KEEL_WATCH_ASKING,  /* it is silent: do the others answer? */
    KEEL_WATCH_ACCUSED  /* the runtime was told */
} keel_watch_stage_t;

/* one peer under observation; times are of detect->clock_ns */
typedef struct keel_watch {
    uint32_t rank; /* own rank: nobody */
    uint32_t incarnation;
    uint8_t is_absent; /* what is awaited is its first sign of life */
    keel_watch_stage_t stage;
    unsigned rounds;      /* of asking everybody in which too few answered */
    uint32_t accusations; /* of its silence, so far */
    uint64_t acked;       /* requests it had acknowledged when last heard */
    uint64_t heard_ns, probed_ns;
    uint64_t stage_ns; /* since when it is asked about, or accused */
} keel_watch_t;

typedef struct keel_detect {
    uint64_t interval_ns, timeout_ns; /* timeout 0: off */
    uint64_t now_ns;                  /* the runtime's time at the last step */
    uint64_t clock_ns;                /* time spent looking */
    keel_watch_t neighbour;           /* the next rank that is up */
    keel_watch_t established;         /* the next one after it that is no replacement, while it is one */
    keel_watch_t broken;              /* another, whose connection broke */
    keel_watch_t absent;              /* the next rank while it is not up */
    uint64_t looked_ns;               /* when a broken connection was last looked at */
    uint64_t *asked;                  /* per rank: the request whose acknowledgement says that it is heard */
    uint64_t suspicions, false_suspicions;
} keel_detect_t;

struct keel_recovery;

keel_status_t keel_detect_init(struct keel_recovery *rec);
void keel_detect_release(struct keel_recovery *rec);
void keel_detect_step(struct keel_recovery *rec); /* with each progress */
void keel_detect_receive_declared(void *arg, const keel_control_in_t *in);

#endif
