/* A rollback: drain, barrier, restore of the generation, barrier. */
#include "recovery/rollback.h"
#include "recovery/position.h"
#include "recovery/rebuild.h"
#include "recovery/recover.h"
#include "recovery/rollback_stage.h"
#include "recovery/shrink.h"

#include "check/plant.h"
#include "ckpt/repair.h"
#include "peer/control.h"
#include "peer/issue.h"
#include "peer/members.h"
#include "peer/region.h"
#include "trace/trace_area.h"

/* KEEL_OK: go on; KEEL_INPROGRESS: another rollback has replaced this one. */
static keel_status_t rollback_check(const keel_recovery_t *rec, uint32_t target)
{
    if (rec->fatal != KEEL_OK) {
        return rec->fatal;
    }
    /* frozen: a rank died that may have announced the stage already, and no rank goes on without
     * it */
    return (rec->roll_target != target || keel_recovery_is_frozen(rec)) ? KEEL_INPROGRESS : KEEL_OK;
}

static keel_status_t rollback_barrier(keel_recovery_t *rec, uint32_t target, keel_roll_t stage)
{
    keel_status_t status = keel_rollback_stage_announce(rec, target, stage);
    unsigned rounds = 0;

    if (status != KEEL_OK) {
        return status;
    }
    for (uint32_t r = keel_member_first(rec->lane); keel_member_is(rec->lane, r);) {
        status = rollback_check(rec, target);
        if (status != KEEL_OK) {
            return status;
        }
        if (r == rec->lane->rank || keel_rollback_stage_is_reached(rec, r, target, stage) ||
            (KEEL_PLANT(rollback_no_barrier) && stage == KEEL_ROLL_RESTORED)) {
            r = keel_member_next(rec->lane, r);
        } else {
            keel_recovery_wait(rec, &rounds);
        }
    }
    return KEEL_OK;
}

/* Waits until no access of the process is under way. */
static keel_status_t rollback_drain(keel_recovery_t *rec, uint32_t target)
{
    unsigned rounds = 0;
    keel_status_t status;

    KEEL_EACH_MEMBER(r, rec->lane) {
        while (r != rec->lane->rank && !keel_lane_is_flushed(rec->lane, r) && !KEEL_PLANT(rollback_no_drain)) {
            keel_recovery_wait(rec, &rounds);
            status = rollback_check(rec, target);
            if (status != KEEL_OK) {
                return status;
            }
        }
        keel_lane_issue_drop(rec->lane, &rec->lane->peers[r], KEEL_ERR_ROLLED_BACK);
    }
    return KEEL_OK;
}

/* Resets counters, logs, arrivals and peer states to the generation. */
static void rollback_state(keel_recovery_t *rec, uint32_t target)
{
    const uint32_t base = rec->front;
    keel_lane_t *lane = rec->lane;

    keel_put_log_clear(rec->puts, base);
    keel_get_log_clear(rec->gets, base);
    pthread_mutex_lock(&lane->lock);
    keel_lane_forget_done(lane, target);
    keel_sections_reset(&rec->sync->sections, lane, keel_rebuild_counter(rec));
    pthread_mutex_unlock(&lane->lock);
    keel_lane_forget_announced(lane, rec->generation.number);
    KEEL_EACH_RANK(r, lane) {
        rec->peer_states[r] = (keel_peer_state_t){.state = KEEL_RANK_FRONT, .transfers = KEEL_TRANSFER_GETLOG_REFILLED};
        if (!keel_rank_is_gone(lane, r)) {
            keel_lane_set_mode(lane, r, KEEL_PEER_LIVE);
        }
    }
    keel_recovery_set_position(rec, base, base);
    rec->arrived = base;
    rec->front_reached = rec->recovered_front = rec->incomplete_count = 0;
    rec->stop = rec->pressure_phase = 0;
    keel_announced_reset(rec->sync);
    keel_waits_reset(rec->sync);
    keel_exchange_forget(&rec->ckpt->set);
    keel_demand_forget(rec->demand);
    rec->restarted_at = base;
    keel_recovery_life_event(rec, KEEL_LIFE_ROLLS_BACK);
    rec->is_refused = 0;
    rec->rollback_reason = KEEL_ROLLBACK_NOT_REQUESTED;
}

static keel_status_t rollback_once(keel_recovery_t *rec, uint32_t target, keel_restore_cb_t restore, void *arg)
{
    const int is_new = (keel_recovery_state(rec) == KEEL_RANK_FRESH);
    keel_status_t status;

    status = rollback_drain(rec, target);
    if (status == KEEL_OK) {
        status = rollback_barrier(rec, target, KEEL_ROLL_DRAINED);
    }
    /* also for the program's start, if the process had rebuilt an image that is void now */
    if (status == KEEL_OK && is_new && (rec->generation.number > 0 || rec->ckpt->set.used.number > 0) &&
        !keel_rebuild_has_image(rec)) {
        status = keel_rebuild_image(rec, rollback_check, target);
    }
    if (status != KEEL_OK) {
        return status;
    }
    if (keel_recovery_is_frozen(rec)) {
        return KEEL_INPROGRESS; /* a rank died meanwhile: the next decision tells how to go on */
    }
    rollback_state(rec, target);
    status = keel_rebuild_memory(rec, restore, arg);
    if (status != KEEL_OK) {
        return status;
    }
    status = rollback_barrier(rec, target, KEEL_ROLL_RESTORED);
    if (status == KEEL_OK) {
        /* new ranks have made and freed them meanwhile */
        KEEL_EACH_TOUCHED(r, rec->lane) {
            keel_lane_regions_close_retired(rec->lane, r);
        }
        rec->roll = KEEL_ROLL_NONE;
        rec->rollbacks++;
        keel_trace_end(rec->lane->trace, KEEL_TRACE_ROLLBACK, rec->generation.number);
        if (!rec->shrink.is_under_way) {
            keel_recovery_info(rec, "rolled back to generation %u", rec->generation.number);
        }
        keel_recovery_life_event(rec, KEEL_LIFE_ROLLED_BACK);
        keel_outcome_rolled_back(rec);
        status = keel_shrink_complete(rec);
        rec->fatal = (status == KEEL_OK) ? rec->fatal : status; /* the groups may be half changed */
        status = (status == KEEL_OK) ? keel_repair_rearm(&rec->ckpt->set) : status;
    }
    return status;
}

keel_status_t keel_rollback_run(keel_recovery_t *rec, keel_restore_cb_t restore, void *arg)
{
    keel_status_t status;
    unsigned rounds = 0;

    do {
        while (keel_recovery_is_frozen(rec) &&
               rec->fatal == KEEL_OK) { /* after a further death its decision comes first */
            keel_recovery_wait(rec, &rounds);
        }
        if (rec->fatal != KEEL_OK) {
            return rec->fatal;
        }
        status = rollback_once(rec, rec->roll_target, restore, arg);
    } while (status == KEEL_INPROGRESS);
    return status;
}

keel_status_t keel_rollback_peek(keel_recovery_t *rec, const void **image_p, size_t *size_p)
{
    keel_status_t status = KEEL_INPROGRESS;
    unsigned rounds = 0;

    while (status == KEEL_INPROGRESS) {
        while ((keel_recovery_is_frozen(rec) || rec->roll == KEEL_ROLL_NONE) && rec->fatal == KEEL_OK) {
            keel_recovery_wait(rec, &rounds);
        }
        status = (rec->fatal != KEEL_OK) ? rec->fatal
                 : (rec->generation.number == 0 || keel_rebuild_has_image(rec))
                     ? KEEL_OK
                     : keel_rebuild_image(rec, rollback_check, rec->roll_target);
    }
    if (status == KEEL_OK) {
        *image_p = keel_rebuild_result(rec, size_p);
    }
    return status;
}

void keel_rollback_begin_at(keel_recovery_t *rec, const keel_generation_t *generation)
{
    rec->life = KEEL_LIFE_FRESH;
    rec->mode = KEEL_DECISION_ROLLBACK;
    rec->generation = rec->restored = *generation;
    rec->generation_slot = 0;
    rec->roll = KEEL_ROLL_PENDING;
    rec->roll_target = rec->lane->rollback + 1;
    keel_recovery_set_position(rec, rec->phase, KEEL_PLANT(rollback_begun_at_start) ? 0 : generation->number);
    rec->mark_ns = keel_recovery_now(rec);
}
