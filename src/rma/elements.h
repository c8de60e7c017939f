/* Accumulates that no log contains, and atomics that are accumulates of one element. */
#ifndef KEEL_RMA_ELEMENTS_H_
#define KEEL_RMA_ELEMENTS_H_

#include "engine/context.h"

/* with checked arguments */
keel_status_t keel_accumulate_elements(keel_win_h win, keel_op_t op, keel_type_t type, uint32_t rank, uint64_t offset,
                                       const void *buffer, size_t count, void *result, const keel_rma_params_t *params,
                                       keel_req_h *req_p);
/* an atomic with checked arguments that the logs cannot record */
keel_status_t keel_accumulate_word(keel_win_h win, uint32_t rank, uint64_t offset, const keel_record_atomic_t *atomic,
                                   void *result, const keel_rma_params_t *params, keel_req_h *req_p);

#endif
