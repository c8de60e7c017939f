/* Atomics of adjacent elements. */
#ifndef KEEL_RMA_ATOMIC_MANY_H_
#define KEEL_RMA_ATOMIC_MANY_H_

#include "rma/atomic.h"

/* Whether the logs record such atomics without a result. Otherwise the program mixes, or the
 * elements go by message. */
int keel_atomic_many_is_logged(keel_win_h win, uint32_t rank);
/* keel_accumulate_nbx() without a result, with checked arguments. @a atomic: the atomic of each
 * element; KEEL_ATOMIC_LAST: no class that commutes. */
keel_status_t keel_atomic_many(keel_win_h win, keel_atomic_op_t atomic, keel_op_t op, keel_type_t type, uint32_t rank,
                               uint64_t offset, const char *values, size_t count, const keel_rma_params_t *params,
                               keel_req_h *req_p);

#endif
