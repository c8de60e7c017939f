/*
 * Messages that only a process of the job can make, each accepted once.
 *
 * Each direction of a connection has a key, derived from the job's secret, the lane, and rank and
 * instance of both ends: a message captured between other processes, or in the other direction,
 * does not verify. A message has a sequence number and a sum of its headers by that key; the
 * receiver accepts increasing numbers only. A second key sums the data of a HELLO. The crc in the
 * header of a request or reply covers its data, so the sum does, too (contrib/doc/security.md names
 * the attacks that this prevents).
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

/* a direction, at one of its ends */
typedef struct keel_service_seal {
    keel_auth_key_t key;
    uint64_t sequence; /* number of the last message sent or accepted */
    int state;         /* KEEL_AUTH_AWAITED, _OFF, _ON */
} keel_service_seal_t;

/* @a auth NULL: KEEL_AUTH_OFF */
void keel_service_seal_init(keel_service_seal_t *seal, const keel_auth_t *auth, keel_service_lane_t lane,
                            const keel_service_end_t *from, const keel_service_end_t *to);

/* Completes a header in front of wire->header_len bytes of the next header. Call in the order of
 * sending. */
void keel_service_seal_close(keel_service_seal_t *seal, keel_service_wire_t *wire, const void *data, size_t data_len);
/* Verifies a message. Returns NULL and accepts it, or the reason to drop it. */
const char *keel_service_seal_open(keel_service_seal_t *seal, const keel_service_received_t *received, const void *data,
                                   size_t data_len);

/* sum of bytes outside messages, such as a greeting by socket; 0 without a secret */
uint64_t keel_service_seal_sum(const keel_service_seal_t *seal, const void *bytes, size_t length);

/* Counts a dropped message and warns of the first. Callable from any thread. @a from: origin of
 * the message, or its claim. */
void keel_service_refuse(uint32_t *refused, const keel_transport_params_t *params, const char *from, const char *why);
/* warns of the number of dropped messages if there is more than one */
void keel_service_report_refused(uint32_t *refused, const keel_transport_params_t *params);

#endif
