/*
 * Gets by one-sided operations, from peers with such operations and without mapped memory. The
 * peer's service side takes no part.
 *
 * A get writes its bytes into the local record, and the record is written from there to the target.
 * A fence makes the write wait for the bytes of the get. Records are written in runs, when the
 * epoch closes or before an access to the target that may overwrite the bytes read.
 *
 * The target grants the room for records in advance. When its service side records a get requested
 * by message, the service side appends the record to its chunk for this process, and the reply
 * tells the end of the chunk's records. From then on the room behind the end belongs to this
 * process, until its next request that the service side records. Requests arrive after earlier
 * puts, so the service side finds complete records. A get for which the chunk has no room is
 * requested by message, which leaves the chunk.
 */
#ifndef KEEL_OPLOG_GET_REMOTE_H_
#define KEEL_OPLOG_GET_REMOTE_H_

#include "oplog/get_log.h"

/* Issues the get of the record reserved last. KEEL_OK: the record has the bytes.
 * KEEL_INPROGRESS: the record has them when @a cb is called. Otherwise the get must be requested
 * by message; KEEL_ERR_BUDGET if the reason is that the granted room is used up. */
keel_status_t keel_get_log_fetch(keel_get_log_t *log, uint32_t target, keel_get_record_t *record,
                                 keel_lane_done_cb_t cb, void *arg);
/* notes at @a now_ns that a get was requested by message because the room was used up */
void keel_get_log_note_room_spent(keel_get_log_t *log, uint32_t target, uint64_t now_ns);
/* reports a late reply to the request: the target's process may be stopped */
void keel_get_log_report_room_spent(keel_get_log_t *log, uint64_t now_ns);
static inline int keel_get_log_is_room_spent(const keel_get_log_t *log)
{
    return log->spent_request != 0;
}
/* marks a record as incomplete for good, since the target died */
void keel_get_log_cancel_fetch(keel_get_record_t *record);
/* Records earlier gets at the target, before anything is put or requested there from now on. */
void keel_get_log_write_run(keel_get_log_t *log, uint32_t target);

#endif
