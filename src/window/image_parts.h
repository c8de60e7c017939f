/* The memory that belongs to the image of a process: extents of its windows, and protected regions. */
#ifndef KEEL_WINDOW_IMAGE_PARTS_H_
#define KEEL_WINDOW_IMAGE_PARTS_H_

#include "engine/context.h"

/* windows and protected regions, for the image; valid until the next call */
unsigned keel_context_parts(keel_context_h ctx, keel_part_t **parts_p);
/* KEEL_OPLOG_SIZE=auto: lets the logs grow to what suits an image as large as it would be now. */
void keel_context_logs_follow(keel_context_h ctx);

#endif
