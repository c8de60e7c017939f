/* Locks held across a gsync, in the image of the gsync. */
#ifndef KEEL_SYNC_SECTIONS_IMAGE_H_
#define KEEL_SYNC_SECTIONS_IMAGE_H_

#include "sync/sections.h"

/*
 * Size: bytes for the locks held by this rank and the locks held here, 0 if there are none. Save:
 * writes the bytes. Load: restores the locks while none is held; KEEL_ERR_CORRUPT: malformed bytes.
 */
size_t keel_sections_image_size(const struct keel_sync *sync);
void keel_sections_save(const struct keel_sync *sync, void *to);
keel_status_t keel_sections_load(struct keel_sync *sync, const void *from, size_t length);

#endif
