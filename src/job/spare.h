/* Steps of a spare before it has a rank, and the sizes that the leader announces to spares. */
#ifndef KEEL_JOB_SPARE_H_
#define KEEL_JOB_SPARE_H_

#include "engine/context.h"

/* Waits in a spare until it has a rank. KEEL_ERR_STATE: the job ended without the spare. */
keel_status_t keel_spare_wait(keel_context_h ctx, const keel_drivers_t *drivers);
/* Releases prepared but unused transport and log memory. */
void keel_spare_release(keel_context_h ctx, const keel_drivers_t *drivers);
/*
 * The leader announces the sizes to prepare to the spares, after a change. Costs one comparison if
 * nothing changed.
 */
void keel_spare_announce(keel_context_h ctx);

#endif
