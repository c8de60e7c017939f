/* Atomics: combining puts [F 2.1], the fetching ones also gets. */
#ifndef KEEL_API_ATOMIC_H_
#define KEEL_API_ATOMIC_H_

#include "api/context.h"

/* keel_recovery_params_t.on_fetch */
int keel_atomic_again(void *arg, uint32_t rank, const keel_fetch_t *fetch, const uint64_t *old);

#endif
