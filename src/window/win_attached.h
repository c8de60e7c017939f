/* Memory of the program's own at which some of a window is, too: what is attached. */
#ifndef KEEL_WINDOW_WIN_ATTACHED_H_
#define KEEL_WINDOW_WIN_ATTACHED_H_

#include "engine/context.h"

typedef struct keel_attached {
    uint64_t offset, bytes;
    char *memory;  /* NULL: it is to be attached again, or, of an image, may be anywhere */
    int is_again;  /* the image had it: the program may attach it again */
    void *initial; /* of the program's start: what it held */
} keel_attached_t;

typedef struct keel_attached_list {
    keel_attached_t *all;
    unsigned count;
} keel_attached_list_t;

struct keel_attach {
    keel_attached_list_t now, start; /* the latter: what belongs to the program's start */
};

keel_attached_t *keel_attached_find(const keel_attached_list_t *list, uint64_t offset, uint64_t bytes);
keel_attached_t *keel_attached_find_memory(const keel_attached_list_t *list, const void *memory);
keel_status_t keel_attached_reserve(keel_attached_list_t *list); /* room for one more */
void keel_attached_remove(keel_attached_list_t *list, keel_attached_t *piece);

keel_status_t keel_attached_make(keel_win_h win); /* nothing is attached, and nothing belongs to images */
void keel_attached_release(keel_win_h win);
/* all of it comes back to the program, with what it holds */
void keel_attached_give_back(keel_win_h win);
/* whether some of this is attached */
int keel_attached_has(const struct keel_win *win, const void *memory, size_t bytes);

/* what is attached to all windows, for an image; 0: nothing is */
size_t keel_attached_saved_size(const keel_context_h ctx);
void keel_attached_save(const keel_context_h ctx, void *to);
/* Before windows hold what the image has: what is attached otherwise than in the image comes back to the program. KEEL_ERR_STATE
 * when that cannot be of these windows. NULL: generation 0. */
keel_status_t keel_attached_return(keel_context_h ctx, const void *saved, size_t length);
/* generation 0, of a window that has its first contents: what was attached in the program's start has those, too */
void keel_attached_reset(keel_win_h win);

#endif
