/* Windows and protected regions. */
#include "api/window.h"
#include "api/inside.h"
#include "api/context.h"

#include "base/memory.h"
#include "api/mix.h"
#include "api/reach.h"
#include "api/refuse.h"
#include "api/restore.h"
#include "api/gsync.h"
#include "api/win_memory.h"
#include "api/win_attached.h"
#include "api/win_extents.h"
#include "peer/access.h"
#include "peer/region.h"
#include "recovery/recover.h"

#include <stdio.h>
#include <string.h>

#define WINDOW_ALIGN ((uintptr_t)2 << 20) /* addresses of windows: room between them, huge pages */

static size_t win_targets_bytes(const keel_context_h ctx)
{
    return ctx->lane.size * sizeof(keel_target_t);
}

static keel_status_t windows_grow(keel_context_h ctx)
{
    const unsigned room = (ctx->window_room > 0) ? 2 * ctx->window_room : 8;
    struct keel_win **grown;

    if (ctx->window_count == KEEL_WINDOWS_MAX) {
        keel_error_ctx(ctx, "no more than %u windows can be made, freed ones included", KEEL_WINDOWS_MAX);
        return KEEL_ERR_LIMIT;
    }
    if (ctx->window_count < ctx->window_room) {
        return KEEL_OK;
    }
    grown = keel_realloc(ctx->windows, room * sizeof(struct keel_win *), "windows");
    if (grown == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    ctx->windows = grown;
    ctx->window_room = room;
    return KEEL_OK;
}

static void win_set_params(keel_win_h win, const keel_win_params_t *params)
{
    const uint64_t fields = (params != NULL) ? params->field_mask : 0;

    win->is_device_wanted = (fields & KEEL_WIN_PARAM_FIELD_ATOMICS) && params->atomics == KEEL_WIN_ATOMICS_DEVICE;
    win->place = win->ctx->next_address;
    win->address = (fields & KEEL_WIN_PARAM_FIELD_ADDRESS) ? (uintptr_t)params->address : win->place;
    if ((fields & KEEL_WIN_PARAM_FIELD_NAME) && params->name != NULL) {
        snprintf(win->name, sizeof(win->name), "%s", params->name);
    }
}

static keel_status_t win_create(keel_context_h ctx, size_t bytes, void *given, const keel_win_params_t *params,
                                keel_win_h *win_p)
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
    keel_arena_wipe_in_child(win->targets,
                             win_targets_bytes(ctx)); /* no fast path for its accesses: they are refused */
    win->ctx = ctx;
    win->region = KEEL_REGION_WINDOW0 + ctx->window_count;
    win->size = bytes;
    win->given = given;
    win_set_params(win, params);
    if (params != NULL && (params->field_mask & KEEL_WIN_PARAM_FIELD_ATTACH) && params->attach) {
        status = keel_attached_make(win);
    }
    if (status == KEEL_OK) {
        status = keel_win_memory_make(win, keel_win_initial(params));
    }
    if (status != KEEL_OK) {
        goto err_free_targets;
    }
    win->changes = ctx->lane.changes - 1;
    win->made_call = ++ctx->window_calls;
    ctx->next_address += (bytes + 2 * WINDOW_ALIGN - 1) & ~(WINDOW_ALIGN - 1);
    ctx->windows[ctx->window_count++] = win;
    keel_context_logs_grow(ctx);
    *win_p = win;
    return KEEL_OK;

err_free_targets:
    keel_attached_release(win);
    keel_arena_free(win->targets, win_targets_bytes(ctx));
err_free:
    keel_free(win);
    return status;
}

/* A call that a replacement repeats before keel_restore(), or that waits for one after a rollback: who came back before anybody
 * had begun may be at an earlier window when the job rolls back to before the last. */
static int is_repeated(const keel_context_h ctx)
{
    return (keel_recovery_state(&ctx->rec) == KEEL_RANK_FRESH || ctx->rec.roll != KEEL_ROLL_NONE) &&
           ctx->window_calls < ctx->rec.restored.window_calls;
}

uint32_t keel_windows_due(const keel_context_h ctx)
{
    return is_repeated(ctx) ? ctx->rec.restored.window_calls - ctx->window_calls : 0;
}

static keel_status_t win_await_peers(keel_win_h win)
{
    keel_context_h ctx = win->ctx;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    for (uint32_t r = 0; r < ctx->lane.programs && status == KEEL_OK;) {
        if (keel_lane_region_is_known(&ctx->lane, r, win->region)) {
            r++;
        } else {
            status = keel_context_wait(ctx, &rounds);
        }
    }
    return status;
}

keel_status_t keel_windows_await(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;

    for (unsigned i = 0; i < ctx->window_count && status == KEEL_OK; i++) {
        status = win_await_peers(ctx->windows[i]);
    }
    return status;
}

static keel_status_t win_make_alone(keel_context_h ctx, size_t bytes, void *given, const keel_win_params_t *params,
                                    keel_win_h *win_p, const char *call)
{
    keel_status_t status = keel_context_check_outside(ctx, call);
    int is_before;

    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    is_before = is_repeated(ctx);
    if (!is_before) {
        status = keel_context_check(ctx);
        if (status == KEEL_OK) {
            status = keel_mix(ctx, KEEL_WAY_GSYNC, call);
        }
        if (status == KEEL_OK) {
            status = keel_gsync_check(ctx, call);
        }
        if (status != KEEL_OK) {
            return keel_context_end(ctx, status);
        }
    }
    status = win_create(ctx, bytes, given, params, win_p);
    if (status != KEEL_OK || is_before) {
        return keel_context_end(ctx, status);
    }
    status = keel_gsync_run(ctx, KEEL_GSYNC_ALLOC);
    if (status == KEEL_OK) {
        status = win_await_peers(*win_p);
    }
    if (status == KEEL_ERR_ROLLED_BACK && ctx->rec.roll != KEEL_ROLL_NONE && ctx->rec.generation.number == 0 &&
        ctx->window_calls == ctx->rec.generation.window_calls) {
        status = keel_restore_run(ctx); /* the program's start is behind this very call: nothing to go back to */
        keel_wait_resume(ctx);
    } else if (status == KEEL_ERR_ROLLED_BACK && is_repeated(ctx)) {
        status = KEEL_OK; /* those behind it are repeated, too, and keel_restore() has its turn */
    }
    keel_recovery_note_windows(&ctx->rec, ctx->window_calls);
    return keel_context_end(ctx, status);
}

static keel_status_t win_make(keel_context_h ctx, size_t bytes, void *given, const keel_win_params_t *params,
                              keel_win_h *win_p, const char *call)
{
    keel_status_t status = keel_threads_begin_collective(ctx, call);

    if (status == KEEL_OK) {
        status = win_make_alone(ctx, bytes, given, params, win_p, call);
        keel_threads_end_collective(ctx);
    }
    return status;
}

keel_status_t keel_win_alloc(keel_context_h ctx, size_t bytes, const keel_win_params_t *params, keel_win_h *win_p)
{
    KEEL_INSIDE(ctx);
    keel_status_t status;

    if (ctx == NULL || win_p == NULL) {
        return keel_refuse_null(ctx == NULL ? "the context" : "keel_win_alloc: where the window is to go");
    }
    status = keel_win_params_check(ctx, bytes, params, KEEL_WIN_PARAMS_ALL);
    return (status == KEEL_OK) ? win_make(ctx, bytes, NULL, params, win_p, "keel_win_alloc") : status;
}

keel_status_t keel_win_create(keel_context_h ctx, void *memory, size_t bytes, const keel_win_params_t *params,
                              keel_win_h *win_p)
{
    KEEL_INSIDE(ctx);
    keel_status_t status;

    if (ctx == NULL || win_p == NULL) {
        return keel_refuse_null(ctx == NULL ? "the context" : "keel_win_create: where the window is to go");
    }
    if (memory == NULL && bytes > 0) {
        return keel_refuse_null("keel_win_create: the memory");
    }
    status = keel_win_params_check(ctx, bytes, params, KEEL_WIN_PARAM_FIELD_NAME);
    if (status == KEEL_OK) {
        status = keel_win_memory_check(ctx, memory, bytes, "keel_win_create");
    }
    return (status == KEEL_OK) ? win_make(ctx, bytes, bytes > 0 ? memory : NULL, params, win_p, "keel_win_create")
                               : status;
}

/* locks of others stay what they are, and this one's would be nobody's */
static keel_status_t win_check_unlocked(const struct keel_win *win)
{
    int is_locked = win->all != 0;

    for (uint32_t r = 0; win->locked != NULL && r < win->ctx->lane.size; r++) {
        is_locked |= win->locked[r] != 0;
    }
    if (!is_locked) {
        return KEEL_OK;
    }
    keel_error_ctx(win->ctx, "keel_win_free of window %u, of which something is locked",
                   win->region - KEEL_REGION_WINDOW0);
    return KEEL_ERR_STATE;
}

static keel_status_t win_free_alone(keel_win_h win)
{
    keel_context_h ctx;
    keel_status_t status;

    if (win == NULL) {
        return keel_refuse_null("the window");
    }
    if (win->freed_call > 0) {
        return keel_win_refuse_freed(win);
    }
    ctx = win->ctx;
    if (!is_repeated(ctx)) {
        status = keel_context_check(ctx);
        if (status == KEEL_OK) {
            status = keel_context_check_outside(ctx, "keel_win_free");
        }
        if (status == KEEL_OK) {
            status = win_check_unlocked(win);
        }
        if (status == KEEL_OK) {
            status = keel_mix(ctx, KEEL_WAY_GSYNC, "keel_win_free");
        }
        if (status == KEEL_OK) {
            status = keel_gsync_check(ctx, "keel_win_free");
        }
        if (status == KEEL_OK) {
            status = keel_gsync_run(ctx, KEEL_GSYNC_FREE);
        }
        if (status != KEEL_OK && !(status == KEEL_ERR_ROLLED_BACK && is_repeated(ctx))) {
            return keel_context_end(ctx, status);
        }
    }
    /* the object stays: a rollback may bring the window back */
    win->freed_call = ++ctx->window_calls;
    keel_win_memory_give_back(win);
    keel_lane_region_retire(&ctx->lane, win->region);
    for (uint32_t r = 0; r < ctx->lane.size && ctx->rec.roll == KEEL_ROLL_NONE; r++) { /* else it is back already */
        if (ctx->lane.peers[r].mode == KEEL_PEER_LIVE) {
            keel_lane_regions_close_retired(&ctx->lane, r);
        }
    }
    win->base = NULL;
    return KEEL_OK;
}

keel_status_t keel_win_free(keel_win_h win)
{
    KEEL_INSIDE((win != NULL) ? win->ctx : NULL);
    keel_status_t status = keel_threads_begin_collective((win != NULL) ? win->ctx : NULL, "keel_win_free");

    if (status == KEEL_OK) {
        status = win_free_alone(win);
        keel_threads_end_collective((win != NULL) ? win->ctx : NULL);
    }
    return status;
}

void *keel_win_base(keel_win_h win)
{
    return (win == NULL || win->size == 0) ? NULL : win->base;
}

size_t keel_win_size(keel_win_h win, uint32_t rank)
{
    KEEL_INSIDE_WIN(win);

    if (win == NULL || win->freed_call > 0 || rank >= win->ctx->lane.programs) {
        return 0;
    }
    if (rank == win->ctx->lane.rank) {
        return win->size;
    }
    return keel_lane_region_size(&win->ctx->lane, rank, win->region);
}

keel_status_t keel_win_refuse_freed(keel_win_h win)
{
    const unsigned number = win->region - KEEL_REGION_WINDOW0;

    if (win->freed_call == KEEL_WIN_GONE) {
        keel_error_ctx(
            win->ctx,
            "window %u%s%s is gone: the job rolled back to before its keel_win_alloc(), which has to be called again",
            number, (win->name[0] != '\0') ? " " : "", win->name);
    } else {
        keel_error_ctx(win->ctx, "window %u%s%s was freed", number, (win->name[0] != '\0') ? " " : "", win->name);
    }
    return KEEL_ERR_INVALID_PARAM;
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
    while (ctx->window_count > 0) {
        keel_win_h win = ctx->windows[--ctx->window_count];

        keel_win_memory_give_back(win);
        keel_lane_region_drop(&ctx->lane, win->region);
        win_destroy(win);
    }
    while (ctx->gone != NULL) {
        keel_win_h win = ctx->gone;

        ctx->gone = win->gone;
        win_destroy(win);
    }
    keel_free(ctx->windows);
    ctx->windows = NULL;
    ctx->window_room = 0;
}

/* the program may still have the handle: what is left of it refuses */
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
    win->gone = ctx->gone;
    ctx->gone = win;
}

keel_status_t keel_windows_restore(keel_context_h ctx, uint32_t window_calls)
{
    keel_status_t status;

    if (ctx->window_calls < window_calls) {
        if (ctx->window_calls_missed != window_calls) { /* once: it may repeat one and try again */
            keel_error_ctx(ctx,
                           "the image was taken after %u window calls, this process has made %u: repeat them before "
                           "keel_restore()",
                           window_calls, ctx->window_calls);
        }
        ctx->window_calls_missed = window_calls;
        return KEEL_ERR_STATE;
    }
    while (ctx->window_count > 0 && ctx->windows[ctx->window_count - 1]->made_call > window_calls) {
        ctx->next_address = ctx->windows[ctx->window_count - 1]->place;
        win_remove(ctx->windows[--ctx->window_count]);
    }
    if (ctx->rec.roll != KEEL_ROLL_NONE) { /* everybody gives them up, a replacement too that never made them itself */
        for (unsigned i = KEEL_REGION_WINDOW0 + ctx->window_count; i < ctx->lane.regions_room; i++) {
            keel_lane_region_forget(&ctx->lane, i);
        }
    }
    for (unsigned i = 0; i < ctx->window_count; i++) {
        keel_win_h win = ctx->windows[i];

        if (win->freed_call > window_calls) {
            win->freed_call = 0;
            status = keel_win_memory_make(win, NULL);
            if (status != KEEL_OK) {
                return status;
            }
        } else if (win->freed_call == 0 && ctx->rec.roll != KEEL_ROLL_NONE) {
            keel_lane_region_tell(&ctx->lane, win->region); /* who had freed it has given the mapping back */
        }
    }
    ctx->window_calls = window_calls;
    return KEEL_OK;
}

/* ---- protected regions ---- */

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
    keel_context_logs_grow(ctx);
    return KEEL_OK;
}

void keel_protected_reset(keel_context_h ctx)
{
    for (unsigned i = 0; i < ctx->protected_count; i++) {
        memcpy(ctx->protected_regions[i].address, ctx->protected_regions[i].initial, ctx->protected_regions[i].bytes);
    }
    for (unsigned i = 0; i < ctx->window_count; i++) {
        keel_extents_reset(ctx->windows[i]);
        keel_win_memory_reset(ctx->windows[i]);
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
