/*
 * Access to a peer's memory. Rooms above ask the questions below and know no lane.
 *
 * Stored to: the process does its accesses by stores and loads on memory that is mapped here. The
 * process writes its own words on the peer's board and its own records into the peer's get log, and
 * announces its accesses itself.
 *
 * Served: accesses are messages. The service side of the peer does the accesses, counts them and
 * records the values read.
 */
#ifndef KEEL_PEER_ACCESS_H_
#define KEEL_PEER_ACCESS_H_

#include "peer/peer.h"

/* True if accesses to the peer are own stores and loads. */
static inline int keel_access_is_stored(const keel_lane_t *lane, uint32_t peer)
{
    return (lane->peers[peer].lanes & KEEL_LANE_PTR) != 0;
}

/* True if accesses to the peer are messages to its service side. Messages are numbered, and the
 * sender keeps them until they are acknowledged. */
static inline int keel_access_is_served(const keel_lane_t *lane, uint32_t peer)
{
    return peer != lane->rank && !keel_access_is_stored(lane, peer);
}

/* True if the process writes the records of its gets there itself; false if the peer's service
 * side does. */
static inline int keel_access_records_gets(const keel_lane_t *lane, uint32_t peer)
{
    return keel_access_is_stored(lane, peer);
}

/* Address of a peer's region that is mapped here; NULL: not mapped. */
static inline void *keel_access_mapped(const keel_lane_t *lane, uint32_t peer, unsigned region)
{
    return lane->peers[peer].regions[region].ptr;
}

/* Address of a region mapped here, own regions included; NULL if the region is not mapped or the
 * peer is down. */
void *keel_access_at(keel_lane_t *lane, uint32_t peer, unsigned region);

/* Own slot on the board of a peer; NULL if the board is not mapped. */
static inline keel_board_slot_t *keel_access_slot(const keel_lane_t *lane, uint32_t peer)
{
    keel_board_slot_t *board = (keel_board_slot_t *)keel_access_mapped(lane, peer, KEEL_REGION_BOARD);

    return (board != NULL) ? &board[lane->rank] : NULL;
}

/* Joins the sources on the board of the own slot @a slot: before the first store to
 * keel_board_slot_t.opened there. */
static inline void keel_access_join(const keel_lane_t *lane, keel_board_slot_t *slot)
{
    const keel_rank_set_t sources = keel_board_sources(slot - lane->rank, lane->size);

    if (!KEEL_PLANT(access_source_unjoined)) {
        keel_source_join(&sources, lane->rank);
    }
}

/* Clock of all accesses to a peer that is stored to, or to own memory (keel_board_slot_t). */
static inline uint64_t *keel_access_clock(const keel_lane_t *lane, uint32_t peer)
{
    keel_board_slot_t *board =
        (peer == lane->rank) ? lane->board : (keel_board_slot_t *)lane->peers[peer].regions[KEEL_REGION_BOARD].ptr;

    return &board[peer].clock;
}
/* The clock if its phase is @a phase, else 0. */
static inline uint32_t keel_access_clock_of(const keel_lane_t *lane, uint32_t peer, uint32_t phase)
{
    const uint64_t word = __atomic_load_n(keel_access_clock(lane, peer), __ATOMIC_ACQUIRE);

    return (word >> 32 == phase) ? (uint32_t)word : 0;
}

/* A peer does not announce its accesses to its own memory. A fetch from there may return their
 * effect, so the fetching rank joins the classes of the peer. With stores the classes are loaded
 * after the fetched value. */
static inline void keel_access_found(keel_peer_t *peer, uint32_t classes)
{
    if (__builtin_expect((classes & ~peer->found) != 0, 0)) {
        peer->found |= KEEL_PLANT(access_found_unjoined) ? 0 : classes;
    }
}
static inline void keel_access_find(keel_lane_t *lane, uint32_t rank)
{
    keel_peer_t *peer = &lane->peers[rank];
    const keel_board_slot_t *board = (const keel_board_slot_t *)peer->regions[KEEL_REGION_BOARD].ptr;

    keel_access_found(peer, (uint32_t)keel_board_get(&board[rank].classes));
}

/* True if a peer that is stored to has announced the region, and mapping failed: the peer has
 * just died. */
static inline int keel_access_is_unmapped(const keel_lane_t *lane, uint32_t peer, unsigned region)
{
    const keel_region_t *known = &lane->peers[peer].regions[region];

    return known->is_known && known->base != 0 && known->ptr == NULL && !known->is_served;
}

/* Address of a region at its owner; 0: unknown. */
static inline uint64_t keel_access_base(const keel_lane_t *lane, uint32_t peer, unsigned region)
{
    return (peer == lane->rank) ? (uintptr_t)lane->own[region].base : lane->peers[peer].regions[region].base;
}

/* True if the owner asks for a device to do the atomics. */
static inline int keel_access_is_device_wanted(const keel_lane_t *lane, uint32_t peer, unsigned region)
{
    return (peer == lane->rank) ? lane->own[region].is_device_wanted
                                : lane->peers[peer].regions[region].is_device_wanted;
}

/* True if a device does the atomics, for the present process of the rank or the last one. */
static inline int keel_access_is_by_device(const keel_lane_t *lane, uint32_t peer, unsigned region)
{
    return (peer == lane->rank) ? lane->own[region].key != NULL : lane->peers[peer].regions[region].is_by_device;
}

/* True if accesses to the region are messages without a log, on either lane. */
static inline int keel_access_is_by_message(const keel_lane_t *lane, uint32_t peer, unsigned region)
{
    return peer != lane->rank && lane->peers[peer].regions[region].is_served;
}

#endif
