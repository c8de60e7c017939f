/*
 * How a peer's memory is reached, for everybody above: who asks these questions knows no lane.
 *
 * Of a peer that is stored to, this process does its accesses itself, by stores and loads on memory that is mapped here, so it
 * writes its own words on the peer's board and its own records into the peer's get log, and what it has done is told by it. Of one that is
 * served, accesses are messages: the service side there carries them out, counts them and records what was read.
 */
#ifndef KEEL_PEER_ACCESS_H_
#define KEEL_PEER_ACCESS_H_

#include "peer/peer.h"

/* the accesses of this process there are its own stores and loads */
static inline int keel_access_is_stored(const keel_lane_t *lane, uint32_t peer)
{
    return (lane->peers[peer].lanes & KEEL_LANE_PTR) != 0;
}

/* they are messages that the peer's service side carries out: numbered, and kept by this process until they are acknowledged */
static inline int keel_access_is_served(const keel_lane_t *lane, uint32_t peer)
{
    return peer != lane->rank && !keel_access_is_stored(lane, peer);
}

/* records of gets there are written by this process, not by the peer's service side */
static inline int keel_access_records_gets(const keel_lane_t *lane, uint32_t peer)
{
    return keel_access_is_stored(lane, peer);
}

/* where a region is mapped here, the own ones too; NULL when it is not, or the peer is down */
void *keel_access_at(keel_lane_t *lane, uint32_t peer, unsigned region);

/* this process's slot of the board of another one, NULL when it is not mapped */
static inline keel_board_slot_t *keel_access_slot(const keel_lane_t *lane, uint32_t peer)
{
    keel_board_slot_t *board = (keel_board_slot_t *)lane->peers[peer].regions[KEEL_REGION_BOARD].ptr;

    return (board != NULL) ? &board[lane->rank] : NULL;
}

/* the clock of all that was done at a peer, which is stored to, or here (keel_board_slot_t) */
static inline uint64_t *keel_access_clock(const keel_lane_t *lane, uint32_t peer)
{
    keel_board_slot_t *board =
        (peer == lane->rank) ? lane->board : (keel_board_slot_t *)lane->peers[peer].regions[KEEL_REGION_BOARD].ptr;

    return &board[peer].clock;
}
/* as far as it is of @a phase */
static inline uint32_t keel_access_clock_of(const keel_lane_t *lane, uint32_t peer, uint32_t phase)
{
    const uint64_t word = __atomic_load_n(keel_access_clock(lane, peer), __ATOMIC_ACQUIRE);

    return (word >> 32 == phase) ? (uint32_t)word : 0;
}

/* What a peer does to its own memory nobody else is told. Who fetches there may have found it, and knows then which classes that peer uses;
 * loaded after what was fetched: of a peer that is stored to */
static inline void keel_access_found(keel_peer_t *peer, uint32_t classes)
{
    if (__builtin_expect((classes & ~peer->found) != 0, 0)) {
        peer->found |= KEEL_PLANT(found_unjoined) ? 0 : classes;
    }
}
static inline void keel_access_find(keel_lane_t *lane, uint32_t rank)
{
    keel_peer_t *peer = &lane->peers[rank];
    const keel_board_slot_t *board = (const keel_board_slot_t *)peer->regions[KEEL_REGION_BOARD].ptr;

    keel_access_found(peer, (uint32_t)keel_board_get(&board[rank].classes));
}

/* the peer, which is stored to, has announced it, and it could not be mapped: the peer has just died */
static inline int keel_access_is_unmapped(const keel_lane_t *lane, uint32_t peer, unsigned region)
{
    const keel_region_t *known = &lane->peers[peer].regions[region];

    return known->is_known && known->base != 0 && known->ptr == NULL && !known->is_served;
}

/* where its owner has it; 0: that is not known */
static inline uint64_t keel_access_base(const keel_lane_t *lane, uint32_t peer, unsigned region)
{
    return (peer == lane->rank) ? (uintptr_t)lane->own[region].base : lane->peers[peer].regions[region].base;
}

/* its owner wants a device to carry out the atomics */
static inline int keel_access_is_device_wanted(const keel_lane_t *lane, uint32_t peer, unsigned region)
{
    return (peer == lane->rank) ? lane->own[region].is_device_wanted
                                : lane->peers[peer].regions[region].is_device_wanted;
}

/* and one does, for whoever is there, or was there last */
static inline int keel_access_is_by_device(const keel_lane_t *lane, uint32_t peer, unsigned region)
{
    return (peer == lane->rank) ? lane->own[region].key != NULL : lane->peers[peer].regions[region].is_by_device;
}

/* this process's accesses to the region are messages that no log has, whatever lane leads there */
static inline int keel_access_is_by_message(const keel_lane_t *lane, uint32_t peer, unsigned region)
{
    return peer != lane->rank && lane->peers[peer].regions[region].is_served;
}

#endif
