/*
 * Gets on which the program may act (keel_poll(), KEEL_PARAM_FLAG_POLLS, KEEL_ATOMIC_FETCH). Like a
 * wait, each orders later accesses of this process after everything done at the target so far. Each
 * is complete when the call returns.
 */
#ifndef KEEL_RMA_POLL_H_
#define KEEL_RMA_POLL_H_

#include "rma/get.h"

/* whether polls can be recorded in order: the program neither mixes nor locks */
int keel_poll_may_order(const keel_context_h ctx);
/* any poll, as a call of the program */
keel_status_t keel_poll_any(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length,
                            const char *call);

/* the poll entry of gets */
extern const keel_poll_ops_t keel_poll_ops;

#endif
