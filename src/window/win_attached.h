/* Attached memory: parts of a window that also stand in the program's own memory. */
#ifndef KEEL_WINDOW_WIN_ATTACHED_H_
#define KEEL_WINDOW_WIN_ATTACHED_H_

#include "engine/context.h"

typedef struct keel_attached {
    uint64_t offset, bytes;
    char *memory;  /* NULL: to be attached again, or, in an image, at any address */
    int is_again;  /* the image had it attached: the program may attach it again */
    void *initial; /* contents at the start of the program */
} keel_attached_t;

typedef struct keel_attached_list {
    keel_attached_t *all;
    unsigned count;
} keel_attached_list_t;

struct keel_attach {
    keel_attached_list_t now, start; /* attached now, and at the start of the program */
};

keel_attached_t *keel_attached_find(const keel_attached_list_t *list, uint64_t offset, uint64_t bytes);
keel_attached_t *keel_attached_find_memory(const keel_attached_list_t *list, const void *memory);
keel_status_t keel_attached_reserve(keel_attached_list_t *list); /* makes room for one more */
void keel_attached_remove(keel_attached_list_t *list, keel_attached_t *piece);

/* an empty list: nothing is attached, and images contain nothing */
keel_status_t keel_attached_make(keel_win_h win);
void keel_attached_release(keel_win_h win);
/* gives all attached memory back to the program, with its contents */
void keel_attached_give_back(keel_win_h win);
/* whether part of this memory is attached */
int keel_attached_has(const struct keel_win *win, const void *memory, size_t bytes);

/* the attachments of all windows, for an image; 0: none */
size_t keel_attached_saved_size(const keel_context_h ctx);
void keel_attached_save(const keel_context_h ctx, void *to);
/* Call before windows take the contents of the image. Gives back memory that is attached
 * otherwise than in the image. Returns KEEL_ERR_STATE if the image's list does not fit these
 * windows. NULL: generation 0. */
keel_status_t keel_attached_return(keel_context_h ctx, const void *saved, size_t length);
/* Generation 0, in a window with its first contents: memory attached at the start of the program
 * takes those contents, too. */
void keel_attached_reset(keel_win_h win);

#endif
