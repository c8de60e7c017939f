/* Stops, and the calls that pass them: keel_gsync(), keel_safe_point(), keel_checkpoint(). */
#include "epoch/stop.h"
#include "epoch/gsync.h"
#include "engine/threads.h"
#include "epoch/lock.h"

#include "check/plant.h"
#include "check/reached.h"
#include "peer/members.h"
#include "recovery/logs/log_pressure.h"
#include "recovery/position.h"
#include "recovery/recover.h"

#define STOP_GAP     64u /* calls of keel_safe_point() */
#define STOP_GAP_MAX (1u << 20)

/* ---- to begin a stop, or to join ---- */

/*
 * True if the process has done again everything that its predecessor did in the phase and other
 * ranks know of: its next access belongs to the next phase as well. Only critical sections show
 * that; in other programs a replacement joins after its first gsync. If the predecessor was a gsync
 * ahead, the replacement is live at once, but may still have to take up a lock of the predecessor.
 */
static int stop_is_current(keel_context_h ctx)
{
    const keel_recovery_t *rec = &ctx->rec;

    if (keel_recovery_state(rec) != KEEL_RANK_FRONT || keel_recovery_is_finished(rec)) {
        return 0;
    }
    return KEEL_PLANT(stop_early) ||
           (keel_sync_replays(&ctx->sync) == KEEL_STYLE_GSYNCS &&
            (rec->life == KEEL_LIFE_LIVE ||
             (keel_sync_style(&ctx->sync) == KEEL_STYLE_LOCKS && keel_get_log_is_replayed(&ctx->gets))));
}

/* True if some rank waits in a call that is no safe point, and leaves it after gsync @a number
 * at the earliest. */
static int stop_is_blocked(keel_context_h ctx, uint32_t number)
{
    keel_stops_t *stops = &ctx->stops;

    KEEL_EACH_MEMBER_FROM(r, &ctx->lane, keel_member_along(&ctx->lane, stops->blocked_by)) {
        if (r != ctx->lane.leader && keel_gsync_arrived(ctx, r, number) == KEEL_ARRIVED_UNSAFE) {
            stops->blocked_by = r;
            return 1;
        }
    }
    return 0;
}

/* In a replacement of the leader: ranks may wait in a stop that its predecessor began. */
static int stop_may_be_inherited(const keel_context_h ctx)
{
    return ctx->rec.life == KEEL_LIFE_AWAITING && keel_log_pressure_knows_safe_points(&ctx->rec) &&
           !KEEL_PLANT(stop_forgotten);
}

static int stop_is_inherited(keel_context_h ctx, uint32_t number)
{
    KEEL_EACH_MEMBER_WHILE(r, &ctx->lane, stop_may_be_inherited(ctx)) {
        if (r != ctx->lane.leader && keel_gsync_arrived(ctx, r, number) == KEEL_ARRIVED_STOPS) {
            return KEEL_REACHED(stop_inherited), 1;
        }
    }
    return 0;
}

/* logs need an image */
static int stop_is_wanted(const keel_context_h ctx)
{
    return ctx->rec.is_stop_wanted && ctx->stops.calls >= ctx->stops.not_before;
}

/* The leader: the interval is over, or logs need an image. No older generation is half in use. */
static int stop_is_due(keel_context_h ctx)
{
    return keel_ckpt_is_stop_due(&ctx->ckpt) || (ctx->ckpt.set.making.number == 0 && stop_is_wanted(ctx));
}

/* stop_is_due() at a safe point, which counts as a gsync of the interval */
static int point_is_due(keel_context_h ctx)
{
    return (ctx->ckpt.set.making.number != 0) ? keel_ckpt_is_stop_due(&ctx->ckpt)
                                              : stop_is_wanted(ctx) || keel_ckpt_is_due(&ctx->ckpt, 0);
}

/* The leader, in keel_safe_point(). */
static int stop_begins(keel_context_h ctx)
{
    const uint32_t number = ctx->rec.phase + 1;
    const int is_inherited = stop_is_inherited(ctx, number);

    if (!is_inherited && !point_is_due(ctx)) {
        return 0;
    }
    return number + 2 < KEEL_GSYNC_LAST && stop_is_current(ctx) && (is_inherited || !stop_is_blocked(ctx, number));
}

/* The leader began a stop, and the caller has come to a safe point. */
static int stop_is_begun(keel_context_h ctx)
{
    return keel_gsync_arrived(ctx, ctx->lane.leader, ctx->rec.phase + 1) == KEEL_ARRIVED_STOPS && stop_is_current(ctx);
}

/* ---- a stop ---- */

/* Waits until an image in the making, if any, is complete or given up. */
static keel_status_t await_image(keel_context_h ctx)
{
    const uint32_t making = ctx->ckpt.set.making.number;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && making != 0 && ctx->ckpt.set.making.number == making &&
           keel_image_set_is_making(&ctx->ckpt.set)) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

/* The rest of a stop after its first gsync: the image is complete when the second begins. */
static keel_status_t stop_end(keel_context_h ctx)
{
    const uint32_t stop = ctx->rec.phase;
    keel_status_t status = await_image(ctx);
    int is_stop;

    status = (status == KEEL_OK) ? keel_gsync_pass(ctx, KEEL_GSYNC_SECOND, &is_stop) : status;
    if (status == KEEL_OK && ctx->ckpt.set.used.number == stop) {
        KEEL_REACHED(stop_committed);
    }
    if (status == KEEL_OK && keel_lane_is_leader(&ctx->lane)) {
        keel_stops_t *stops = &ctx->stops;

        keel_log_pressure_stop_done(&ctx->rec);
        stops->gap = (ctx->ckpt.set.used.number == stop || stops->gap == 0) ? STOP_GAP : 2 * stops->gap;
        stops->gap = (stops->gap < STOP_GAP_MAX) ? stops->gap : STOP_GAP_MAX;
        stops->not_before = stops->calls + stops->gap;
    }
    return status;
}

/*
 * The leader arrives last in a collective call of a program with safe points. Its arrival says what
 * kind the gsync is, and cannot be taken back if a stop becomes due while other ranks are on their
 * way. *begins_p: the leader begins a stop.
 */
static keel_status_t stop_await_turn(keel_context_h ctx, unsigned flags, int *begins_p)
{
    const uint32_t number = ctx->rec.phase + 1;
    const int is_inherited = stop_may_be_inherited(ctx);
    keel_status_t status;
    unsigned rounds = 0;

    *begins_p = 0;
    if (!keel_lane_is_leader(&ctx->lane) || (flags & (KEEL_GSYNC_SECOND | KEEL_GSYNC_FOLLOW)) ||
        !(ctx->stops.is_offered || is_inherited) || keel_recovery_state(&ctx->rec) != KEEL_RANK_FRONT) {
        return KEEL_OK;
    }
    status = keel_gsync_complete_phase(ctx);
    for (uint32_t r = keel_member_first(&ctx->lane); status == KEEL_OK && keel_member_is(&ctx->lane, r);) {
        const keel_arrived_t arrived = keel_gsync_arrived(ctx, r, number);

        if (r == ctx->lane.leader) {
            r = keel_member_next(&ctx->lane, r);
            continue;
        }
        if (keel_position_is_released(&ctx->rec, number) || keel_recovery_is_finished(&ctx->rec)) {
            return KEEL_OK;
        }
        if (arrived == KEEL_ARRIVED_NOT) {
            if ((flags & KEEL_GSYNC_SAFE) && stop_is_due(ctx) && stop_is_current(ctx) &&
                !stop_is_blocked(ctx, number)) {
                *begins_p = number + 2 < KEEL_GSYNC_LAST;
                return KEEL_OK;
            }
            status = keel_context_wait(ctx, &rounds);
        } else {
            *begins_p |= (arrived == KEEL_ARRIVED_STOPS);
            r = keel_member_next(&ctx->lane, r);
        }
    }
    return status;
}

keel_status_t keel_gsync_run(keel_context_h ctx, unsigned flags)
{
    keel_status_t status;
    int is_stop, begins;

    do {
        is_stop = 0;
        status = stop_await_turn(ctx, flags, &begins);
        if (status == KEEL_OK) {
            status = keel_gsync_pass(ctx, flags | (begins ? KEEL_GSYNC_STOP : 0), &is_stop);
        }
        if (flags & KEEL_GSYNC_FOLLOW) {
            return status;
        }
        if (status == KEEL_OK && is_stop) {
            KEEL_REACHED(stop_interrupts);
            status = stop_end(ctx);
        }
    } while (status == KEEL_OK && is_stop);
    return status;
}

static keel_status_t stop_run(keel_context_h ctx)
{
    int is_stop;
    keel_status_t status = keel_gsync_pass(ctx, KEEL_GSYNC_SAFE | KEEL_GSYNC_STOP | KEEL_GSYNC_POINT, &is_stop);

    return (status == KEEL_OK) ? stop_end(ctx) : status;
}

/* ---- calls ---- */

static keel_status_t point_join(keel_context_h ctx)
{
    KEEL_COLLECTIVE(ctx, "keel_safe_point");

    KEEL_REACHED(stop_joined);
    return (keel_collective.status == KEEL_OK) ? stop_run(ctx) : keel_collective.status;
}

static keel_status_t point_alone(keel_context_h ctx)
{
    keel_status_t status = keel_context_begin_outside(ctx, "keel_safe_point");

    status = (status == KEEL_OK) ? keel_lock_check_free(ctx, "keel_safe_point") : status;
    if (status != KEEL_OK) {
        return status;
    }
    ctx->stops.is_offered = 1;
    ctx->stops.calls++;
    keel_log_pressure_note_safe_point(&ctx->rec);
    keel_log_pressure_step(&ctx->rec); /* sections that never wait make no progress otherwise */
    return (keel_lane_is_leader(&ctx->lane) ? stop_begins(ctx) : stop_is_begun(ctx)) ? point_join(ctx) : KEEL_OK;
}

keel_status_t keel_safe_point(keel_context_h ctx)
{
    KEEL_INSIDE(ctx);

    return keel_context_end(ctx, point_alone(ctx));
}

keel_status_t keel_gsync(keel_context_h ctx, unsigned flags)
{
    KEEL_INSIDE(ctx);
    KEEL_COLLECTIVE(ctx, "keel_gsync");
    keel_status_t status = keel_collective.status;

    if (status == KEEL_OK) {
        status = keel_context_begin_outside(ctx, "keel_gsync");
    }
    if (status == KEEL_OK && (flags & ~(unsigned)KEEL_GSYNC_SAFE)) {
        keel_error_ctx(ctx, "keel_gsync: unknown flags 0x%x", flags);
        return KEEL_ERR_INVALID_PARAM;
    }
    if (status == KEEL_OK) {
        status = keel_gsync_admit(ctx, "keel_gsync");
    }
    return keel_context_end(ctx, (status == KEEL_OK) ? keel_gsync_run(ctx, flags) : status);
}

keel_status_t keel_checkpoint_run(keel_context_h ctx)
{
    keel_status_t status = keel_gsync_run(ctx, KEEL_GSYNC_SAFE | KEEL_GSYNC_EXPLICIT);

    status = (status == KEEL_OK) ? await_image(ctx) : status;
    return (status == KEEL_OK) ? keel_gsync_run(ctx, KEEL_GSYNC_SECOND) : status;
}

keel_status_t keel_checkpoint(keel_context_h ctx)
{
    KEEL_INSIDE(ctx);
    KEEL_COLLECTIVE(ctx, "keel_checkpoint");
    keel_status_t status = keel_collective.status;

    if (status == KEEL_OK) {
        status = keel_context_begin_outside(ctx, "keel_checkpoint");
    }
    if (status == KEEL_OK) {
        status = keel_gsync_admit(ctx, "keel_checkpoint");
    }
    return keel_context_end(ctx, (status == KEEL_OK) ? keel_checkpoint_run(ctx) : status);
}
