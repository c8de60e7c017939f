/* Windows. */
#ifndef KEEL_WINDOW_WINDOW_H_
#define KEEL_WINDOW_WINDOW_H_

#include "engine/context.h"

/* Makes a window of the caller alone, and announces its region. @a given: memory of the program,
 * NULL: Keel's. @a saved: the one extent of images, for good; NULL: all of the window. */
keel_status_t keel_win_make(keel_context_h ctx, size_t bytes, void *given, const keel_win_params_t *params,
                            const keel_extent_t *saved, keel_win_h *win_p);
/* Waits until every rank has announced its part of the window. */
keel_status_t keel_win_await_peers(keel_win_h win);
/* Frees the window's memory and retires its region; the handle stays valid and is refused. */
void keel_win_retire(keel_win_h win);
void keel_windows_release(keel_context_h ctx);
keel_status_t keel_windows_restore(keel_context_h ctx, uint32_t window_calls);
/* the window calls that the program has yet to repeat before a restore */
uint32_t keel_windows_due(const keel_context_h ctx);
/* Waits until every rank has announced every window made so far. */
keel_status_t keel_windows_await(keel_context_h ctx);

#endif
