/* Collective calls of windows: allocation, creation over the program's memory, and freeing. */
#include "engine/context.h"
#include "order/determinant.h"
#include "epoch/win_calls.h"
#include "epoch/gsync.h"
#include "epoch/stop.h"
#include "engine/threads.h"
#include "engine/refuse.h"
#include "epoch/restore.h"
#include "access/target.h"
#include "peer/members.h"
#include "window/win_memory.h"
#include "window/window.h"
#include "recovery/recover.h"
#include "recovery/shrink.h"

static keel_status_t win_make(keel_context_h ctx, size_t bytes, void *given, const keel_win_params_t *params,
                              const keel_extent_t *saved, keel_win_h *win_p)
{
    const char *call = (given != NULL) ? "keel_win_create" : (saved != NULL) ? "keel_store_create" : "keel_win_alloc";
    KEEL_COLLECTIVE(ctx, call);
    const int is_before = keel_windows_due(ctx) > 0;
    keel_status_t status = keel_collective.status;

    if (status == KEEL_OK) {
        status = keel_context_check_outside(ctx, call);
    }
    if (status == KEEL_OK && !is_before) {
        status = keel_context_check(ctx);
        status = (status == KEEL_OK) ? keel_gsync_admit(ctx, call) : status;
    }
    if (status == KEEL_OK) {
        status = keel_win_make(ctx, bytes, given, params, saved, win_p);
        if (status != KEEL_OK && saved != NULL) {
            return keel_gsync_refuse(ctx, KEEL_GSYNC_ALLOC, status, call);
        }
    }
    if (status != KEEL_OK || is_before) {
        return status;
    }
    keel_shrink_note_windows(&ctx->rec, ctx->windows.calls);
    status = keel_gsync_run(ctx, KEEL_GSYNC_ALLOC);
    if (status == KEEL_OK) {
        status = keel_win_await_peers(*win_p);
        if (status == KEEL_ERR_ROLLED_BACK && keel_shrink_is_from_front(&ctx->rec)) {
            /* made at all ranks; the next call tells of the shrink */
            return keel_context_end(ctx, KEEL_OK);
        }
    }
    if (status == KEEL_ERR_ROLLED_BACK && !keel_shrink_is_from_front(&ctx->rec) && ctx->rec.roll != KEEL_ROLL_NONE &&
        ctx->rec.generation.number == 0 && ctx->windows.calls == ctx->rec.generation.window_calls) {
        /* the program's start follows this very call: nothing to go back to */
        status = keel_restore_run(ctx);
        keel_wait_set_gates(ctx);
    } else if (status == KEEL_ERR_ROLLED_BACK && keel_windows_due(ctx) > 0) {
        status = KEEL_OK; /* the calls after it are repeated, too, and then keel_restore() */
    }
    keel_recovery_note_windows(&ctx->rec, ctx->windows.calls);
    return status;
}

keel_status_t keel_win_alloc_saved(keel_context_h ctx, size_t bytes, const keel_win_params_t *params,
                                   const keel_extent_t *saved, keel_win_h *win_p)
{
    return win_make(ctx, bytes, NULL, params, saved, win_p);
}

keel_status_t keel_win_alloc(keel_context_h ctx, size_t bytes, const keel_win_params_t *params, keel_win_h *win_p)
{
    KEEL_INSIDE(ctx);
    keel_status_t status;

    if (ctx == NULL || win_p == NULL) {
        return keel_refuse_null(ctx == NULL ? "the context" : "keel_win_alloc: where the window is to go");
    }
    status = keel_win_params_check(ctx, bytes, params, KEEL_WIN_PARAMS_ALL);
    return (status == KEEL_OK) ? keel_context_end(ctx, win_make(ctx, bytes, NULL, params, NULL, win_p)) : status;
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
    if (status != KEEL_OK) {
        return status;
    }
    return keel_context_end(ctx, win_make(ctx, bytes, bytes > 0 ? memory : NULL, params, NULL, win_p));
}

/* Locks of other ranks stay as they are, and the caller's lock would have no owner. */
static keel_status_t win_check_unlocked(const struct keel_win *win)
{
    int is_locked = win->all != 0;

    KEEL_EACH_TOUCHED_WHILE(r, &win->ctx->lane, win->locked != NULL) {
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
    if (keel_windows_due(ctx) == 0) {
        status = keel_context_check(ctx);
        if (status == KEEL_OK) {
            status = keel_context_check_outside(ctx, "keel_win_free");
        }
        if (status == KEEL_OK) {
            status = win_check_unlocked(win);
        }
        if (status == KEEL_OK) {
            status = keel_gsync_admit(ctx, "keel_win_free");
        }
        if (status == KEEL_OK) {
            keel_shrink_note_windows(&ctx->rec, ctx->windows.calls + 1);
            status = keel_gsync_run(ctx, KEEL_GSYNC_FREE);
        }
        if (status != KEEL_OK && !(status == KEEL_ERR_ROLLED_BACK && keel_windows_due(ctx) > 0)) {
            return keel_context_end(ctx, status);
        }
    }
    keel_win_retire(win);
    return KEEL_OK;
}

keel_status_t keel_win_free(keel_win_h win)
{
    const keel_context_h ctx = (win != NULL) ? win->ctx : NULL;
    KEEL_INSIDE(ctx);
    KEEL_COLLECTIVE(ctx, "keel_win_free");

    return (keel_collective.status == KEEL_OK) ? win_free_alone(win) : keel_collective.status;
}

keel_status_t keel_gsync_refuse(keel_context_h ctx, unsigned flags, keel_status_t refused, const char *call)
{
    keel_status_t status = (keel_windows_due(ctx) > 0) ? KEEL_ERR_STATE : keel_context_check(ctx);

    status = (status == KEEL_OK) ? keel_gsync_admit(ctx, call) : status;
    status = (status == KEEL_OK) ? keel_gsync_run(ctx, flags | KEEL_GSYNC_REFUSED) : status;
    return (status == KEEL_ERR_ROLLED_BACK) ? status : refused;
}
