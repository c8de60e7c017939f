/* The layers of a context: made in order, and released in the reverse order. */
#ifndef KEEL_JOB_LAYERS_H_
#define KEEL_JOB_LAYERS_H_

#include "engine/context.h"

/* Registers the hooks of the rooms above the engine. */
void keel_context_hooks_init(keel_context_h ctx);
/* Makes the lane, logs, checkpoints, order and recovery. An error releases all of them again. */
keel_status_t keel_context_layers_init(keel_context_h ctx, const keel_drivers_t *drivers, int is_deterministic);
void keel_context_layers_release(keel_context_h ctx);
/* Allocates the per-rank tables of accesses. */
keel_status_t keel_context_accesses_init(keel_context_h ctx);
/* Releases everything that the context owns, and the context itself. */
void keel_context_release(keel_context_h ctx);

#endif
