/*
 * Biased locks of windows: shared locks known to the holder alone, until a rank wants an exclusive
 * lock.
 */
#ifndef KEEL_ORDER_WIN_SHARE_H_
#define KEEL_ORDER_WIN_SHARE_H_

#include "engine/context.h"

/* With KEEL_LOCK_SHARED in keel_win.locked and .all: a biased lock. No lock word shows the lock. */
#define KEEL_LOCK_BIASED 0x80

/* Takes a shared lock by bias and counts it. Returns 0 if biased locking was revoked. */
int keel_win_share(keel_context_h ctx);
/* Counts a biased lock of an image, even if biased locking was revoked. */
void keel_win_share_restore(keel_context_h ctx);
/* Gives a biased lock up. All accesses under the lock are complete. */
void keel_win_unshare(keel_context_h ctx);
/*
 * True if this rank holds biased locks and biased locking was revoked: calls that make progress
 * convert the locks to visible ones (keel_win_shares_progress()).
 */
int keel_win_is_revoked(const keel_context_h ctx);
void keel_win_shares_progress(keel_context_h ctx);
/* True if the conversion of this lock is under way; KEEL_RANK_NONE: of any lock of the window. */
int keel_win_is_converting(const keel_win_h win, uint32_t rank);
/* Rollback: no biased lock is held, and no conversion is under way. */
void keel_win_shares_reset(keel_context_h ctx);

#endif
