/* The served lane as the thread inside Keel sees it: requests out, replies in. */
#ifndef KEEL_VERBS_REQUESTS_H_
#define KEEL_VERBS_REQUESTS_H_

#include "verbs_blob.h"

#include "transport.h"

typedef struct keel_verbs keel_verbs_t;
typedef struct keel_verbs_link keel_verbs_link_t;

keel_status_t keel_verbs_requests_open(keel_verbs_t *verbs);
void keel_verbs_requests_close(keel_verbs_t *verbs);
void keel_verbs_requests_drain(keel_verbs_t *verbs); /* waits until all that was sent has been taken, a bounded time */
keel_status_t keel_verbs_requests_connect(keel_verbs_t *verbs, const keel_verbs_address_t *address, unsigned *lanes_p);

/* the connection to a rank for what is asked of its device, which is begun by this; the own rank has one, too.
 * KEEL_ERR_NO_MEMORY: it is on its way. KEEL_ERR_UNREACHABLE, or it may be broken */
keel_status_t keel_verbs_requests_link(keel_verbs_t *verbs, uint32_t rank, keel_verbs_link_t **link_p);

/* as the operations of transport.h */
void keel_verbs_requests_disconnect(keel_transport_t *transport, uint32_t rank);
keel_status_t keel_verbs_requests_send(keel_transport_t *transport, uint32_t rank, const void *header,
                                       size_t header_len, const void *data, size_t data_len);
unsigned keel_verbs_requests_progress(keel_transport_t *transport);
void keel_verbs_requests_wait(keel_transport_t *transport, unsigned round, unsigned timeout_us, int is_reply_due);
void keel_verbs_requests_ring(keel_transport_t *transport, uint32_t rank);

#endif
