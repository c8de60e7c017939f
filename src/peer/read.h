/* What of peers is awaited: the pool of it, and what is done by one-sided operations of this process alone. */
#ifndef KEEL_PEER_READ_H_
#define KEEL_PEER_READ_H_

#include "peer/peer.h"

typedef struct keel_read {
    ucs_list_link_t list;
    uint64_t id;
    void *buffer;
    uint32_t length;
    uint32_t rank; /* of a get by an operation */
    uint64_t old;  /* of an atomic by a device */
    int fetches;   /* it is an atomic that the service side carries out */
    keel_lane_done_cb_t cb;
    void *arg;
    keel_lane_t *lane;
} keel_read_t;

/* NULL: there is no memory. In no list: by whoever it is done it goes back to lane->reads_free */
keel_read_t *keel_lane_read_obtain(keel_lane_t *lane, void *buffer, size_t length, keel_lane_done_cb_t cb, void *arg);
/* an image or parity share of a peer that has them, which lies still while it is read; else KEEL_ERR_UNSUPPORTED */
keel_status_t keel_lane_read_get(keel_lane_t *lane, uint32_t rank, unsigned region, uint64_t offset, keel_read_t *read);

/*
 * A get of a window by an operation of this process alone: into @a buffer, which is the transport's until cb is called or disconnect(), and
 * behind what was put. KEEL_OK: done, cb is not called. KEEL_ERR_UNSUPPORTED, or another error: it has to be asked for.
 */
keel_status_t keel_lane_get(keel_lane_t *lane, uint32_t peer, uint64_t where, void *buffer, size_t length,
                            keel_lane_done_cb_t cb, void *arg);
/*
 * An atomic that a device carries out at @a peer, which may be the own rank (keel_access_is_by_device()), behind what was put there; *old gets what the
 * word was. KEEL_INPROGRESS: cb is called. KEEL_ERR_NO_MEMORY: not at the moment.
 */
keel_status_t keel_lane_atomic(keel_lane_t *lane, uint32_t peer, uint64_t where, const keel_transport_atomic_t *atomic,
                               uint64_t *old, keel_lane_done_cb_t cb, void *arg);

/* for lane.c */
keel_status_t keel_lane_reads_init(keel_lane_t *lane);
void keel_lane_reads_release(keel_lane_t *lane);

#endif
