/* The memory that belongs to the image of a process: extents of its windows, and protected
 * regions. */
#ifndef KEEL_WINDOW_IMAGE_PARTS_H_
#define KEEL_WINDOW_IMAGE_PARTS_H_

#include "engine/context.h"

/* Returns the windows and protected regions of the image; valid until the next call. */
unsigned keel_context_parts(keel_context_h ctx, keel_part_t **parts_p);
/* KEEL_OPLOG_SIZE=auto: grows the logs to suit an image of today's size. */
void keel_context_logs_follow(keel_context_h ctx);

/* Digest of the existing windows with their sizes. An image is restored to equal windows only. */
uint32_t keel_context_layout(const keel_context_h ctx);

#endif
