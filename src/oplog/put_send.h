/* The put log as the queue of what its targets are to be given: by messages to their service sides, or by one-sided operations. */
#ifndef KEEL_OPLOG_PUT_SEND_H_
#define KEEL_OPLOG_PUT_SEND_H_

#include "oplog/put_log.h"

/* served lane: sends what was not sent yet */
keel_status_t keel_put_log_send(keel_put_log_t *log, uint32_t target);
/* served lane: a record of a put of @a length was written, and @a left bytes of the put are to come; sends when it is due, or
 * enough has gathered */
keel_status_t keel_put_log_gather(keel_put_log_t *log, uint32_t target, size_t length, int is_due, size_t left);

/* puts of phases before @a phase are sent by messages, */
static inline void keel_put_log_put_from(keel_put_log_t *log, uint32_t phase)
{
    log->put_from = phase;
}
/* or all, from now on */
static inline void keel_put_log_send_only(keel_put_log_t *log)
{
    log->is_sent_only = 1;
}

#endif
