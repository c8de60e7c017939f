/*
 * The records of atomics in the put log. Many of one class, side by side, are one: numbered, marked, and in doubt as one, so that who replaces their
 * source does all of it again, or none.
 */
#ifndef KEEL_RMA_ATOMIC_RECORD_H_
#define KEEL_RMA_ATOMIC_RECORD_H_

#include "rma/atomic.h"
#include "peer/apply.h"

/* bytes of it */
size_t keel_atomic_length(const keel_atomic_call_t *call);
/* Filled; NULL: there is no room. @a is_known: what it finds is known before anything else is done here, and is told then:
 * keel_atomic_found(), or of many keel_combine_change(). */
keel_record_t *keel_atomic_log(const keel_atomic_call_t *call, int is_known);
/* of a posted one to who is served, that is in no log */
keel_status_t keel_atomic_bounce(const keel_atomic_call_t *call);

#endif
