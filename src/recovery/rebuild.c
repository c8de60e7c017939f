/* A replacement's way back: the decision, its image from the group, its get records, its memory. */
#include "recovery/rebuild.h"
#include "recovery/rollback_request.h"
#include "recovery/position.h"
#include "recovery/recover.h"
#include "recovery/recovery.h"

#include "check/plant.h"
#include "check/reached.h"
#include "ckpt/repair.h"
#include "peer/control.h"
#include "peer/issue.h"
#include "peer/members.h"
#include "peer/region.h"
#include "trace/trace_area.h"

keel_status_t keel_rebuild_await_decision(keel_recovery_t *rec)
{
    unsigned rounds = 0;

    while (rec->mode == KEEL_DECISION_NONE || keel_recovery_is_frozen(rec)) {
        keel_recovery_wait(rec, &rounds);
        if (rec->fatal != KEEL_OK) {
            return rec->fatal;
        }
        if (keel_recovery_is_finished(rec)) {
            keel_error(rec->message, "the job has passed its last gsync: nothing is recovered any more");
            return KEEL_ERR_STATE;
        }
    }
    rec->times[KEEL_TIME_AGREE] = keel_recovery_now(rec) - rec->mark_ns;
    rec->mark_ns = keel_recovery_now(rec);
    return KEEL_OK;
}

/* Condition for a local recovery to go on. */
static keel_status_t rebuild_check(const keel_recovery_t *rec, uint32_t target)
{
    return keel_recovery_status(rec);
}

/* Counts deaths for tests. */
static void rebuild_note_death(const keel_recovery_t *rec)
{
    for (uint32_t i = 0; i < rec->ckpt->group.size; i++) {
        const uint32_t member = rec->ckpt->group.members[i];

        if (member != rec->lane->rank && !rec->lane->peers[member].is_up &&
            (rec->ckpt->set.has[i] & KEEL_PARITY_HAS_IMAGE)) {
            KEEL_REACHED(rebuild_source_dies);
        }
    }
}

/* True if the decision changed: the leader may notice a death and decide in one step. */
static int rebuild_is_outdated(const keel_recovery_t *rec, uint64_t decisions)
{
    return keel_recovery_is_frozen(rec) || (rec->decisions != decisions && !KEEL_PLANT(rebuild_decision_unseen));
}

static keel_status_t rebuild_steps(keel_recovery_t *rec, keel_rebuild_check_t check, uint32_t target, int is_demand)
{
    const uint64_t decisions = rec->decisions;
    keel_status_t status;

    while ((status = is_demand ? keel_demand_rebuild_step(rec->demand) : keel_ckpt_rebuild_step(rec->ckpt)) ==
           KEEL_INPROGRESS) {
        keel_recovery_progress(rec);
        (void)keel_lane_progress_caller(rec->lane);
        /* the ranks that reply may want the core */
        rec->lane->ops->wait(rec->lane->transport, 0, 0, 0);
        status = check(rec, target);
        if (status != KEEL_OK) {
            return status; /* also KEEL_INPROGRESS: another rollback has begun */
        }
        if (rebuild_is_outdated(rec, decisions)) {
            rebuild_note_death(rec);
            return KEEL_ERR_UNREACHABLE;
        }
    }
    return status;
}

/*
 * The decided generation may become older meanwhile, even 0, if the only process that knew of the
 * newer generation has died. KEEL_ERR_UNREACHABLE: a member of the group died, or seems to have
 * died.
 */
static keel_status_t rebuild_try(keel_recovery_t *rec, keel_rebuild_check_t check, uint32_t target,
                                 uint64_t *decisions_p)
{
    unsigned rounds = 0;
    keel_status_t status;

    while (keel_recovery_is_frozen(rec) ||
           (rec->generation.number > 0 && !keel_repair_knows_group(&rec->ckpt->set, rec->generation.number)) ||
           !keel_repair_knows_group(&rec->demand->set, rec->demand->set.used.number)) {
        keel_recovery_wait(rec, &rounds);
        status = check(rec, target);
        if (status != KEEL_OK) {
            return status;
        }
    }
    *decisions_p = rec->decisions;
    if (rec->generation.number > 0) {
        keel_parity_cancel(rec->ckpt->set.parity);
        status = keel_ckpt_rebuild_begin(rec->ckpt, &rec->generation, rec->generation_slot);
        status = (status == KEEL_OK) ? rebuild_steps(rec, check, target, 0) : status;
        if (status != KEEL_OK) {
            return status;
        }
    } else {
        keel_ckpt_rebuild_nothing(rec->ckpt);
    }
    status = keel_demand_rebuild_begin(rec->demand);
    return (status == KEEL_OK) ? rebuild_steps(rec, check, target, 1) : status;
}

static void rebuild_info(keel_recovery_t *rec)
{
    uint64_t bytes = 0;
    char from[128] = "";
    size_t at = 0;

    for (uint32_t i = 0; i < rec->ckpt->group.size; i++) {
        uint64_t part = keel_parity_bytes_from(rec->ckpt->set.parity, i);

        if (part > 0 && i != rec->ckpt->group.index && at + 12 < sizeof(from)) {
            at +=
                (size_t)snprintf(from + at, sizeof(from) - at, "%s%u", at > 0 ? ", " : "", rec->ckpt->group.members[i]);
        }
        bytes += part;
    }
    if (bytes == 0) {
        return; /* no image, or an empty one */
    }
    rec->rebuilt_bytes += rec->ckpt->set.used.members[rec->ckpt->group.index].size;
    keel_recovery_info(rec, "image of generation %u rebuilt: %lu bytes, from %lu bytes of ranks %s",
                       rec->generation.number, rec->ckpt->set.used.members[rec->ckpt->group.index].size, bytes, from);
}

keel_status_t keel_rebuild_image(keel_recovery_t *rec, keel_rebuild_check_t check, uint32_t target)
{
    unsigned rounds = 0;
    keel_status_t status;
    uint64_t decisions = rec->decisions;

    while ((status = rebuild_try(rec, check, target, &decisions)) == KEEL_ERR_UNREACHABLE) {
        keel_parity_cancel(rec->ckpt->set.parity);
        /* Only the decision tells the meaning of a death, and the members' shares. */
        while (!rebuild_is_outdated(rec, decisions)) {
            keel_recovery_wait(rec, &rounds);
            status = check(rec, target);
            if (status != KEEL_OK) {
                return status;
            }
        }
    }
    if (status == KEEL_OK) {
        rebuild_info(rec);
    }
    return status;
}

int keel_rebuild_has_image(const keel_recovery_t *rec)
{
    return rec->ckpt->set.used.number == rec->generation.number && rec->demand->is_rebuilt &&
           (rec->generation.number == 0 || rec->ckpt->is_rebuilt || KEEL_PLANT(rebuild_unfinished));
}

const void *keel_rebuild_result(const keel_recovery_t *rec, size_t *size_p)
{
    *size_p = 0;
    return (rec->restored.number == 0)                        ? NULL
           : (rec->restored.number != rec->generation.number) ? keel_repair_image(&rec->demand->set, size_p)
                                                              : keel_repair_image(&rec->ckpt->set, size_p);
}

keel_status_t keel_rebuild_memory(keel_recovery_t *rec, keel_restore_cb_t restore, void *arg)
{
    size_t size;
    const void *image = keel_rebuild_result(rec, &size);

    return restore(arg, image, size);
}

static int replay_is_complete(const keel_recovery_t *rec)
{
    KEEL_EACH_MEMBER(r, rec->lane) {
        if (keel_peer_state_has(&rec->peer_states[r], KEEL_TRANSFER_GETS_EXPECTED) &&
            !rec->gets->targets[r].is_replay_complete) {
            return 0;
        }
    }
    return 1;
}

static uint64_t take_time(keel_recovery_t *rec)
{
    const uint64_t now = keel_recovery_now(rec);
    const uint64_t took = now - rec->mark_ns;

    rec->mark_ns = now;
    return took;
}

uint64_t keel_rebuild_counter(const keel_recovery_t *rec)
{
    return (rec->generation.number > 0) ? rec->ckpt->set.used.sync_counter : rec->lane->counters.lock;
}

/* Fetches the image, and the predecessor's records in the get logs of other ranks. */
static keel_status_t rebuild_fetch(keel_recovery_t *rec)
{
    unsigned rounds = 0;
    keel_status_t status;

    do {
        if (!keel_rebuild_has_image(rec)) {
            status = keel_rebuild_image(rec, rebuild_check, 0);
            if (status != KEEL_OK) {
                return keel_recovery_status(rec) != KEEL_OK ? keel_recovery_status(rec) : status;
            }
        }
        keel_trace_span(rec->lane->trace, KEEL_TRACE_REBUILD, rec->generation.number, rec->mark_ns, rec->rebuilt_bytes);
        rec->times[KEEL_TIME_REBUILD] = take_time(rec);
        while (!replay_is_complete(rec) || keel_recovery_is_frozen(rec)) {
            keel_recovery_wait(rec, &rounds);
            status = keel_recovery_status(rec);
            if (status != KEEL_OK) {
                return status;
            }
        }
    } while (!keel_rebuild_has_image(rec)); /* decided again meanwhile */
    return KEEL_OK;
}

keel_status_t keel_rebuild_peek(keel_recovery_t *rec, const void **image_p, size_t *size_p)
{
    const keel_status_t status = rebuild_fetch(rec);

    if (status == KEEL_OK) {
        *image_p = keel_rebuild_result(rec, size_p);
    }
    return status;
}

keel_status_t keel_rebuild_run(keel_recovery_t *rec, keel_restore_cb_t restore, void *arg)
{
    keel_status_t status = rebuild_fetch(rec);
    uint32_t base;

    if (status != KEEL_OK) {
        return status;
    }
    base = rec->phase;
    if (rec->gets->has_overflowed) {
        return keel_rollback_request(rec, KEEL_ROLLBACK_NO_ROOM);
    }
    status = keel_rebuild_memory(rec, restore, arg);
    if (status != KEEL_OK) {
        return status;
    }
    keel_get_log_trim(rec->gets, base, base);
    keel_put_log_set_phase(rec->puts, base);
    keel_get_log_set_phase(rec->gets, base);
    keel_waits_begin_phase(rec->sync);
    rec->arrived = base;
    rec->restarted_at = base;
    if (rec->restored.number != rec->generation.number) {
        KEEL_REACHED(demand_restored);
        keel_recovery_info(rec, "began at its own image of position %u, newer than generation %u", base,
                           rec->generation.number);
        keel_trim_begin_at(rec, base);
        rec->demand_recoveries++;
    }
    keel_trace_span(rec->lane->trace, KEEL_TRACE_RESTORE, rec->restored.number, rec->mark_ns, 0);
    rec->times[KEEL_TIME_RESTORE] = take_time(rec);
    keel_trace_begin(rec->lane->trace, (base < rec->front) ? KEEL_TRACE_REPLAY : KEEL_TRACE_CATCH_UP, base);
    keel_outcome_restored(rec);
    keel_recovery_info(rec, "memory restored at position %u, front is %u", base, rec->front);
    if (base >= rec->front) {
        rec->recoveries++;
        keel_recovery_info(rec, "front %u reached", base);
    }
    if (base >= rec->front) {
        KEEL_REACHED(restored_at_front);
    }
    if (base > 0) {
        KEEL_REACHED(generation_later);
    } else {
        KEEL_REACHED(generation_0);
    }
    rec->front_reached = (base >= rec->front) ? base + 1 : 0;
    keel_recovery_life_event(rec, (base < rec->front) ? KEEL_LIFE_RESTORED_BEFORE_FRONT : KEEL_LIFE_RESTORED_AT_FRONT);
    keel_sections_begin_at(rec->sync, (rec->restored.number != rec->generation.number)
                                          ? rec->demand->set.used.sync_counter
                                          : keel_rebuild_counter(rec));
    keel_position_announce(rec);
    keel_position_step(rec);
    if (keel_recovery_is_frozen(rec)) {
        return KEEL_OK; /* after the decision */
    }
    status = keel_repair_rearm(&rec->ckpt->set);
    return (status == KEEL_OK) ? keel_demand_rearm(rec->demand) : status;
}
