/* Regions: own memory, and what is known of the peers'. */
#ifndef KEEL_PEER_REGION_H_
#define KEEL_PEER_REGION_H_

#include "peer/peer.h"

/* room for that region, too, in all tables */
keel_status_t keel_lane_regions_reserve(keel_lane_t *lane, unsigned region);

/* what own memory is made of */
typedef struct keel_region_memory {
    size_t bytes;
    void *address;        /* where it is to be; NULL: anywhere */
    const void *contents; /* what it has when others are told of it; NULL: zeros */
    /* The program's own, whose contents stay: the region's memory is mapped there a second time, or that cannot be, and it is the
     * region's memory itself, served. NULL: none */
    void *given;
    int is_mapped;        /* [out] given: to be given back by keel_second_unmap() */
    int is_device_wanted; /* a device is to carry out the atomics, where there is one */
    int is_twice; /* not given: this process maps some of it a second time, so that it is shared memory on every lane */
} keel_region_memory_t;

/* own memory, reachable by peers; announced to all that are connected */
keel_status_t keel_lane_region_make_of(keel_lane_t *lane, unsigned region, keel_region_memory_t *memory, void **base_p);
/* the same, zeroed */
keel_status_t keel_lane_region_make(keel_lane_t *lane, unsigned region, size_t bytes, void *address, void **base_p);
/* announces it again */
void keel_lane_region_tell(keel_lane_t *lane, unsigned region);
void keel_lane_region_drop(keel_lane_t *lane, unsigned region);
/* the same, but replacements are still told its size: they re-execute accesses to it, and are handed others' */
void keel_lane_region_retire(keel_lane_t *lane, unsigned region);
/* and what is mapped here of such regions of a peer that has retired them, too, is given back */
void keel_lane_regions_close_retired(keel_lane_t *lane, uint32_t peer);
/* what peers told of theirs by this number is of a computation that was given up: they will tell again */
void keel_lane_region_forget(keel_lane_t *lane, unsigned region);
/* where it is mapped here, for the program: NULL, or an address that leads to it, or to its successor, until it is retired or
 * forgotten; when the owner dies, to what it left until the successor's is there */
void *keel_lane_region_lend(keel_lane_t *lane, uint32_t peer, unsigned region);
void *keel_lane_region_base(keel_lane_t *lane, unsigned region);
/* bytes of the peer's region, 0 as long as it is unknown */
size_t keel_lane_region_size(keel_lane_t *lane, uint32_t peer, unsigned region);
/* a live peer has to have told itself; of one that is not, what its predecessor told is enough to log accesses */
int keel_lane_region_is_known(keel_lane_t *lane, uint32_t peer, unsigned region);
/* for lane.c */
void keel_lane_regions_announce(keel_lane_t *lane, uint32_t peer);
void keel_lane_region_learn(keel_lane_t *lane, const keel_control_in_t *in);
void keel_lane_regions_close(keel_lane_t *lane, uint32_t peer);

#endif
