/* Get log after a death: a replacement receives the predecessor's records, and its LG is
 * refilled. */
#ifndef KEEL_OPLOG_GET_LOG_REPLAY_H_
#define KEEL_OPLOG_GET_LOG_REPLAY_H_

#include "oplog/get_log.h"

/*
 * keel_get_log_append() for records that come back after a death. The pool grows if the default
 * size is in use: the predecessor's logs may have grown with windows that the replacement has yet
 * to create, and the data of references lay at their target.
 */
keel_get_record_t *keel_get_log_append_grown(keel_get_log_t *log, keel_get_target_t *t, uint32_t phase,
                                             uint32_t length);
/* sends to the replacement of @a source the records that the predecessor logged here */
keel_status_t keel_get_log_send_replay(keel_get_log_t *log, uint32_t source);
void keel_get_log_receive_replay(keel_get_log_t *log, const keel_control_in_t *in, uint32_t from_phase);
/* Drops the records received from @a target, which died before the replacement used them. No
 * other process has the records, and the replacement of @a target would not receive them. Both
 * re-execute the gets, as after a simultaneous death. */
void keel_get_log_drop_replay(keel_get_log_t *log, uint32_t target);
/* sends to the replacement of @a target the records of this process for its LG */
keel_status_t keel_get_log_refill(keel_get_log_t *log, uint32_t target);
/* sends the newest record, complete, towards a live @a target */
keel_status_t keel_get_log_send_record(keel_get_log_t *log, uint32_t target, const keel_get_record_t *record);
/* service side: keel_lane_params_t.on_served_refill; arg is the log */
void keel_get_log_serve_refill(void *arg, uint32_t source, const void *data, size_t length);

#endif
