/* The bytes of a window that belong to images. */
#ifndef KEEL_WINDOW_WIN_EXTENTS_H_
#define KEEL_WINDOW_WIN_EXTENTS_H_

#include "engine/context.h"

/* clears the extents: none, or without @a has_extents the whole window */
void keel_extents_clear(keel_win_h win, int has_extents);
void keel_extents_reset(keel_win_h win); /* as at first: all, or none where memory is attached */
/* adds the bytes to images, or removes them, from now on */
keel_status_t keel_extents_add(keel_win_h win, uint64_t offset, uint64_t length);
keel_status_t keel_extents_cut(keel_win_h win, uint64_t offset, uint64_t length);
/* Gives all windows the extents of the image. *why_p: the reason of an error. */
keel_status_t keel_extents_restore(keel_context_h ctx, const void *image, size_t size, const char **why_p);

/* Sets extents for good: also after a rollback to the start the window has them. */
keel_status_t keel_extents_fix(keel_win_h win, const keel_extent_t *extents, unsigned count);

#endif
