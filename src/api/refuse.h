/* Arguments that are wrong where there is no context to say so by. */
#ifndef KEEL_API_REFUSE_H_
#define KEEL_API_REFUSE_H_

#include "api/context.h"

keel_status_t keel_refuse_null(const char *what); /* KEEL_ERR_INVALID_PARAM, said */
keel_status_t keel_params_check(const keel_params_t *params);

#endif
