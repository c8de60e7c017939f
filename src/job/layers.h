/* The layers of a context: made in order, and released in the reverse order. */
#ifndef KEEL_JOB_LAYERS_H_
#define KEEL_JOB_LAYERS_H_

#include "engine/context.h"

/* Registers the hooks of the rooms above the engine. */
void keel_context_hooks_init(keel_context_h ctx);
/* Lane, logs, checkpoints, order and recovery. On an error everything is released again. */
keel_status_t keel_context_layers_init(keel_context_h ctx, const keel_drivers_t *drivers, int is_deterministic);
void keel_context_layers_release(keel_context_h ctx);
/* What accesses need for each rank. */
keel_status_t keel_context_accesses_init(keel_context_h ctx);
/* Releases all of the context, and the context. */
void keel_context_release(keel_context_h ctx);

#endif
