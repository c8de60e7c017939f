/* Accesses to given memory, which no other process maps. */
#ifndef KEEL_RMA_BY_MESSAGE_H_
#define KEEL_RMA_BY_MESSAGE_H_

#include "access/target.h"

/* Writes the head of a record for a live rank in the bounce buffer. The caller fills and sends
 * the record at once. */
keel_status_t keel_by_message_take(keel_win_h win, uint32_t rank, uint64_t where, size_t length,
                                   keel_record_t **record_p);
/* sends the record; KEEL_OK: the owner has applied it */
keel_status_t keel_by_message_send(keel_win_h win, uint32_t rank);
keel_status_t keel_by_message_put(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length);
/* of at most one message */
keel_status_t keel_by_message_get(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, uint32_t length,
                                  struct keel_req *req);

#endif
