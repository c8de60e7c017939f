/* Protected regions: memory of the program outside of windows that belongs to images. */
#include "window/protect.h"

#include "engine/threads.h"
#include "window/image_parts.h"
#include "engine/refuse.h"
#include "window/win_extents.h"
#include "window/win_memory.h"
#include "base/memory.h"

#include <string.h>

keel_status_t keel_protect(keel_context_h ctx, uint32_t id, void *address, size_t bytes)
{
    KEEL_INSIDE(ctx);
    keel_protected_t *grown, region = {.id = id, .address = address, .bytes = bytes};
    const struct keel_win *win;

    if (ctx == NULL || address == NULL) {
        return keel_refuse_null(ctx == NULL ? "the context" : "keel_protect: the memory");
    }
    if (bytes == 0) {
        keel_error_ctx(ctx, "keel_protect: region %u has no bytes", id);
        return KEEL_ERR_INVALID_PARAM;
    }
    win = keel_win_of_memory(ctx, address, bytes);
    if (win != NULL) {
        keel_error_ctx(
            ctx,
            "keel_protect: region %u lies in window %u, or in what is attached to it, which images have by themselves",
            id, win->region - KEEL_REGION_WINDOW0);
        return KEEL_ERR_INVALID_PARAM;
    }
    for (unsigned i = 0; i < ctx->protected_count; i++) {
        if (ctx->protected_regions[i].id == id) {
            keel_error_ctx(ctx, "protected region %u exists already", id);
            return KEEL_ERR_INVALID_PARAM;
        }
    }
    region.initial = keel_alloc(bytes, "protected region");
    grown = keel_realloc(ctx->protected_regions, (ctx->protected_count + 1) * sizeof(*grown), "protected regions");
    if (grown != NULL) {
        ctx->protected_regions = grown;
    }
    if (region.initial == NULL || grown == NULL) {
        keel_free(region.initial);
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(region.initial, address, bytes);
    ctx->protected_regions[ctx->protected_count++] = region;
    keel_context_logs_follow(ctx);
    return KEEL_OK;
}

void keel_protected_reset(keel_context_h ctx)
{
    for (unsigned i = 0; i < ctx->protected_count; i++) {
        memcpy(ctx->protected_regions[i].address, ctx->protected_regions[i].initial, ctx->protected_regions[i].bytes);
    }
    for (unsigned i = 0; i < ctx->windows.count; i++) {
        keel_extents_reset(ctx->windows.list[i]);
        keel_win_memory_reset(ctx->windows.list[i]);
    }
}

void keel_protected_release(keel_context_h ctx)
{
    for (unsigned i = 0; i < ctx->protected_count; i++) {
        keel_free(ctx->protected_regions[i].initial);
    }
    keel_free(ctx->protected_regions);
    keel_free(ctx->parts);
    keel_free(ctx->locks_image);
    keel_free(ctx->attached_image);
}
