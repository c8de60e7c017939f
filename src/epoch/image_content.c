/* Content of an image: memory (window/image_parts.h), attachments of windows, and locks; saved
 * and read back. */
#include "epoch/image_content.h"

#include "window/image_parts.h"
#include "window/win_attached.h"
#include "window/win_extents.h"
#include "epoch/win_lock_image.h"
#include "base/memory.h"
#include "check/plant.h"
#include "sync/sections_image.h"

/* Adds room for attachments or locks; returns 0 if out of memory. */
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

/* Locks of windows first, then of ranks. */
static keel_status_t locks_load(keel_context_h ctx, size_t length)
{
    size_t taken = 0;
    keel_status_t status = keel_win_locks_load(ctx, ctx->locks_image, length, &taken);

    if (status == KEEL_OK && taken < length) {
        status = keel_sections_load(&ctx->sync, (char *)ctx->locks_image + taken, length - taken);
    }
    return status;
}

/* Reports each window that has another size than in the image. Of a window with extents the image
 * has the end of the last one. */
static void layout_report(keel_context_h ctx, const void *image, size_t size)
{
    const char *why;
    keel_part_t *parts = NULL;
    unsigned count = 0;

    if (keel_image_table(image, size, NULL, 0, &count, &why) == KEEL_OK) {
        parts = keel_alloc((count + 1) * sizeof(*parts), "parts of an image");
    }
    if (parts == NULL || keel_image_table(image, size, parts, count, &count, &why) != KEEL_OK) {
        count = 0;
    }
    for (unsigned w = 0; w < ctx->windows.count && count > 0; w++) {
        const struct keel_win *win = ctx->windows.list[w];
        uint64_t bytes = 0;

        for (unsigned i = 0; i < count; i++) {
            if (parts[i].kind == KEEL_PART_WINDOW && parts[i].id == win->region) {
                bytes = parts[i].where + parts[i].length;
            }
        }
        if (win->freed_call == 0 && bytes != win->size) {
            keel_error_ctx(
                ctx, "image of generation %u cannot be restored: window %u has %zu bytes, and in the image %lu",
                keel_image_meta(image).generation, win->region - KEEL_REGION_WINDOW0, win->size, (unsigned long)bytes);
        }
    }
    keel_free(parts);
}

/* Attachments are restored before memory, so that memory returned to the program keeps its
 * contents. */
keel_status_t keel_context_read_image(keel_context_h ctx, const void *image, size_t size, const char **why_p)
{
    uint64_t attached, length;
    const void *saved = keel_image_last_part(image, KEEL_PART_ATTACHED, &attached);
    keel_status_t status;
    keel_part_t *parts;
    unsigned count;

    if (keel_image_meta(image).layout != keel_context_layout(ctx)) {
        layout_report(ctx, image, size);
        *why_p = "image of windows of other sizes";
        return KEEL_ERR_STATE;
    }
    status = keel_extents_restore(ctx, image, size, why_p);
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
    if (status == KEEL_OK && length > 0 && !KEEL_PLANT(image_content_locks_forgotten)) {
        *why_p = "what was locked";
        status = locks_load(ctx, length);
    }
    return status;
}
