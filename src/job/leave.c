/* Leaving the job. */
#include "job/leave.h"
#include "job/files.h"
#include "engine/context.h"

#include "check/plant.h"
#include "engine/fork.h"
#include "engine/logs.h"
#include "epoch/stop.h"
#include "job/layers.h"
#include "engine/threads.h"
#include "epoch/lock.h"
#include "engine/refuse.h"
#include "peer/issue.h"
#include "peer/members.h"
#include "recovery/outcome/outcome_sums.h"
#include "recovery/recover.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * True if the peer can still receive. With a runtime that does not report departures, a broken
 * connection is the only sign of one: earlier messages have arrived or are lost.
 */
static int peer_can_receive(keel_context_h ctx, const keel_peer_t *peer)
{
    const int is_lost = ctx->runtime->lacks_death_events && peer->is_broken && !KEEL_PLANT(leave_exit_awaited);

    return peer->is_up && !is_lost;
}

/*
 * Waits until each reachable peer has received the last messages of this rank. An isolated rank
 * does not wait: no peer will receive them.
 */
static void finalize_linger(keel_context_h ctx)
{
    const keel_lane_t *lane = &ctx->lane;
    unsigned rounds = 0;

    for (uint32_t r = keel_member_first(lane); keel_member_is(lane, r) && ctx->rec.fatal != KEEL_ERR_ISOLATED;) {
        if (!peer_can_receive(ctx, &lane->peers[r]) || keel_lane_is_flushed(lane, r)) {
            r = keel_member_next(lane, r);
        } else {
            /* until the peer has received all, died, or left */
            keel_progress_wait(&ctx->progress, &rounds);
        }
    }
}

keel_status_t keel_context_leave(keel_context_h ctx)
{
    keel_status_t status;

    keel_recovery_give_up(&ctx->rec);
    finalize_linger(ctx);
    status = (ctx->rec.fatal == KEEL_ERR_ISOLATED) ? KEEL_ERR_ISOLATED : KEEL_OK;
    keel_context_release(ctx);
    return status;
}

void keel_abort(keel_context_h ctx, int status)
{
    keel_abort_because(ctx, status, NULL);
}

void keel_abort_because(keel_context_h ctx, int status, const char *why)
{
    char reason[448];

    fflush(NULL);
    if (ctx == NULL) {
        (void)keel_refuse_null("keel_abort: the context");
    } else if (!keel_fork_is_child(ctx)) {
        snprintf(reason, sizeof(reason), "keel_abort with status %d%s%.400s", status & 0xff, (why != NULL) ? ": " : "",
                 (why != NULL) ? why : "");
        ctx->runtime->ops->abort(ctx->runtime, status & 0xff, reason);
    }
    _exit(status & 0xff);
}

keel_status_t keel_start_with(keel_context_h ctx, const char *setting)
{
    if (ctx == NULL) {
        return keel_refuse_null("keel_start_with: the context");
    }
    if (keel_fork_is_child(ctx)) {
        return keel_fork_refuse(ctx);
    }
    if (setting == NULL || setting[0] == '=' || strchr(setting, '=') == NULL || strlen(setting) > KEEL_START_WITH_MAX) {
        keel_error_ctx(ctx, "keel_start_with: what is to be set is NAME=VALUE, of at most %d bytes",
                       KEEL_START_WITH_MAX);
        return KEEL_ERR_INVALID_PARAM;
    }
    return (ctx->runtime->ops->start_with == NULL)
               ? KEEL_ERR_UNSUPPORTED
               : ctx->runtime->ops->start_with(ctx->runtime, KEEL_EXIT_AGAIN, setting);
}

/* The leader prints the line about the deaths of the job, with the sums of all ranks that can still
 * send. */
static void finalize_outcome(keel_context_h ctx)
{
    const keel_lane_t *lane = &ctx->lane;
    unsigned rounds = 0;

    for (uint32_t r = keel_member_first(lane); keel_member_is(lane, r);) {
        if (!keel_outcome_awaits(&ctx->rec, r) || !peer_can_receive(ctx, &lane->peers[r])) {
            r = keel_member_next(lane, r);
        } else {
            keel_progress_wait(&ctx->progress, &rounds);
        }
    }
    keel_outcome_end(&ctx->rec);
}

static keel_status_t finalize_alone(keel_context_h ctx, int *is_gone)
{
    keel_status_t status = keel_context_begin(ctx), left;

    if (ctx != NULL && keel_context_check_outside(ctx, "keel_finalize") != KEEL_OK) {
        return KEEL_ERR_STATE;
    }
    if (status == KEEL_OK) {
        status = keel_lock_check_free(ctx, "keel_finalize");
        if (status != KEEL_OK) {
            return keel_context_end(ctx, status);
        }
    }
    if (status == KEEL_OK) {
        status = keel_gsync_run(ctx, KEEL_GSYNC_FINAL);
    }
    if (status != KEEL_OK && (ctx == NULL || ctx->rec.fatal == KEEL_OK)) {
        return keel_context_end(ctx, status);
    }
    if (status == KEEL_OK) {
        /*
         * No rollback repeats this output, and the launcher may end a slow rank when another rank
         * is killed.
         */
        (void)fflush(NULL);
        keel_outcome_set_log_most(&ctx->rec, keel_context_logs_most(ctx));
        keel_recovery_finish(&ctx->rec);
        if (keel_lane_is_leader(&ctx->lane)) {
            finalize_outcome(ctx);
        }
        keel_files_end(ctx);
    }
    *is_gone = 1;
    left = keel_context_leave(ctx);
    return (status == KEEL_OK) ? left : status;
}

keel_status_t keel_finalize(keel_context_h ctx)
{
    keel_status_t status;
    int is_gone = 0;

    if (keel_inside_enter(ctx) == NULL) {
        return finalize_alone(ctx, &is_gone);
    }
    status = keel_threads_begin_collective(ctx, "keel_finalize");
    if (status == KEEL_OK) {
        status = finalize_alone(ctx, &is_gone);
    }
    if (!is_gone) {
        keel_threads_end_collective(ctx);
        keel_threads_leave(ctx);
    }
    return status;
}
