/* Leaving the job. */
#ifndef KEEL_JOB_LEAVE_H_
#define KEEL_JOB_LEAVE_H_

#include <keel/keel.h>

/*
 * Waits until the peers have received the last messages of this rank, then frees the context.
 * KEEL_ERR_ISOLATED: the other ranks finish the job without the last accesses of this rank.
 */
keel_status_t keel_context_leave(keel_context_h ctx);

#endif
