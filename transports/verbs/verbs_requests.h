/* The served lane on the thread inside Keel: requests out, replies in. */
#ifndef KEEL_VERBS_REQUESTS_H_
#define KEEL_VERBS_REQUESTS_H_

#include "verbs_blob.h"

#include "transport.h"

typedef struct keel_verbs keel_verbs_t;
typedef struct keel_verbs_link keel_verbs_link_t;

keel_status_t keel_verbs_requests_open(keel_verbs_t *verbs);
void keel_verbs_requests_close(keel_verbs_t *verbs);
/* waits for a bounded time until everything sent has been received */
void keel_verbs_requests_drain(keel_verbs_t *verbs);
keel_status_t keel_verbs_requests_connect(keel_verbs_t *verbs, const keel_verbs_address_t *address, unsigned *lanes_p);

/* Connection to a rank for operations on its device; the first call begins to connect. The own
 * rank has a connection, too. KEEL_ERR_NO_MEMORY: not connected yet. KEEL_ERR_UNREACHABLE: no
 * connection; a returned link may be broken. */
keel_status_t keel_verbs_requests_link(keel_verbs_t *verbs, uint32_t rank, keel_verbs_link_t **link_p);

/* like the operations of transport.h */
void keel_verbs_requests_disconnect(keel_transport_t *transport, uint32_t rank);
keel_status_t keel_verbs_requests_send(keel_transport_t *transport, uint32_t rank, const void *header,
                                       size_t header_len, const void *data, size_t data_len);
unsigned keel_verbs_requests_progress(keel_transport_t *transport);
void keel_verbs_requests_wait(keel_transport_t *transport, unsigned round, unsigned timeout_us, int is_reply_due);
void keel_verbs_requests_ring(keel_transport_t *transport, uint32_t rank);

#endif
