/* Detection of ranks that do not answer any more (detect.c). */
#ifndef KEEL_RECOVERY_DETECT_H_
#define KEEL_RECOVERY_DETECT_H_

#include "peer/peer.h"

#include <stdint.h>

typedef enum {
    KEEL_WATCH_HEARING, /* probed from time to time, and answers */
    KEEL_WATCH_ASKING,  /* silent; other ranks are probed to see if they answer */
    KEEL_WATCH_ACCUSED  /* reported to the runtime */
} keel_watch_stage_t;

/* One watched peer; times are of detect->clock_ns. */
typedef struct keel_watch {
    uint32_t rank; /* own rank: no peer is watched */
    uint32_t incarnation;
    uint8_t is_absent; /* the first sign of life is awaited */
    keel_watch_stage_t stage;
    unsigned rounds;      /* rounds of probing all ranks with too few answers */
    uint32_t accusations; /* accusations for the present silence */
    uint64_t acked;       /* acknowledged requests at the last sign of life */
    uint64_t heard_ns, probed_ns;
    uint64_t stage_ns; /* begin of the present probing or accusation */
} keel_watch_t;

typedef struct keel_detect {
    uint64_t interval_ns, timeout_ns; /* timeout 0: detection is off */
    uint64_t now_ns;                  /* runtime's time at the last step */
    /* time spent in steps; gaps between steps count up to a limit */
    uint64_t clock_ns;
    keel_watch_t neighbour; /* the next rank that is up */
    /* the next rank after the neighbour that is not new, while the neighbour is */
    keel_watch_t established;
    keel_watch_t broken; /* another rank, with a broken connection */
    keel_watch_t absent; /* the next rank while it is not up */
    uint64_t looked_ns;  /* last check of a broken connection */
    /* by rank: the request that has to be acknowledged as a sign of life */
    uint64_t *asked;
    uint64_t suspicions, false_suspicions;
} keel_detect_t;

struct keel_recovery;

keel_status_t keel_detect_init(struct keel_recovery *rec);
void keel_detect_release(struct keel_recovery *rec);
void keel_detect_step(struct keel_recovery *rec); /* called with each round of progress */
void keel_detect_receive_declared(void *arg, const keel_control_in_t *in);

#endif
