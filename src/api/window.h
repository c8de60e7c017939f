/* Windows and protected regions. */
#ifndef KEEL_API_WINDOW_H_
#define KEEL_API_WINDOW_H_

#include "api/context.h"

void keel_windows_release(keel_context_h ctx);
keel_status_t keel_win_refuse_freed(keel_win_h win); /* KEEL_ERR_INVALID_PARAM, said */
keel_status_t keel_windows_restore(keel_context_h ctx, uint32_t window_calls);
/* window calls that the program has to repeat yet before it restores */
uint32_t keel_windows_due(const keel_context_h ctx);
/* until every rank has told of every window made so far */
keel_status_t keel_windows_await(keel_context_h ctx);
void keel_protected_release(keel_context_h ctx);
void keel_protected_reset(keel_context_h ctx);

#endif
