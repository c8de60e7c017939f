/* keel_restore(): returns memory to the state of an image; and the restart point of a program
 * when the job rolls back. */
#include "epoch/restore.h"
#include "access/fragment.h"
#include "order/completion.h"
#include "window/win_attached.h"
#include "order/announce.h"
#include "engine/threads.h"
#include "engine/context.h"
#include "engine/fork.h"
#include "epoch/lock.h"
#include "epoch/lock_replay.h"
#include "order/mix.h"
#include "epoch/image_content.h"
#include "window/protect.h"
#include "engine/refuse.h"
#include "engine/request.h"
#include "epoch/stop.h"
#include "order/determinant.h"
#include "epoch/win_lock_image.h"
#include "window/window.h"
#include "recovery/rollback_request.h"
#include "recovery/rebuild.h"
#include "recovery/rollback.h"
#include "recovery/shrink.h"
#include "recovery/recover.h"
#include "check/plant.h"

keel_status_t keel_restore_memory(void *arg, const void *image, size_t size)
{
    keel_context_h ctx = arg;
    keel_status_t status;
    const char *why;

    keel_access_drop(ctx, KEEL_ERR_ROLLED_BACK);
    keel_requests_call_back(ctx);
    keel_sections_set_all(&ctx->sync, 0);
    ctx->is_open = 0;
    keel_announce_reset(ctx);
    status = keel_windows_restore(ctx, ctx->rec.restored.window_calls);
    if (status != KEEL_OK) {
        return status;
    }
    keel_win_locks_reset(ctx);
    if (keel_shrink_is_from_front(&ctx->rec)) {
        return KEEL_OK; /* memory stays as it is */
    }
    if (image == NULL) {
        status = keel_attached_return(ctx, NULL, 0);
        keel_protected_reset(ctx);
        return status;
    }
    status = keel_context_read_image(ctx, image, size, &why);
    if (status != KEEL_OK) {
        keel_error_ctx(ctx, "image of generation %u cannot be restored: %s", ctx->rec.restored.number, why);
    }
    keel_sections_set_all(&ctx->sync, keel_lock_is_all(ctx));
    return status;
}

keel_status_t keel_restore_run(keel_context_h ctx)
{
    keel_status_t status = KEEL_ERR_STATE;
    unsigned rounds = 0;

    if (ctx->rec.roll == KEEL_ROLL_NONE && ctx->rec.rollback_reason == KEEL_ROLLBACK_NOT_REQUESTED &&
        keel_recovery_state(&ctx->rec) == KEEL_RANK_FRESH) {
        status = keel_rebuild_run(&ctx->rec, keel_restore_memory, ctx);
        if (status != KEEL_ERR_ROLLED_BACK) {
            return status;
        }
    }
    while (ctx->rec.rollback_reason != KEEL_ROLLBACK_NOT_REQUESTED && ctx->rec.roll == KEEL_ROLL_NONE &&
           ctx->rec.fatal == KEEL_OK) {
        keel_progress_wait(&ctx->progress, &rounds); /* requested, not decided */
    }
    if (ctx->rec.fatal != KEEL_OK) {
        return ctx->rec.fatal;
    }
    if (ctx->rec.roll != KEEL_ROLL_NONE) {
        status = keel_rollback_run(&ctx->rec, keel_restore_memory, ctx);
    }
    return status;
}

/* Every life asks at the same place of the program. So generation 0 of every rank has the
 * windows made before it, even if the only rank with an access before a further window died. */
static void restore_close_prefix(keel_context_h ctx)
{
    ctx->is_started = 1;
    keel_recovery_close_prefix(&ctx->rec, ctx->windows.calls);
}

int keel_restarted(keel_context_h ctx)
{
    KEEL_INSIDE(ctx);

    if (ctx == NULL) {
        return 0;
    }
    if (ctx->is_restore_due || keel_recovery_status(&ctx->rec) == KEEL_ERR_ROLLED_BACK) {
        return 1;
    }
    restore_close_prefix(ctx);
    return 0;
}

/* Makes the remaining calls around the image: the program goes on after them. */
static keel_status_t restore_resume(keel_context_h ctx, keel_resume_t resume)
{
    keel_status_t status = (resume == KEEL_RESUME_BEHIND) ? KEEL_OK : keel_gsync_run(ctx, KEEL_GSYNC_SECOND);

    if (status == KEEL_OK && resume == KEEL_RESUME_GSYNC && !KEEL_PLANT(restore_stop_unresumed)) {
        status = keel_gsync_run(ctx, KEEL_GSYNC_SAFE);
    } else if (status == KEEL_OK && resume == KEEL_RESUME_CHECKPOINT) {
        status = keel_checkpoint_run(ctx);
    }
    return status;
}

static keel_status_t restore_alone(keel_context_h ctx)
{
    uint32_t epoch = 0;
    keel_status_t status;

    if (ctx == NULL) {
        return keel_refuse_null("the context");
    }
    if (keel_fork_is_child(ctx)) {
        return keel_fork_refuse(ctx);
    }
    if (!keel_restarted(ctx)) {
        keel_error_ctx(ctx, "keel_restore: nothing is to be restored");
        return KEEL_ERR_STATE;
    }
    if (ctx->rec.fatal != KEEL_OK) {
        return ctx->rec.fatal;
    }
    status = keel_context_check_outside(ctx, "keel_restore");
    if (status != KEEL_OK) {
        return status;
    }
    keel_threads_await_others(ctx);
    if (ctx->is_restore_due && ctx->rec.life != KEEL_LIFE_FRESH && ctx->rec.roll == KEEL_ROLL_NONE) {
        /* attachments of the program's start may be made again */
        status = keel_attached_return(ctx, NULL, 0);
        if (status != KEEL_OK) {
            return status;
        }
        ctx->is_restore_due = 0; /* the program's start: nothing has to be restored */
        keel_context_mark(ctx, KEEL_MARK_BACK, 0);
        restore_close_prefix(ctx);
        keel_wait_set_gates(ctx);
        return KEEL_OK;
    }
    do {
        epoch = ctx->rec.shrink.epoch;
        status = keel_restore_run(ctx);
        if (status == KEEL_OK) {
            status = keel_windows_await(ctx);
        }
        if (status == KEEL_OK) {
            keel_wait_set_gates(ctx);
            status = keel_lock_resume(ctx);
        }
        if (status == KEEL_OK && ctx->rec.restored.number > 0 &&
            ctx->rec.restored.number == ctx->rec.generation.number) {
            status = restore_resume(ctx, (keel_resume_t)ctx->ckpt.set.used.resume);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    if (ctx->rec.fatal != KEEL_OK) {
        keel_hooks_run(ctx, KEEL_HOOK_FATAL);
    }
    if (status == KEEL_OK) {
        if (ctx->rec.shrink.epoch == epoch) { /* after a shrink no output is repeated */
            keel_context_mark(ctx, KEEL_MARK_BACK, ctx->rec.restored.number);
        }
        ctx->is_restore_due = 0;
        ctx->is_started = 1;
        keel_recovery_close_prefix(&ctx->rec, ctx->rec.generation.window_calls);
    }
    return status;
}

keel_status_t keel_restore(keel_context_h ctx)
{
    KEEL_INSIDE(ctx);
    KEEL_COLLECTIVE(ctx, "keel_restore");

    return (keel_collective.status == KEEL_OK) ? restore_alone(ctx) : keel_collective.status;
}

/* ---- rollback, as the program sees it ---- */

keel_status_t keel_rollback(keel_context_h ctx)
{
    KEEL_INSIDE(ctx);
    keel_status_t status = keel_context_begin(ctx);

    if (status == KEEL_OK && ctx->config.protect == KEEL_PROTECT_NONE) {
        keel_error_ctx(ctx, "keel_rollback with KEEL_PROTECT=none: there is nothing to go back to");
        return keel_context_end(ctx, KEEL_ERR_STATE);
    }
    if (status == KEEL_OK) {
        status = keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_PROGRAM);
        keel_gate_set(ctx, KEEL_GATE_CLOSED);
        keel_access_mute(ctx);
    }
    return keel_context_end(ctx, status);
}

jmp_buf *keel_restart_buffer(keel_context_h ctx)
{
    KEEL_INSIDE(ctx);
    static _Thread_local jmp_buf nowhere; /* filled by the caller, but no jump goes there */

    if (ctx == NULL) {
        const keel_message_t message = {.level = KEEL_MSG_ERROR, .rank = KEEL_MESSAGE_NO_RANK};

        keel_error(&message, "KEEL_RESTART_POINT without a context: no call will go on there");
        return &nowhere;
    }
    ctx->has_restart = 1;
    ctx->restart.thread = pthread_self();
    return &ctx->restart.jump;
}

void keel_restart_clear(keel_context_h ctx)
{
    KEEL_INSIDE(ctx);

    if (ctx != NULL) {
        ctx->has_restart = 0;
    }
}
