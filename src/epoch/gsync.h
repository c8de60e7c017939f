/* Gsync. */
#ifndef KEEL_EPOCH_GSYNC_H_
#define KEEL_EPOCH_GSYNC_H_

#include "engine/context.h"

/* One gsync. *is_stop_p: rank 0 began it as a stop; a call of other flags is still to be made. */
keel_status_t keel_gsync_pass(keel_context_h ctx, unsigned flags, int *is_stop_p);
/* Flushes the phase and finishes its replay, ahead of an arrival. It may be called again. */
keel_status_t keel_gsync_settle(keel_context_h ctx);

/* Whether rank @a rank has arrived at gsync @a number, and in which kind of call. */
typedef enum { KEEL_ARRIVED_NOT, KEEL_ARRIVED_UNSAFE, KEEL_ARRIVED_SAFE, KEEL_ARRIVED_STOPS } keel_arrived_t;
keel_arrived_t keel_gsync_arrived(const keel_context_h ctx, uint32_t rank, uint32_t number);
/* KEEL_ERR_LIMIT, said, where @a call would be a gsync after the last one there is */
keel_status_t keel_gsync_check(keel_context_h ctx, const char *call);
/* says that this process is done with what it copies or sums in gsync @a number, and waits until all are */
keel_status_t keel_gsync_second(keel_context_h ctx, uint32_t number);

#endif
