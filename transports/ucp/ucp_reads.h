/*
 * Reads of peers' memory by UCP's get (KEEL_LANE_READ), over the endpoint for requests to the peer,
 * without help of the peer's process.
 *
 * Safety if a peer dies at any moment (see also ucp_link.h):
 * - A get is issued only over an open link, so that none waits in the queue of a handshake, and
 *   never inside ucp_worker_progress(): there the get waits for the end of progress.
 * - A get arrives in a buffer that exists as long as the worker. After UCP's callback, and outside
 *   of UCP's progress, the bytes are copied to the caller's buffer. UCP closes a dead peer's queue
 *   pair some time later: disconnect() notifies the caller at once, and the buffer is reused after
 *   UCP's callback with any status. Buffers are shorter than KEEL_UCP_ZCOPY_MIN, so the device
 *   writes to memory of UCP, from which UCP copies before the callback: nothing is written to a
 *   buffer after that.
 * - A failed get makes its peer suspect, which the link reports; disconnect() notifies the caller,
 *   as for a request.
 * - UCP's emulation by messages is not used: a key without a device's registration is not offered,
 *   and a link must have a lane of gets.
 */
#ifndef KEEL_UCP_READS_H_
#define KEEL_UCP_READS_H_

#include "ucp_blob.h"
#include "ucp_link.h"

typedef struct keel_ucp keel_ucp_t;

enum { KEEL_UCP_READS = 8 };

_Static_assert((int)KEEL_MESSAGE_DATA_MAX < (int)KEEL_UCP_ZCOPY_MIN, "no device writes to a piece");

/* memory of a peer; freed with its last user, the key or a read */
typedef struct keel_ucp_remote {
    uint64_t instance; /* instance of the peer */
    ucp_rkey_h rkey;   /* NULL: not unpacked yet */
    int is_refused;    /* the memory cannot be read by gets */
    unsigned users;
    size_t length;
    unsigned char packed[KEEL_UCP_RKEY_MAX];
} keel_ucp_remote_t;

typedef enum {
    KEEL_UCP_READ_FREE,
    KEEL_UCP_READ_QUEUED, /* waits for the end of UCP's progress */
    KEEL_UCP_READ_UNDER_WAY,
    KEEL_UCP_READ_ARRIVED, /* the caller must be notified */
    KEEL_UCP_READ_FAILED   /* disconnect() will notify the caller, if there is one */
} keel_ucp_read_state_t;

typedef struct keel_ucp_read {
    keel_ucp_read_state_t state;
    uint32_t rank;
    keel_ucp_remote_t *remote;
    uint64_t address;
    void *arrived, *buffer;
    size_t length;
    keel_transport_done_cb_t cb; /* NULL: no caller waits for the read */
    void *arg;
} keel_ucp_read_t;

typedef struct keel_ucp_reads {
    int is_offered;  /* the network is not tcp */
    int is_emulated; /* for tests without a device: UCP may execute gets by messages */
    char *memory;    /* memory of the read buffers; NULL: not needed yet */
    keel_ucp_read_t reads[KEEL_UCP_READS];
    unsigned in_use;
    uint64_t count, bytes; /* gets and bytes that arrived */
} keel_ucp_reads_t;

/* NULL without memory */
keel_ucp_remote_t *keel_ucp_remote_make(uint64_t instance, const void *packed, size_t length);
void keel_ucp_remote_release(keel_ucp_remote_t *remote);

/* like the operation of transport.h */
keel_status_t keel_ucp_reads_get(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset, void *buffer,
                                 size_t length, keel_transport_done_cb_t cb, void *arg);
/* outside of UCP's progress; returns the number of events */
unsigned keel_ucp_reads_progress(keel_ucp_t *ucp);
/* Has progress work that no event announces? */
int keel_ucp_reads_are_pending(const keel_ucp_reads_t *reads);
/* for a peer that is no longer current */
void keel_ucp_reads_disconnect(keel_ucp_t *ucp, uint32_t rank);
void keel_ucp_reads_close(keel_ucp_reads_t *reads); /* call after closing the worker */

#endif
