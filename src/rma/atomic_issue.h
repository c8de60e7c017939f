/* One checked atomic, or many adjacent atomics of one class. */
#ifndef KEEL_RMA_ATOMIC_ISSUE_H_
#define KEEL_RMA_ATOMIC_ISSUE_H_

#include "rma/atomic.h"

/* carries out an admitted atomic */
keel_status_t keel_atomic_issue(const keel_atomic_call_t *call);

#endif
