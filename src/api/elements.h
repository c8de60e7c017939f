/* Accumulates, and the atomics that are accumulates of one element. */
#ifndef KEEL_API_ELEMENTS_H_
#define KEEL_API_ELEMENTS_H_

#include "api/context.h"

/* an atomic with arguments that were checked, and which the logs have no record of */
keel_status_t keel_accumulate_word(keel_win_h win, uint32_t rank, uint64_t offset, const keel_record_atomic_t *atomic,
                                   void *result, const keel_rma_params_t *params, keel_req_h *req_p);

#endif
