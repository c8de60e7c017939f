/* What an image holds: memory (parts.h), what is attached to windows, and what is locked. */
#ifndef KEEL_EPOCH_IMAGE_CONTENT_H_
#define KEEL_EPOCH_IMAGE_CONTENT_H_

#include "engine/context.h"

/* The memory of keel_context_parts(), and what is attached and locked now; valid until the next call. *parts_p NULL: out of memory */
unsigned keel_context_image(keel_context_h ctx, keel_part_t **parts_p);
/* memory, what is attached, and locks as in the image; nothing is locked before */
keel_status_t keel_context_read_image(keel_context_h ctx, const void *image, size_t size, const char **why_p);

#endif
