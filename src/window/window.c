/* Windows: making, removal, and restore. */
#include "window/window.h"
#include "engine/context.h"

#include "base/memory.h"
#include "check/plant.h"
#include "window/image_parts.h"
#include "window/targets.h"
#include "window/win_memory.h"
#include "window/win_attached.h"
#include "window/win_extents.h"
#include "peer/members.h"
#include "peer/region.h"
#include "recovery/recover.h"

#include <stdio.h>
#include <string.h>

#define WINDOW_ALIGN ((uintptr_t)2 << 20) /* distance of window addresses, for huge pages */

static size_t win_targets_bytes(const keel_context_h ctx)
{
    return ctx->lane.size * sizeof(keel_target_t);
}

static keel_status_t windows_grow(keel_context_h ctx)
{
    const unsigned room = (ctx->windows.room > 0) ? 2 * ctx->windows.room : 8;
    struct keel_win **grown;

    if (ctx->windows.count == KEEL_WINDOWS_MAX) {
        keel_error_ctx(ctx, "no more than %u windows can be made, freed ones included", KEEL_WINDOWS_MAX);
        return KEEL_ERR_LIMIT;
    }
    if (ctx->windows.count < ctx->windows.room) {
        return KEEL_OK;
    }
    grown = keel_realloc(ctx->windows.list, room * sizeof(struct keel_win *), "windows");
    if (grown == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    ctx->windows.list = grown;
    ctx->windows.room = room;
    return KEEL_OK;
}

static void win_set_params(keel_win_h win, const keel_win_params_t *params)
{
    const uint64_t fields = (params != NULL) ? params->field_mask : 0;

    win->is_device_wanted = (fields & KEEL_WIN_PARAM_FIELD_ATOMICS) && params->atomics == KEEL_WIN_ATOMICS_DEVICE;
    win->place = win->ctx->windows.next_address;
    win->address = (fields & KEEL_WIN_PARAM_FIELD_ADDRESS) ? (uintptr_t)params->address : win->place;
    if ((fields & KEEL_WIN_PARAM_FIELD_NAME) && params->name != NULL) {
        snprintf(win->name, sizeof(win->name), "%s", params->name);
    }
}

keel_status_t keel_win_make(keel_context_h ctx, size_t bytes, void *given, const keel_win_params_t *params,
                            const keel_extent_t *saved, keel_win_h *win_p)
{
    keel_status_t status = windows_grow(ctx);
    keel_win_h win;

    if (status != KEEL_OK) {
        return status;
    }
    win = keel_alloc(sizeof(*win), "window");
    if (win == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    win->targets = keel_arena_alloc(win_targets_bytes(ctx), win_targets_bytes(ctx), "window");
    if (win->targets == NULL) {
        status = KEEL_ERR_NO_MEMORY;
        goto err_free;
    }
    /* a child of fork() has no fast path: its accesses are refused */
    keel_arena_wipe_in_child(win->targets, win_targets_bytes(ctx));
    win->ctx = ctx;
    win->region = KEEL_REGION_WINDOW0 + ctx->windows.count;
    win->size = bytes;
    win->given = given;
    win_set_params(win, params);
    if (params != NULL && (params->field_mask & KEEL_WIN_PARAM_FIELD_ATTACH) && params->attach) {
        status = keel_attached_make(win);
    }
    if (status == KEEL_OK && saved != NULL && !KEEL_PLANT(window_saved_late)) {
        status = keel_extents_fix(win, saved, 1);
    }
    if (status == KEEL_OK) {
        status = keel_win_memory_make(win, keel_win_initial(params));
    }
    if (status != KEEL_OK) {
        goto err_free_targets;
    }
    win->changes = ctx->lane.changes - 1;
    win->made_call = ++ctx->windows.calls;
    ctx->windows.next_address += (bytes + 2 * WINDOW_ALIGN - 1) & ~(WINDOW_ALIGN - 1);
    ctx->windows.list[ctx->windows.count++] = win;
    keel_context_logs_follow(ctx);
    *win_p = win;
    return (saved != NULL && KEEL_PLANT(window_saved_late)) ? keel_extents_fix(win, saved, 1) : KEEL_OK;

err_free_targets:
    keel_free(win->extents);
    keel_attached_release(win);
    keel_arena_free(win->targets, win_targets_bytes(ctx));
err_free:
    keel_free(win);
    return status;
}

/* A window call that a replacement repeats before keel_restore(), or a rank after a rollback. A
 * replacement that returned before any rank had begun may be at an earlier window when the job
 * rolls back to before the last. */
static int is_repeated(const keel_context_h ctx)
{
    return (keel_recovery_state(&ctx->rec) == KEEL_RANK_FRESH || ctx->rec.roll != KEEL_ROLL_NONE) &&
           ctx->windows.calls < ctx->rec.restored.window_calls;
}

uint32_t keel_windows_due(const keel_context_h ctx)
{
    return is_repeated(ctx) ? ctx->rec.restored.window_calls - ctx->windows.calls : 0;
}

keel_status_t keel_win_await_peers(keel_win_h win)
{
    keel_context_h ctx = win->ctx;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    for (uint32_t r = keel_member_first(&ctx->lane); r < ctx->lane.programs && status == KEEL_OK;) {
        if (keel_lane_region_is_known(&ctx->lane, r, win->region)) {
            r = keel_member_next(&ctx->lane, r);
        } else {
            status = keel_context_wait(ctx, &rounds);
        }
    }
    return status;
}

keel_status_t keel_windows_await(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;

    for (unsigned i = 0; i < ctx->windows.count && status == KEEL_OK; i++) {
        status = keel_win_await_peers(ctx->windows.list[i]);
    }
    return status;
}

/* keeps the object: a rollback may restore the window */
void keel_win_retire(keel_win_h win)
{
    keel_context_h ctx = win->ctx;

    win->freed_call = ++ctx->windows.calls;
    keel_win_memory_give_back(win);
    keel_lane_region_retire(&ctx->lane, win->region);
    /* else the rollback closed the others' mappings */
    KEEL_EACH_TOUCHED_WHILE(r, &ctx->lane, ctx->rec.roll == KEEL_ROLL_NONE) {
        if (ctx->lane.peers[r].mode == KEEL_PEER_LIVE) {
            keel_lane_regions_close_retired(&ctx->lane, r);
        }
    }
    win->base = NULL;
}

void *keel_win_base(keel_win_h win)
{
    return (win == NULL || win->size == 0) ? NULL : win->base;
}

static void win_destroy(keel_win_h win)
{
    keel_arena_free(win->targets, win_targets_bytes(win->ctx));
    keel_attached_release(win);
    keel_free(win->extents);
    keel_free(win->initial);
    keel_free(win->locked);
    keel_free(win);
}

void keel_windows_release(keel_context_h ctx)
{
    while (ctx->windows.count > 0) {
        keel_win_h win = ctx->windows.list[--ctx->windows.count];

        keel_win_memory_give_back(win);
        keel_lane_region_drop(&ctx->lane, win->region);
        win_destroy(win);
    }
    while (ctx->windows.gone != NULL) {
        keel_win_h win = ctx->windows.gone;

        ctx->windows.gone = win->gone;
        win_destroy(win);
    }
    keel_free(ctx->windows.list);
    ctx->windows.list = NULL;
    ctx->windows.room = 0;
}

/* the program may keep the handle: the remaining object refuses accesses */
static void win_remove(keel_win_h win)
{
    keel_context_h ctx = win->ctx;

    keel_win_memory_give_back(win);
    keel_lane_region_drop(&ctx->lane, win->region);
    win->freed_call = KEEL_WIN_GONE;
    win->base = NULL;
    keel_free(win->locked);
    win->locked = NULL;
    win->all = 0;
    keel_win_refresh(win);
    win->gone = ctx->windows.gone;
    ctx->windows.gone = win;
}

keel_status_t keel_windows_restore(keel_context_h ctx, uint32_t window_calls)
{
    keel_status_t status;

    if (ctx->windows.calls < window_calls) {
        /* once: the program may repeat a call and try again */
        if (ctx->windows.calls_missed != window_calls) {
            keel_error_ctx(ctx,
                           "the image was taken after %u window calls, this process has made %u: repeat them before "
                           "keel_restore()",
                           window_calls, ctx->windows.calls);
        }
        ctx->windows.calls_missed = window_calls;
        return KEEL_ERR_STATE;
    }
    while (ctx->windows.count > 0 && ctx->windows.list[ctx->windows.count - 1]->made_call > window_calls) {
        ctx->windows.next_address = ctx->windows.list[ctx->windows.count - 1]->place;
        win_remove(ctx->windows.list[--ctx->windows.count]);
    }
    /* every process drops later windows, even a replacement that never made them */
    if (ctx->rec.roll != KEEL_ROLL_NONE) {
        for (unsigned i = KEEL_REGION_WINDOW0 + ctx->windows.count; i < ctx->lane.regions_room; i++) {
            keel_lane_region_forget(&ctx->lane, i);
        }
    }
    for (unsigned i = 0; i < ctx->windows.count; i++) {
        keel_win_h win = ctx->windows.list[i];

        if (win->freed_call > window_calls) {
            win->freed_call = 0;
            status = keel_win_memory_make(win, NULL);
            if (status != KEEL_OK) {
                return status;
            }
        } else if (win->freed_call == 0 && ctx->rec.roll != KEEL_ROLL_NONE) {
            /* a rank that had freed the window has dropped the mapping */
            keel_lane_region_announce(&ctx->lane, win->region);
        }
    }
    ctx->windows.calls = window_calls;
    return KEEL_OK;
}
