/*
 * The bytes of a window in images. Extents are state: an image contains the extents, and a restore
 * brings them back.
 */
#include "window/win_extents.h"

#include "engine/fork.h"
#include "engine/threads.h"
#include "engine/refuse.h"
#include "base/memory.h"
#include "check/plant.h"

#include <string.h>

void keel_extents_clear(keel_win_h win, int has_extents)
{
    keel_free(win->extents);
    win->extents = NULL;
    win->extent_count = 0;
    win->has_extents = has_extents;
}

void keel_extents_reset(keel_win_h win)
{
    if (!win->are_extents_fixed) {
        keel_extents_clear(win, win->attach != NULL);
    }
}

/* appends an extent, or joins it with a touching last extent */
static void extent_append(keel_extent_t *extents, unsigned *count_p, uint64_t offset, uint64_t end)
{
    keel_extent_t *last = (*count_p > 0) ? &extents[*count_p - 1] : NULL;

    if (offset >= end) {
        return;
    }
    if (last != NULL && last->offset + last->length == offset) {
        last->length += end - offset;
    } else {
        extents[(*count_p)++] = (keel_extent_t){.offset = offset, .length = end - offset};
    }
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return (a < b) ? a : b;
}

static keel_status_t extents_change(keel_win_h win, uint64_t offset, uint64_t length, int is_added)
{
    const keel_extent_t all = {.length = win->size}, *old = win->has_extents ? win->extents : &all;
    const unsigned old_count = win->has_extents ? win->extent_count : 1;
    keel_extent_t *extents = keel_alloc((old_count + 2) * sizeof(*extents), "extents of a window");
    const uint64_t end = offset + length;
    unsigned count = 0;

    if (extents == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (unsigned i = 0; i < old_count; i++) {
        extent_append(extents, &count, old[i].offset, smaller(old[i].offset + old[i].length, offset));
    }
    extent_append(extents, &count, offset, is_added ? end : offset);
    for (unsigned i = 0; i < old_count; i++) {
        const uint64_t from = (old[i].offset > end) ? old[i].offset : end;

        extent_append(extents, &count, from, old[i].offset + old[i].length);
    }
    keel_free(win->extents);
    win->extents = extents;
    win->extent_count = count;
    win->has_extents = 1;
    return KEEL_OK;
}

keel_status_t keel_extents_add(keel_win_h win, uint64_t offset, uint64_t length)
{
    return extents_change(win, offset, length, 1);
}

keel_status_t keel_extents_cut(keel_win_h win, uint64_t offset, uint64_t length)
{
    return extents_change(win, offset, length, 0);
}

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

keel_status_t keel_extents_fix(keel_win_h win, const keel_extent_t *extents, unsigned count)
{
    const keel_status_t status = extents_set(win, extents, count);

    win->are_extents_fixed = status == KEEL_OK;
    return status;
}

/* sorted, disjoint, and within the window */
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

/* Reads the window's extents from the parts of an image. Returns the first part of the next
 * window. */
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

keel_status_t keel_extents_restore(keel_context_h ctx, const void *image, size_t size, const char **why_p)
{
    keel_part_t *parts = NULL;
    unsigned count = 0, next = 0;
    keel_status_t status = keel_image_table(image, size, NULL, 0, &count, why_p);

    if (status == KEEL_OK) {
        parts = keel_alloc((count + 1) * sizeof(*parts), "parts of an image");
        status = (parts == NULL) ? KEEL_ERR_NO_MEMORY : keel_image_table(image, size, parts, count, &count, why_p);
    }
    for (unsigned i = 0; status == KEEL_OK && i < ctx->windows.count && !KEEL_PLANT(win_extents_kept); i++) {
        if (ctx->windows.list[i]->freed_call == 0) {
            *why_p = "image of windows of other sizes";
            status = extents_of_image(ctx->windows.list[i], parts, count, &next);
        }
    }
    keel_free(parts);
    return status;
}
