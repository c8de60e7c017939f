/* What a spare does before it has a rank, and what it is told for it. */
#ifndef KEEL_JOB_SPARE_H_
#define KEEL_JOB_SPARE_H_

#include "engine/context.h"

/* spare.c: in a spare, which has a rank afterwards; KEEL_ERR_STATE: the job is over without it */
keel_status_t keel_spare_wait(keel_context_h ctx, const keel_drivers_t *drivers);
/* what it made and did not use */
void keel_spare_release(keel_context_h ctx, const keel_drivers_t *drivers);
/* rank 0 tells the spares what they may need when that changed; costs a comparison when nothing did */
void keel_spare_tell(keel_context_h ctx);

#endif
