/*
 * Messages that only a process of the job can make, once each.
 *
 * Each direction of a connection has a key that is derived from the job's secret, the lane, and rank and instance of both ends: what
 * was captured of other processes, or in the other direction, does not fit. A message carries a sequence number and a sum of its
 * headers by that key; the receiver takes rising numbers only. The data of a HELLO are summed by a second key. The data of requests
 * and replies are covered by the crc in their header, so by the sum as well (contrib/doc/security.md says against whom that helps).
 */
#ifndef KEEL_SERVICE_SEAL_H_
#define KEEL_SERVICE_SEAL_H_

#include "service_message.h"

#include "base/auth.h"

typedef enum {
    KEEL_SERVICE_REQUESTS = 1, /* to a service side */
    KEEL_SERVICE_REPLIES
} keel_service_lane_t;

typedef struct keel_service_end {
    uint64_t instance, rank;
} keel_service_end_t;

/* one direction, at one of its ends */
typedef struct keel_service_seal {
    keel_auth_key_t key;
    uint64_t sequence; /* of the last message that was sent, or taken */
    int state;         /* KEEL_AUTH_AWAITED, _OFF, _ON */
} keel_service_seal_t;

/* @a auth: NULL is KEEL_AUTH_OFF */
void keel_service_seal_init(keel_service_seal_t *seal, const keel_auth_t *auth, keel_service_lane_t lane,
                            const keel_service_end_t *from, const keel_service_end_t *to);

/* completes a header that lies in front of wire->header_len bytes of the next one; call in the order of sending */
void keel_service_seal_close(keel_service_seal_t *seal, keel_service_wire_t *wire, const void *data, size_t data_len);
/* NULL and the message is taken, or why it is not: it is to be dropped */
const char *keel_service_seal_open(keel_service_seal_t *seal, const keel_service_received_t *received, const void *data,
                                   size_t data_len);

/* of bytes that are no message: a greeting by socket. 0 without a secret */
uint64_t keel_service_seal_sum(const keel_service_seal_t *seal, const void *bytes, size_t length);

/* counts a message that was dropped, and warns of the first one; any thread. @a from: where it is from, or what it says of that */
void keel_service_refuse(uint32_t *refused, const keel_transport_params_t *params, const char *from, const char *why);
/* warns of how many messages were dropped, if more than the first one */
void keel_service_say_refused(uint32_t *refused, const keel_transport_params_t *params);

#endif
