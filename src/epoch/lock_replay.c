/* Re-execution of critical sections of the first life: accesses of a closed section are only
 * logged, those of an open section are done (protocol/locks.md). */
#include "epoch/lock_replay.h"
#include "access/fragment.h"
#include "order/lock_ask.h"

#include "check/plant.h"
#include "check/reached.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/members.h"
#include "recovery/rollback_request.h"
#include "recovery/position.h"
#include "recovery/recover.h"

/* A further death during the replay: two ranks are lost, and the job rolls back. */
static keel_status_t lock_await_decision(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && keel_recovery_is_frozen(&ctx->rec)) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

/* The recorded sections cannot be replayed. */
static keel_status_t lock_refuse(keel_context_h ctx, keel_status_t status)
{
    if (status == KEEL_ERR_CORRUPT) {
        return keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_DIFFERS);
    }
    if (status != KEEL_OK) {
        keel_recovery_fail(&ctx->rec, status);
    }
    return status;
}

/* Everything of the first life that another rank could have seen is done again, and own memory
 * is up to date. */
static keel_status_t lock_catch_up(keel_context_h ctx)
{
    keel_status_t status = lock_await_decision(ctx);

    if (status != KEEL_OK) {
        return status;
    }
    status = keel_sections_finish(&ctx->sync);
    if (status == KEEL_OK) {
        status = keel_sections_catch_up(&ctx->sync);
    }
    if (status == KEEL_OK) {
        keel_position_go_live_caught_up(&ctx->rec);
        keel_recovery_info(&ctx->rec, "critical sections up to number %lu are replayed",
                           (unsigned long)ctx->sync.sections.counter);
    }
    return lock_refuse(ctx, status);
}

void keel_lock_record(keel_context_h ctx, uint32_t rank, int is_read, uint64_t value)
{
    uint32_t index;
    keel_get_record_t *record = keel_get_log_reserve(&ctx->gets, rank, keel_where_lock(is_read), sizeof(value), &index);

    if (record != NULL) {
        keel_get_log_complete(record, &value);
    }
    if (keel_access_records_gets(&ctx->lane, rank)) {
        keel_gate_set(ctx, KEEL_GATE_GETS);
    }
}

/* Waits until the sections of other ranks in this phase have arrived, in order. */
static keel_status_t lock_await_sections(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && !keel_sections_are_here(&ctx->sync)) {
        status = keel_context_wait(ctx, &rounds);
    }
    if (status == KEEL_OK) {
        keel_sections_begin(&ctx->sync);
    }
    return status;
}

/*
 * Replays all sections of the phase. KEEL_INPROGRESS: the replay goes on in later phases; KEEL_OK:
 * it has ended.
 */
static keel_status_t lock_finish_phase(keel_context_h ctx)
{
    keel_status_t status = lock_await_decision(ctx);

    if (status == KEEL_OK) {
        status = lock_await_sections(ctx);
    }
    if (status != KEEL_OK) {
        return status;
    }
    if (keel_recovery_state(&ctx->rec) == KEEL_RANK_FRONT &&
        (ctx->rec.phase > ctx->rec.front ||
         (keel_get_log_is_replayed(&ctx->gets) && !keel_sections_has_left(&ctx->sync)))) {
        return lock_catch_up(ctx);
    }
    status = lock_refuse(ctx, keel_sections_finish(&ctx->sync));
    return (status == KEEL_OK) ? KEEL_INPROGRESS : status;
}

keel_status_t keel_lock_complete_phase(keel_context_h ctx)
{
    const keel_status_t status = (keel_sync_replays(&ctx->sync) == KEEL_STYLE_LOCKS) ? lock_finish_phase(ctx) : KEEL_OK;

    return (status == KEEL_INPROGRESS) ? KEEL_OK : status;
}

/* True inside a section at another rank that was over in the first life: its effects are at the
 * target, and possibly overwritten since. */
static int lock_is_in_past(const keel_context_h ctx)
{
    KEEL_EACH_TOUCHED(r, &ctx->lane) {
        if (ctx->sync.sections.held[r] != KEEL_HELD_NOT && r != ctx->lane.rank &&
            ctx->lane.peers[r].mode == KEEL_PEER_AHEAD) {
            return !KEEL_PLANT(lock_replay_caught_up_in_past);
        }
    }
    return 0;
}

keel_status_t keel_lock_try_catch_up(keel_context_h ctx)
{
    const keel_sections_t *s = &ctx->sync.sections;

    const uint8_t held = s->held[ctx->lane.rank];

    if (keel_sync_replays(&ctx->sync) != KEEL_STYLE_LOCKS || keel_recovery_state(&ctx->rec) != KEEL_RANK_FRONT ||
        !keel_get_log_is_replayed(&ctx->gets) || keel_sections_has_left(&ctx->sync) ||
        (held != KEEL_HELD_NOT && s->replay.next < s->replay.count) || keel_sections_has_gap(&ctx->sync) ||
        lock_is_in_past(ctx)) {
        return KEEL_OK;
    }
    /* A reader saw the number of the own section under re-execution: the section was over, and
     * the reader may still be present. */
    if (held == KEEL_HELD_WRITING && s->counter <= s->known && !KEEL_PLANT(lock_replay_caught_up_in_section)) {
        return KEEL_OK;
    }
    return lock_catch_up(ctx);
}

keel_status_t keel_lock_resume(keel_context_h ctx)
{
    keel_status_t status;

    if (keel_sync_replays(&ctx->sync) != KEEL_STYLE_LOCKS) {
        return KEEL_OK;
    }
    keel_gate_set(ctx, KEEL_GATE_LOCKS);
    keel_put_log_send_only(&ctx->puts);
    status = lock_await_sections(ctx);
    if (status != KEEL_OK) {
        return status;
    }
    KEEL_EACH_MEMBER(r, &ctx->lane) {
        if (r != ctx->lane.rank) {
            keel_lane_set_mode(&ctx->lane, r, KEEL_PEER_AHEAD);
        }
    }
    return keel_lock_try_catch_up(ctx);
}

static void lock_case_replay(int is_read, int is_open)
{
    if (is_read && is_open) {
        KEEL_REACHED(reading_open);
    } else if (is_read) {
        KEEL_REACHED(reading_over);
    } else if (is_open) {
        KEEL_REACHED(section_open);
    } else {
        KEEL_REACHED(section_over);
    }
}

/*
 * There is a record. Sets the effect of accesses in the section. @a number: value of the lock word
 * if the section is still open.
 */
static keel_status_t lock_replay_recorded(keel_context_h ctx, uint32_t rank, int is_read, uint64_t number)
{
    keel_lock_request_t request = {.ask = is_read ? KEEL_LOCK_READS : KEEL_LOCK_OWNS};
    uint64_t now = 0;
    keel_status_t status;

    if (keel_recovery_state(&ctx->rec) != KEEL_RANK_FRONT) {
        return KEEL_OK; /* the section belongs to a phase that is over */
    }
    status = keel_lock_ask_once(ctx, rank, &request, &now);
    lock_case_replay(is_read, status == KEEL_OK && now == number);
    if (status == KEEL_OK && now == number) {
        keel_sections_reach(&ctx->sync, rank);
        keel_put_log_mark_sent(&ctx->puts, rank);
        keel_lane_set_mode(&ctx->lane, rank, KEEL_PEER_LIVE);
    }
    return status;
}

/*
 * There is no record. Either the section was begun in the first life and is still open with its
 * record not yet at the target, or no rank has seen the section. KEEL_OK: it is open and held;
 * KEEL_INPROGRESS: the process has caught up and takes the lock as usual.
 */
static keel_status_t lock_replay_unrecorded(keel_context_h ctx, uint32_t rank, keel_lock_request_t *request,
                                            uint64_t *value_p)
{
    const int is_read = request->ask == KEEL_LOCK_TRY_READ;
    keel_lock_request_t now = {.ask = is_read ? KEEL_LOCK_READS : KEEL_LOCK_OWNS};
    uint64_t word = 0;
    keel_status_t status;

    *value_p = 0;
    if (keel_recovery_state(&ctx->rec) == KEEL_RANK_FRONT) {
        status = keel_lock_ask_once(ctx, rank, &now, &word);
        keel_sections_reach(&ctx->sync, rank);
        if (status == KEEL_OK && (is_read ? word == request->number : word != 0)) {
            status = keel_lock_ask_once(ctx, rank, request,
                                        /* not granted: readers are present, as in the first life */
                                        value_p);
        }
        if (status != KEEL_OK) {
            return status;
        }
    }
    if (*value_p != 0) {
        KEEL_REACHED(section_unrecorded);
        keel_put_log_mark_sent(&ctx->puts, rank);
        keel_lane_set_mode(&ctx->lane, rank, KEEL_PEER_LIVE);
        keel_lock_record(ctx, rank, is_read, *value_p);
        return KEEL_OK;
    }
    status = lock_finish_phase(ctx);
    if (status == KEEL_INPROGRESS) {
        return keel_get_is_missing(ctx, rank);
    }
    if (status == KEEL_OK) {
        KEEL_REACHED(section_new);
        return KEEL_INPROGRESS;
    }
    return status;
}

keel_status_t keel_lock_replay(keel_context_h ctx, uint32_t rank, keel_lock_request_t *request, uint64_t *value_p)
{
    const int is_read = request->ask == KEEL_LOCK_TRY_READ;
    const int is_replaying = keel_sync_replays(&ctx->sync) == KEEL_STYLE_LOCKS;
    const keel_status_t status =
        keel_get_log_replay(&ctx->gets, rank, keel_where_lock(is_read), sizeof(*value_p), value_p);

    if (status == KEEL_INPROGRESS) {
        return is_replaying ? lock_replay_unrecorded(ctx, rank, request, value_p) : KEEL_INPROGRESS;
    }
    if (status != KEEL_OK) {
        return keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_DIFFERS);
    }
    keel_recovery_count_gets(&ctx->rec, 1);
    if (!is_replaying) { /* the replay has ended without this lock */
        keel_error_ctx(ctx, "a lock of rank %u was taken in the first life, but not where it is taken now", rank);
        return keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_DIFFERS);
    }
    return lock_replay_recorded(ctx, rank, is_read, is_read ? request->number : *value_p);
}

keel_status_t keel_lock_replay_own(keel_context_h ctx, uint64_t *counter_p)
{
    const keel_sections_t *s = &ctx->sync.sections;
    keel_status_t status;

    if (keel_sync_replays(&ctx->sync) != KEEL_STYLE_LOCKS) {
        return KEEL_INPROGRESS;
    }
    status = KEEL_PLANT(lock_replay_own_section_first) ? KEEL_OK : keel_sections_apply_next(&ctx->sync);

    if (status != KEEL_OK) {
        return lock_refuse(ctx, status);
    }
    if (keel_recovery_state(&ctx->rec) != KEEL_RANK_FRONT || s->replay.next < s->replay.count ||
        s->counter < s->known || !keel_get_log_is_replayed(&ctx->gets) || keel_sections_has_left(&ctx->sync) ||
        lock_is_in_past(ctx)) {
        KEEL_REACHED(section_own);
        *counter_p = keel_sections_next_own(&ctx->sync);
        return KEEL_OK;
    }
    status = lock_catch_up(ctx);
    return (status == KEEL_OK) ? KEEL_INPROGRESS : status;
}
