/* Get: pieces that are answered from a record, by a load, by a request, or later when the target is back. */
#ifndef KEEL_API_GET_H_
#define KEEL_API_GET_H_

#include "api/target.h"
#include "api/context.h"

/* a get that has no record and whose target is ahead: ends the job */
keel_status_t keel_get_is_missing(keel_context_h ctx, uint32_t rank);
/* before a get of @a rank: what has to be told and settled */
keel_status_t keel_get_admit(keel_context_h ctx, uint32_t rank);
/* any get that was checked and admitted, as part of a request */
keel_status_t keel_get_issue(keel_win_h win, uint32_t rank, uint64_t offset, char *buffer, size_t length,
                             struct keel_req *req);
/* and where no get of the program is a poll by itself */
keel_status_t keel_get_pieces(keel_win_h win, uint32_t rank, uint64_t offset, char *buffer, size_t length,
                              struct keel_req *req);
/* what was looked for among the records is found, or is another access: counts it, and says what the get returns */
keel_status_t keel_get_replayed(keel_context_h ctx, uint32_t rank, keel_status_t status);
/* a get without a record, and then for what the caller has filled in: issued, or later when the target is there */
keel_status_t keel_get_make_piece(keel_context_h ctx, uint32_t rank, uint64_t where, uint32_t length,
                                  struct keel_req *req, keel_piece_t **piece_p);
void keel_get_start_piece(keel_piece_t *piece);
/* what a mapped target has was read: the piece is done, and its record has to be there before what may overwrite that */
void keel_piece_stored(keel_piece_t *piece);
/* a live target: the piece is done or under way when this returns */
void keel_piece_issue(keel_piece_t *piece);
/* keel_lane_done_cb_t of a piece */
void keel_piece_done(void *arg, keel_status_t status);
/* ends the issuing call's hold on the request and says what the call returns */
keel_status_t keel_request_finish(struct keel_req *req, keel_status_t status, keel_req_h *req_p);
void keel_access_progress(keel_context_h ctx);
void keel_access_drop(keel_context_h ctx, keel_status_t status);
/* a call is about to fail: nothing that is under way writes the program's memory any more, which may be gone then */
void keel_access_mute(keel_context_h ctx);
/* served lane: asks for the piece */
keel_status_t keel_piece_send(keel_piece_t *piece);

#endif
