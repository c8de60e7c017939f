/* One atomic that was checked, or many of one class side by side. */
#ifndef KEEL_RMA_ATOMIC_ISSUE_H_
#define KEEL_RMA_ATOMIC_ISSUE_H_

#include "rma/atomic.h"

/* one that is admitted */
keel_status_t keel_atomic_issue(const keel_atomic_call_t *call);

#endif
