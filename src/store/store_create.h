/* The stores of a context: the end, and the work inside calls. */
#ifndef KEEL_STORE_STORE_CREATE_H_
#define KEEL_STORE_STORE_CREATE_H_

#include "engine/context.h"

/* Releases the stores of the context, after its connections. */
void keel_stores_release(keel_context_h ctx);
/* Hook: pushes or refills a part. */
void keel_stores_progress(keel_context_h ctx);
/* Hook: a call is about to fail, and pending loads end. */
void keel_stores_mute(keel_context_h ctx);

#endif
