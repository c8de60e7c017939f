/* Life of recovery, and the one function that makes progress. */
#include "recovery/recover.h"
#include "recovery/adopt.h"
#include "recovery/rollback_request.h"
#include "recovery/detect.h"
#include "recovery/log_pressure.h"
#include "recovery/hand_over.h"
#include "recovery/position.h"
#include "recovery/recovery.h"
#include "recovery/rollback_stage.h"
#include "recovery/view.h"

#include "base/memory.h"
#include "check/plant.h"
#include "ckpt/exchange.h"
#include "ckpt/repair.h"
#include "peer/control.h"
#include "oplog/get_log_replay.h"

#include <string.h>

/* Of what the wait has lasted a sleep takes a part, so that what wakes nobody delays it by no more. Detection looks as often. */
#define SLEEP_PART   4
#define SLEEP_MIN_US 50
#define SLEEP_MAX_US 1000

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
    for (uint32_t r = 0; r < lane->size; r++) {
        rec->peer_states[r].state = keel_recovery_state(rec);
        rec->peer_states[r].transfers =
            (keel_recovery_state(rec) == KEEL_RANK_FRONT) ? KEEL_TRANSFER_GETLOG_REFILLED : 0;
    }
    return KEEL_OK;

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
    keel_trim_release(rec);
    keel_detect_release(rec);
    keel_view_release(rec);
    keel_free(rec->peer_states);
    keel_free(rec->roll_stages);
}

void keel_recovery_joined(keel_recovery_t *rec, uint64_t begun_ns)
{
    rec->mark_ns = keel_recovery_now(rec);
    rec->times[KEEL_TIME_START] = rec->mark_ns - begun_ns;
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

    if (event->incarnation < peer->incarnation || (peer->is_up && event->incarnation == peer->incarnation)) {
        return;
    }
    if (event->incarnation > peer->incarnation) {
        keel_view_death(rec, event->rank, event->incarnation - 1);
    }
    status = keel_lane_peer_up(rec->lane, event->rank, event->incarnation, event->address, event->address_len);
    if (status == KEEL_OK) {
        keel_recovery_info(rec, "rank %u incarnation %u is there", event->rank, event->incarnation);
    } else if (rec->fatal == KEEL_OK) {
        rec->fatal = status;
    }
}

/* in init: it asks whether the job is over */
static int is_waiting(const keel_recovery_t *rec)
{
    return keel_recovery_state(rec) == KEEL_RANK_FRESH && rec->mode == KEEL_DECISION_NONE;
}

/* somebody has left the last gsync, for certain */
static void recovery_is_over(keel_recovery_t *rec)
{
    keel_runtime_t *runtime = rec->lane->runtime;

    keel_recovery_leave_event(rec, KEEL_LEAVE_ANNOUNCED);
    if (runtime->ops->finish != NULL) {
        runtime->ops->finish(runtime);
    }
}

/* A replacement that waits is needed should those that have left the gsync die before anybody else knows: an exit sends it home. */
static void recovery_finished(keel_recovery_t *rec)
{
    if (!is_waiting(rec)) {
        recovery_is_over(rec);
    }
}

/* said by itself, or it left without having said that the last gsync is over */
static void recovery_gave_up(keel_recovery_t *rec, uint32_t rank, uint32_t incarnation)
{
    if (!keel_recovery_is_finished(rec) && !is_waiting(rec) && rec->fatal == KEEL_OK) {
        keel_error(rec->message, "rank %u incarnation %u left the job before its end", rank, incarnation);
        rec->fatal = KEEL_ERR_CATASTROPHIC;
    }
}

/* told twice, it may come when the set is another */
static void recovery_group(const keel_recovery_t *rec, keel_image_set_t *set, const keel_control_in_t *in)
{
    if (keel_recovery_state(rec) == KEEL_RANK_FRESH) {
        keel_repair_receive_group(set, in);
    }
}

static void recovery_dispatch(keel_recovery_t *rec, const keel_control_in_t *in)
{
    if (in->type == KEEL_CONTROL_HELLO && in->incarnation > rec->lane->peers[in->source].incarnation) {
        keel_view_death(rec, in->source, in->incarnation - 1); /* it was replaced, so it is dead */
    }
    if (in->incarnation != rec->lane->peers[in->source].incarnation && !KEEL_PLANT(late_control)) {
        return; /* late word of a dead incarnation */
    }
    if (keel_lane_control(rec->lane, in)) {
        return;
    }
    switch (in->type) {
    case KEEL_CONTROL_REPORT:
        keel_view_receive_report(rec, in);
        break;
    case KEEL_CONTROL_DECISION:
        keel_view_receive_decision(rec, in);
        break;
    case KEEL_CONTROL_POSITION:
        keel_position_receive(rec, in);
        break;
    case KEEL_CONTROL_HANDED:
        keel_hand_over_receive(rec, in);
        break;
    case KEEL_CONTROL_GETLOG:
        if (keel_recovery_state(rec) == KEEL_RANK_FRESH) {
            keel_get_log_receive_replay(rec->gets, in, 0);
        }
        break;
    case KEEL_CONTROL_SECTIONS:
        keel_sections_receive(rec->sync, in);
        break;
    case KEEL_CONTROL_CAUGHT_UP:
        keel_position_replay_event(rec, in->source, KEEL_REPLAY_REPORTS_DONE);
        keel_position_step(rec);
        break;
    case KEEL_CONTROL_WAITS:
        keel_waits_receive(rec->sync, in);
        break;
    case KEEL_CONTROL_REST_DONE:
        keel_position_replay_event(rec, in->source, KEEL_REPLAY_REPORTS_REST_DONE);
        keel_position_step(rec);
        break;
    case KEEL_CONTROL_IMAGE:
        keel_exchange_receive(&rec->ckpt->set, in);
        break;
    case KEEL_CONTROL_GROUP:
        recovery_group(rec, &rec->ckpt->set, in);
        break;
    case KEEL_CONTROL_DEMAND:
        keel_trim_receive(rec, in);
        break;
    case KEEL_CONTROL_DEMAND_IMAGE:
        keel_exchange_receive(&rec->demand->set, in);
        break;
    case KEEL_CONTROL_DEMAND_GROUP:
        recovery_group(rec, &rec->demand->set, in);
        break;
    case KEEL_CONTROL_LOG_PRESSURE:
        keel_log_pressure_receive(rec, in);
        break;
    case KEEL_CONTROL_REQUEST:
        keel_rollback_request_receive(rec, in);
        break;
    case KEEL_CONTROL_ROLLBACK:
        keel_rollback_stage_receive(rec, in);
        break;
    case KEEL_CONTROL_DECLARED:
        keel_detect_receive_declared(rec, in);
        break;
    case KEEL_CONTROL_FINISHED:
        recovery_finished(rec);
        break;
    case KEEL_CONTROL_GAVE_UP:
        recovery_gave_up(rec, in->source, in->incarnation);
        break;
    default:
        break;
    }
}

static void recovery_inbox(keel_recovery_t *rec)
{
    keel_control_in_t *in;

    while ((in = keel_lane_control_next(rec->lane)) != NULL) {
        recovery_dispatch(rec, in);
        keel_free(in);
    }
}

/*
 * It left the last gsync, or was sent home after it, or it gave up. Who left the gsync has told so, and stayed until all that
 * had come there had heard it (finalize_linger()): the word is in the inbox by now. Who is sent home has heard such an exit.
 */
static void recovery_exit(keel_recovery_t *rec, const keel_event_t *event)
{
    recovery_inbox(rec);
    recovery_gave_up(rec, event->rank, event->incarnation);
    keel_recovery_leave_event(rec, KEEL_LEAVE_PROCESS_EXITS);
    keel_lane_peer_down(rec->lane, event->rank, event->incarnation + 1);
}

void keel_recovery_finish(keel_recovery_t *rec)
{
    recovery_is_over(rec);
    (void)keel_lane_control_send_all(rec->lane, KEEL_CONTROL_FINISHED, NULL, 0);
}

void keel_recovery_give_up(keel_recovery_t *rec)
{
    if (rec->fatal != KEEL_OK && rec->fatal != KEEL_ERR_ISOLATED) {
        (void)keel_lane_control_send_all(rec->lane, KEEL_CONTROL_GAVE_UP, NULL, 0);
    }
}

/* the others go on without this process: nothing that it still does may count */
static void recovery_own_death(keel_recovery_t *rec, const keel_event_t *event)
{
    if (event->type == KEEL_EVENT_DEATH && event->incarnation == rec->lane->incarnation && rec->fatal == KEEL_OK) {
        keel_error(rec->message, "this process was declared dead and is replaced: it ends");
        rec->fatal = KEEL_ERR_ISOLATED;
    }
}

static void recovery_events(keel_recovery_t *rec)
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
        }
    }
}

void keel_recovery_progress(keel_recovery_t *rec)
{
    (void)keel_lane_progress(rec->lane);
    recovery_events(rec);
    recovery_inbox(rec);
    if (rec->fatal == KEEL_OK) {
        rec->fatal = keel_lane_failure(rec->lane);
    }
    if (rec->is_refused) {
        rec->is_refused = 0;
        (void)keel_rollback_request(rec, KEEL_ERR_CORRUPT);
    }
    keel_position_announce_complete(rec);
    keel_detect_step(rec);
    keel_view_step(rec);
    keel_ckpt_step(rec->ckpt);
    keel_demand_step(rec->demand);
    keel_log_pressure_step(rec);
}

/* differs when progress did a part of an image or of its parity: the next part is due at once */
static uint64_t recovery_work(const keel_recovery_t *rec)
{
    uint64_t work = rec->ckpt->set.compared + rec->demand->set.compared;

    work += (rec->ckpt->set.parity != NULL) ? keel_parity_bytes_moved(rec->ckpt->set.parity) : 0;
    return work + ((rec->demand->set.parity != NULL) ? keel_parity_bytes_moved(rec->demand->set.parity) : 0);
}

static unsigned recovery_sleep_us(const keel_recovery_t *rec, uint64_t now)
{
    const uint64_t sleep_us = (now - rec->wait_ns) / (1000 * SLEEP_PART);

    return (sleep_us < SLEEP_MIN_US) ? SLEEP_MIN_US : (sleep_us > SLEEP_MAX_US) ? SLEEP_MAX_US : (unsigned)sleep_us;
}

void keel_recovery_wait(keel_recovery_t *rec, unsigned *rounds)
{
    const keel_lane_t *lane = rec->lane;
    const uint64_t work = recovery_work(rec);
    uint64_t now;

    keel_recovery_progress(rec);
    if (lane->config->progress != NULL) { /* polls: the callback's messages cannot wake a sleep */
        lane->config->progress(lane->config->progress_arg);
        lane->ops->wait(lane->transport, 0, 0, 0);
        return;
    }
    if (recovery_work(rec) != work) {
        lane->ops->wait(lane->transport, 0, 0, 0); /* others may want the core */
        return;
    }
    now = keel_recovery_now(rec);
    if (++*rounds == 1) {
        rec->wait_ns = now;
    }
    lane->ops->wait(lane->transport, *rounds, recovery_sleep_us(rec, now), keel_lane_is_answer_due(lane));
}
