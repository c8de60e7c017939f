/*
 * Gsync.
 *
 * gsync n: epochs are closed and get records are complete at their targets; then the arrival is
 * announced, and all arrivals are awaited (protocol/epoch.md). A rank takes a coordinated
 * checkpoint if all arrivals let it leave, but not if a decision released it. The second barrier
 * keeps the program from touching a slower rank's windows before they are copied.
 */
#include "epoch/gsync.h"
#include "epoch/gsync_call.h"
#include "engine/threads.h"

#include "check/plant.h"
#include "peer/members.h"
#include "recovery/logs/log_pressure.h"
#include "recovery/commit.h"
#include "recovery/hand_over_check.h"
#include "recovery/position.h"
#include "recovery/recover.h"
#include "order/flush.h"
#include "epoch/lock.h"
#include "epoch/lock_replay.h"
#include "order/mix.h"
#include "epoch/image_content.h"
#include "window/image_parts.h"
#include "epoch/wait.h"
#include "trace/trace_area.h"

#define GSYNCS_LEFT (1u << 28) /* gsyncs left when the leader warns about the limit */
/*
 * Polls of the arrivals alone, two microseconds, before the first wait. A wait makes progress on
 * messages and takes longer than an arrival under way. Polls without success halve the polls of
 * the next gsync, so there are few on cores shared with other ranks.
 */
#define GSYNC_POLLS       64u
#define GSYNC_POLLS_AGAIN 32u /* gsyncs between two with all polls */

static void gsync_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static int second_barrier_is_over(const keel_context_h ctx, uint32_t number)
{
    const keel_lane_t *lane = &ctx->lane;

    if (ctx->rec.front >= number || KEEL_PLANT(gsync_no_second_barrier)) {
        return 1; /* a death aborted the generation */
    }
    KEEL_EACH_MEMBER(r, lane) {
        if (r != lane->rank && keel_lane_arrived(lane, r, &lane->board[r].image_copied) < number) {
            return 0;
        }
    }
    return 1;
}

keel_status_t keel_gsync_second(keel_context_h ctx, uint32_t number)
{
    keel_status_t status;
    unsigned rounds = 0;

    keel_lane_announce_second(&ctx->lane, number);
    status = keel_position_arrive(&ctx->rec, number);
    while (status == KEEL_OK && !second_barrier_is_over(ctx, number)) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

/* Calls left to make for a rank restored from the image of a stop that it joined in a call of @a
 * flags. */
static keel_resume_t resume_of(unsigned flags)
{
    return (flags & KEEL_GSYNC_POINT)      ? KEEL_RESUME_SECOND
           : (flags & KEEL_GSYNC_EXPLICIT) ? KEEL_RESUME_CHECKPOINT
                                           : KEEL_RESUME_GSYNC;
}

static keel_status_t gsync_checkpoint(keel_context_h ctx, uint32_t number, unsigned flags, int is_stop)
{
    keel_image_meta_t meta = {.generation = number,
                              .layout = keel_context_layout(ctx),
                              .rank = ctx->lane.rank,
                              .rollbacks = ctx->lane.rollback,
                              .window_calls = ctx->windows.calls,
                              .resume = is_stop                         ? resume_of(flags)
                                        : (flags & KEEL_GSYNC_EXPLICIT) ? KEEL_RESUME_SECOND
                                                                        : KEEL_RESUME_BEHIND,
                              .sync_counter = keel_sections_seen_here(&ctx->sync)};
    const int is_safe = (flags & KEEL_GSYNC_SAFE) || KEEL_PLANT(gsync_stop_unsafe);
    keel_status_t status;
    keel_part_t *parts = NULL;
    unsigned count = is_safe ? keel_context_image(ctx, &parts) : 0;

    keel_hooks_run(ctx, KEEL_HOOK_IMAGE);
    /* Without parts if a stop came in a call that is no safe point: the group learns that there
     * is no image. */
    status = keel_ckpt_take(&ctx->ckpt, &meta, parts, count);
    keel_context_mark(ctx, KEEL_MARK_SAVED, number);
    if (status != KEEL_OK && status != KEEL_ERR_BUDGET && is_safe) {
        keel_error_ctx(ctx, "no image of generation %u could be made: the previous one stays in use", number);
    }
    return keel_gsync_second(ctx, number);
}

/* True if the ranks with an own image in this gsync have copied it (ckpt/demand.h). */
static int demand_is_over(const keel_context_h ctx, uint32_t number)
{
    const keel_lane_t *lane = &ctx->lane;

    KEEL_EACH_MEMBER_WHILE(r, lane, ctx->rec.front < number && !KEEL_PLANT(gsync_no_second_barrier)) {
        if (r != lane->rank && keel_demand_is_copied(&ctx->demand, r, number) &&
            !(r == lane->leader && KEEL_PLANT(gsync_first_uncopied)) &&
            keel_lane_arrived(lane, r, &lane->board[r].image_copied) < number) {
            return 0;
        }
    }
    return 1;
}

static keel_status_t gsync_demand(keel_context_h ctx, uint32_t number)
{
    keel_image_meta_t meta = {.generation = number,
                              .layout = keel_context_layout(ctx),
                              .rank = ctx->lane.rank,
                              .rollbacks = ctx->lane.rollback,
                              .window_calls = ctx->windows.calls};
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0, count;
    keel_part_t *parts;

    if (ctx->demand.copied_at != number) {
        return KEEL_OK;
    }
    KEEL_EACH_MEMBER(r, &ctx->lane) {
        if (keel_demand_is_copied(&ctx->demand, r, number)) {
            keel_trim_resume(&ctx->rec, r);
        }
    }
    if (keel_demand_is_copied(&ctx->demand, ctx->lane.rank,
                              number)) { /* no lock is taken here before the copy is complete */
        meta.sync_counter = keel_sections_seen_here(&ctx->sync);
        count = keel_context_image(ctx, &parts);
        keel_demand_take(&ctx->demand, &meta, parts, count);
        keel_context_mark(ctx, KEEL_MARK_SAVED, number);
        keel_lane_announce_second(&ctx->lane, number);
        status = keel_position_arrive(&ctx->rec, number);
    }
    while (status == KEEL_OK && !demand_is_over(ctx, number)) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

static void gsync_poll(keel_context_h ctx, uint32_t number)
{
    const unsigned polls = (number % GSYNC_POLLS_AGAIN == 0) ? GSYNC_POLLS : ctx->gsync_polls;
    unsigned polled = 0;

    while (!keel_position_may_leave(&ctx->rec, number)) {
        if (polled++ == polls) {
            ctx->gsync_polls = polls / 2;
            return;
        }
        gsync_pause();
    }
    if (polled > 0) {
        ctx->gsync_polls = (polls < GSYNC_POLLS / 2) ? 2 * polls : GSYNC_POLLS;
    }
}

static keel_status_t gsync_await(keel_context_h ctx, uint32_t number, unsigned flags)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    gsync_poll(ctx, number);
    while (status == KEEL_OK && !keel_position_may_leave(&ctx->rec, number) &&
           !((flags & (KEEL_GSYNC_FINAL | KEEL_GSYNC_FOLLOW)) && keel_recovery_is_finished(&ctx->rec))) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

/* Orders for all ranks in the arrival of the leader. */
static uint64_t gsync_orders(const keel_context_h ctx, unsigned flags)
{
    const int is_explicit = (flags & KEEL_GSYNC_EXPLICIT) != 0,
              rehearses = ctx->rehearsal != NULL && ctx->rehearsal->orders(ctx);

    if (flags & KEEL_GSYNC_STOP) {
        return KEEL_ARRIVE_CHECKPOINT | KEEL_ARRIVE_EXPLICIT;
    }
    if (flags & KEEL_GSYNC_FINAL) {
        return KEEL_ARRIVE_FINAL;
    }
    if (!(flags & KEEL_GSYNC_SAFE) || keel_recovery_state(&ctx->rec) != KEEL_RANK_FRONT ||
        (rehearses && !is_explicit && !ctx->rehearsal->wants_image(ctx)) ||
        !keel_ckpt_is_due(&ctx->ckpt, is_explicit || rehearses)) {
        return 0;
    }
    return is_explicit ? KEEL_ARRIVE_CHECKPOINT | KEEL_ARRIVE_EXPLICIT : KEEL_ARRIVE_CHECKPOINT;
}

/* A released rank does not know the orders, because the leader's word may belong to another gsync.
 * If the leader itself is released, ranks that left before have given up their images. */
static uint64_t gsync_orders_received(keel_context_h ctx, uint32_t number, int was_front)
{
    const uint64_t own = ctx->lane.slot.flags[number & 1];

    if (!was_front) {
        if (keel_lane_is_leader(&ctx->lane) && (own & KEEL_ARRIVE_CHECKPOINT)) {
            keel_ckpt_request_retry(&ctx->ckpt);
        }
        return 0;
    }
    return (keel_lane_is_leader(&ctx->lane))
               ? own
               : keel_board_get(
                     &ctx->lane.board[KEEL_PLANT(gsync_leader_fixed) ? 0 : ctx->lane.leader].flags[number & 1]);
}

keel_arrived_t keel_gsync_arrived(const keel_context_h ctx, uint32_t rank, uint32_t number)
{
    const keel_lane_t *lane = &ctx->lane;
    const keel_board_slot_t *slot = &lane->board[rank];
    unsigned call;

    if (keel_lane_arrived(lane, rank, &slot->arrive) < number) {
        return KEEL_ARRIVED_NOT;
    }
    call = keel_arrive_call(keel_board_get(&slot->flags[number & 1]));
    return (call == KEEL_ARRIVE_CALL_STOP)                                                     ? KEEL_ARRIVED_STOPS
           : (call == KEEL_CALL_ANY || call == KEEL_CALL_SAFE || call == KEEL_CALL_CHECKPOINT) ? KEEL_ARRIVED_SAFE
                                                                                               : KEEL_ARRIVED_UNSAFE;
}

/* Before the arrival: asks for images that the logs need, and finishes an image in the making. */
static keel_status_t gsync_trim(keel_context_h ctx, uint32_t number)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    keel_trim_request(&ctx->rec, number);
    /* a request may be waiting */
    if (__atomic_load_n(&ctx->lane.inbox_pending, __ATOMIC_RELAXED)) {
        status = keel_context_wait(ctx, &rounds);
    }
    while (status == KEEL_OK &&
           (keel_recovery_is_frozen(&ctx->rec) || !keel_trim_requests_arrived(&ctx->rec) ||
            keel_demand_is_late(&ctx->demand, number)) &&
           !keel_recovery_is_finished(&ctx->rec)) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

/* Completes the accesses of the phase, and the re-execution of a replacement in it. */
keel_status_t keel_gsync_complete_phase(keel_context_h ctx)
{
    keel_recovery_t *rec = &ctx->rec;
    keel_status_t status = KEEL_PLANT(gsync_sections_incomplete) ? KEEL_OK : keel_lock_complete_phase(ctx);
    unsigned rounds = 0;

    if (status == KEEL_OK) {
        status = keel_determinant_stabilize_all(ctx);
    }
    if (status == KEEL_OK) {
        status = keel_wait_replay_phase(ctx);
    }
    if (status == KEEL_OK) {
        status = keel_flush_everyone(ctx);
    }
    /* An arrival says that the puts of this process are in place. Puts to a dead rank are not,
     * and ranks that do not know of the death may still read the dead memory on the direct lane.
     * So the arrival waits for the decision. */
    while (status == KEEL_OK &&
           ((keel_recovery_is_frozen(rec) && !keel_recovery_is_finished(rec) && !KEEL_PLANT(gsync_arrive_frozen)) ||
            !keel_position_is_handed_over(rec))) {
        status = keel_context_wait(ctx, &rounds);
    }
    return (status == KEEL_OK) ? keel_hand_over_check(rec) : status;
}

/* Announces the arrival with its flags and waits for all arrivals. */
static keel_status_t gsync_arrive(keel_context_h ctx, uint32_t number, unsigned flags)
{
    uint64_t words = (uint64_t)keel_gsync_call(flags) << KEEL_ARRIVE_CALL_SHIFT;
    keel_status_t status;

    if (keel_lane_is_leader(&ctx->lane)) {
        words |= gsync_orders(ctx, flags);
    }
    if (keel_recovery_state(&ctx->rec) == KEEL_RANK_FRONT) {
        words |= keel_demand_flags(&ctx->demand, (flags & (KEEL_GSYNC_SAFE | KEEL_GSYNC_EXPLICIT)) == KEEL_GSYNC_SAFE);
    }
    words |= keel_announce_arrive(ctx);
    keel_lane_announce_flags(&ctx->lane, number, words);
    if (ctx->rehearsal != NULL) {
        ctx->rehearsal->arrive(ctx);
    }
    status = keel_position_arrive(&ctx->rec, number);
    return (status == KEEL_OK) ? gsync_await(ctx, number, flags) : status;
}

/* Begins the next phase and puts images into use that the arrivals announced. */
static void gsync_leave(keel_context_h ctx, uint32_t number, int was_front, int is_checkpoint)
{
    keel_recovery_t *rec = &ctx->rec;

    if (ctx->rehearsal != NULL) {
        ctx->rehearsal->leave(ctx, number, was_front);
    }
    keel_position_leave(rec, number);
    if (was_front && (keel_ckpt_is_complete(&ctx->ckpt) || keel_commit_is_known(rec))) {
        keel_commit(rec, ctx->ckpt.set.making.number);
    }
    if (was_front && !keel_recovery_is_finished(rec)) {
        keel_demand_leave(&ctx->demand, number, is_checkpoint, ctx->windows.calls);
    }
    ctx->stats.gsyncs++;
    if (number == KEEL_GSYNC_LAST - GSYNCS_LEFT && keel_lane_is_leader(&ctx->lane)) {
        keel_warn(&ctx->message, "%u gsyncs are done, and after %u more there can be none", number, GSYNCS_LEFT);
    }
    keel_hooks_run(ctx, KEEL_HOOK_PHASE);
}

static keel_status_t gsync_pass(keel_context_h ctx, unsigned flags, int *is_stop_p)
{
    keel_recovery_t *rec = &ctx->rec;
    const uint32_t number = rec->phase + 1;
    keel_status_t status = keel_gsync_complete_phase(ctx);
    int is_checkpoint, was_front;
    uint64_t orders;

    if (flags & (KEEL_GSYNC_SAFE | KEEL_GSYNC_EXPLICIT)) {
        keel_log_pressure_note_safe_gsync(rec);
    }
    if (status == KEEL_OK) {
        status = gsync_trim(ctx, number);
    }
    if (status == KEEL_OK) {
        status = gsync_arrive(ctx, number, flags);
    }
    if (status != KEEL_OK) {
        return status;
    }
    was_front = keel_recovery_state(rec) == KEEL_RANK_FRONT && !keel_position_is_released(rec, number);
    orders = gsync_orders_received(ctx, number, was_front);
    *is_stop_p = keel_arrive_call(orders) == KEEL_ARRIVE_CALL_STOP;
    if (*is_stop_p) {
        /* before the gsync counts as passed, because reports include it */
        keel_recovery_note_stop(rec, number);
    }
    is_checkpoint = (orders & KEEL_ARRIVE_CHECKPOINT) && ((flags & KEEL_GSYNC_SAFE) || *is_stop_p) &&
                    !keel_recovery_is_finished(rec);
    if ((flags & KEEL_GSYNC_FOLLOW) && (orders & KEEL_ARRIVE_FINAL)) {
        keel_recovery_note_finished(
            rec); /* else the rank would take part in recovering a rank that no other rank needs */
    }
    gsync_leave(ctx, number, was_front, is_checkpoint);
    keel_announce_leave(ctx, number);
    keel_wait_set_gates(ctx);
    status = keel_lock_resume(ctx);
    if (status == KEEL_OK) {
        status = keel_gsync_check_call(ctx, number, flags, was_front);
    }
    if (status != KEEL_OK) {
        return status;
    }
    if (is_checkpoint) {
        status = gsync_checkpoint(ctx, number, flags, *is_stop_p);
    } else if (was_front && !keel_recovery_is_finished(rec)) {
        status = gsync_demand(ctx, number);
    }
    return (status == KEEL_OK && was_front && ctx->rehearsal != NULL) ? ctx->rehearsal->end(ctx, number, flags)
                                                                      : status;
}

keel_status_t keel_gsync_pass(keel_context_h ctx, unsigned flags, int *is_stop_p)
{
    const uint32_t number = ctx->rec.phase + 1;
    keel_status_t status;

    keel_trace_begin(ctx->lane.trace, KEEL_TRACE_GSYNC, number);
    status = gsync_pass(ctx, flags, is_stop_p);
    keel_trace_end(ctx->lane.trace, KEEL_TRACE_GSYNC, number);
    return status;
}

keel_status_t keel_gsync_admit(keel_context_h ctx, const char *call)
{
    keel_status_t status = keel_mix(ctx, KEEL_WAY_GSYNC, call);

    if (status != KEEL_OK || ctx->rec.phase < KEEL_GSYNC_LAST || KEEL_PLANT(gsync_unbounded)) {
        return status;
    }
    keel_error_ctx(ctx, "%s: this program has done %u gsyncs, which is as many as there can be", call, KEEL_GSYNC_LAST);
    return KEEL_ERR_LIMIT;
}
