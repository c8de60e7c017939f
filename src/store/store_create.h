/* The stores of a context: their end, and their work inside calls. */
#ifndef KEEL_STORE_STORE_CREATE_H_
#define KEEL_STORE_STORE_CREATE_H_

#include "engine/context.h"

/* Releases the stores of the context, after its connections. */
void keel_stores_release(keel_context_h ctx);
/* Hook: pushes or refills a part. */
void keel_stores_progress(keel_context_h ctx);

#endif
