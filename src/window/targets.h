/*
 * Each window's table of mapped or served memory by rank, for the fast paths. The table holds live
 * ranks that know this process's usage flags (order/announce).
 */
#ifndef KEEL_WINDOW_TARGETS_H_
#define KEEL_WINDOW_TARGETS_H_

#include "engine/context.h"

/* keel_win_refresh() derives a window's table again; keel_windows_refresh() derives the entries
 * of some ranks in all windows with current tables. */
void keel_win_refresh(keel_win_h win);
void keel_windows_refresh(keel_context_h ctx, const uint32_t *ranks, uint32_t count);

#endif
