/* Begin, wait and end of all calls. */
#include "engine/context.h"
#include "engine/threads.h"

#include "check/plant.h"
#include "engine/fork.h"
#include "engine/refuse.h"
#include "recovery/recover.h"

#include <string.h>

keel_status_t keel_context_check(keel_context_h ctx)
{
    keel_status_t status;

    if (ctx == NULL) {
        return keel_refuse_null("the context");
    }
    if (keel_fork_is_child(ctx)) {
        return keel_fork_refuse(ctx);
    }
    status = keel_recovery_status(&ctx->rec);
    keel_gate_set(ctx, KEEL_GATE_CLOSED);
    if (status != KEEL_OK) {
        keel_hooks_run(ctx, KEEL_HOOK_MUTE);
        return status;
    }
    if (keel_recovery_state(&ctx->rec) == KEEL_RANK_FRESH) {
        keel_error_ctx(ctx, "this process replaces another: call keel_restore() first");
        return KEEL_ERR_STATE;
    }
    return KEEL_OK;
}

/* After a death of the process its puts may not be repeated. So accessed ranks have to know of
 * its first access. */
static void context_begin(keel_context_h ctx)
{
    if (!ctx->has_begun && !keel_sync_is_promised(&ctx->sync) && ctx->config.protect != KEEL_PROTECT_NONE) {
        keel_hooks_run(ctx, KEEL_HOOK_BEGIN);
        ctx->has_begun = 1;
    }
}

void keel_context_poll(keel_context_h ctx)
{
    if (!__atomic_load_n(&ctx->gate.part.news, __ATOMIC_RELAXED) || KEEL_PLANT(context_news_ignored) ||
        keel_fork_is_child(ctx)) {
        return;
    }
    /* A full barrier: later announcements set the byte again, and earlier announcements are
     * visible. */
    (void)__atomic_exchange_n(&ctx->gate.part.news, 0, __ATOMIC_SEQ_CST);
    keel_progress_run(&ctx->progress);
    keel_hooks_run(ctx, KEEL_HOOK_PROGRESS);
    if (!keel_recovery_is_idle(&ctx->rec)) { /* the remaining steps are not announced by any rank */
        __atomic_store_n(&ctx->gate.part.news, 1, __ATOMIC_RELAXED);
    }
}

keel_status_t keel_context_begin(keel_context_h ctx)
{
    keel_status_t status;

    if (ctx != NULL) {
        keel_context_poll(ctx);
    }
    status = keel_context_check(ctx);

    if (status != KEEL_OK) {
        return status;
    }
    context_begin(ctx);
    ctx->is_started = 1;
    keel_recovery_close_prefix(&ctx->rec, ctx->windows.calls);
    keel_gate_clear(ctx, KEEL_GATE_CLOSED);
    return KEEL_OK;
}

keel_status_t keel_context_check_outside(keel_context_h ctx, const char *call)
{
    if (keel_fork_is_child(ctx)) {
        return keel_fork_refuse(ctx);
    }
    if (!keel_threads_in_callback(ctx)) {
        return KEEL_OK;
    }
    keel_error_ctx(ctx, "%s is not to be called from callbacks", call);
    return KEEL_ERR_STATE;
}

keel_status_t keel_context_begin_outside(keel_context_h ctx, const char *call)
{
    keel_status_t status = keel_context_begin(ctx);

    return (status == KEEL_OK) ? keel_context_check_outside(ctx, call) : status;
}

keel_status_t keel_context_wait(keel_context_h ctx, unsigned *rounds)
{
    keel_status_t status;
    unsigned first = 0; /* for a round without sleep, because other threads want the lock */

    if (keel_fork_is_child(ctx)) {
        return keel_fork_refuse(ctx);
    }
    keel_hooks_run(ctx, KEEL_HOOK_WAIT);
    keel_threads_yield(ctx);
    keel_progress_wait(&ctx->progress, keel_threads_are_busy(ctx) ? &first : rounds);
    keel_hooks_run(ctx, KEEL_HOOK_PROGRESS);
    keel_hooks_run(ctx, KEEL_HOOK_CALL_BACK);
    status = keel_recovery_status(&ctx->rec);
    if (status != KEEL_OK) {
        keel_gate_set(ctx, KEEL_GATE_CLOSED);
        keel_hooks_run(ctx, KEEL_HOOK_MUTE);
    }
    return (KEEL_PLANT(context_rollback_unended) && status == KEEL_ERR_ROLLED_BACK && ctx->threads != NULL) ? KEEL_OK
                                                                                                            : status;
}

keel_status_t keel_context_progress(keel_context_h ctx)
{
    keel_status_t status;

    keel_hooks_run(ctx, KEEL_HOOK_WAIT);
    keel_progress_run(&ctx->progress);
    keel_hooks_run(ctx, KEEL_HOOK_PROGRESS);
    keel_hooks_run(ctx, KEEL_HOOK_CALL_BACK);
    status = keel_recovery_status(&ctx->rec);
    if (status != KEEL_OK) {
        keel_gate_set(ctx, KEEL_GATE_CLOSED);
        keel_hooks_run(ctx, KEEL_HOOK_MUTE);
    }
    return status;
}

keel_status_t keel_context_take_turn(keel_context_h ctx, enum keel_turn what)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && !keel_threads_try_turn(ctx, what)) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

keel_status_t keel_context_rolled_back(keel_context_h ctx)
{
    keel_gate_set(ctx, KEEL_GATE_CLOSED); /* no fast path is taken before the program knows */
    keel_hooks_run(ctx, KEEL_HOOK_ROLLED_BACK);
    if (ctx->has_restart && !keel_threads_in_callback(ctx) && pthread_equal(ctx->restart.thread, pthread_self())) {
        keel_threads_leave_all(ctx);
        longjmp(ctx->restart.jump, 1);
    }
    return KEEL_ERR_ROLLED_BACK;
}
