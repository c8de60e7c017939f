/*
 * Locks (protocol/locks.md): critical sections at one rank, and reading epochs.
 *
 * Taking a lock is logged twice. The put log gets the number SC before the puts of the section, so
 * that a replacement of the target knows the order of sections there. The target's get log gets the
 * number like a value that was read, so that a replacement of the source knows the section. A
 * replacement that re-executes the section asks the lock word if the section was over. If the rank
 * owns the word under that very number, it was not: the accesses are done again, gets with a record
 * are answered from the record, and other gets read memory that no other rank can have changed.
 * Otherwise the target has all accesses of the section.
 */
#include "epoch/lock.h"
#include "engine/threads.h"
#include "order/lock_ask.h"
#include "epoch/lock_replay.h"
#include "access/target.h"

#include "check/plant.h"
#include "access/fragment.h"
#include "order/mix.h"
#include "order/flush.h"
#include "check/reached.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "peer/members.h"
#include "peer/region.h"
#include "recovery/rollback_request.h"
#include "engine/refuse.h"
#include "recovery/shrink.h"

/* ---- acquire and release ---- */

/*
 * The log has no room for the number and the target is lost. Its replacement learns the present
 * owner; a second replacement would not. Accesses of the section wait until the replacement has
 * caught up. In the log they would follow the section before and be replayed with it.
 */
static keel_status_t lock_unlogged(keel_context_h ctx, uint32_t rank)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    if (!KEEL_PLANT(lock_number_missed)) {
        keel_put_log_note_missing(&ctx->puts, rank);
    }
    (void)keel_put_log_number_sent(&ctx->puts, rank);
    while (status == KEEL_OK && ctx->lane.peers[rank].mode == KEEL_PEER_BEHIND) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

/* Logs the number before the accesses of the section. */
static keel_status_t lock_log(keel_context_h ctx, uint32_t rank, uint64_t counter)
{
    const uint64_t where = keel_where(0, KEEL_RECORD_LOCK, 0);
    keel_record_t *record = keel_put_log_reserve(&ctx->puts, rank, sizeof(counter));

    if (record != NULL) {
        (void)keel_put_log_number(&ctx->puts, rank);
        keel_record_fill(&ctx->puts, record, where, &counter, sizeof(counter));
        return KEEL_OK;
    }
    if (ctx->lane.peers[rank].mode == KEEL_PEER_BEHIND) {
        return lock_unlogged(ctx, rank);
    }
    if (keel_access_is_stored(&ctx->lane, rank)) {
        (void)keel_put_log_number(&ctx->puts, rank);
        return KEEL_OK;
    }
    if (ctx->lane.peers[rank].mode == KEEL_PEER_LIVE) {
        return keel_put_bounce(ctx, rank, where, &counter, sizeof(counter));
    }
    (void)keel_put_log_number_sent(&ctx->puts, rank);
    return KEEL_OK;
}

static uint64_t lock_next_reading(keel_context_h ctx, uint32_t rank)
{
    const uint64_t last = ctx->sync.sections.reads[rank];

    if (keel_reading_phase(last) != ctx->rec.phase) {
        return keel_reading(ctx->rec.phase, 1);
    }
    /* nothing tells any more which reading is open */
    if (keel_reading_phase(last + 1) != ctx->rec.phase) {
        keel_get_log_overflow(&ctx->gets, "too many readings of a rank in one phase");
        return last;
    }
    return last + 1;
}

static keel_status_t lock_take(keel_context_h ctx, uint32_t rank, int is_read)
{
    keel_lock_request_t request = {.ask = is_read ? KEEL_LOCK_TRY_READ : KEEL_LOCK_TRY};
    keel_status_t status = keel_announce_to(ctx, rank);
    uint64_t value;

    if (status != KEEL_OK) {
        return status;
    }
    keel_context_touch(ctx, rank);
    request.number = is_read ? lock_next_reading(ctx, rank) : keel_reading(ctx->rec.phase, 0);
    status = keel_lock_replay(ctx, rank, &request, &value);
    if (status == KEEL_INPROGRESS) {
        status = keel_lock_until_granted(ctx, rank, &request, &value);
        if (status == KEEL_OK) {
            keel_lock_record(ctx, rank, is_read, value);
        }
    }
    if (status != KEEL_OK) {
        return status;
    }
    if (is_read) {
        keel_sections_take_read(&ctx->sync, rank, value, request.number);
        return keel_lock_try_catch_up(ctx);
    }
    keel_sections_take(&ctx->sync, rank, value);
    status = lock_log(ctx, rank, value);
    return (status == KEEL_OK) ? keel_lock_try_catch_up(ctx) : status;
}

static void lock_give(keel_context_h ctx, uint32_t rank, int is_read)
{
    const keel_lock_request_t request = {.ask = is_read ? KEEL_LOCK_RELEASE_READ : KEEL_LOCK_RELEASE};
    keel_board_slot_t *slot = keel_access_slot(&ctx->lane, rank);
    uint64_t answer;

    keel_sections_give(&ctx->sync, rank);
    if (ctx->lane.peers[rank].mode == KEEL_PEER_BEHIND) {
        keel_sections_defer_release(&ctx->sync, rank, is_read);
        return;
    }
    if (ctx->lane.peers[rank].mode == KEEL_PEER_AHEAD) {
        keel_put_log_mark_sent(&ctx->puts, rank); /* the section was over in the first life */
        return;
    }
    if (slot != NULL && !is_read) {
        /* else the word may count atomics, and waiting ranks look at it */
        if (keel_sync_may_be_local(&ctx->sync)) {
            keel_put_log_announce_done(&ctx->puts, rank);
        }
        KEEL_PLANT_CALL(lock_doubt_cleared, slot);
    }
    (void)keel_announce_to(ctx, rank);
    (void)keel_lane_lock(&ctx->lane, rank, &request, &answer, NULL, NULL);
    if (slot != NULL && !is_read) {
        /* No atomic is in doubt after the end of the section. An open section is done again with
         * its atomics. */
        keel_board_set(&slot->atomics, 0);
    }
    if (keel_sync_replays(&ctx->sync) == KEEL_STYLE_LOCKS) {
        keel_put_log_mark_sent(&ctx->puts, rank);
        keel_lane_set_mode(&ctx->lane, rank, KEEL_PEER_AHEAD);
    }
}

/* ---- own memory ---- */

static keel_status_t lock_await_own(keel_context_h ctx, int is_read, uint64_t number, uint64_t *counter_p)
{
    keel_lock_area_t *area = keel_lane_locks(&ctx->lane);
    const keel_locker_t who = keel_lane_locker(&ctx->lane);
    keel_status_t status = KEEL_OK;
    uint64_t looks = 0;
    unsigned rounds = 0;

    do {
        *counter_p = is_read ? keel_lock_try_own_read(area, &who, number) : keel_lock_try(area, &who, looks++);
    } while (*counter_p == 0 && (status = keel_context_wait(ctx, &rounds)) == KEEL_OK);
    return status;
}

static keel_status_t lock_take_own(keel_context_h ctx, int is_read)
{
    const uint32_t own = ctx->lane.rank;
    const uint64_t number = is_read ? lock_next_reading(ctx, own) : 0;
    uint64_t counter = 0;
    keel_status_t status = keel_lock_replay_own(ctx, &counter);

    if (status == KEEL_INPROGRESS) {
        status = lock_await_own(ctx, is_read, number, &counter);
    }
    if (status != KEEL_OK) {
        return status;
    }
    if (counter == KEEL_LOCK_SPENT) {
        return keel_lock_refuse_spent(ctx, own);
    }
    keel_sections_take_own(&ctx->sync, is_read, number);
    return keel_lock_try_catch_up(ctx);
}

static void lock_give_own(keel_context_h ctx, int is_read)
{
    const keel_locker_t who = keel_lane_locker(&ctx->lane);

    keel_sections_give(&ctx->sync, ctx->lane.rank);
    if (keel_sync_replays(&ctx->sync) == KEEL_STYLE_LOCKS) {
        return;
    }
    if (is_read) {
        keel_lock_release_read(keel_lane_locks(&ctx->lane), &who);
    } else {
        keel_lock_release(keel_lane_locks(&ctx->lane), &who);
    }
    keel_lane_wake_next(&ctx->lane, ctx->lane.rank, 0);
}

/* ---- calls ---- */

static keel_status_t lock_begin(keel_context_h ctx, const char *call)
{
    keel_status_t status = keel_context_begin_outside(ctx, call);

    if (status != KEEL_OK) {
        return status;
    }
    status = keel_mix(ctx, KEEL_WAY_LOCK, call);
    if (status != KEEL_OK) {
        return status;
    }
    keel_sync_lock(&ctx->sync);
    if (keel_sync_may_be_local(&ctx->sync)) {
        keel_gate_set(ctx, KEEL_GATE_LOCKS);
    }
    keel_put_log_send_only(&ctx->puts);
    return keel_mix_access(ctx, ctx->lane.rank);
}

static keel_status_t lock_one(keel_context_h ctx, uint32_t rank)
{
    keel_status_t status = lock_begin(ctx, "keel_lock");

    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    if (rank >= ctx->lane.programs) {
        keel_error_ctx(ctx, "there is no rank %u in a job of %u", rank, ctx->lane.programs);
        return KEEL_ERR_RANK;
    }
    if (keel_shrink_has_left(&ctx->rec, rank)) {
        return keel_context_end(ctx, keel_refuse_gone(ctx, rank));
    }
    if (ctx->sync.sections.held[rank] != KEEL_HELD_NOT || ctx->sync.sections.is_all) {
        keel_error_ctx(ctx, "keel_lock of rank %u: %s", rank,
                       ctx->sync.sections.is_all ? "inside a reading epoch" : "it is locked already");
        return KEEL_ERR_STATE;
    }
    ctx->stats.locks++;
    return keel_context_end(ctx, (rank == ctx->lane.rank) ? lock_take_own(ctx, 0) : lock_take(ctx, rank, 0));
}

keel_status_t keel_lock(keel_context_h ctx, uint32_t rank)
{
    KEEL_INSIDE(ctx);
    keel_status_t status = (ctx != NULL) ? keel_context_take_turn(ctx, KEEL_TURN_LOCK) : KEEL_OK;

    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    status = lock_one(ctx, rank);
    if (ctx != NULL) {
        keel_threads_give_turn(ctx, KEEL_TURN_LOCK);
    }
    return status;
}

keel_status_t keel_unlock(keel_context_h ctx, uint32_t rank)
{
    KEEL_INSIDE(ctx);
    keel_status_t status = keel_context_begin_outside(ctx, "keel_unlock");

    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    if (rank >= ctx->lane.programs || ctx->sync.sections.held[rank] != KEEL_HELD_WRITING) {
        keel_error_ctx(ctx, "keel_unlock of rank %u, which is not locked", rank);
        return KEEL_ERR_STATE;
    }
    status = keel_flush_one(ctx, rank);
    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    if (rank == ctx->lane.rank) {
        lock_give_own(ctx, 0);
    } else {
        lock_give(ctx, rank, 0);
    }
    return keel_context_end(ctx, keel_lock_try_catch_up(ctx));
}

static keel_status_t lock_each(keel_context_h ctx)
{
    keel_status_t status = lock_begin(ctx, "keel_lock_all");

    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    if (ctx->sync.sections.open > 0 || ctx->sync.sections.is_all) {
        keel_error_ctx(ctx, "keel_lock_all while something is locked");
        return KEEL_ERR_STATE;
    }
    ctx->stats.locks++;
    for (uint32_t r = keel_member_first(&ctx->lane); r < ctx->lane.programs && status == KEEL_OK;
         r = keel_member_next(&ctx->lane, r)) {
        status = (r == ctx->lane.rank) ? lock_take_own(ctx, 1) : lock_take(ctx, r, 1);
    }
    keel_sections_set_all(&ctx->sync, status == KEEL_OK);
    return keel_context_end(ctx, status);
}

keel_status_t keel_lock_all(keel_context_h ctx)
{
    KEEL_INSIDE(ctx);
    keel_status_t status = (ctx != NULL) ? keel_context_take_turn(ctx, KEEL_TURN_LOCK) : KEEL_OK;

    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    status = lock_each(ctx);
    if (ctx != NULL) {
        keel_threads_give_turn(ctx, KEEL_TURN_LOCK);
    }
    return status;
}

keel_status_t keel_unlock_all(keel_context_h ctx)
{
    KEEL_INSIDE(ctx);
    keel_status_t status = keel_context_begin_outside(ctx, "keel_unlock_all");

    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    if (!ctx->sync.sections.is_all) {
        keel_error_ctx(ctx, "keel_unlock_all outside of a reading epoch");
        return KEEL_ERR_STATE;
    }
    KEEL_EACH_TOUCHED(r, &ctx->lane) {
        if (ctx->sync.sections.held[r] != KEEL_HELD_READING) {
            continue;
        }
        status = keel_flush_one(ctx, r);
        if (status != KEEL_OK) {
            return keel_context_end(ctx, status);
        }
        if (r == ctx->lane.rank) {
            lock_give_own(ctx, 1);
        } else {
            lock_give(ctx, r, 1);
        }
    }
    keel_sections_set_all(&ctx->sync, 0);
    return keel_context_end(ctx, keel_lock_try_catch_up(ctx));
}

int keel_lock_is_all(const keel_context_h ctx)
{
    for (uint32_t r = keel_member_first(&ctx->lane); r < ctx->lane.programs; r = keel_member_next(&ctx->lane, r)) {
        if (ctx->sync.sections.held[r] != KEEL_HELD_READING) {
            return 0;
        }
    }
    return 1;
}

keel_status_t keel_lock_check_free(keel_context_h ctx, const char *call)
{
    if (ctx->sync.sections.open == 0 && ctx->windows_locked == 0) {
        return KEEL_OK;
    }
    if (ctx->sync.sections.open > 0) {
        keel_error_ctx(ctx, "%s while %u ranks are locked", call, ctx->sync.sections.open);
    } else {
        keel_error_ctx(ctx, "%s while %u windows of ranks are locked", call, ctx->windows_locked);
    }
    return KEEL_ERR_STATE;
}
