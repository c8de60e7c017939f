/* Content of an image: memory (window/image_parts.h), attachments of windows, and locks. */
#ifndef KEEL_EPOCH_IMAGE_CONTENT_H_
#define KEEL_EPOCH_IMAGE_CONTENT_H_

#include "engine/context.h"

/* Parts of an image: keel_context_parts() with present attachments and locks; valid until the
 * next call. *parts_p NULL: out of memory. */
unsigned keel_context_image(keel_context_h ctx, keel_part_t **parts_p);
/* Reads memory, attachments and locks from the image. No lock is held before. */
keel_status_t keel_context_read_image(keel_context_h ctx, const void *image, size_t size, const char **why_p);

#endif
