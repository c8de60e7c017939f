/* The memory of windows, Keel's or the program's, and its first contents. */
#ifndef KEEL_WINDOW_WIN_MEMORY_H_
#define KEEL_WINDOW_WIN_MEMORY_H_

#include "engine/context.h"

#define KEEL_WIN_PARAMS_ALL                                                                    \
    (KEEL_WIN_PARAM_FIELD_NAME | KEEL_WIN_PARAM_FIELD_ADDRESS | KEEL_WIN_PARAM_FIELD_INITIAL | \
     KEEL_WIN_PARAM_FIELD_ATOMICS | KEEL_WIN_PARAM_FIELD_ATTACH)

/* refuses parameters with a message */
keel_status_t keel_win_params_check(keel_context_h ctx, size_t bytes, const keel_win_params_t *params, uint64_t fields);
/* Checks memory for @a call, which gives the memory to a window or attaches it. */
keel_status_t keel_win_memory_check(keel_context_h ctx, const void *memory, size_t bytes, const char *call);
/* the first contents; NULL: zeros */
const void *keel_win_initial(const keel_win_params_t *params);

/* Makes and fills the memory before other ranks know of the window. Keeps a copy of first
 * contents of generation 0. */
keel_status_t keel_win_memory_make(keel_win_h win, const void *initial);
/* Gives the program's memory back with the window's contents. */
void keel_win_memory_give_back(keel_win_h win);
/* Resets the memory to the contents of generation 0. */
void keel_win_memory_reset(keel_win_h win);
/* the window that contains or has attached some of the bytes; or NULL */
const struct keel_win *keel_win_of_memory(const keel_context_h ctx, const void *address, size_t bytes);

#endif
