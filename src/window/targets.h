/*
 * What windows keep of the memory of each rank, for accesses that take the short way: of those that are live, are mapped or sent to, and know
 * what this process uses (order/usage).
 */
#ifndef KEEL_WINDOW_TARGETS_H_
#define KEEL_WINDOW_TARGETS_H_

#include "engine/context.h"

/* looked up anew; of some ranks, in all windows that are up to date */
void keel_win_refresh(keel_win_h win);
void keel_windows_refresh(keel_context_h ctx, const uint32_t *ranks, uint32_t count);

#endif
