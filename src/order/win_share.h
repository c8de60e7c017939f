/* Locks of windows that are shared without anybody's seeing it, until somebody wants one for itself. */
#ifndef KEEL_ORDER_WIN_SHARE_H_
#define KEEL_ORDER_WIN_SHARE_H_

#include "engine/context.h"

/* with KEEL_LOCK_SHARED in keel_win.locked and .all: shared by bias, no word of its rank says so */
#define KEEL_LOCK_BIASED 0x80

/* 1: one more is shared by bias, and that is counted; 0: somebody has revoked that */
int keel_win_share(keel_context_h ctx);
/* as an image has it, revoked or not */
void keel_win_share_again(keel_context_h ctx);
/* one is given up; everything under it is complete */
void keel_win_unshare(keel_context_h ctx);
/* what is shared by bias was revoked: in calls that make progress it becomes locks that others see */
int keel_win_is_revoked(const keel_context_h ctx);
void keel_win_shares_progress(keel_context_h ctx);
/* whether that one is asked for now; KEEL_RANK_NONE: one of the window's */
int keel_win_is_asked(const keel_win_h win, uint32_t rank);
/* nothing is shared, nobody was asked */
void keel_win_shares_reset(keel_context_h ctx);

#endif
