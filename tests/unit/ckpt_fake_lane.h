/*
 * The part of a lane used by parity, over local memory. Memory is mapped, or reads end at once or
 * later in random order, with failures.
 */
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
    keel_lane_t lane; /* handle of the callers; only ops->max_data is used */
    keel_transport_ops_t ops;
    uint64_t random;
    fake_region_t regions[FAKE_RANKS][FAKE_REGIONS];
    int is_mapped[FAKE_RANKS], is_dead[FAKE_RANKS];
    unsigned at_once_percent; /* percentage of reads that end in the call */
    /* percentage of reads that run the callback before the call returns KEEL_INPROGRESS */
    unsigned inside_percent;
    fake_read_t pending[FAKE_PENDING];
    unsigned pending_count, pending_most;
    unsigned reads;     /* reads begun */
    unsigned fail_read; /* number of the failing read, from 1; 0: none */
    keel_status_t fail_status;
    int fail_in_call;           /* fails in the call, not in the callback */
    void (*on_read)(void *arg); /* runs inside each read, as if the lane made progress */
    void *on_read_arg;
} fake_lane_t;

/* @a max_read: largest size of one read in bytes */
void fake_lane_init(fake_lane_t *lane, uint64_t seed, size_t max_read);
/* Ends up to @a count reads, drawn at random. */
void fake_lane_progress(fake_lane_t *lane, unsigned count);
/* The peer dies: its mapping goes, and progress ends its reads with KEEL_ERR_UNREACHABLE. */
void fake_lane_kill(fake_lane_t *lane, uint32_t peer);

#endif
