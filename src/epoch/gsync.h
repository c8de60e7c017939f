/* Gsync and checkpoint. */
#ifndef KEEL_EPOCH_GSYNC_H_
#define KEEL_EPOCH_GSYNC_H_

#include "engine/context.h"

keel_status_t keel_gsync_run(keel_context_h ctx, unsigned flags);
/* KEEL_ERR_LIMIT, said, where @a call would be a gsync after the last one there is */
keel_status_t keel_gsync_check(keel_context_h ctx, const char *call);
/* says that this process is done with what it copies or sums in gsync @a number, and waits until all are */
keel_status_t keel_gsync_second(keel_context_h ctx, uint32_t number);

#endif
