/* Pending fetches from a lost rank (protocol/awaited.md): values that are known, and
 * values that are fetched again. */
#ifndef KEEL_RECOVERY_PENDING_FETCH_H_
#define KEEL_RECOVERY_PENDING_FETCH_H_

#include "recovery/view.h"

/* The value of rank @a p's one pending fetch from @a r, if the lost service side piggybacked it
 * on another reply; NULL: no live rank knows. */
const found_value_t *keel_pending_fetch_piggybacked(const keel_recovery_t *rec, uint32_t r, uint32_t p);
/* A program without waits: true if @a p may repeat a fetch after other ranks have found its
 * effect, with no way to tell; @a lost: number of lost ranks. */
int keel_pending_fetch_is_undecidable(const keel_recovery_t *rec, uint32_t r, uint32_t p, uint32_t lost);
/* Rank @a r comes back alone: sets the known values for ranks with pending fetches, and the
 * order of their hand-overs. */
void keel_pending_fetch_decide(const keel_recovery_t *rec, decision_t *d, uint32_t r);

#endif
