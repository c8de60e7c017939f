/*
 * Memory of the program's own at which some of a window is, too.
 *
 * Pages of the window are mapped there a second time (base/second_map), so nobody but this process knows of it: what others do to the
 * window they do to these pages, and no lane, log or replay has to do with it. To a replay an attach is a store of the program's.
 *
 * Whether memory counts that is attached, or the window, depends on whether the image had it attached; so an image says what was, and where. A
 * piece that it has and that is attached no more, or not yet, stays in the list without memory. Where it was counts in the process
 * alone that took the image: a replacement has other memory.
 */
#include "api/attach.h"
#include "api/fork.h"
#include "api/inside.h"
#include "api/parts.h"
#include "api/refuse.h"
#include "api/window.h"
#include "api/win_memory.h"

#include "base/memory.h"
#include "base/second_map.h"
#include "check/plant.h"

#include <string.h>
#include <unistd.h>

typedef struct attached {
    uint64_t offset, bytes;
    char *memory;  /* NULL: it is to be attached again, or, of an image, may be anywhere */
    int is_again;  /* the image had it: the program may attach it again */
    void *initial; /* of the program's start: what it held */
} attached_t;

typedef struct list {
    attached_t *all;
    unsigned count;
} list_t;

struct keel_attach {
    list_t now, start; /* the latter: what belongs to the program's start */
};

/* of an image */
typedef struct saved {
    uint32_t region, incarnation;
    uint64_t offset, bytes, memory;
} saved_t;
_Static_assert(sizeof(saved_t) == 32, "an image has nothing between them");

/* ---- lists ---- */

static attached_t *list_find(const list_t *list, uint64_t offset, uint64_t bytes)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (list->all[i].offset == offset && list->all[i].bytes == bytes) {
            return &list->all[i];
        }
    }
    return NULL;
}

static attached_t *list_find_memory(const list_t *list, const void *memory)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (list->all[i].memory == memory) {
            return &list->all[i];
        }
    }
    return NULL;
}

/* room for one more */
static keel_status_t list_reserve(list_t *list)
{
    attached_t *grown = keel_realloc(list->all, (list->count + 1) * sizeof(*grown), "attached memory");

    list->all = (grown != NULL) ? grown : list->all;
    return (grown != NULL) ? KEEL_OK : KEEL_ERR_NO_MEMORY;
}

static void list_remove(list_t *list, attached_t *piece)
{
    keel_free(piece->initial);
    *piece = list->all[--list->count];
}

static void list_release(list_t *list)
{
    while (list->count > 0) {
        list_remove(list, list->all);
    }
    keel_free(list->all);
    list->all = NULL;
}

/* ---- windows ---- */

keel_status_t keel_attach_make(keel_win_h win)
{
    win->attach = keel_alloc(sizeof(*win->attach), "attached memory of a window");
    win->has_extents = win->attach != NULL;
    return (win->attach != NULL) ? KEEL_OK : KEEL_ERR_NO_MEMORY;
}

void keel_attach_release(keel_win_h win)
{
    if (win->attach != NULL) {
        list_release(&win->attach->now);
        list_release(&win->attach->start);
        keel_free(win->attach);
    }
}

void keel_attach_give_back(keel_win_h win)
{
    const list_t *now = (win->attach != NULL) ? &win->attach->now : NULL;

    for (unsigned i = 0; now != NULL && i < now->count; i++) {
        if (now->all[i].memory != NULL) {
            (void)keel_second_unmap(now->all[i].memory, now->all[i].bytes);
        }
    }
    if (now != NULL) {
        list_release(&win->attach->now);
    }
}

int keel_attach_has(const struct keel_win *win, const void *memory, size_t bytes)
{
    const uintptr_t from = (uintptr_t)memory;

    for (unsigned i = 0; win->attach != NULL && i < win->attach->now.count; i++) {
        const attached_t *piece = &win->attach->now.all[i];
        const uintptr_t at = (uintptr_t)piece->memory;

        if (at != 0 && (from >= at ? from - at < piece->bytes : at - from < bytes)) {
            return 1;
        }
    }
    return 0;
}

/* ---- calls ---- */

static keel_status_t check_window(keel_win_h win, const void *memory, const char *call)
{
    if (win == NULL || memory == NULL) {
        return keel_refuse_null(win == NULL ? "the window" : "keel_win_attach, keel_win_detach: the memory");
    }
    if (keel_fork_is_child(win->ctx)) {
        return keel_fork_refuse(win->ctx);
    }
    if (win->freed_call > 0) {
        return keel_win_refuse_freed(win);
    }
    if (win->attach == NULL) {
        keel_error_ctx(win->ctx, "%s: window %u was not made for that: KEEL_WIN_PARAM_FIELD_ATTACH", call,
                       win->region - KEEL_REGION_WINDOW0);
        return KEEL_ERR_UNSUPPORTED;
    }
    return KEEL_OK;
}

static keel_status_t check_range(keel_win_h win, uint64_t offset, const void *memory, size_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    if (bytes == 0) {
        keel_error_ctx(win->ctx, "keel_win_attach: no bytes");
        return KEEL_ERR_INVALID_PARAM;
    }
    if (offset > win->size || bytes > win->size - offset) {
        keel_error_ctx(win->ctx, "keel_win_attach: %zu bytes at %lu leave the window of %zu bytes", bytes,
                       (unsigned long)offset, win->size);
        return KEEL_ERR_RANGE;
    }
    if (offset % page != 0 || bytes % page != 0 || (uintptr_t)memory % page != 0) {
        keel_error_ctx(win->ctx,
                       "keel_win_attach: %zu bytes at %p, offset %lu: no whole pages, as keel_win_create() takes them",
                       bytes, memory, (unsigned long)offset);
        return KEEL_ERR_ALIGNMENT;
    }
    return KEEL_OK;
}

static keel_status_t check_memory(keel_win_h win, const void *memory, size_t bytes)
{
    const keel_status_t status = keel_win_memory_check(win->ctx, memory, bytes, "keel_win_attach");

    if (status == KEEL_OK && !keel_second_map_is_possible(memory, bytes)) {
        keel_error_ctx(win->ctx, "keel_win_attach: %zu bytes at %p are not all private, readable and writable", bytes,
                       memory);
        return KEEL_ERR_INVALID_PARAM;
    }
    return status;
}

static keel_status_t check_free(const keel_win_h win, uint64_t offset, size_t bytes)
{
    for (unsigned i = 0; i < win->attach->now.count; i++) {
        const attached_t *piece = &win->attach->now.all[i];

        if (offset < piece->offset + piece->bytes && piece->offset < offset + bytes) {
            keel_error_ctx(win->ctx, "keel_win_attach: of window %u %lu bytes at %lu %s",
                           win->region - KEEL_REGION_WINDOW0, (unsigned long)piece->bytes, (unsigned long)piece->offset,
                           (piece->memory != NULL) ? "are attached"
                                                   : "were attached in the image, and are to be attached again first");
            return KEEL_ERR_INVALID_PARAM;
        }
    }
    return KEEL_OK;
}

static keel_status_t map(keel_win_h win, uint64_t offset, void *memory, size_t bytes)
{
    if (keel_second_map((char *)win->base + offset, memory, bytes)) {
        return KEEL_OK;
    }
    keel_error_ctx(win->ctx, "keel_win_attach: %zu bytes at %p cannot be mapped a second time", bytes, memory);
    return KEEL_ERR_NO_MEMORY;
}

/* what the image had: the window's contents count, and others may be putting there */
static keel_status_t attach_again(keel_win_h win, attached_t *piece, char *memory)
{
    keel_status_t status = KEEL_OK;

    if (piece->memory != memory) {
        status = check_memory(win, memory, piece->bytes);
        if (status == KEEL_OK && piece->memory != NULL && !keel_second_unmap(piece->memory, piece->bytes)) {
            status = KEEL_ERR_NO_MEMORY;
        }
        if (status != KEEL_OK) {
            return status;
        }
        piece->memory = NULL;
        if (KEEL_PLANT(attached_anew)) {
            memcpy((char *)win->base + piece->offset, memory, piece->bytes);
        }
        status = map(win, piece->offset, memory, piece->bytes);
    }
    if (status == KEEL_OK) {
        piece->memory = memory;
        piece->is_again = 0;
    }
    return status;
}

/* of the program's start, with what it holds now */
static keel_status_t start_add(keel_win_h win, const attached_t *piece)
{
    list_t *start = &win->attach->start;
    attached_t copy = *piece;

    if (win->ctx->is_started) {
        return KEEL_OK;
    }
    copy.initial = keel_alloc(piece->bytes, "first contents of attached memory");
    if (copy.initial == NULL || list_reserve(start) != KEEL_OK) {
        keel_free(copy.initial);
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(copy.initial, piece->memory, piece->bytes);
    start->all[start->count++] = copy;
    return KEEL_OK;
}

static void start_remove(keel_win_h win, const attached_t *piece)
{
    attached_t *of_start = list_find(&win->attach->start, piece->offset, piece->bytes);

    if (!win->ctx->is_started && of_start != NULL) {
        list_remove(&win->attach->start, of_start);
    }
}

static keel_status_t attach_new(keel_win_h win, const attached_t *piece)
{
    list_t *now = &win->attach->now;
    keel_status_t status = list_reserve(now);

    if (status == KEEL_OK) {
        status = keel_extents_add(win, piece->offset, piece->bytes);
    }
    if (status == KEEL_OK) {
        status = start_add(win, piece);
    }
    if (status != KEEL_OK) {
        return status;
    }
    memcpy((char *)win->base + piece->offset, piece->memory, piece->bytes);
    status = map(win, piece->offset, piece->memory, piece->bytes);
    if (status != KEEL_OK) {
        start_remove(win, piece);
        return status;
    }
    now->all[now->count++] = *piece;
    keel_context_logs_grow(win->ctx);
    return KEEL_OK;
}

keel_status_t keel_win_attach(keel_win_h win, uint64_t offset, void *memory, size_t bytes)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = check_window(win, memory, "keel_win_attach");
    attached_t *piece;

    if (status == KEEL_OK) {
        status = check_range(win, offset, memory, bytes);
    }
    if (status != KEEL_OK) {
        return status;
    }
    piece = list_find(&win->attach->now, offset, bytes);
    if (piece != NULL && piece->is_again) {
        return attach_again(win, piece, memory);
    }
    status = check_free(win, offset, bytes);
    if (status == KEEL_OK) {
        status = check_memory(win, memory, bytes);
    }
    return (status == KEEL_OK) ? attach_new(win, &(attached_t){.offset = offset, .bytes = bytes, .memory = memory})
                               : status;
}

keel_status_t keel_win_detach(keel_win_h win, void *memory)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = check_window(win, memory, "keel_win_detach");
    attached_t *piece;

    if (status != KEEL_OK) {
        return status;
    }
    piece = list_find_memory(&win->attach->now, memory);
    if (piece == NULL) {
        keel_error_ctx(win->ctx, "keel_win_detach: nothing that begins at %p is attached to window %u", memory,
                       win->region - KEEL_REGION_WINDOW0);
        return KEEL_ERR_INVALID_PARAM;
    }
    status = keel_extents_cut(win, piece->offset, piece->bytes);
    if (status == KEEL_OK && !keel_second_unmap(memory, piece->bytes)) {
        (void)keel_extents_add(win, piece->offset, piece->bytes);
        status = KEEL_ERR_NO_MEMORY;
    }
    if (status == KEEL_OK) {
        start_remove(win, piece);
        list_remove(&win->attach->now, piece);
    }
    return status;
}

/* ---- images ---- */

static const list_t *list_of_image(const struct keel_win *win)
{
    static const list_t none;

    return (win->attach != NULL && win->freed_call == 0) ? &win->attach->now : &none;
}

size_t keel_attach_saved_size(const keel_context_h ctx)
{
    size_t count = 0;

    for (unsigned i = 0; i < ctx->window_count; i++) {
        count += list_of_image(ctx->windows[i])->count;
    }
    return count * sizeof(saved_t);
}

void keel_attach_save(const keel_context_h ctx, void *to)
{
    saved_t *next = to;

    for (unsigned i = 0; i < ctx->window_count; i++) {
        const struct keel_win *win = ctx->windows[i];
        const list_t *list = list_of_image(win);

        for (unsigned k = 0; k < list->count; k++) {
            *next++ = (saved_t){.region = win->region,
                                .incarnation = ctx->lane.incarnation,
                                .offset = list->all[k].offset,
                                .bytes = list->all[k].bytes,
                                .memory = (uintptr_t)list->all[k].memory};
        }
    }
}

/* what it was then that is attached now; *had may have no memory */
static keel_status_t return_other(keel_win_h win, const list_t *had)
{
    list_t *now = &win->attach->now;

    for (unsigned i = 0; i < now->count; i++) {
        attached_t *piece = &now->all[i];
        const attached_t *then = list_find(had, piece->offset, piece->bytes);
        const int is_same = then != NULL && (then->memory == NULL || then->memory == piece->memory);

        if (piece->memory == NULL || is_same || KEEL_PLANT(attached_since)) {
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

static keel_status_t return_to(keel_win_h win, const list_t *had)
{
    list_t then = {.count = had->count};
    keel_status_t status = return_other(win, had);

    if (status != KEEL_OK) {
        return status;
    }
    then.all = keel_alloc((had->count + 1) * sizeof(*then.all), "attached memory");
    if (then.all == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (unsigned i = 0; i < had->count; i++) {
        const attached_t *is = list_find(&win->attach->now, had->all[i].offset, had->all[i].bytes);

        then.all[i] = (attached_t){.offset = had->all[i].offset,
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

/* of that window, of *next_p on */
static keel_status_t return_saved(keel_win_h win, const void *saved, size_t count, size_t *next_p)
{
    list_t had = {.all = keel_alloc((count + 1) * sizeof(*had.all), "attached memory")};
    keel_status_t status = (had.all != NULL) ? KEEL_OK : KEEL_ERR_NO_MEMORY;

    for (; status == KEEL_OK && *next_p < count && saved_at(saved, *next_p).region == win->region; ++*next_p) {
        const saved_t piece = saved_at(saved, *next_p);
        const int is_here = piece.incarnation == win->ctx->lane.incarnation;

        had.all[had.count++] = (attached_t){
            .offset = piece.offset, .bytes = piece.bytes, .memory = is_here ? (char *)(uintptr_t)piece.memory : NULL};
        if (piece.offset > win->size || piece.bytes > win->size - piece.offset) {
            status = KEEL_ERR_STATE;
        }
    }
    status = (status == KEEL_OK) ? return_to(win, &had) : status;
    list_release(&had);
    return status;
}

keel_status_t keel_attach_return(keel_context_h ctx, const void *saved, size_t length)
{
    const size_t count = length / sizeof(saved_t);
    keel_status_t status = KEEL_OK;
    size_t next = 0;

    for (unsigned i = 0; status == KEEL_OK && i < ctx->window_count; i++) {
        keel_win_h win = ctx->windows[i];

        if (win->attach != NULL && win->freed_call == 0) {
            status = (saved == NULL) ? return_to(win, &win->attach->start) : return_saved(win, saved, count, &next);
        }
    }
    return (status == KEEL_OK && (next != count || length % sizeof(saved_t) != 0)) ? KEEL_ERR_STATE : status;
}

void keel_attach_reset(keel_win_h win)
{
    const list_t *start = (win->attach != NULL && win->freed_call == 0) ? &win->attach->start : NULL;

    for (unsigned i = 0; start != NULL && i < start->count; i++) {
        const attached_t *piece = &start->all[i];

        if (!KEEL_PLANT(initial_lost)) {
            memcpy((char *)win->base + piece->offset, piece->initial, piece->bytes);
        }
        if (keel_extents_add(win, piece->offset, piece->bytes) != KEEL_OK) {
            win->has_extents = 0; /* all of it then */
        }
    }
}
