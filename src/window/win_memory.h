/* What windows are made of: Keel's memory or the program's, and what it holds at first. */
#ifndef KEEL_WINDOW_WIN_MEMORY_H_
#define KEEL_WINDOW_WIN_MEMORY_H_

#include "engine/context.h"

#define KEEL_WIN_PARAMS_ALL                                                                    \
    (KEEL_WIN_PARAM_FIELD_NAME | KEEL_WIN_PARAM_FIELD_ADDRESS | KEEL_WIN_PARAM_FIELD_INITIAL | \
     KEEL_WIN_PARAM_FIELD_ATOMICS | KEEL_WIN_PARAM_FIELD_ATTACH)

/* what is refused is said */
keel_status_t keel_win_params_check(keel_context_h ctx, size_t bytes, const keel_win_params_t *params, uint64_t fields);
/* memory that @a call is to make a window's, or some of one */
keel_status_t keel_win_memory_check(keel_context_h ctx, const void *memory, size_t bytes, const char *call);
/* what it is to hold at first, NULL: zeros */
const void *keel_win_initial(const keel_win_params_t *params);

/* with its contents there when others are told of it; what it holds in generation 0 is kept where it belongs to that */
keel_status_t keel_win_memory_make(keel_win_h win, const void *initial);
/* memory that is the program's is that again, with its contents; the window has none of it any more */
void keel_win_memory_give_back(keel_win_h win);
/* to what generation 0 has */
void keel_win_memory_reset(keel_win_h win);
/* a window that has some of it, or that some of it is attached to; or NULL */
const struct keel_win *keel_win_of_memory(const keel_context_h ctx, const void *address, size_t bytes);

#endif
