/* The memory of put and get logs. */
#ifndef KEEL_ENGINE_LOGS_H_
#define KEEL_ENGINE_LOGS_H_

#include "engine/context.h"

/* Parameters of the lane, whose service side writes the get log. */
keel_lane_params_t keel_context_lane_params(keel_context_h ctx, const keel_drivers_t *drivers);
/*
 * Makes the pool that both logs take segments from. @a transport limits its size; NULL: not opened yet. First lives (@a is_first)
 * have all of it faulted in; a replacement, which others wait for, only the first part.
 */
keel_status_t keel_context_logs_init(keel_context_h ctx, const keel_transport_ops_t *ops, keel_transport_t *transport,
                                     int is_first);
/* KEEL_OPLOG_SIZE=auto, and something is logged. */
int keel_context_logs_may_grow(const keel_context_h ctx);
/* Lets logs that may grow take what suits an image of @a image_bytes. */
void keel_context_logs_grow(keel_context_h ctx, size_t image_bytes);

#endif
