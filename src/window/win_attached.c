/*
 * Attached memory, in images and at a rollback: parts of a window that also stand in the program's
 * own memory.
 *
 * The image decides whether attached memory or the window holds the contents, so an image lists the
 * parts attached then and their addresses. A listed part that is not attached now stays in the list
 * without memory. Addresses count only in the process that took the image: a replacement has other
 * memory.
 */
#include "window/win_attached.h"
#include "window/win_extents.h"

#include "base/memory.h"
#include "base/second_map.h"
#include "check/plant.h"

#include <string.h>

/* of an image */
typedef struct saved {
    uint32_t region, incarnation;
    uint64_t offset, bytes, memory;
} saved_t;
_Static_assert(sizeof(saved_t) == 32, "an image has nothing between them");

/* ---- lists ---- */

keel_attached_t *keel_attached_find(const keel_attached_list_t *list, uint64_t offset, uint64_t bytes)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (list->all[i].offset == offset && list->all[i].bytes == bytes) {
            return &list->all[i];
        }
    }
    return NULL;
}

keel_attached_t *keel_attached_find_memory(const keel_attached_list_t *list, const void *memory)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (list->all[i].memory == memory) {
            return &list->all[i];
        }
    }
    return NULL;
}

keel_status_t keel_attached_reserve(keel_attached_list_t *list)
{
    keel_attached_t *grown = keel_realloc(list->all, (list->count + 1) * sizeof(*grown), "attached memory");

    list->all = (grown != NULL) ? grown : list->all;
    return (grown != NULL) ? KEEL_OK : KEEL_ERR_NO_MEMORY;
}

void keel_attached_remove(keel_attached_list_t *list, keel_attached_t *piece)
{
    keel_free(piece->initial);
    *piece = list->all[--list->count];
}

static void list_release(keel_attached_list_t *list)
{
    while (list->count > 0) {
        keel_attached_remove(list, list->all);
    }
    keel_free(list->all);
    list->all = NULL;
}

/* ---- windows ---- */

keel_status_t keel_attached_make(keel_win_h win)
{
    win->attach = keel_alloc(sizeof(*win->attach), "attached memory of a window");
    win->has_extents = win->attach != NULL;
    return (win->attach != NULL) ? KEEL_OK : KEEL_ERR_NO_MEMORY;
}

void keel_attached_release(keel_win_h win)
{
    if (win->attach != NULL) {
        list_release(&win->attach->now);
        list_release(&win->attach->start);
        keel_free(win->attach);
    }
}

void keel_attached_give_back(keel_win_h win)
{
    const keel_attached_list_t *now = (win->attach != NULL) ? &win->attach->now : NULL;

    for (unsigned i = 0; now != NULL && i < now->count; i++) {
        if (now->all[i].memory != NULL) {
            (void)keel_second_unmap(now->all[i].memory, now->all[i].bytes);
        }
    }
    if (now != NULL) {
        list_release(&win->attach->now);
    }
}

int keel_attached_has(const struct keel_win *win, const void *memory, size_t bytes)
{
    const uintptr_t from = (uintptr_t)memory;

    for (unsigned i = 0; win->attach != NULL && i < win->attach->now.count; i++) {
        const keel_attached_t *piece = &win->attach->now.all[i];
        const uintptr_t at = (uintptr_t)piece->memory;

        if (at != 0 && (from >= at ? from - at < piece->bytes : at - from < bytes)) {
            return 1;
        }
    }
    return 0;
}

/* ---- images ---- */

static const keel_attached_list_t *list_of_image(const struct keel_win *win)
{
    static const keel_attached_list_t none;

    return (win->attach != NULL && win->freed_call == 0) ? &win->attach->now : &none;
}

size_t keel_attached_saved_size(const keel_context_h ctx)
{
    size_t count = 0;

    for (unsigned i = 0; i < ctx->windows.count; i++) {
        count += list_of_image(ctx->windows.list[i])->count;
    }
    return count * sizeof(saved_t);
}

void keel_attached_save(const keel_context_h ctx, void *to)
{
    saved_t *next = to;

    for (unsigned i = 0; i < ctx->windows.count; i++) {
        const struct keel_win *win = ctx->windows.list[i];
        const keel_attached_list_t *list = list_of_image(win);

        for (unsigned k = 0; k < list->count; k++) {
            *next++ = (saved_t){.region = win->region,
                                .incarnation = ctx->lane.incarnation,
                                .offset = list->all[k].offset,
                                .bytes = list->all[k].bytes,
                                .memory = (uintptr_t)list->all[k].memory};
        }
    }
}

/* gives back parts that the image had otherwise; *had may have no memory */
static keel_status_t return_other(keel_win_h win, const keel_attached_list_t *had)
{
    keel_attached_list_t *now = &win->attach->now;

    for (unsigned i = 0; i < now->count; i++) {
        keel_attached_t *piece = &now->all[i];
        const keel_attached_t *then = keel_attached_find(had, piece->offset, piece->bytes);
        const int is_same = then != NULL && (then->memory == NULL || then->memory == piece->memory);

        if (piece->memory == NULL || is_same || KEEL_PLANT(win_attached_since)) {
            continue;
        }
        if (!keel_second_unmap(piece->memory, piece->bytes)) {
            keel_error_ctx(win->ctx, "%lu bytes that were attached at %p do not come back: no memory",
                           (unsigned long)piece->bytes, (void *)piece->memory);
            return KEEL_ERR_NO_MEMORY;
        }
        piece->memory = NULL;
    }
    return KEEL_OK;
}

static keel_status_t return_to(keel_win_h win, const keel_attached_list_t *had)
{
    keel_attached_list_t then = {.count = had->count};
    keel_status_t status = return_other(win, had);

    if (status != KEEL_OK) {
        return status;
    }
    then.all = keel_alloc((had->count + 1) * sizeof(*then.all), "attached memory");
    if (then.all == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (unsigned i = 0; i < had->count; i++) {
        const keel_attached_t *is = keel_attached_find(&win->attach->now, had->all[i].offset, had->all[i].bytes);

        then.all[i] = (keel_attached_t){.offset = had->all[i].offset,
                                        .bytes = had->all[i].bytes,
                                        .memory = (is != NULL) ? is->memory : NULL,
                                        .is_again = 1};
    }
    list_release(&win->attach->now);
    win->attach->now = then;
    return KEEL_OK;
}

static saved_t saved_at(const void *saved, size_t index)
{
    saved_t piece;

    memcpy(&piece, (const char *)saved + index * sizeof(piece), sizeof(piece));
    return piece;
}

/* restores the list of the next window, from *next_p on */
static keel_status_t return_saved(keel_win_h win, const void *saved, size_t count, size_t *next_p)
{
    keel_attached_list_t had = {.all = keel_alloc((count + 1) * sizeof(*had.all), "attached memory")};
    keel_status_t status = (had.all != NULL) ? KEEL_OK : KEEL_ERR_NO_MEMORY;

    for (; status == KEEL_OK && *next_p < count && saved_at(saved, *next_p).region == win->region; ++*next_p) {
        const saved_t piece = saved_at(saved, *next_p);
        const int is_here = piece.incarnation == win->ctx->lane.incarnation;

        had.all[had.count++] = (keel_attached_t){
            .offset = piece.offset, .bytes = piece.bytes, .memory = is_here ? (char *)(uintptr_t)piece.memory : NULL};
        if (piece.offset > win->size || piece.bytes > win->size - piece.offset) {
            status = KEEL_ERR_STATE;
        }
    }
    status = (status == KEEL_OK) ? return_to(win, &had) : status;
    list_release(&had);
    return status;
}

keel_status_t keel_attached_return(keel_context_h ctx, const void *saved, size_t length)
{
    const size_t count = length / sizeof(saved_t);
    keel_status_t status = KEEL_OK;
    size_t next = 0;

    for (unsigned i = 0; status == KEEL_OK && i < ctx->windows.count; i++) {
        keel_win_h win = ctx->windows.list[i];

        if (win->attach != NULL && win->freed_call == 0) {
            status = (saved == NULL) ? return_to(win, &win->attach->start) : return_saved(win, saved, count, &next);
        }
    }
    return (status == KEEL_OK && (next != count || length % sizeof(saved_t) != 0)) ? KEEL_ERR_STATE : status;
}

void keel_attached_reset(keel_win_h win)
{
    const keel_attached_list_t *start = (win->attach != NULL && win->freed_call == 0) ? &win->attach->start : NULL;

    for (unsigned i = 0; start != NULL && i < start->count; i++) {
        const keel_attached_t *piece = &start->all[i];

        if (!KEEL_PLANT(win_memory_initial_lost)) {
            memcpy((char *)win->base + piece->offset, piece->initial, piece->bytes);
        }
        if (keel_extents_add(win, piece->offset, piece->bytes) != KEEL_OK) {
            win->has_extents = 0; /* the image has all of the window */
        }
    }
}
