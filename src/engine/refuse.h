/* Refusal of invalid arguments. */
#ifndef KEEL_ENGINE_REFUSE_H_
#define KEEL_ENGINE_REFUSE_H_

#include "engine/context.h"

keel_status_t keel_refuse_null(const char *what); /* Reports and returns KEEL_ERR_INVALID_PARAM. */
keel_status_t keel_params_check(const keel_params_t *params);
/* Reports the reason for refusing a freed window; returns KEEL_ERR_INVALID_PARAM. */
keel_status_t keel_win_refuse_freed(keel_win_h win);
/* Reports that the job goes on without the rank; returns KEEL_ERR_RANK. */
keel_status_t keel_refuse_gone(keel_context_h ctx, uint32_t rank);

#endif
