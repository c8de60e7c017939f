/*
 * Reads of peers' memory by UCP's get (KEEL_LANE_READ): over the endpoint on which requests go to the peer, without a part of its process.
 *
 * What makes them safe where a peer dies at any moment (see also ucp_link.h):
 * - A get is issued over a link that is open alone, so that none waits in the queue of a handshake, and never inside
 *   ucp_worker_progress(): there it waits for the end of that.
 * - It arrives in a piece of memory that stays until the worker is gone, and is copied to who asked after UCP has called back, outside of
 *   UCP's progress. UCP closes a dead peer's queue pair some time later: disconnect() tells who asked at once, and the piece is used
 *   again when UCP has called back, with whatever status. Pieces are shorter than KEEL_UCP_ZCOPY_MIN, so the device writes to memory of
 *   UCP's own, from which UCP copies before it calls back: nothing is written to a piece after that.
 * - A get that fails is a suspicion of its peer, which the link tells; who asked is told at disconnect(), as of a request.
 * - UCP's emulation by messages is not used: a key without a device's registration is not offered, and a link must have a lane of gets.
 */
#ifndef KEEL_UCP_READS_H_
#define KEEL_UCP_READS_H_

#include "ucp_blob.h"
#include "ucp_link.h"

typedef struct keel_ucp keel_ucp_t;

enum { KEEL_UCP_READS = 8 };

_Static_assert((int)KEEL_MESSAGE_DATA_MAX < (int)KEEL_UCP_ZCOPY_MIN, "no device writes to a piece");

/* memory of a peer; goes with the last that uses it, the key or a read */
typedef struct keel_ucp_remote {
    uint64_t instance; /* of the peer */
    ucp_rkey_h rkey;   /* NULL: not unpacked yet */
    int is_refused;    /* it cannot be read so */
    unsigned users;
    size_t length;
    unsigned char packed[KEEL_UCP_RKEY_MAX];
} keel_ucp_remote_t;

typedef enum {
    KEEL_UCP_READ_FREE,
    KEEL_UCP_READ_QUEUED, /* until UCP's progress is over */
    KEEL_UCP_READ_UNDER_WAY,
    KEEL_UCP_READ_ARRIVED, /* who asked is to be told */
    KEEL_UCP_READ_FAILED   /* who asked, if anybody does still, will be told at disconnect() */
} keel_ucp_read_state_t;

typedef struct keel_ucp_read {
    keel_ucp_read_state_t state;
    uint32_t rank;
    keel_ucp_remote_t *remote;
    uint64_t address;
    void *arrived, *buffer;
    size_t length;
    keel_transport_done_cb_t cb; /* NULL: nobody waits for it any more */
    void *arg;
} keel_ucp_read_t;

typedef struct keel_ucp_reads {
    int is_offered;  /* the network is not tcp */
    int is_emulated; /* for tests where there is no device: UCP may carry out gets by messages */
    char *memory;    /* of the pieces; NULL: none was needed yet */
    keel_ucp_read_t reads[KEEL_UCP_READS];
    unsigned in_use;
    uint64_t count, bytes; /* that arrived */
} keel_ucp_reads_t;

/* NULL: no memory */
keel_ucp_remote_t *keel_ucp_remote_make(uint64_t instance, const void *packed, size_t length);
void keel_ucp_remote_release(keel_ucp_remote_t *remote);

/* as the operation of transport.h */
keel_status_t keel_ucp_reads_get(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset, void *buffer,
                                 size_t length, keel_transport_done_cb_t cb, void *arg);
unsigned keel_ucp_reads_progress(keel_ucp_t *ucp);         /* outside of UCP's; number of events */
int keel_ucp_reads_are_due(const keel_ucp_reads_t *reads); /* progress has something to do that no event announces */
void keel_ucp_reads_disconnect(keel_ucp_t *ucp, uint32_t rank); /* of a peer that is no more current */
void keel_ucp_reads_close(keel_ucp_reads_t *reads);             /* after the worker */

#endif
