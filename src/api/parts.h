/* What of a process belongs to its image: extents of its windows, protected regions, what is attached, and what is locked. */
#ifndef KEEL_API_PARTS_H_
#define KEEL_API_PARTS_H_

#include "api/context.h"

/* windows and protected regions, for the image; valid until the next call */
unsigned keel_context_parts(keel_context_h ctx, keel_part_t **parts_p);
/* the same with what is attached and locked, as it is now: for an image; *parts_p NULL: out of memory */
unsigned keel_context_image(keel_context_h ctx, keel_part_t **parts_p);
/* memory, what is attached, and locks as in the image; nothing is locked before */
keel_status_t keel_context_read_image(keel_context_h ctx, const void *image, size_t size, const char **why_p);

#endif
