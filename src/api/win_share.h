/* Locks of windows that are shared without anybody's seeing it, until somebody wants one for itself. */
#ifndef KEEL_API_WIN_SHARE_H_
#define KEEL_API_WIN_SHARE_H_

#include "api/context.h"

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
/* before this process takes one exclusively: KEEL_OK, nobody shares by bias any more; KEEL_INPROGRESS, somebody does yet */
keel_status_t keel_win_revoke(keel_context_h ctx);
/* nothing is shared, nobody was asked */
void keel_win_shares_reset(keel_context_h ctx);

#endif
