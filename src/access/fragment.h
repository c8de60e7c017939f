/* Fragments: pending gets and pending fetching parts of atomics. */
#ifndef KEEL_ACCESS_FRAGMENT_H_
#define KEEL_ACCESS_FRAGMENT_H_

#include "engine/context.h"

/* A get without a record towards a rank that is ahead: reports to recovery and ends the job. */
keel_status_t keel_get_is_missing(keel_context_h ctx, uint32_t rank);
/* Counts a get that found its record (KEEL_OK) or another access's record; returns the get's
 * status. */
keel_status_t keel_get_replayed(keel_context_h ctx, uint32_t rank, keel_status_t status);
/* Makes the fragment of a get that has no record. The caller fills in the rest and then starts
 * the fragment: at once, or when the target is live again. */
keel_status_t keel_get_make_fragment(keel_context_h ctx, uint32_t rank, uint64_t where, uint32_t length,
                                     struct keel_req *req, keel_fragment_t **fragment_p);
void keel_get_start_fragment(keel_fragment_t *fragment);
/* Completes a fragment that was read from mapped memory. The record has to reach the target
 * before a store may overwrite the bytes read. */
void keel_fragment_stored(keel_fragment_t *fragment);
/* Carries out a fragment at a live target: complete or under way on return. */
void keel_fragment_issue(keel_fragment_t *fragment);
/* keel_lane_done_cb_t of a fragment */
void keel_fragment_done(void *arg, keel_status_t status);
void keel_access_progress(keel_context_h ctx);
void keel_access_drop(keel_context_h ctx, keel_status_t status);
/* A call is about to fail: no pending read writes the program's memory any more, which may be
 * freed. */
void keel_access_mute(keel_context_h ctx);
/* served lane: sends the request for the fragment */
keel_status_t keel_fragment_send(keel_fragment_t *fragment);

#endif
