/* The memory in the image of a process: extents of its windows, and protected regions. */
#include "window/image_parts.h"
#include "engine/logs.h"

#include "base/crc.h"
#include "base/memory.h"
#include "check/plant.h"

static unsigned parts_of_window(const struct keel_win *win, keel_part_t *parts)
{
    if (!win->has_extents) {
        *parts = (keel_part_t){.kind = KEEL_PART_WINDOW, .id = win->region, .base = win->base, .length = win->size};
        return 1;
    }
    for (unsigned i = 0; i < win->extent_count; i++) {
        parts[i] =
            (keel_part_t){.kind = KEEL_PART_WINDOW,
                          .id = win->region,
                          .base = (char *)win->base + (KEEL_PLANT(image_parts_moved) ? 0 : win->extents[i].offset),
                          .length = win->extents[i].length,
                          .where = win->extents[i].offset};
    }
    return win->extent_count;
}

unsigned keel_context_parts(keel_context_h ctx, keel_part_t **parts_p)
{
    size_t most = ctx->windows.count + ctx->protected_count + 3;
    keel_part_t *grown;
    unsigned count = 0;

    for (unsigned i = 0; i < ctx->windows.count; i++) {
        most += ctx->windows.list[i]->extent_count;
    }
    grown = keel_realloc(ctx->parts, most * sizeof(*ctx->parts), "image parts");
    *parts_p = grown;
    if (grown == NULL) {
        return 0;
    }
    ctx->parts = grown;
    for (unsigned i = 0; i < ctx->windows.count; i++) {
        if (ctx->windows.list[i]->freed_call == 0) {
            count += parts_of_window(ctx->windows.list[i], &ctx->parts[count]);
        }
    }
    for (unsigned i = 0; i < ctx->protected_count; i++) {
        keel_protected_t *region = &ctx->protected_regions[i];

        ctx->parts[count++] = (keel_part_t){
            .kind = KEEL_PART_PROTECTED, .id = region->id, .base = region->address, .length = region->bytes};
    }
    return count;
}

uint32_t keel_context_layout(const keel_context_h ctx)
{
    uint32_t crc = 0;

    for (unsigned i = 0; i < ctx->windows.count; i++) {
        const struct keel_win *win = ctx->windows.list[i];
        const uint64_t about[2] = {win->region, win->size};

        crc = (win->freed_call == 0) ? keel_crc(crc, about, sizeof(about)) : crc;
    }
    return crc;
}

void keel_context_logs_follow(keel_context_h ctx)
{
    keel_part_t *parts;
    unsigned count;

    if (keel_context_logs_may_grow(ctx)) {
        count = keel_context_parts(ctx, &parts);
        keel_context_logs_grow(ctx, keel_image_size(parts, count));
    }
}
