/* The get log after a death: a replacement gets its predecessor's records back, and its own LG is filled again. */
#ifndef KEEL_OPLOG_GETLOG_REPLAY_H_
#define KEEL_OPLOG_GETLOG_REPLAY_H_

#include "oplog/get_log.h"

/* sends the replacement of @a source what its predecessor logged here */
keel_status_t keel_get_log_send_replay(keel_get_log_t *log, uint32_t source);
void keel_get_log_receive_replay(keel_get_log_t *log, const keel_control_in_t *in, uint32_t from_phase);
/* @a target died before this replacement used what it had sent: nobody else has that, and the target's replacement would not be
 * given it. Both do again what it was about, as they do when they die together. */
void keel_get_log_forget_replay(keel_get_log_t *log, uint32_t target);
/* gives the replacement of @a target its LG part of this process back */
keel_status_t keel_get_log_refill(keel_get_log_t *log, uint32_t target);
/* a complete record, the last one towards @a target, which is live: goes there */
keel_status_t keel_get_log_give(keel_get_log_t *log, uint32_t target, const keel_get_record_t *record);
/* service side: keel_lane_params_t.on_served_refill; arg is the log */
void keel_get_log_serve_refill(void *arg, uint32_t source, const void *data, size_t length);

#endif
