/* Requests in, replies out, on the service thread. */
#ifndef KEEL_VERBS_SERVICE_H_
#define KEEL_VERBS_SERVICE_H_

#include "transport.h"

typedef struct keel_verbs keel_verbs_t;

keel_status_t keel_verbs_service_open(keel_verbs_t *verbs);
void keel_verbs_service_close(keel_verbs_t *verbs);
/* from the other thread: current[] or dead[] has changed */
void keel_verbs_service_wake(keel_verbs_t *verbs);
/* From the other thread, after a change of dead[]: destroys the queue pair of the dead
 * incarnation, which never gets another. */
void keel_verbs_service_fence(keel_verbs_t *verbs, uint32_t rank, uint64_t instance);

/* like the operations of transport.h */
keel_status_t keel_verbs_service_reply_room(keel_transport_t *transport, uint32_t rank, size_t data_len, void **room_p);
keel_status_t keel_verbs_service_reply(keel_transport_t *transport, uint32_t rank, const void *header,
                                       size_t header_len, const void *data, size_t data_len);

#endif
