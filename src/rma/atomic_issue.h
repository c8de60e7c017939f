/* One atomic that was checked, or many of one class side by side. */
#ifndef KEEL_RMA_ATOMIC_ISSUE_H_
#define KEEL_RMA_ATOMIC_ISSUE_H_

#include "rma/atomic.h"

/* before the first that goes to these bytes: they are there, and the program may */
keel_status_t keel_atomic_admit(keel_win_h win, uint32_t rank, uint64_t offset, size_t length,
                                const keel_rma_params_t *params);
/* one that is admitted */
keel_status_t keel_atomic_issue(const keel_atomic_call_t *call);

#endif
