/*
 * What of a process belongs to its image: extents of its windows, protected regions, what is attached, and what is locked. The extents are state like
 * any other: an image has those that were there when it was taken, and restoring it brings them back.
 */
#include "api/parts.h"
#include "api/win_attached.h"
#include "api/win_extents.h"
#include "api/inside.h"
#include "api/fork.h"
#include "api/refuse.h"
#include "api/win_lock.h"
#include "api/window.h"

#include "base/memory.h"
#include "check/plant.h"
#include "sync/sections_image.h"

#include <string.h>

/* ---- extents ---- */

static keel_status_t extents_set(keel_win_h win, const keel_extent_t *extents, unsigned count)
{
    keel_extent_t *copy = keel_alloc((count + 1) * sizeof(*copy), "extents of a window");

    if (copy == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    if (count > 0) {
        memcpy(copy, extents, count * sizeof(*copy));
    }
    keel_free(win->extents);
    win->extents = copy;
    win->extent_count = count;
    win->has_extents = 1;
    return KEEL_OK;
}

/* in order, apart, and within the window */
static int extents_are_right(const struct keel_win *win, const keel_extent_t *extents, unsigned count)
{
    uint64_t end = 0;

    for (unsigned i = 0; i < count; i++) {
        if (extents[i].offset < end || extents[i].length == 0 || extents[i].offset > win->size ||
            extents[i].length > win->size - extents[i].offset) {
            return 0;
        }
        end = extents[i].offset + extents[i].length;
    }
    return 1;
}

keel_status_t keel_win_extents(keel_win_h win, const keel_extent_t *extents, unsigned count)
{
    KEEL_INSIDE_WIN(win);

    if (win == NULL || (extents == NULL && count > 0)) {
        return keel_refuse_null(win == NULL ? "the window" : "keel_win_extents: the extents");
    }
    if (keel_fork_is_child(win->ctx)) {
        return keel_fork_refuse(win->ctx);
    }
    if (win->freed_call > 0) {
        return keel_win_refuse_freed(win);
    }
    if (!extents_are_right(win, extents, count)) {
        keel_error_ctx(win->ctx,
                       "keel_win_extents: %u extents are not in order, overlap, are empty, or leave the window of %zu "
                       "bytes",
                       count, win->size);
        return KEEL_ERR_INVALID_PARAM;
    }
    return extents_set(win, extents, count);
}

/* those of the image, whose windows @a win is the next of; the first part that is not of it */
static keel_status_t extents_of_image(keel_win_h win, const keel_part_t *parts, unsigned count, unsigned *next_p)
{
    keel_extent_t *extents = keel_alloc((count + 1) * sizeof(*extents), "extents of a window");
    unsigned taken = 0, next = *next_p;
    keel_status_t status = KEEL_OK;

    if (extents == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    while (next < count && parts[next].kind == KEEL_PART_WINDOW && parts[next].id == win->region) {
        extents[taken++] = (keel_extent_t){.offset = parts[next].where, .length = parts[next].length};
        next++;
    }
    if (taken == 1 && extents[0].offset == 0 && extents[0].length == win->size) {
        keel_extents_clear(win, 0);
    } else if (extents_are_right(win, extents, taken)) {
        status = extents_set(win, extents, taken);
    } else {
        status = KEEL_ERR_STATE;
    }
    *next_p = next;
    keel_free(extents);
    return status;
}

static keel_status_t extents_restore(keel_context_h ctx, const void *image, size_t size, const char **why_p)
{
    keel_part_t *parts = NULL;
    unsigned count = 0, next = 0;
    keel_status_t status = keel_image_table(image, size, NULL, 0, &count, why_p);

    if (status == KEEL_OK) {
        parts = keel_alloc((count + 1) * sizeof(*parts), "parts of an image");
        status = (parts == NULL) ? KEEL_ERR_NO_MEMORY : keel_image_table(image, size, parts, count, &count, why_p);
    }
    for (unsigned i = 0; status == KEEL_OK && i < ctx->window_count && !KEEL_PLANT(extents_kept); i++) {
        if (ctx->windows[i]->freed_call == 0) {
            *why_p = "image of windows of other sizes";
            status = extents_of_image(ctx->windows[i], parts, count, &next);
        }
    }
    keel_free(parts);
    return status;
}

/* ---- parts ---- */

static unsigned parts_of_window(const struct keel_win *win, keel_part_t *parts)
{
    if (!win->has_extents) {
        *parts = (keel_part_t){.kind = KEEL_PART_WINDOW, .id = win->region, .base = win->base, .length = win->size};
        return 1;
    }
    for (unsigned i = 0; i < win->extent_count; i++) {
        parts[i] = (keel_part_t){.kind = KEEL_PART_WINDOW,
                                 .id = win->region,
                                 .base = (char *)win->base + (KEEL_PLANT(extent_moved) ? 0 : win->extents[i].offset),
                                 .length = win->extents[i].length,
                                 .where = win->extents[i].offset};
    }
    return win->extent_count;
}

unsigned keel_context_parts(keel_context_h ctx, keel_part_t **parts_p)
{
    size_t most = ctx->window_count + ctx->protected_count + 3;
    keel_part_t *grown;
    unsigned count = 0;

    for (unsigned i = 0; i < ctx->window_count; i++) {
        most += ctx->windows[i]->extent_count;
    }
    grown = keel_realloc(ctx->parts, most * sizeof(*ctx->parts), "image parts");
    *parts_p = grown;
    if (grown == NULL) {
        return 0;
    }
    ctx->parts = grown;
    for (unsigned i = 0; i < ctx->window_count; i++) {
        if (ctx->windows[i]->freed_call == 0) {
            count += parts_of_window(ctx->windows[i], &ctx->parts[count]);
        }
    }
    for (unsigned i = 0; i < ctx->protected_count; i++) {
        keel_protected_t *region = &ctx->protected_regions[i];

        ctx->parts[count++] = (keel_part_t){
            .kind = KEEL_PART_PROTECTED, .id = region->id, .base = region->address, .length = region->bytes};
    }
    return count;
}

/* room for what is attached or locked; 0: out of memory */
static int parts_add(keel_context_h ctx, unsigned *count_p, keel_part_kind_t kind, void **room_p, size_t length)
{
    void *grown = (length > 0) ? keel_realloc(*room_p, length, "image of locks, or of what is attached") : NULL;

    if (length > 0 && grown == NULL) {
        return 0;
    }
    if (length > 0) {
        *room_p = grown;
        ctx->parts[(*count_p)++] = (keel_part_t){.kind = kind, .base = grown, .length = length};
    }
    return 1;
}

unsigned keel_context_image(keel_context_h ctx, keel_part_t **parts_p)
{
    unsigned count = keel_context_parts(ctx, parts_p);
    const size_t sections = keel_sections_image_size(&ctx->sync), windows = keel_win_locks_size(ctx);
    const size_t first = (sections + windows > 0 && windows == 0) ? keel_win_locks_none() : windows;
    const size_t attached = keel_attached_saved_size(ctx);

    if (*parts_p == NULL || !parts_add(ctx, &count, KEEL_PART_ATTACHED, &ctx->attached_image, attached) ||
        !parts_add(ctx, &count, KEEL_PART_LOCKS, &ctx->locks_image, first + sections)) {
        *parts_p = NULL;
        return 0;
    }
    if (attached > 0) {
        keel_attached_save(ctx, ctx->attached_image);
    }
    if (first > 0) {
        keel_win_locks_save(ctx, ctx->locks_image);
    }
    if (sections > 0) {
        keel_sections_save(&ctx->sync, (char *)ctx->locks_image + first);
    }
    return count;
}

/* of windows first, then of ranks */
static keel_status_t locks_load(keel_context_h ctx, size_t length)
{
    size_t taken = 0;
    keel_status_t status = keel_win_locks_load(ctx, ctx->locks_image, length, &taken);

    if (status == KEEL_OK && taken < length) {
        status = keel_sections_load(&ctx->sync, (char *)ctx->locks_image + taken, length - taken);
    }
    return status;
}

/* what is attached is there before memory is: what comes back to the program keeps what it holds */
keel_status_t keel_context_read_image(keel_context_h ctx, const void *image, size_t size, const char **why_p)
{
    uint64_t attached, length;
    const void *saved = keel_image_last_part(image, KEEL_PART_ATTACHED, &attached);
    keel_status_t status = extents_restore(ctx, image, size, why_p);
    keel_part_t *parts;
    unsigned count;

    (void)keel_image_last_part(image, KEEL_PART_LOCKS, &length);
    if (status == KEEL_OK) {
        *why_p = "memory attached to other windows";
        status = keel_attached_return(ctx, (saved != NULL) ? saved : "", attached);
    }
    if (status != KEEL_OK) {
        return status;
    }
    *why_p = "out of memory";
    count = keel_context_parts(ctx, &parts);
    if (parts == NULL || !parts_add(ctx, &count, KEEL_PART_ATTACHED, &ctx->attached_image, attached) ||
        !parts_add(ctx, &count, KEEL_PART_LOCKS, &ctx->locks_image, length)) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_image_read(image, size, parts, count, why_p);
    if (status == KEEL_OK && length > 0 && !KEEL_PLANT(locks_forgotten)) {
        *why_p = "what was locked";
        status = locks_load(ctx, length);
    }
    return status;
}
