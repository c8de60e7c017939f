/*
 * The records of atomics in the put log. Adjacent atomics of one class share a record, with a
 * single number and mark. The whole record is in doubt or none of it: a replacement of the source
 * repeats all of the atomics or none.
 */
#ifndef KEEL_RMA_ATOMIC_RECORD_H_
#define KEEL_RMA_ATOMIC_RECORD_H_

#include "rma/atomic.h"
#include "peer/apply.h"

/* bytes of the payload */
size_t keel_atomic_length(const keel_atomic_call_t *call);
/* Reserves and fills a record. Returns NULL if the log has no room. @a is_known: the caller
 * notes the old value, by keel_atomic_found() or keel_combine_change(), before its next access
 * there. */
keel_record_t *keel_atomic_log(const keel_atomic_call_t *call, int is_known);
/* sends a posted atomic without a log record to a served target */
keel_status_t keel_atomic_bounce(const keel_atomic_call_t *call);

#endif
