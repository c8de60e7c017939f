/* Accesses to memory that the program gave to a window and that is mapped nowhere else. */
#ifndef KEEL_RMA_BY_MESSAGE_H_
#define KEEL_RMA_BY_MESSAGE_H_

#include "access/target.h"

/* the head of a record in the bounce buffer, for a live rank: it is to be filled and sent at once */
keel_status_t keel_by_message_take(keel_win_h win, uint32_t rank, uint64_t where, size_t length,
                                   keel_record_t **record_p);
/* it is done there when this returns KEEL_OK */
keel_status_t keel_by_message_send(keel_win_h win, uint32_t rank);
keel_status_t keel_by_message_put(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length);
/* of at most one message */
keel_status_t keel_by_message_get(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, uint32_t length,
                                  struct keel_req *req);

#endif
