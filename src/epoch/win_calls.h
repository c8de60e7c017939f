/* Collective calls of other rooms: windows of stores, and refused arguments. */
#ifndef KEEL_EPOCH_WIN_CALLS_H_
#define KEEL_EPOCH_WIN_CALLS_H_

#include "engine/context.h"

/* keel_win_alloc() of a window with only the bytes of @a saved in images. The caller ends the
 * call (keel_context_end()): after a rollback the caller first frees other memory of the window.
 * The caller has checked the parameters. A lack of memory ends the call at all ranks. */
keel_status_t keel_win_alloc_saved(keel_context_h ctx, size_t bytes, const keel_win_params_t *params,
                                   const keel_extent_t *saved, keel_win_h *win_p);
/*
 * Takes part in the gsync of a collective call of @a flags although the caller refuses the
 * arguments, and returns @a refused. The job goes on if all ranks refuse; else the job has failed.
 */
keel_status_t keel_gsync_refuse(keel_context_h ctx, unsigned flags, keel_status_t refused, const char *call);

#endif
