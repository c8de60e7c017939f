/* Accumulates of which no log has a record, and the atomics that are such of one element. */
#ifndef KEEL_RMA_ELEMENTS_H_
#define KEEL_RMA_ELEMENTS_H_

#include "engine/context.h"

/* with arguments that were checked */
keel_status_t keel_accumulate_elements(keel_win_h win, keel_op_t op, keel_type_t type, uint32_t rank, uint64_t offset,
                                       const void *buffer, size_t count, void *result, const keel_rma_params_t *params,
                                       keel_req_h *req_p);
/* an atomic with arguments that were checked, and which the logs have no record of */
keel_status_t keel_accumulate_word(keel_win_h win, uint32_t rank, uint64_t offset, const keel_record_atomic_t *atomic,
                                   void *result, const keel_rma_params_t *params, keel_req_h *req_p);

#endif
