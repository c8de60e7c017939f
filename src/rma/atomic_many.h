/* Atomics of elements that lie side by side. */
#ifndef KEEL_RMA_ATOMIC_MANY_H_
#define KEEL_RMA_ATOMIC_MANY_H_

#include "rma/atomic.h"

/* whether logs have records of what is combined there and not fetched: else the program mixes, or it goes by messages */
int keel_atomic_many_is_logged(keel_win_h win, uint32_t rank);
/* as keel_accumulate_nbx() without a result, of what was checked; @a atomic: what each element is, KEEL_ATOMIC_LAST: of no class that commutes */
keel_status_t keel_atomic_many(keel_win_h win, keel_atomic_op_t atomic, keel_op_t op, keel_type_t type, uint32_t rank,
                               uint64_t offset, const char *values, size_t count, const keel_rma_params_t *params,
                               keel_req_h *req_p);

#endif
