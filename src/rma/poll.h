/*
 * Gets that the program may go on by (keel_poll(), KEEL_PARAM_FLAG_POLLS, KEEL_ATOMIC_FETCH): each orders what comes after it behind all that was
 * done at its target until then, as a wait does. Such a get is over when the call returns.
 */
#ifndef KEEL_RMA_POLL_H_
#define KEEL_RMA_POLL_H_

#include "rma/get.h"

/* what is found may be recorded so: nothing else that the program did stands in the way */
int keel_poll_may_order(const keel_context_h ctx);
/* any poll, as a call of the program */
keel_status_t keel_poll_any(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length,
                            const char *call);

/* what gets know of polls */
extern const keel_poll_ops_t keel_poll_ops;

#endif
