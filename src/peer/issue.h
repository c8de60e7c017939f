/* Requests of the own process to peers: reads, records, atomics, locks, probes. */
#ifndef KEEL_PEER_ISSUE_H_
#define KEEL_PEER_ISSUE_H_

#include "peer/peer.h"

/*
 * Unlogged read of a peer's region over either lane, at most ops->max_data bytes; the own rank is
 * allowed. Returns KEEL_OK if @a buffer is filled (cb is not called), KEEL_INPROGRESS, or an error.
 * cb gets KEEL_ERR_UNREACHABLE if the peer dies meanwhile.
 */
keel_status_t keel_lane_read(keel_lane_t *lane, uint32_t peer, unsigned region, uint64_t offset, void *buffer,
                             size_t length, keel_lane_done_cb_t cb, void *arg);
/* Ends reads under way with this callback: they complete with KEEL_ERR_ROLLED_BACK and write no
 * buffer, because the memory of the caller may be gone. */
void keel_lane_mute(keel_lane_t *lane, keel_lane_done_cb_t cb);
/* Served lane, windows: keel_lane_read() with a determinant, for the target's get log or, if
 * unlogged, for the mark on the target's board; at most ops->max_data bytes. */
keel_status_t keel_lane_read_window(keel_lane_t *lane, uint32_t peer, const keel_get_record_t *record, int is_logged,
                                    void *buffer, keel_lane_done_cb_t cb, void *arg);
/* keel_lane_read_window() as a poll of @a length bytes. The reply and the record at the target
 * hold a keel_polled_t. */
keel_status_t keel_lane_poll_window(keel_lane_t *lane, uint32_t rank, const keel_get_record_t *record, uint32_t length,
                                    int is_logged, void *buffer, keel_lane_done_cb_t cb, void *arg);
/* keel_lane_read_window() of several blocks (wire/get_parts.h). The payload of the record is
 * the description of the blocks, which the target gets, followed by the bytes of the reply. @a
 * payload stays unchanged until cb. */
keel_status_t keel_lane_read_blocks(keel_lane_t *lane, uint32_t rank, const keel_get_record_t *record, char *payload,
                                    size_t described, int is_logged, keel_lane_done_cb_t cb, void *arg);
/*
 * Served lane: applies records at the target. @a records stay unchanged until acknowledged. @a
 * number: of the first record, counted from 0 over the records of @a phase from here to there. A
 * re-execution numbers records alike, and the target applies each number once.
 */
keel_status_t keel_lane_send_records(keel_lane_t *lane, uint32_t peer, uint32_t phase, uint32_t number,
                                     const void *records, size_t length);
/* keel_lane_send_records() with a known sum, keel_crc() from 0. @a is_followed: the caller sends
 * more at once, and a wait for these records also waits for the next ones. */
keel_status_t keel_lane_send_summed(keel_lane_t *lane, uint32_t peer, uint32_t phase, uint32_t number,
                                    const void *records, size_t length, uint32_t sum, int is_followed);
keel_status_t keel_lane_send_atomic(keel_lane_t *lane, uint32_t peer, const keel_fetch_t *fetch, void *result,
                                    keel_lane_done_cb_t cb, void *arg);
/* Sends a put or accumulate without a number and without a log record. @a record stays unchanged
 * until acknowledged. */
keel_status_t keel_lane_send_unnumbered(keel_lane_t *lane, uint32_t peer, const keel_record_t *record);
/* A lock in the mapped memory of @a rank was released. Wakes the rank that the lock is left to.
 * @a lock: keel_claim_t. */
void keel_lane_wake_next(keel_lane_t *lane, uint32_t rank, uint32_t lock);
/* keel_lane_send_atomic() for the record of an accumulate; the reply has @a length bytes of
 * elements. */
keel_status_t keel_lane_send_accumulate(keel_lane_t *lane, uint32_t peer, const keel_fetch_t *fetch, size_t length,
                                        void *result, keel_lane_done_cb_t cb, void *arg);
keel_status_t keel_lane_lock(keel_lane_t *lane, uint32_t peer, const keel_lock_request_t *request, uint64_t *answer,
                             keel_lane_done_cb_t cb, void *arg);
/* Ends a run of requests with MORE, before a call waits for the acknowledgement. */
keel_status_t keel_lane_end_run(keel_lane_t *lane, uint32_t peer);
/* Sends a request without effect. The peer's service thread acknowledges it, so the process is
 * known to run. */
keel_status_t keel_lane_send_probe(keel_lane_t *lane, uint32_t peer);
/* For control.c: sends at most max_data bytes, which stay unchanged until acknowledged. */
keel_status_t keel_lane_request(keel_lane_t *lane, uint32_t rank, keel_wire_t *wire, const void *data, size_t length);
/* For peer.c: ends reads from a peer and drops its unacknowledged messages. */
void keel_lane_issue_drop(keel_lane_t *lane, keel_peer_t *peer, keel_status_t status);
void keel_lane_on_reply(void *arg, const void *header, size_t header_len, const void *data, size_t data_len);

#endif
