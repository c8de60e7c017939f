/*
 * Joins the job on other drivers than UCX and PMIx: for the simulator and for tests that intercept
 * Keel's drivers.
 */
#ifndef KEEL_JOB_INIT_H_
#define KEEL_JOB_INIT_H_

#include "base/message.h"

#include <keel/keel.h>

struct keel_drivers; /* runtime_ops.h */

/* Does the work of keel_init(). Copies @a drivers; NULL selects the drivers of keel_init(). */
keel_status_t keel_init_on(const struct keel_drivers *drivers, const keel_params_t *params, keel_context_h *ctx_p);
/* Waits until every rank has received the messages of the caller's start. A caller that leaves Keel
 * for long, as for a barrier of the runtime, must not keep others in their starts. No part of
 * keel_init_on(), since the simulator's transport sends at once. */
void keel_init_flush(keel_context_h ctx);
/* Reports the failure of a call that makes a context: a layer without memory, or with a failed
 * system call, may have had no way to report. No effect for other statuses. */
void keel_init_report(const keel_message_t *message, int is_attached, keel_status_t status);

#endif
