/*
 * Gets by one-sided operations, of a peer that has them and whose memory is not mapped: its service side has no part in them.
 *
 * What is read arrives in the record here, and the record is written from there to the target: behind a fence that makes it wait for
 * what the get brings, and in runs, when the epoch closes or something goes to the target that may overwrite what was read.
 * Where it is written was granted before. The service side records a get that is asked for at the end of its chunk for this
 * process, and its answer says where that end is: it is this process's from then on, until the next thing that it asks for
 * and the service side records. Requests arrive after what was put before them, so what they find there is complete. A chunk that has
 * no room for a record is left by asking for that get.
 */
#ifndef KEEL_OPLOG_GET_REMOTE_H_
#define KEEL_OPLOG_GET_REMOTE_H_

#include "oplog/get_log.h"

/* The get of a record that was reserved last. KEEL_OK: what was read is in it; KEEL_INPROGRESS: it will be when @a cb is called;
 * else it has to be asked for, with
 * KEEL_ERR_BUDGET because the room is used up. */
keel_status_t keel_get_log_fetch(keel_get_log_t *log, uint32_t target, keel_get_record_t *record,
                                 keel_lane_done_cb_t cb, void *arg);
/* one had to be asked for, because the room was used up (KEEL_ERR_BUDGET), and now it is @a now_ns */
void keel_get_log_spent(keel_get_log_t *log, uint32_t target, uint64_t now_ns);
/* says so when its answer takes long: the target's process may be stopped */
void keel_get_log_say_spent(keel_get_log_t *log, uint64_t now_ns);
static inline int keel_get_log_is_spent(const keel_get_log_t *log)
{
    return log->spent_request != 0;
}
/* it will not be: the target died */
void keel_get_log_unfetch(keel_get_record_t *record);
/* what was read before is recorded at the target before what is put there, or asked for, from now on */
void keel_get_log_write_run(keel_get_log_t *log, uint32_t target);

#endif
