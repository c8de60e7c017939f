/* Locks that are held across a gsync, in its image. */
#ifndef KEEL_SYNC_SECTIONS_IMAGE_H_
#define KEEL_SYNC_SECTIONS_IMAGE_H_

#include "sync/sections.h"

/* bytes that say what is locked, by this process and here, 0 when nothing is; those bytes; and all of it as it
 * was, when nothing is locked any more. KEEL_ERR_CORRUPT: they are none */
size_t keel_sections_image_size(const struct keel_sync *sync);
void keel_sections_save(const struct keel_sync *sync, void *to);
keel_status_t keel_sections_load(struct keel_sync *sync, const void *from, size_t length);

#endif
