/* Memory of the program's own at which some of a window is, too. */
#ifndef KEEL_API_ATTACH_H_
#define KEEL_API_ATTACH_H_

#include "api/context.h"

keel_status_t keel_attach_make(keel_win_h win); /* nothing is attached, and nothing belongs to images */
void keel_attach_release(keel_win_h win);
/* all of it comes back to the program, with what it holds */
void keel_attach_give_back(keel_win_h win);
/* whether some of this is attached */
int keel_attach_has(const struct keel_win *win, const void *memory, size_t bytes);

/* what is attached to all windows, for an image; 0: nothing is */
size_t keel_attach_saved_size(const keel_context_h ctx);
void keel_attach_save(const keel_context_h ctx, void *to);
/* Before windows hold what the image has: what is attached otherwise than in the image comes back to the program. KEEL_ERR_STATE
 * when that cannot be of these windows. NULL: generation 0. */
keel_status_t keel_attach_return(keel_context_h ctx, const void *saved, size_t length);
/* generation 0, of a window that has its first contents: what was attached in the program's start has those, too */
void keel_attach_reset(keel_win_h win);

#endif
