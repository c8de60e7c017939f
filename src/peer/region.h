/* Regions: own memory, and the known regions of peers. */
#ifndef KEEL_PEER_REGION_H_
#define KEEL_PEER_REGION_H_

#include "peer/peer.h"

/* Makes room for the region in all tables. */
keel_status_t keel_lane_regions_reserve(keel_lane_t *lane, unsigned region);

/* Description of the memory of an own region. */
typedef struct keel_region_memory {
    size_t bytes;
    void *address;        /* address to map at; NULL: any */
    const void *contents; /* initial contents when the region is announced; NULL: zeros */
    /* Memory of the program, with its contents kept; NULL: none. The region's memory is mapped
     * there a second time. If that is impossible, the program's memory becomes the region
     * itself, served. */
    void *given;
    int is_mapped;        /* [out] with given: keel_second_unmap() has to end the second mapping */
    int is_device_wanted; /* a device is to do the atomics, if there is one */
    /* without given: the process maps parts a second time, so the region is shared memory on
     * every lane */
    int is_twice;
} keel_region_memory_t;

/* Makes a region of own memory that peers reach, and announces it to all connected peers, or an
 * image or a share of parity to those of the group. */
keel_status_t keel_lane_region_make_of(keel_lane_t *lane, unsigned region, keel_region_memory_t *memory, void **base_p);
/* keel_lane_region_make_of() with zeroed memory. */
keel_status_t keel_lane_region_make(keel_lane_t *lane, unsigned region, size_t bytes, void *address, void **base_p);
/* Announces the region again. */
void keel_lane_region_announce(keel_lane_t *lane, unsigned region);
void keel_lane_region_drop(keel_lane_t *lane, unsigned region);
/* Drops the region, but keeps announcing its size to replacements, which re-execute accesses to
 * the region and receive hand-overs for it. */
void keel_lane_region_retire(keel_lane_t *lane, unsigned region);
/* Closes the mappings of a peer's regions that are retired on both sides. */
void keel_lane_regions_close_retired(keel_lane_t *lane, uint32_t peer);
/* Forgets the peers' announcements of this number, which belong to an abandoned computation. The
 * peers announce the region again. */
void keel_lane_region_forget(keel_lane_t *lane, unsigned region);
/* Address of the mapping for use by the program; NULL: not mapped. The address leads to the
 * region, or to its successor, until the region is retired or forgotten. After the death of the
 * owner it leads to the old memory until the successor's is mapped. */
void *keel_lane_region_lend(keel_lane_t *lane, uint32_t peer, unsigned region);
void *keel_lane_region_base(keel_lane_t *lane, unsigned region);
/* Bytes of the peer's region; 0 while unknown. */
size_t keel_lane_region_size(keel_lane_t *lane, uint32_t peer, unsigned region);
/* True if the region is known well enough to log accesses. A live peer has to have announced the
 * region itself; for a peer that is not live the announcement of its predecessor is enough. */
int keel_lane_region_is_known(keel_lane_t *lane, uint32_t peer, unsigned region);
/* Sets another parity group, and announces images and parity to the ranks that were not in the
 * group before, which is still valid. */
void keel_lane_change_group(keel_lane_t *lane, const uint32_t *members, uint32_t size);
/* for peer.c */
void keel_lane_regions_announce(keel_lane_t *lane, uint32_t peer);
void keel_lane_region_learn(keel_lane_t *lane, const keel_control_in_t *in);
void keel_lane_regions_close(keel_lane_t *lane, uint32_t peer);

#endif
