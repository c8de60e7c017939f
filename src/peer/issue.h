/* What this process asks of others: reads, records, atomics, board words. */
#ifndef KEEL_PEER_ISSUE_H_
#define KEEL_PEER_ISSUE_H_

#include "peer/peer.h"

/*
 * Unlogged read of a peer's region, over whichever lane there is; own rank allowed; at most ops->max_data bytes. Returns KEEL_OK when @a buffer is
 * filled (cb not called), KEEL_INPROGRESS, or an error; cb gets KEEL_ERR_UNREACHABLE when the peer dies meanwhile.
 */
keel_status_t keel_lane_read(keel_lane_t *lane, uint32_t peer, unsigned region, uint64_t offset, void *buffer,
                             size_t length, keel_lane_done_cb_t cb, void *arg);
/* reads under way with this callback end with KEEL_ERR_ROLLED_BACK and write no buffer: the caller's memory may be gone */
void keel_lane_mute(keel_lane_t *lane, keel_lane_done_cb_t cb);
/* served lane, windows: the same with its determinant, for the target's get log or, unlogged, for its board; at most
 * ops->max_data bytes */
keel_status_t keel_lane_read_window(keel_lane_t *lane, uint32_t peer, const keel_get_record_t *record, int is_logged,
                                    void *buffer, keel_lane_done_cb_t cb, void *arg);
/* the same, of @a length bytes that are polled: what comes back, and is recorded there, is what the record is for (keel_polled_t) */
keel_status_t keel_lane_poll_window(keel_lane_t *lane, uint32_t rank, const keel_get_record_t *record, uint32_t length,
                                    int is_logged, void *buffer, keel_lane_done_cb_t cb, void *arg);
/* the same, of several blocks (wire/got_blocks.h): their description, which the target gets, and what comes back, which is put behind it, are the
 * record's payload. It stays there until cb. */
keel_status_t keel_lane_read_blocks(keel_lane_t *lane, uint32_t rank, const keel_get_record_t *record, char *payload,
                                    size_t described, int is_logged, keel_lane_done_cb_t cb, void *arg);
/*
 * Served lane: applies records that lie at @a records and stay there until acknowledged. @a number is the first one's, counted
 * from 0 over the records of @a phase from here to there: a re-execution counts the same, and the target applies each
 * number once.
 */
keel_status_t keel_lane_send_records(keel_lane_t *lane, uint32_t peer, uint32_t phase, uint32_t number,
                                     const void *records, size_t length);
/* the same for records whose sum, keel_crc() from 0, is known; @a is_followed: the caller sends more at once, and who waits for
 * one waits for the other */
keel_status_t keel_lane_send_summed(keel_lane_t *lane, uint32_t peer, uint32_t phase, uint32_t number,
                                    const void *records, size_t length, uint32_t sum, int is_followed);
keel_status_t keel_lane_send_atomic(keel_lane_t *lane, uint32_t peer, const keel_fetch_t *fetch, void *result,
                                    keel_lane_done_cb_t cb, void *arg);
/* a put or accumulate of which no number is taken, and no log has it; it stays there until it is acknowledged */
keel_status_t keel_lane_send_unnumbered(keel_lane_t *lane, uint32_t peer, const keel_record_t *record);
/* the same as of an atomic, of an accumulate's record, of whose elements so many bytes come back */
keel_status_t keel_lane_send_accumulate(keel_lane_t *lane, uint32_t peer, const keel_fetch_t *fetch, size_t length,
                                        void *result, keel_lane_done_cb_t cb, void *arg);
keel_status_t keel_lane_lock(keel_lane_t *lane, uint32_t peer, const keel_lock_request_t *request, uint64_t *answer,
                             keel_lane_done_cb_t cb, void *arg);
/* nothing follows what was said to be followed, and somebody is about to wait for it */
keel_status_t keel_lane_end_run(keel_lane_t *lane, uint32_t peer);
/* a request that does nothing: its acknowledgement by the peer's service thread says that the process runs */
keel_status_t keel_lane_send_probe(keel_lane_t *lane, uint32_t peer);
/* for control.c: at most max_data bytes, which stay there until they are acknowledged */
keel_status_t keel_lane_request(keel_lane_t *lane, uint32_t rank, keel_wire_t *wire, const void *data, size_t length);
/* for lane.c: ends reads and forgets messages of a peer */
void keel_lane_issue_drop(keel_lane_t *lane, keel_peer_t *peer, keel_status_t status);
void keel_lane_on_reply(void *arg, const void *header, size_t header_len, const void *data, size_t data_len);

#endif
