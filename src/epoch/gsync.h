/* Gsync. */
#ifndef KEEL_EPOCH_GSYNC_H_
#define KEEL_EPOCH_GSYNC_H_

#include "engine/context.h"

/* Passes one gsync. *is_stop_p: the leader began a stop, so a call with other flags is still to be
 * made. */
keel_status_t keel_gsync_pass(keel_context_h ctx, unsigned flags, int *is_stop_p);
/* Flushes the phase and finishes its replay, before an arrival. Repeated calls do no harm. */
keel_status_t keel_gsync_complete_phase(keel_context_h ctx);

/* State of rank @a rank at gsync @a number: not arrived, or the kind of its call. */
typedef enum { KEEL_ARRIVED_NOT, KEEL_ARRIVED_UNSAFE, KEEL_ARRIVED_SAFE, KEEL_ARRIVED_STOPS } keel_arrived_t;
keel_arrived_t keel_gsync_arrived(const keel_context_h ctx, uint32_t rank, uint32_t number);
/* Before the gsync of @a call: the program synchronises by gsyncs, too. Reports and returns
 * KEEL_ERR_LIMIT after the last possible gsync. */
keel_status_t keel_gsync_admit(keel_context_h ctx, const char *call);
/* Announces that the own copies and sums of gsync @a number are complete, and waits until those
 * of all ranks are. */
keel_status_t keel_gsync_second(keel_context_h ctx, uint32_t number);

#endif
