/* Pending reads: their pool, and reads and atomics by one-sided operations. */
#ifndef KEEL_PEER_READ_H_
#define KEEL_PEER_READ_H_

#include "peer/peer.h"

typedef struct keel_read {
    ucs_list_link_t list;
    uint64_t id;
    void *buffer;
    uint32_t length;
    uint32_t rank; /* for a get by a one-sided operation */
    uint64_t old;  /* for an atomic by a device */
    int fetches;   /* an atomic at the service side */
    keel_lane_done_cb_t cb;
    void *arg;
    keel_lane_t *lane;
} keel_read_t;

/* Takes a read from the pool; NULL: no memory. The read is in no list; after completion the
 * caller returns it to lane->reads_free. */
keel_read_t *keel_lane_read_obtain(keel_lane_t *lane, void *buffer, size_t length, keel_lane_done_cb_t cb, void *arg);
/* Reads an image or parity share by a one-sided operation. The memory does not change during the
 * read. KEEL_ERR_UNSUPPORTED if there is no such lane. */
keel_status_t keel_lane_read_get(keel_lane_t *lane, uint32_t rank, unsigned region, uint64_t offset, keel_read_t *read);

/*
 * Get from a window by a one-sided operation, ordered after earlier puts. The transport owns @a
 * buffer until cb is called or disconnect(). KEEL_OK: complete, cb is not called.
 * KEEL_ERR_UNSUPPORTED or another error: use a message instead.
 */
keel_status_t keel_lane_get(keel_lane_t *lane, uint32_t peer, uint64_t where, void *buffer, size_t length,
                            keel_lane_done_cb_t cb, void *arg);
/*
 * Atomic by a device at @a peer, which may be the own rank (keel_access_is_by_device()), ordered
 * after earlier puts there. *old gets the old value. KEEL_INPROGRESS: cb is called.
 * KEEL_ERR_NO_MEMORY: not possible at present, try again.
 */
keel_status_t keel_lane_atomic(keel_lane_t *lane, uint32_t peer, uint64_t where, const keel_transport_atomic_t *atomic,
                               uint64_t *old, keel_lane_done_cb_t cb, void *arg);

/* for peer.c */
keel_status_t keel_lane_reads_init(keel_lane_t *lane);
void keel_lane_reads_release(keel_lane_t *lane);

#endif
