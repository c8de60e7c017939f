/* The memory of put and get logs. */
#ifndef KEEL_ENGINE_LOGS_H_
#define KEEL_ENGINE_LOGS_H_

#include "engine/context.h"

/* Parameters of the lane; its service side writes the get log. */
keel_lane_params_t keel_context_lane_params(keel_context_h ctx, const keel_drivers_t *drivers);
/*
 * Makes the pool of segments for both logs. @a transport limits its size; NULL: not opened yet. In
 * a first life (@a is_first) all of the pool is faulted in; in a replacement only the first part,
 * because other ranks wait for it.
 */
keel_status_t keel_context_logs_init(keel_context_h ctx, const keel_transport_ops_t *ops, keel_transport_t *transport,
                                     int is_first);
/* Limit of the memory of logs in bytes; 0: no logs. */
size_t keel_context_logs_most(const keel_context_h ctx);
/* True with KEEL_OPLOG_SIZE=auto if accesses are logged. */
int keel_context_logs_may_grow(const keel_context_h ctx);
/* Lets growing logs use the memory that suits an image of @a image_bytes. */
void keel_context_logs_grow(keel_context_h ctx, size_t image_bytes);

#endif
