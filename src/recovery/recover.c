/* Begin and end of recovery, events of the runtime, and handlers of recovery's messages. */
#include "recovery/recover.h"
#include "recovery/adopt.h"
#include "recovery/rollback_request.h"
#include "recovery/detect.h"
#include "recovery/logs/log_pressure.h"
#include "recovery/hand_over.h"
#include "recovery/outcome/outcome_sums.h"
#include "recovery/position.h"
#include "recovery/recovery.h"
#include "recovery/rollback_stage.h"
#include "recovery/shrink.h"
#include "recovery/view.h"

#include "base/memory.h"
#include "check/plant.h"
#include "ckpt/repair.h"
#include "peer/control.h"
#include "peer/members.h"
#include "oplog/get_log_replay.h"
#include "trace/trace_area.h"

#include <string.h>

void keel_recovery_joined(keel_recovery_t *rec, uint64_t begun_ns)
{
    rec->mark_ns = keel_recovery_now(rec);
    rec->times[KEEL_TIME_START] = rec->mark_ns - begun_ns;
    keel_trace_span(rec->lane->trace, KEEL_TRACE_START, 0, begun_ns, 0);
    keel_trace_begin(rec->lane->trace, KEEL_TRACE_VIEW, 0);
}

void keel_recovery_note_finished(keel_recovery_t *rec)
{
    keel_recovery_leave_event(rec, KEEL_LEAVE_ANNOUNCED);
}

void keel_recovery_close_prefix(keel_recovery_t *rec, uint32_t window_calls)
{
    keel_recovery_note_windows(rec, window_calls);
    rec->is_prefix_closed = 1;
}

void keel_recovery_note_windows(keel_recovery_t *rec, uint32_t window_calls)
{
    if (!rec->is_prefix_closed) {
        rec->window_prefix = window_calls;
    }
}

static void recovery_join(keel_recovery_t *rec, const keel_event_t *event)
{
    keel_peer_t *peer = &rec->lane->peers[event->rank];
    keel_status_t status;

    if ((event->incarnation < peer->incarnation && !KEEL_PLANT(recover_late_joiner)) ||
        (peer->is_up && event->incarnation == peer->incarnation)) {
        return;
    }
    if (event->incarnation > peer->incarnation) {
        keel_view_death(rec, event->rank, event->incarnation - 1);
    }
    status = keel_lane_peer_up(rec->lane, event->rank, event->incarnation, event->address, event->address_len);
    if (status == KEEL_OK) {
        keel_recovery_info(rec, "rank %u incarnation %u is there", event->rank, event->incarnation);
        keel_trace_instant(rec->lane->trace, KEEL_TRACE_JOIN, event->rank, event->incarnation, 0);
    } else if (rec->fatal == KEEL_OK) {
        rec->fatal = status;
    }
}

/* True in keel_init() of a replacement, which waits for a decision, or the end of the job. */
static int is_waiting(const keel_recovery_t *rec)
{
    return keel_recovery_state(rec) == KEEL_RANK_FRESH && rec->mode == KEEL_DECISION_NONE;
}

/* Some rank has left the last gsync, for certain. */
static void recovery_is_over(keel_recovery_t *rec)
{
    keel_runtime_t *runtime = rec->lane->runtime;

    keel_recovery_leave_event(rec, KEEL_LEAVE_ANNOUNCED);
    if (runtime->ops->finish != NULL) {
        runtime->ops->finish(runtime);
    }
}

/* A waiting replacement is still needed if the ranks that have left the gsync die before any
 * other rank knows of it. An exit ends its wait. */
static void recovery_finished(keel_recovery_t *rec)
{
    if (!is_waiting(rec)) {
        recovery_is_over(rec);
    }
}

/* The rank announced that it gives up, or left without the announcement that the last gsync is
 * over. */
static void recovery_gave_up(keel_recovery_t *rec, uint32_t rank, uint32_t incarnation)
{
    if (!keel_recovery_is_finished(rec) && !is_waiting(rec) && rec->fatal == KEEL_OK) {
        keel_error(rec->message, "rank %u incarnation %u left the job before its end", rank, incarnation);
        rec->fatal = KEEL_ERR_CATASTROPHIC;
    }
}

/* A repeated message may arrive after the set has changed. */
static void recovery_group(const keel_recovery_t *rec, keel_image_set_t *set, const keel_control_in_t *in)
{
    if (keel_recovery_state(rec) == KEEL_RANK_FRESH) {
        keel_repair_receive_group(set, in);
    }
}

static void recovery_on_group(void *arg, const keel_control_in_t *in)
{
    const keel_recovery_t *rec = arg;

    recovery_group(rec, &rec->ckpt->set, in);
}

static void recovery_on_demand_group(void *arg, const keel_control_in_t *in)
{
    const keel_recovery_t *rec = arg;

    recovery_group(rec, &rec->demand->set, in);
}

static void recovery_on_getlog(void *arg, const keel_control_in_t *in)
{
    const keel_recovery_t *rec = arg;

    if (keel_recovery_state(rec) == KEEL_RANK_FRESH) {
        keel_get_log_receive_replay(rec->gets, in, 0);
    }
}

static void recovery_on_caught_up(void *arg, const keel_control_in_t *in)
{
    keel_position_replay_event(arg, in->source, KEEL_REPLAY_REPORTS_DONE);
    keel_position_step(arg);
}

static void recovery_on_rest_done(void *arg, const keel_control_in_t *in)
{
    keel_position_replay_event(arg, in->source, KEEL_REPLAY_REPORTS_REST_DONE);
    keel_position_step(arg);
}

static void recovery_on_finished(void *arg, const keel_control_in_t *in)
{
    keel_outcome_receive_finished(arg, in);
    recovery_finished(arg);
}

static void recovery_on_gave_up(void *arg, const keel_control_in_t *in)
{
    recovery_gave_up(arg, in->source, in->incarnation);
}

/* Messages of recovery, and messages of lower rooms that count only in some of its states. */
static const struct {
    keel_control_type_t type;
    keel_control_handler_t handle;
} recovery_handlers[] = {{KEEL_CONTROL_REPORT, keel_view_receive_report},
                         {KEEL_CONTROL_DECISION, keel_view_receive_decision},
                         {KEEL_CONTROL_POSITION, keel_position_receive},
                         {KEEL_CONTROL_HANDED, keel_hand_over_receive},
                         {KEEL_CONTROL_GETLOG, recovery_on_getlog},
                         {KEEL_CONTROL_CAUGHT_UP, recovery_on_caught_up},
                         {KEEL_CONTROL_REST_DONE, recovery_on_rest_done},
                         {KEEL_CONTROL_GROUP, recovery_on_group},
                         {KEEL_CONTROL_DEMAND, keel_trim_receive},
                         {KEEL_CONTROL_DEMAND_GROUP, recovery_on_demand_group},
                         {KEEL_CONTROL_LOG_PRESSURE, keel_log_pressure_receive},
                         {KEEL_CONTROL_REQUEST, keel_rollback_request_receive},
                         {KEEL_CONTROL_ROLLBACK, keel_rollback_stage_receive},
                         {KEEL_CONTROL_DECLARED, keel_detect_receive_declared},
                         {KEEL_CONTROL_FINISHED, recovery_on_finished},
                         {KEEL_CONTROL_GAVE_UP, recovery_on_gave_up},
                         {KEEL_CONTROL_RECOVERED, keel_outcome_receive_part},
                         {KEEL_CONTROL_PRINTED, keel_outcome_receive_printed}};

/* Drops late messages of a dead incarnation. A greeting also reports the death of the one
 * before. */
static int recovery_filter(void *arg, const keel_control_in_t *in)
{
    keel_recovery_t *rec = arg;

    if (in->type == KEEL_CONTROL_HELLO && in->incarnation > rec->lane->peers[in->source].incarnation) {
        keel_view_death(rec, in->source, in->incarnation - 1);
    }
    return in->incarnation == rec->lane->peers[in->source].incarnation || KEEL_PLANT(recover_late_control);
}

static void recovery_handle(keel_recovery_t *rec)
{
    for (size_t i = 0; i < sizeof(recovery_handlers) / sizeof(*recovery_handlers); i++) {
        keel_lane_control_handle(rec->lane, recovery_handlers[i].type, recovery_handlers[i].handle, rec);
    }
    keel_lane_control_filter(rec->lane, recovery_filter, rec);
}

/*
 * The rank left the last gsync, was dismissed afterwards, or gave up. A rank that left the gsync
 * has announced so, and stayed until all ranks that had arrived there knew (finalize_linger()): the
 * message is in the inbox by now. A dismissed rank has noticed such an exit.
 */
static void recovery_exit(keel_recovery_t *rec, const keel_event_t *event)
{
    keel_lane_control_dispatch(rec->lane);
    recovery_gave_up(rec, event->rank, event->incarnation);
    keel_recovery_leave_event(rec, KEEL_LEAVE_PROCESS_EXITS);
    keel_lane_peer_down(rec->lane, event->rank, event->incarnation + 1);
}

void keel_recovery_finish(keel_recovery_t *rec)
{
    recovery_is_over(rec);
    keel_outcome_finish(rec);
}

void keel_recovery_give_up(keel_recovery_t *rec)
{
    if (rec->fatal != KEEL_OK && rec->fatal != KEEL_ERR_ISOLATED) {
        (void)keel_lane_control_send_all(rec->lane, KEEL_CONTROL_GAVE_UP, NULL, 0);
    }
}

/* The other ranks go on without the process: its further accesses must not count. */
static void recovery_own_death(keel_recovery_t *rec, const keel_event_t *event)
{
    if (event->type == KEEL_EVENT_DEATH && event->incarnation == rec->lane->incarnation && rec->fatal == KEEL_OK) {
        keel_error(rec->message, "this process was declared dead and is replaced: it ends");
        rec->fatal = KEEL_ERR_ISOLATED;
    }
}

void keel_recovery_events(keel_recovery_t *rec)
{
    keel_runtime_t *runtime = rec->lane->runtime;
    keel_event_t event;

    while (runtime->ops->poll(runtime, &event)) {
        if (event.rank == rec->lane->rank) {
            recovery_own_death(rec, &event);
        }
        if (event.rank >= rec->lane->size || event.rank == rec->lane->rank) {
            continue;
        }
        if (keel_rank_is_gone(rec->lane, event.rank) && !KEEL_PLANT(recover_late_joiner)) {
            continue; /* whatever process joins or exits now is none of the job's */
        }
        switch (event.type) {
        case KEEL_EVENT_DEATH:
            keel_view_death(rec, event.rank, event.incarnation);
            break;
        case KEEL_EVENT_JOIN:
            recovery_join(rec, &event);
            break;
        case KEEL_EVENT_EXIT:
            recovery_exit(rec, &event);
            break;
        case KEEL_EVENT_GONE:
            keel_view_death(rec, event.rank, event.incarnation);
            keel_shrink_gone(rec, event.rank);
            break;
        }
    }
}

void keel_recovery_step(keel_recovery_t *rec)
{
    if (rec->fatal == KEEL_OK) {
        rec->fatal = keel_lane_failure(rec->lane);
    }
    if (rec->is_refused) {
        rec->is_refused = 0;
        (void)keel_rollback_request(rec, KEEL_ROLLBACK_DIFFERS);
    }
    keel_position_announce_complete(rec);
    keel_detect_step(rec);
    keel_view_step(rec);
    keel_outcome_step(rec);
}

keel_status_t keel_recovery_init(keel_recovery_t *rec, const keel_recovery_params_t *params)
{
    keel_lane_t *lane = params->lane;
    keel_status_t status;

    memset(rec, 0, sizeof(*rec));
    rec->lane = lane;
    rec->puts = params->puts;
    rec->gets = params->gets;
    rec->ckpt = params->ckpt;
    rec->demand = params->demand;
    keel_demand_set_callback(rec->demand, keel_trim_image, rec);
    rec->message = params->message;
    rec->loop = params->loop;
    rec->sync = params->sync;
    rec->on_fetch = params->on_fetch;
    rec->arg = params->arg;
    rec->life = (lane->incarnation > 0) ? KEEL_LIFE_FRESH : KEEL_LIFE_LIVE;
    rec->arrived = lane->counters.phase;
    keel_recovery_set_position(rec, lane->counters.phase, lane->counters.phase);
    rec->request_number = lane->counters.request;
    rec->roll_target = lane->counters.rollback;
    rec->view = (lane->incarnation > 0) ? KEEL_VIEW_CHANGED : KEEL_VIEW_STABLE;
    rec->peer_states = keel_alloc(lane->size * sizeof(*rec->peer_states), "where ranks stand");
    rec->roll_stages = keel_alloc(lane->size * sizeof(*rec->roll_stages), "rollback");
    rec->mark_ns = keel_recovery_now(rec);
    if (rec->peer_states == NULL || rec->roll_stages == NULL) {
        status = KEEL_ERR_NO_MEMORY;
        goto err_free;
    }
    status = keel_view_init(rec);
    if (status != KEEL_OK) {
        goto err_free;
    }
    status = keel_detect_init(rec);
    if (status != KEEL_OK) {
        goto err_view;
    }
    status = keel_trim_init(rec);
    if (status != KEEL_OK) {
        goto err_detect;
    }
    status = keel_outcome_init(rec);
    if (status != KEEL_OK) {
        goto err_trim;
    }
    status = keel_shrink_init(rec);
    if (status != KEEL_OK) {
        goto err_outcome;
    }
    KEEL_EACH_RANK(r, lane) {
        rec->peer_states[r].state = keel_recovery_state(rec);
        rec->peer_states[r].transfers =
            (keel_recovery_state(rec) == KEEL_RANK_FRONT) ? KEEL_TRANSFER_GETLOG_REFILLED : 0;
    }
    recovery_handle(rec);
    return KEEL_OK;

err_outcome:
    keel_outcome_release(rec);
err_trim:
    keel_trim_release(rec);
err_detect:
    keel_detect_release(rec);
err_view:
    keel_view_release(rec);
err_free:
    keel_free(rec->peer_states);
    keel_free(rec->roll_stages);
    return status;
}

void keel_recovery_release(keel_recovery_t *rec)
{
    keel_shrink_release(rec);
    keel_outcome_release(rec);
    keel_trim_release(rec);
    keel_detect_release(rec);
    keel_view_release(rec);
    keel_free(rec->peer_states);
    keel_free(rec->roll_stages);
}
