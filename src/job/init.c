/* Creation of a context. */
#include "rma/atomic.h"
#include "access/fragment.h"
#include "order/completion.h"
#include "rma/atomic_served.h"
#include "job/checksum.h"
#include "groups/collective.h"
#include "engine/context.h"
#include "engine/logs.h"

#include "base/crc.h"
#include "base/limit_hint.h"
#include "base/memory.h"
#include "base/message.h"
#include "check/plant.h"
#include "order/flush.h"
#include "engine/fork.h"
#include "rma/get.h"
#include "job/files.h"
#include "job/files_start.h"
#include "job/init.h"
#include "engine/threads.h"
#include "job/layers.h"
#include "job/leave.h"
#include "order/announce.h"
#include "epoch/lock.h"
#include "window/protect.h"
#include "engine/refuse.h"
#include "rehearsal/rehearse.h"
#include "engine/request.h"
#include "rma/get_own.h"
#include "rma/poll.h"
#include "epoch/restore.h"
#include "job/spare.h"
#include "job/tracing.h"
#include "epoch/gsync.h"
#include "order/determinant.h"
#include "order/win_share.h"
#include "window/window.h"
#include "oplog/put_send.h"
#include "transports/table.h"
#include "peer/members.h"
#include "peer/region.h"
#include "recovery/rebuild.h"
#include "recovery/recover.h"
#include "recovery/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
/* the thread sanitizer uses the rest of the address space */
#define WINDOWS_ADDRESS ((uintptr_t)0x4000000000)
#else
/* far from the addresses that the kernel picks */
#define WINDOWS_ADDRESS ((uintptr_t)0x200000000000)
#endif

static int params_have(const keel_params_t *params, uint64_t field)
{
    return params != NULL && (params->field_mask & field);
}

static int params_have_flag(const keel_params_t *params, uint64_t flag)
{
    return params_have(params, KEEL_PARAM_FIELD_FLAGS) && (params->flags & flag);
}

/* True if re-execution is possible: accesses of several threads have no order to repeat. */
static int params_are_deterministic(const keel_params_t *params)
{
    return !params_have_flag(params, KEEL_PARAM_FLAG_NONDETERMINISTIC) &&
           !params_have_flag(params, KEEL_PARAM_FLAG_THREADS);
}

/*
 * First life: all ranks are present. Connects to each and waits until each has announced its
 * regions.
 */
static keel_status_t context_connect_all(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    KEEL_EACH_MEMBER_WHILE(r, &ctx->lane, status == KEEL_OK) {
        size_t length;
        void *address;

        if (r == ctx->lane.rank) {
            continue;
        }
        status = ctx->runtime->ops->lookup(ctx->runtime, r, &address, &length);
        if (status == KEEL_OK) {
            status = keel_lane_peer_up(&ctx->lane, r, 0, address, length);
            free(address);
            keel_lane_set_mode(&ctx->lane, r, KEEL_PEER_LIVE);
        }
    }
    for (uint32_t r = keel_member_first(&ctx->lane); keel_member_is(&ctx->lane, r) && status == KEEL_OK;) {
        if (r == ctx->lane.rank || keel_lane_region_is_known(&ctx->lane, r, KEEL_REGION_GETLOG)) {
            r = keel_member_next(&ctx->lane, r);
            continue;
        }
        status = keel_files_start_wait(ctx, &rounds);
    }
    return status;
}

static int is_at_start(const keel_context_h ctx)
{
    return ctx->rec.restored.number == 0 && ctx->rec.restored.window_calls == 0;
}

/* After a further death, other ranks may have begun: then the program must repeat window calls. */
static keel_status_t restore_start(void *arg, const void *image, size_t size)
{
    return is_at_start(arg) ? keel_restore_memory(arg, image, size) : KEEL_INPROGRESS;
}

/* Refuses what a job that goes on with fewer ranks cannot do yet (protocol/shrink.md). */
static keel_status_t context_check_shrink(keel_context_h ctx)
{
    const keel_config_t *config = &ctx->config;
    const char *why = NULL;

    if (config->shrink == KEEL_SHRINK_NO && !ctx->runtime->declares_gone) {
        return KEEL_OK;
    }
    if (config->shrink == KEEL_SHRINK_NO) {
        why = "keelrun was told to go on with fewer ranks, and the program no";
    } else if (config->shrink == KEEL_SHRINK_LAST && config->protect == KEEL_PROTECT_NONE) {
        why = "without checkpoints no rank can be replaced first: set KEEL_SHRINK=now";
    } else if (!ctx->runtime->declares_gone) {
        why = "this launcher declares no rank gone: start the job by keelrun, without spares";
    } else if (config->file_dir != NULL || config->rehearse != NULL || config->checksum_ranks > 0) {
        why = "checkpoints in files, rehearsals and checksum ranks need every rank";
    } else {
        return KEEL_OK;
    }
    keel_error_ctx(ctx, "KEEL_SHRINK: %s", why);
    return KEEL_ERR_UNSUPPORTED;
}

static keel_status_t context_join(keel_context_h ctx)
{
    const void *address;
    keel_status_t status;
    size_t length;

    status = keel_lane_address(&ctx->lane, &address, &length);
    if (status == KEEL_OK) {
        status = ctx->runtime->ops->announce(ctx->runtime, address, length);
    }
    if (status != KEEL_OK) {
        return status;
    }
    if (ctx->lane.incarnation == 0) {
        keel_view_set_undecided(&ctx->rec, ctx->files != NULL);
        status = context_connect_all(ctx);
        return (status == KEEL_OK) ? keel_files_start(ctx) : status;
    }
    keel_recovery_joined(&ctx->rec, ctx->begun_ns);
    if (ctx->config.protect == KEEL_PROTECT_NONE) {
        keel_error_ctx(ctx, "KEEL_PROTECT is none: nothing of the process that this one replaces was kept");
        return KEEL_ERR_STATE;
    }
    ctx->is_restore_due = 1;
    status = keel_rebuild_await_decision(&ctx->rec);
    if (status == KEEL_OK && ctx->rec.roll == KEEL_ROLL_NONE && is_at_start(ctx)) {
        /* neither image nor window to restore: go on from the start */
        status = keel_rebuild_run(&ctx->rec, restore_start, ctx);
        if (status == KEEL_ERR_ROLLED_BACK || status == KEEL_INPROGRESS) {
            status = KEEL_OK; /* keel_restore() rolls back */
        }
    }
    return (status == KEEL_OK) ? keel_files_start(ctx) : status;
}

/*
 * Fails keel_init() after the peers have learned of this rank: they wait for the rank and may need
 * its last messages.
 */
static void context_fail(keel_context_h ctx, keel_status_t status)
{
    keel_files_lost(ctx);
    if (!keel_recovery_is_finished(&ctx->rec)) {
        keel_recovery_fail(&ctx->rec, status);
    }
    (void)keel_context_leave(ctx);
}

/* Runs a checksum rank to the end of its life. */
static keel_status_t context_serve(const keel_params_t *params, keel_context_h *ctx_p)
{
    const keel_status_t status = keel_checksum_run(*ctx_p);

    (void)keel_context_leave(*ctx_p);
    *ctx_p = NULL;
    if (!params_have_flag(params, KEEL_PARAM_FLAG_CHECKSUM_RETURNS)) {
        exit((status == KEEL_OK) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    return (status == KEEL_OK) ? KEEL_ERR_CHECKSUM : status;
}

static void context_message_init(keel_context_h ctx, const keel_drivers_t *drivers)
{
    ctx->message = (keel_message_t){.level = (keel_message_level_t)ctx->config.level,
                                    .rank = ctx->runtime->rank,
                                    .incarnation = ctx->runtime->incarnation,
                                    .sink = (drivers->say != NULL) ? drivers->say : ctx->runtime->ops->say,
                                    .arg = (drivers->say != NULL) ? drivers->say_arg : ctx->runtime};
}

/* Creates all parts of the context once the rank is known. No peer knows of this rank yet. */
static keel_status_t context_parts_init(keel_context_h ctx, const keel_drivers_t *drivers, int is_deterministic)
{
    keel_status_t status;

    ctx->begun_ns = ctx->runtime->ops->now_ns(ctx->runtime);
    ctx->windows.next_address = WINDOWS_ADDRESS;
    keel_context_hooks_init(ctx);
    status = keel_requests_init(ctx);
    if (status != KEEL_OK) {
        return status;
    }
    status = keel_site_init(&ctx->site, ctx->runtime, &ctx->config, &ctx->message);
    if (status != KEEL_OK) {
        goto err_requests;
    }
    status = keel_context_layers_init(ctx, drivers, is_deterministic);
    if (status != KEEL_OK) {
        goto err_site;
    }
    if (ctx->config.device_events && ctx->runtime->ops->watch != NULL) {
        ctx->runtime->ops->watch(ctx->runtime, &ctx->message);
    }
    keel_site_check_binding(&ctx->site, ctx->runtime, &ctx->message);
    keel_site_check_move(&ctx->site, &ctx->message);
    status = keel_rehearse_open(ctx);
    if (status == KEEL_OK) {
        status = keel_files_init(ctx);
    }
    if (status == KEEL_OK) {
        status = keel_context_accesses_init(ctx);
    }
    if (status != KEEL_OK) {
        goto err_layers;
    }
    keel_tracing_open(ctx);
    return KEEL_OK;

err_layers:
    keel_context_layers_release(ctx);
err_site:
    keel_site_release(&ctx->site);
err_requests:
    keel_requests_release(ctx);
    return status;
}

static keel_status_t context_configure(keel_context_h ctx, const keel_params_t *params)
{
    keel_status_t status =
        keel_config_read(params_have(params, KEEL_PARAM_FIELD_ENV) ? params->env : NULL, &ctx->config);

    if (status != KEEL_OK) {
        return status;
    }
    ctx->config.signal = params_have(params, KEEL_PARAM_FIELD_SIGNAL) ? params->signal : 0;
    if (params_have(params, KEEL_PARAM_FIELD_PROGRESS)) {
        ctx->config.progress = params->progress;
        ctx->config.progress_arg = params->progress_arg;
    }
    if ((!params_are_deterministic(params) || ctx->config.shrink == KEEL_SHRINK_NOW) &&
        ctx->config.protect > KEEL_PROTECT_CKPT) {
        ctx->config.protect = KEEL_PROTECT_CKPT; /* logs serve local recovery alone */
    }
    status = params_have_flag(params, KEEL_PARAM_FLAG_THREADS) ? keel_threads_init(ctx) : KEEL_OK;
    if (status != KEEL_OK) {
        keel_config_release(&ctx->config);
    }
    return status;
}

void keel_init_report(const keel_message_t *message, int is_attached, keel_status_t status)
{
    const int error = (status == KEEL_ERR_NO_MEMORY) ? ENOMEM : 0;
    char hint[KEEL_LIMIT_HINT_MAX];

    if (status == KEEL_ERR_NO_MEMORY || status == KEEL_ERR_IO || status == KEEL_ERR_TRANSPORT) {
        keel_error(message, is_attached ? "keel_init_attached: %s%s" : "keel_init: %s%s", keel_status_string(status),
                   keel_limit_hint(error, hint));
    }
}

void keel_init_flush(keel_context_h ctx)
{
    unsigned rounds = 0;

    KEEL_EACH_MEMBER(r, &ctx->lane) {
        while (!keel_lane_is_flushed(&ctx->lane, r)) {
            const keel_status_t status = keel_context_wait(ctx, &rounds);

            if (status != KEEL_OK && status != KEEL_ERR_ROLLED_BACK) {
                return; /* the next call returns the status */
            }
        }
    }
}

keel_status_t keel_init(const keel_params_t *params, keel_context_h *ctx_p)
{
    const keel_message_t nobody = {.level = KEEL_MSG_ERROR, .rank = KEEL_MESSAGE_NO_RANK};
    const keel_status_t status = keel_init_on(NULL, params, ctx_p);

    if (status == KEEL_OK) {
        keel_init_flush(*ctx_p);
    }
    keel_init_report(&nobody, 0, status);
    return status;
}

/* Takes the given drivers, or those of this build, and opens the runtime. */
static keel_status_t context_open_runtime(keel_context_h ctx, const keel_drivers_t *given, keel_drivers_t *drivers)
{
    *drivers = (keel_drivers_t){.runtime = keel_runtime_table(0), .runtime_arg = &ctx->config};
    if (given != NULL) {
        *drivers = *given;
    }
    if (drivers->transport == NULL) {
        drivers->transport = keel_transport_pick(&ctx->config);
    }
    return (drivers->transport == NULL) ? KEEL_ERR_TRANSPORT
                                        : drivers->runtime->open(drivers->runtime_arg, &ctx->runtime);
}

static void context_started(keel_context_h ctx)
{
    keel_tracing_started(ctx);
    if (ctx->lane.incarnation > 0 && ctx->runtime->ops->started != NULL) {
        ctx->runtime->ops->started(ctx->runtime);
    }
    if (ctx->lane.incarnation == 0) {
        keel_context_mark(ctx, KEEL_MARK_SAVED, 0);
    }
    ctx->fast_ranks = (ctx->threads == NULL) ? ctx->lane.programs : 0;
}

keel_status_t keel_init_on(const keel_drivers_t *given, const keel_params_t *params, keel_context_h *ctx_p)
{
    keel_drivers_t drivers;
    keel_status_t status;
    keel_context_h ctx;

    if (ctx_p == NULL) {
        return keel_refuse_null("keel_init: where the context is to go");
    }
    status = keel_params_check(params);
    if (status != KEEL_OK) {
        return status;
    }
    ctx = keel_alloc(sizeof(*ctx), "context");
    if (ctx == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = context_configure(ctx, params);
    if (status != KEEL_OK) {
        goto err_free;
    }
    status = context_open_runtime(ctx, given, &drivers);
    if (status != KEEL_OK) {
        goto err_config;
    }
    context_message_init(ctx, &drivers);
    if (ctx->runtime->is_spare) {
        status = keel_spare_wait(ctx, &drivers);
        if (status == KEEL_ERR_STATE) {
            drivers.runtime->close(ctx->runtime);
            exit(EXIT_SUCCESS); /* as documented for spares in keel_init() */
        }
        if (status != KEEL_OK) {
            goto err_runtime;
        }
        context_message_init(ctx, &drivers);
    }
    if (ctx->runtime->rank == ctx->runtime->leader && ctx->runtime->incarnation == 0) {
        keel_config_warn_unknown(params_have(params, KEEL_PARAM_FIELD_ENV) ? params->env : NULL, &ctx->message);
    }
    status = context_check_shrink(ctx);
    if (status == KEEL_OK) {
        status = context_parts_init(ctx, &drivers, params_are_deterministic(params));
    }
    if (status != KEEL_OK) {
        goto err_runtime;
    }
    keel_gate_set(ctx, KEEL_GATE_CLOSED);
    if (ctx->runtime->ops->notify != NULL) {
        ctx->runtime->ops->notify(ctx->runtime, &ctx->gate.part.news);
    }
    ctx->is_logging = ctx->puts.is_enabled;
    ctx->polls = params_have_flag(params, KEEL_PARAM_FLAG_POLLS) ? &keel_poll_ops : NULL;
    if (ctx->polls != NULL || params_have_flag(params, KEEL_PARAM_FLAG_WAITS)) {
        keel_waits_declare(&ctx->sync);
    }
    keel_wait_set_gates(ctx);
    status = context_join(ctx);
    if (ctx->lane.rank >= ctx->lane.programs && (status == KEEL_OK || keel_recovery_is_finished(&ctx->rec))) {
        *ctx_p = ctx; /* for tests that inspect the context meanwhile */
        return context_serve(params, ctx_p);
    }
    if (status != KEEL_OK) {
        context_fail(ctx, status);
        return status;
    }
    context_started(ctx);
    *ctx_p = ctx;
    return KEEL_OK;

err_runtime:
    keel_spare_release(ctx, &drivers);
    drivers.runtime->close(ctx->runtime);
err_config:
    keel_threads_release(ctx);
    keel_config_release(&ctx->config);
err_free:
    keel_free(ctx);
    return status;
}
