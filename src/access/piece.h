/* Pieces: gets, and the fetching parts of atomics, that are pending. */
#ifndef KEEL_ACCESS_PIECE_H_
#define KEEL_ACCESS_PIECE_H_

#include "engine/context.h"

/* a get that has no record and whose target is ahead: ends the job */
keel_status_t keel_get_is_missing(keel_context_h ctx, uint32_t rank);
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
void keel_access_progress(keel_context_h ctx);
void keel_access_drop(keel_context_h ctx, keel_status_t status);
/* a call is about to fail: nothing that is under way writes the program's memory any more, which may be gone then */
void keel_access_mute(keel_context_h ctx);
/* served lane: asks for the piece */
keel_status_t keel_piece_send(keel_piece_t *piece);

#endif
