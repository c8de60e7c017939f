/* Adoption of a decision: the new state of the process, and the messages that help other ranks
 * to come back. */
#include "recovery/adopt.h"
#include "peer/members.h"
#include "recovery/position.h"
#include "recovery/recovery_status.h"
#include "recovery/shrink.h"
#include "recovery/view.h"

#include "base/memory.h"
#include "check/plant.h"
#include "check/reached.h"
#include "recovery/commit.h"
#include "ckpt/repair.h"
#include "oplog/get_log_replay.h"
#include "trace/trace_area.h"

static int decision_is_current(const keel_recovery_t *rec, const decision_t *d)
{
    if (d->request_number != rec->request_number) {
        return 0;
    }
    KEEL_EACH_RANK(r, rec->lane) {
        if (d->ranks[r].incarnation != rec->lane->peers[r].incarnation) {
            return 0;
        }
    }
    return 1;
}

/* Sends other ranks the data for their way back. */
static void adopt_help(keel_recovery_t *rec, const decision_t *d)
{
    KEEL_EACH_MEMBER(r, rec->lane) {
        if (r == rec->lane->rank || d->ranks[r].state != KEEL_RANK_FRESH ||
            keel_recovery_state(rec) == KEEL_RANK_FRESH) {
            continue;
        }
        (void)keel_repair_send_group(&rec->ckpt->set, r);
        if (d->mode == KEEL_DECISION_LOCAL) {
            (void)keel_repair_send_group(&rec->demand->set, r);
        }
        if (d->mode == KEEL_DECISION_LOCAL && !keel_peer_state_has(&rec->peer_states[r], KEEL_TRANSFER_GETS_SENT)) {
            (void)keel_get_log_send_replay(rec->gets, r);
            rec->peer_states[r].transfers |= KEEL_TRANSFER_GETS_SENT;
        }
    }
}

/* The replay event of a rank that begins at an image. */
static keel_replay_event_t adopt_replay(const keel_recovery_t *rec, const decision_t *d)
{
    if (keel_recovery_state(rec) != KEEL_RANK_FRESH && keel_sync_is_ordered(&d->sync)) {
        return KEEL_REPLAY_DECIDED_ORDERED;
    }
    return keel_sync_is_unbegun(rec->sync, &d->sync) ? KEEL_REPLAY_DECIDED_UNBEGUN : KEEL_REPLAY_DECIDED_PLAIN;
}

static void adopt_peer_states(keel_recovery_t *rec, const decision_t *d)
{
    KEEL_EACH_MEMBER(r, rec->lane) {
        keel_peer_state_t *peer_state = &rec->peer_states[r];

        /* No rank had begun, so several may be lost: a put by one has to be in place when a
         * third rank learns of it. A new rank does not know of ranks on their way back. */
        if (r != rec->lane->rank &&
            (d->ranks[r].state == KEEL_RANK_FRESH ||
             (keel_recovery_state(rec) == KEEL_RANK_FRESH && d->ranks[r].state == KEEL_RANK_RECOVERING))) {
            keel_position_replay_event(rec, r, adopt_replay(rec, d));
        }
        if (d->ranks[rec->lane->rank].hold_back_from == r + 1) {
            peer_state->transfers |= KEEL_TRANSFER_HOLD_BACK;
        }
        if (d->ranks[r].state == KEEL_RANK_FRESH && keel_recovery_state(rec) != KEEL_RANK_FRESH) {
            peer_state->records_at_decision = (rec->phase == rec->front) ? keel_put_log_count(rec->puts, r) : 0;
        }
        if (r != rec->lane->rank &&
            keel_recovery_state(rec) == KEEL_RANK_FRESH) { /* a new rank also knows of old deaths */
            keel_position_complete_event(rec, r,
                                         d->ranks[r].is_incomplete ? KEEL_COMPLETE_DECIDED_NOT : KEEL_COMPLETE_DECIDED);
        }
        if (r == rec->lane->rank || (peer_state->state != KEEL_RANK_FRESH && d->ranks[r].state == KEEL_RANK_FRESH)) {
            continue; /* the rank has announced more since its report */
        }
        if (keel_recovery_state(rec) == KEEL_RANK_FRESH && d->ranks[r].state != KEEL_RANK_FRESH) {
            /* the survivor has the predecessor's records, and sends them */
            peer_state->transfers |= KEEL_TRANSFER_GETLOG_REFILLED;
            peer_state->transfers |= rec->gets->targets[r].is_replay_complete ? 0 : KEEL_TRANSFER_GETS_EXPECTED;
        }
        if (d->ranks[r].state == KEEL_RANK_FRONT && peer_state->state == KEEL_RANK_FRESH) {
            peer_state->state = KEEL_RANK_FRONT; /* the process itself is new */
        } else if (d->ranks[r].state == KEEL_RANK_RECOVERING && peer_state->state == KEEL_RANK_FRESH) {
            peer_state->state = KEEL_RANK_RECOVERING;
            peer_state->position = d->ranks[r].position;
        }
    }
}

static void adopt_generation(keel_recovery_t *rec, const decision_t *d)
{
    if (keel_recovery_state(rec) != KEEL_RANK_FRESH && rec->ckpt->set.used.number < d->generation) {
        KEEL_REACHED(committed_by_decision);
        keel_commit(rec, d->generation);
    }
    if (!KEEL_PLANT(adopt_no_abort)) {
        keel_ckpt_abort(rec->ckpt);
    }
    if (keel_recovery_state(rec) == KEEL_RANK_FRESH) {
        if (d->is_retry_due) { /* the leader, which decides on images, may be the lost rank */
            keel_ckpt_request_retry(rec->ckpt);
        }
    }
    /* a gone rank has nothing, and a replacement awaits no announcement of that rank */
    KEEL_EACH_RANK(r, rec->lane) {
        if (!keel_rank_is_gone(rec->lane, r) || !KEEL_PLANT(adopt_gone_announces)) {
            keel_repair_member_has(&rec->ckpt->set, r, d->ranks[r].has);
        }
    }
    rec->generation = (keel_generation_t){.number = d->generation, .window_calls = d->window_calls};
    rec->generation_slot = d->slot;
    rec->restored = rec->generation;
}

static keel_status_t adopt_demand(keel_recovery_t *rec, const decision_t *d)
{
    const keel_demand_start_t own = d->ranks[rec->lane->rank].start;
    keel_demand_start_t *starts = keel_alloc(rec->lane->size * sizeof(*starts), "demand images");

    if (starts == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    KEEL_EACH_RANK(r, rec->lane) {
        starts[r] = d->ranks[r].start;
        keel_repair_member_has(&rec->demand->set, r, d->ranks[r].has_demand);
    }
    keel_demand_adopt(rec->demand, starts, keel_recovery_state(rec) == KEEL_RANK_FRESH);
    if (own.position != 0) {
        rec->restored = (keel_generation_t){.number = own.position, .window_calls = own.window_calls};
    }
    keel_free(starts);
    return KEEL_OK;
}

/* Ranks that saw the atomics may die before they announce them, and a new rank may be the only
 * one left. So a new rank takes the words from the decision, and so does a survivor about new
 * ranks. No other thread writes the words meanwhile. */
static void adopt_atomics(keel_recovery_t *rec, const decision_t *d)
{
    pthread_mutex_lock(&rec->lane->lock);
    KEEL_EACH_MEMBER(r, rec->lane) {
        const int is_idle = keel_recovery_state(rec) == KEEL_RANK_FRESH || d->ranks[r].state == KEEL_RANK_FRESH;
        uint64_t *word = &rec->lane->board[r].atomics;

        if (r != rec->lane->rank && is_idle && d->ranks[r].atomics > 0) {
            keel_board_set(word, keel_atomics_word(keel_board_get(word), d->ranks[r].atomics - 1, 0));
        }
    }
    pthread_mutex_unlock(&rec->lane->lock);
}

/* The reply to the fetch was lost, but its value was piggybacked elsewhere: the fetch ends as if
 * the reply had come just before the death. */
static void adopt_carried(keel_recovery_t *rec, const decision_t *d)
{
    const found_value_t *carried = &d->ranks[rec->lane->rank].carried;
    const keel_fetch_t last = {.record = NULL};
    const keel_fetched_t found = {.old = carried->old, .clock = carried->clock};

    if (carried->serial != 0 && carried->serial == rec->lane->fetches.serial) {
        KEEL_REACHED(awaited_carried);
        (void)rec->on_fetch(rec->arg, rec->lane->fetches.rank, &last, &found);
    }
}

void keel_view_adopt(keel_recovery_t *rec, const decision_t *d)
{
    keel_status_t status;

    if ((!decision_is_current(rec, d) || rec->view != KEEL_VIEW_REPORTED) && !KEEL_PLANT(adopt_other_vector)) {
        KEEL_REACHED(decision_for_other_view);
        return;
    }
    keel_recovery_view_event(rec, KEEL_VIEW_DECIDED);
    keel_trace_end(rec->lane->trace, KEEL_TRACE_VIEW, 0);
    keel_trace_instant(rec->lane->trace, KEEL_TRACE_DECISION, d->mode, d->generation, d->front);
    rec->decisions++;
    rec->mode = (keel_mode_t)d->mode;
    if (d->mode == KEEL_DECISION_CATASTROPHE) {
        rec->fatal = KEEL_ERR_CATASTROPHIC;
        return;
    }
    keel_outcome_adopt(rec, d);
    adopt_generation(rec, d);
    keel_sync_adopt(rec->sync, &d->sync, d->mode == KEEL_DECISION_ROLLBACK);
    keel_reasons_merge(&rec->reasons, &d->reasons);
    keel_shrink_adopt(rec, d);
    if (d->mode == KEEL_DECISION_ROLLBACK) {
        keel_recovery_info(rec,
                           keel_shrink_is_from_front(rec) ? "decided: go on from gsync %u without ranks %.*s"
                           : d->is_shrink                 ? "decided: roll back to generation %u without ranks %.*s"
                                                          : "decided: roll back to generation %u (%.*s)",
                           keel_shrink_is_from_front(rec) ? d->front : d->generation, (int)sizeof(d->why), d->why);
        keel_trace_begin(rec->lane->trace, KEEL_TRACE_ROLLBACK, d->generation);
        rec->roll = KEEL_ROLL_PENDING;
        keel_demand_reset(rec->demand);
        rec->rollbacks_in_doubt += d->is_in_doubt;
        rec->roll_target = d->rollback;
        keel_recovery_set_position(rec, rec->phase, KEEL_PLANT(adopt_own_position) ? rec->phase : d->base);
        if (d->generation == 0) { /* the rank with the report may be dead at the next decision */
            rec->is_prefix_closed = 1;
            rec->window_prefix = d->window_calls;
        }
        adopt_help(rec, d);
        return;
    }
    keel_recovery_info(rec, "decided: local recovery from generation %u, front %u", d->generation, d->front);
    adopt_carried(rec, d); /* before the replacement receives the known records */
    status = adopt_demand(rec, d);
    if (status != KEEL_OK) {
        rec->fatal = status;
        return;
    }
    /* A new replacement has done nothing yet. An earlier decision, adopted only by dead
     * processes, has a front that does not apply here. */
    if (keel_recovery_state(rec) == KEEL_RANK_FRESH) {
        keel_recovery_set_position(rec, decision_start(d, rec->lane->rank), d->front);
        keel_sync_begin_replay(rec->sync, &d->sync);
        keel_announced_adopt_before(rec->sync, d->ranks[rec->lane->rank].atomics);
        keel_lane_announce_committed(rec->lane, 0);
        keel_lane_announce_parity(rec->lane, 0);
        keel_lane_set_rollback(rec->lane, d->rollback);
        rec->roll_target = d->rollback;
    } else {
        keel_recovery_set_position(rec, rec->phase, keel_larger(rec->front, d->front));
        rec->recoveries++;
    }
    if (d->generation == 0 && d->is_begun &&
        !rec->is_prefix_closed) { /* the rank with the report may be dead at the next decision */
        rec->is_prefix_closed = 1;
        rec->window_prefix = d->window_calls;
    }
    KEEL_EACH_MEMBER(r, rec->lane) {
        keel_announced_adopt_classes(rec->sync, r, d->ranks[r].classes);
    }
    adopt_atomics(rec, d);
    rec->recovered_front = d->front + 1;
    adopt_peer_states(rec, d);
    adopt_help(rec, d);
    if (keel_recovery_state(rec) != KEEL_RANK_FRESH) {
        (void)keel_repair_rearm(&rec->ckpt->set); /* if the death interrupted the set */
        (void)keel_demand_rearm(rec->demand);
    }
    keel_position_step(rec); /* positions received in the frozen state */
}

void keel_view_receive_decision(void *arg, const keel_control_in_t *in)
{
    keel_recovery_t *rec = arg;
    const decision_t *d = (const void *)in->payload;

    if (in->length != sizeof(*d) + rec->lane->size * sizeof(decision_rank_t) || in->source != rec->lane->leader ||
        d->mode > KEEL_DECISION_CATASTROPHE || d->slot > 1) {
        keel_error(rec->message, "malformed decision from rank %u refused", in->source);
        return;
    }
    keel_view_adopt(rec, d);
}
