/* Flush and fence. */
#ifndef KEEL_API_FLUSH_H_
#define KEEL_API_FLUSH_H_

#include "api/context.h"

keel_status_t keel_flush_one(keel_context_h ctx, uint32_t rank);
/* served lane: sends what was not sent yet */
keel_status_t keel_flush_start(keel_context_h ctx, uint32_t rank);
/* callbacks run until nothing is left that they might be called for: what they issue is complete, too */
keel_status_t keel_flush_everyone(keel_context_h ctx);

#endif
