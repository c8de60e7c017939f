/* The part of a lane that parity uses, over local memory: mapped, at once, or later in random order, with failures. */
#ifndef KEEL_TESTS_CKPT_FAKE_LANE_H_
#define KEEL_TESTS_CKPT_FAKE_LANE_H_

#include "peer/peer.h"

#define FAKE_RANKS   32
#define FAKE_REGIONS KEEL_REGION_LOCKS
#define FAKE_PENDING 4096

typedef struct fake_region {
    uint8_t *memory;
    size_t size;
} fake_region_t;

typedef struct fake_read {
    uint32_t peer;
    unsigned region;
    uint64_t offset;
    void *buffer;
    size_t length;
    keel_lane_done_cb_t cb;
    void *arg;
} fake_read_t;

typedef struct fake_lane {
    keel_lane_t lane; /* what callers hold; only ops->max_data is used */
    keel_transport_ops_t ops;
    uint64_t random;
    fake_region_t regions[FAKE_RANKS][FAKE_REGIONS];
    int is_mapped[FAKE_RANKS], is_dead[FAKE_RANKS];
    unsigned at_once_percent; /* reads that end in the call */
    unsigned inside_percent;  /* reads whose callback runs before the call returns KEEL_INPROGRESS */
    fake_read_t pending[FAKE_PENDING];
    unsigned pending_count, pending_most;
    unsigned reads;     /* so far */
    unsigned fail_read; /* this one fails, from 1; 0: none */
    keel_status_t fail_status;
    int fail_in_call;           /* instead of in the callback */
    void (*on_read)(void *arg); /* inside each read, as if the lane had made progress */
    void *on_read_arg;
} fake_lane_t;

/* @a max_read: bytes of one read at most */
void fake_lane_init(fake_lane_t *lane, uint64_t seed, size_t max_read);
/* ends up to @a count reads, drawn at random */
void fake_lane_progress(fake_lane_t *lane, unsigned count);
/* the peer is gone: no mapping, its reads end with KEEL_ERR_UNREACHABLE when progress comes to them */
void fake_lane_kill(fake_lane_t *lane, uint32_t peer);

#endif
