/* The put log as a send queue: its records reach a target as messages to its service side or as
 * one-sided operations. */
#ifndef KEEL_OPLOG_PUT_SEND_H_
#define KEEL_OPLOG_PUT_SEND_H_

#include "check/plant.h"
#include "oplog/put_log.h"

/* Served lane: sends all unsent records, preceded by the records of gets from the target
 * (oplog/get_remote). */
keel_status_t keel_put_log_send(keel_put_log_t *log, uint32_t target);
/* the same, but without unsent records no records of gets are written */
keel_status_t keel_put_log_send_puts(keel_put_log_t *log, uint32_t target);
/* Served lane: accounts for a written record of @a length bytes, with @a remaining bytes of the put
 * still to come. Sends if @a is_due or enough bytes are pending. */
keel_status_t keel_put_log_gather(keel_put_log_t *log, uint32_t target, size_t length, int is_due, size_t remaining);

/* registers with the transport all memory of records, including growth of the pool */
void keel_put_log_register_memory(keel_put_log_t *log);
/* makes the records of gets from a target precede anything that this log sends there */
static inline void keel_put_log_follow(keel_put_log_t *log, struct keel_get_log *gets)
{
    log->gets = gets;
}
/* Are accesses of this phase one-sided operations of this process, if the peer supports them? */
static inline int keel_put_log_is_put(const keel_put_log_t *log)
{
    return !log->is_sent_only && (log->phase >= log->lane->put_from || KEEL_PLANT(put_send_redone));
}

/* from now on all puts are sent by messages */
static inline void keel_put_log_send_only(keel_put_log_t *log)
{
    log->is_sent_only = 1;
}

#endif
