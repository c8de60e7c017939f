/* The put log as the queue of what its targets are to be given: by messages to their service sides, or by one-sided operations. */
#ifndef KEEL_OPLOG_PUT_SEND_H_
#define KEEL_OPLOG_PUT_SEND_H_

#include "check/plant.h"
#include "oplog/put_log.h"

/* served lane: sends what was not sent yet, and before it the records of what was read there (oplog/get_remote) */
keel_status_t keel_put_log_send(keel_put_log_t *log, uint32_t target);
/* the same, and of these records none when nothing is to be sent */
keel_status_t keel_put_log_send_puts(keel_put_log_t *log, uint32_t target);
/* served lane: a record of a put of @a length was written, and @a left bytes of the put are to come; sends when it is due, or
 * enough has gathered */
keel_status_t keel_put_log_gather(keel_put_log_t *log, uint32_t target, size_t length, int is_due, size_t left);

/* the transport knows of all memory that records lie in, also of what the pool has grown by */
void keel_put_log_lend(keel_put_log_t *log);
/* what was read from a target is recorded there before anything of this log goes there */
static inline void keel_put_log_follow(keel_put_log_t *log, struct keel_get_log *gets)
{
    log->gets = gets;
}
/* accesses of this phase are operations of this process alone, where there are such */
static inline int keel_put_log_is_put(const keel_put_log_t *log)
{
    return !log->is_sent_only && (log->phase >= log->lane->put_from || KEEL_PLANT(put_redone));
}

/* all puts are sent by messages, from now on */
static inline void keel_put_log_send_only(keel_put_log_t *log)
{
    log->is_sent_only = 1;
}

#endif
