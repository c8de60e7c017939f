/*
 * The memory of windows.
 *
 * Memory of the program becomes a window's in one of two ways (peer/region). Keel maps the window's
 * memory there a second time, indistinguishable from allocated memory; or the memory stays unmapped
 * by others, and other ranks reach it by unlogged messages (rma/by_message). After a window is
 * freed the program may do anything with its memory, including unmapping. A rollback that restores
 * the window therefore allocates new memory.
 */
#include "window/win_memory.h"
#include "window/win_attached.h"

#include "base/memory.h"
#include "check/plant.h"
#include "base/second_map.h"
#include "peer/region.h"

#include <string.h>
#include <unistd.h>

const void *keel_win_initial(const keel_win_params_t *params)
{
    return (params != NULL && (params->field_mask & KEEL_WIN_PARAM_FIELD_INITIAL)) ? params->initial : NULL;
}

keel_status_t keel_win_params_check(keel_context_h ctx, size_t bytes, const keel_win_params_t *params, uint64_t fields)
{
    if (bytes > KEEL_OFFSET_MAX) {
        keel_error_ctx(ctx, "a window of %zu bytes is larger than the limit of %llu", bytes, KEEL_OFFSET_MAX);
        return KEEL_ERR_INVALID_PARAM;
    }
    if (params == NULL) {
        return KEEL_OK;
    }
    if (params->field_mask & ~fields) {
        keel_error_ctx(ctx, "keel_win_params_t: unknown field 0x%lx, or one of another call",
                       (unsigned long)params->field_mask);
        return KEEL_ERR_INVALID_PARAM;
    }
    if ((params->field_mask & KEEL_WIN_PARAM_FIELD_ADDRESS) &&
        (params->address == NULL || (uintptr_t)params->address % (uintptr_t)sysconf(_SC_PAGESIZE) != 0)) {
        keel_error_ctx(ctx, "keel_win_params_t: address %p is no multiple of the page size", params->address);
        return KEEL_ERR_ALIGNMENT;
    }
    if ((params->field_mask & KEEL_WIN_PARAM_FIELD_ATOMICS) && (unsigned)params->atomics >= KEEL_WIN_ATOMICS_LAST) {
        keel_error_ctx(ctx, "keel_win_params_t: nobody carries out atomics as %u says", (unsigned)params->atomics);
        return KEEL_ERR_INVALID_PARAM;
    }
    return KEEL_OK;
}

keel_status_t keel_win_memory_check(keel_context_h ctx, const void *memory, size_t bytes, const char *call)
{
    const struct keel_win *win = keel_win_of_memory(ctx, memory, bytes);

    if (win != NULL) {
        keel_error_ctx(ctx, "%s: some of the memory is that of window %u, or attached to it", call,
                       win->region - KEEL_REGION_WINDOW0);
        return KEEL_ERR_INVALID_PARAM;
    }
    for (unsigned i = 0; i < ctx->protected_count; i++) {
        const keel_protected_t *region = &ctx->protected_regions[i];
        const uintptr_t from = (uintptr_t)memory, base = (uintptr_t)region->address;

        if (bytes > 0 && (from >= base ? from - base < region->bytes : base - from < bytes)) {
            keel_error_ctx(ctx, "%s: some of the memory is protected as region %u", call, region->id);
            return KEEL_ERR_INVALID_PARAM;
        }
    }
    return KEEL_OK;
}

/* the window under construction belongs to generation 0 */
static int is_of_start(const keel_context_h ctx)
{
    return !ctx->rec.is_prefix_closed || ctx->windows.calls < ctx->rec.window_prefix;
}

static keel_status_t win_keep_initial(keel_win_h win, const void *initial)
{
    if (initial == NULL || win->size == 0 || !is_of_start(win->ctx)) {
        return KEEL_OK;
    }
    win->initial = keel_alloc(win->size, "first contents of a window");
    if (win->initial == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(win->initial, initial, win->size);
    return KEEL_OK;
}

static void win_report_no_memory(keel_win_h win, keel_status_t status)
{
    if (win->address != win->place) {
        keel_error_ctx(win->ctx, "no window of %zu bytes can be made at address %p, where the program wants it: %s",
                       win->size, (void *)win->address, keel_status_string(status));
    }
}

keel_status_t keel_win_memory_make(keel_win_h win, const void *initial)
{
    keel_region_memory_t memory = {.bytes = win->size,
                                   .address = (void *)win->address,
                                   .contents = initial,
                                   .given = win->given,
                                   .is_device_wanted = win->is_device_wanted,
                                   .is_twice = win->attach != NULL};
    keel_status_t status = (win->freed_call == 0 && win->initial == NULL)
                               ? win_keep_initial(win, (win->given != NULL) ? win->given : initial)
                               : KEEL_OK;

    if (status == KEEL_OK) {
        status = keel_lane_region_make_of(&win->ctx->lane, win->region, &memory, &win->base);
    }
    if (status != KEEL_OK) {
        win_report_no_memory(win, status);
        keel_free(win->initial);
        win->initial = NULL;
        return status;
    }
    win->is_mapped = memory.is_mapped;
    win->base = (win->given != NULL) ? win->given : win->base;
    return KEEL_OK;
}

void keel_win_memory_give_back(keel_win_h win)
{
    if (win->is_mapped) {
        (void)keel_second_unmap(win->given, win->size);
    }
    keel_attached_give_back(win);
    win->is_mapped = 0;
    win->given = NULL;
}

void keel_win_memory_reset(keel_win_h win)
{
    if (win->freed_call > 0 || win->size == 0) {
        return;
    }
    if (win->initial != NULL && !KEEL_PLANT(win_memory_initial_lost)) {
        memcpy(win->base, win->initial, win->size);
    } else {
        memset(win->base, 0, win->size);
    }
    keel_attached_reset(win);
}

const struct keel_win *keel_win_of_memory(const keel_context_h ctx, const void *address, size_t bytes)
{
    const uintptr_t from = (uintptr_t)address;

    for (unsigned i = 0; i < ctx->windows.count; i++) {
        const struct keel_win *win = ctx->windows.list[i];
        const uintptr_t base = (uintptr_t)win->base;

        if (base != 0 && win->size > 0 && (from >= base ? from - base < win->size : base - from < bytes)) {
            return win;
        }
        if (keel_attached_has(win, address, bytes)) {
            return win;
        }
    }
    return NULL;
}
