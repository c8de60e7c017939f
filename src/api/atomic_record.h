/*
 * The records of atomics in the put log. Many of one class, side by side, are one: numbered, marked, and in doubt as one, so that who replaces their
 * source does all of it again, or none.
 */
#ifndef KEEL_API_ATOMIC_RECORD_H_
#define KEEL_API_ATOMIC_RECORD_H_

#include "api/atomic.h"
#include "peer/apply.h"

/* bytes of it */
size_t keel_atomic_length(const keel_atomic_call_t *call);
/* Filled; NULL: there is no room. @a is_known: what it finds is known before anything else is done here, and is told then:
 * keel_atomic_found(), or of many keel_combine_change(). */
keel_record_t *keel_atomic_log(const keel_atomic_call_t *call, int is_known);
/* what a logged one found */
static inline __attribute__((always_inline)) void keel_atomic_found(keel_record_t *record, uint64_t old)
{
    keel_record_atomic_t *atomic = (keel_record_atomic_t *)(record + 1);

    if (keel_atomic_may_change(atomic->op)) {
        atomic->change = keel_atomic_change(atomic, old);
        atomic->is_changed = 1;
    }
    atomic->is_answered = 1;
}
/* of a posted one to who is served, that is in no log */
keel_status_t keel_atomic_bounce(const keel_atomic_call_t *call);

#endif
