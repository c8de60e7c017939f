/*
 * Positions and the progress of hand-overs (protocol/recovery.md).
 *
 * Safety. Towards a peer at the same position accesses are done (LIVE). Towards a peer behind they
 * are only logged, and the log is handed over phase by phase as the peer announces its position.
 * Towards a peer ahead they are only logged, because the peer has them already. The arrival number
 * that a peer sees never exceeds the hand-over: the number is sent after the records, on the same
 * lane. So a peer that leaves gsync k + 1 has every action of phase k. The known position of a
 * recovering peer may be old, but not too high: the peer cannot leave its phase without an arrival
 * from here.
 */
#include "recovery/position.h"
#include "recovery/recovery_status.h"
#include "recovery/recovery.h"
#include "recovery/shrink.h"

#include "check/plant.h"
#include "check/reached.h"
#include "recovery/hand_over.h"
#include "oplog/put_send.h"
#include "peer/members.h"
#include "peer/remote_put.h"
#include "peer/control.h"
#include "peer/issue.h"
#include "peer/arrival.h"
#include "peer/region.h"
#include "oplog/get_log_replay.h"
#include "trace/trace_area.h"

#include <string.h>

typedef struct position_message {
    uint32_t position;
    uint16_t state;
    uint16_t handed; /* position_handed_t */
} position_message_t;

/* Content of a position message: the position only; all ranks have handed over to the sender;
 * all others than those with pending fetches have; the sender has handed over up to its pending
 * fetch. */
typedef enum { HANDED_POSITION_ONLY, HANDED_BY_ALL, HANDED_BY_OTHERS, HANDED_PREFIX } position_handed_t;

void keel_position_replay_event(keel_recovery_t *rec, uint32_t rank, keel_replay_event_t event)
{
    keel_peer_state_t *peer_state = &rec->peer_states[rank];

    peer_state->replay = keel_replay_after(peer_state->replay, event);
}

void keel_position_complete_event(keel_recovery_t *rec, uint32_t rank, keel_complete_event_t event)
{
    keel_peer_state_t *peer_state = &rec->peer_states[rank];

    rec->incomplete_count -= peer_state->complete == KEEL_COMPLETE_NOT;
    peer_state->complete = keel_complete_after(peer_state->complete, event);
    rec->incomplete_count += peer_state->complete == KEEL_COMPLETE_NOT;
}

void keel_position_rank_died(keel_recovery_t *rec, uint32_t rank)
{
    const keel_peer_state_t before = rec->peer_states[rank];

    rec->peer_states[rank] = (keel_peer_state_t){
        .state = KEEL_RANK_FRESH, .complete = before.complete, .hand_over_lost = before.received_end <= rec->phase};
    keel_position_complete_event(rec, rank, KEEL_COMPLETE_DIED);
    keel_announced_forget(rec->sync, rank);
}

/*
 * False while this rank replays critical sections: each access then depends on its section
 * (epoch/lock_replay), not on positions, and other ranks hand nothing over.
 */
static int follows_positions(const keel_recovery_t *rec)
{
    return keel_sync_replays(rec->sync) != KEEL_STYLE_LOCKS;
}

/*
 * True if effects towards this rank, or a rank that is back, may still be in a hand-over. Critical
 * sections have an order of their own.
 */
static int may_be_handed_over(const keel_recovery_t *rec)
{
    return keel_sync_style(rec->sync) != KEEL_STYLE_LOCKS;
}

/* A rank in replay of critical sections may see the arrival once all records of the phase are
 * there. */
static int may_announce_arrival(const keel_recovery_t *rec, uint32_t rank, uint32_t number)
{
    const keel_peer_state_t *peer_state = &rec->peer_states[rank];

    return rec->lane->peers[rank].mode == KEEL_PEER_LIVE || !follows_positions(rec) ||
           (keel_peer_state_is_replaying(peer_state) && peer_state->handed_over_end >= number);
}

keel_status_t keel_position_arrive(keel_recovery_t *rec, uint32_t number)
{
    keel_status_t status = KEEL_OK;

    rec->arrived = number;
    KEEL_EACH_MEMBER_WHILE(r, rec->lane, status == KEEL_OK) {
        if (r != rec->lane->rank && rec->lane->peers[r].is_up && may_announce_arrival(rec, r, number)) {
            status = keel_arrival_post(rec->lane, r, number);
        }
    }
    keel_store_fence();
    KEEL_EACH_MEMBER(r, rec->lane) {
        keel_lane_ring(rec->lane, r);
    }
    return status;
}

static uint32_t arrival_of(const keel_recovery_t *rec, uint32_t rank)
{
    const keel_lane_t *lane = rec->lane;

    return KEEL_PLANT(position_dead_arrivals) ? (uint32_t)lane->board[rank].arrive
                                              : keel_lane_arrived(lane, rank, &lane->board[rank].arrive);
}

int keel_position_is_released(const keel_recovery_t *rec, uint32_t number)
{
    return keel_recovery_state(rec) == KEEL_RANK_FRONT && rec->front >= number;
}

int keel_position_may_leave(keel_recovery_t *rec, uint32_t number)
{
    if (keel_recovery_is_frozen(rec) && !KEEL_PLANT(position_leave_frozen)) {
        return 0;
    }
    if (keel_position_is_released(rec, number)) {
        KEEL_REACHED(gsync_released);
        return 1;
    }
    /* All go on from the front. Behind it all members may have arrived, without the gone ranks. */
    if (rec->shrink.is_under_way && !KEEL_PLANT(position_leave_shrinking)) {
        return 0;
    }
    /* all ranks, beginning with the last missing one */
    KEEL_EACH_MEMBER_FROM(r, rec->lane, rec->missing_arrival) {
        if (r != rec->lane->rank && arrival_of(rec, r) < number &&
            !(KEEL_PLANT(position_leave_without_behind) && keel_recovery_state(rec) == KEEL_RANK_RECOVERING &&
              rec->peer_states[r].state == KEEL_RANK_RECOVERING && rec->peer_states[r].position < rec->phase)) {
            rec->missing_arrival = r;
            return 0;
        }
    }
    return 1;
}

static int is_handed_over(const keel_recovery_t *rec)
{
    KEEL_EACH_MEMBER_WHILE(r, rec->lane, rec->life == KEEL_LIFE_AWAITING && follows_positions(rec)) {
        if (r != rec->lane->rank && rec->peer_states[r].received_end <= rec->phase &&
            !KEEL_PLANT(position_hand_over_unawaited)) {
            return 0;
        }
    }
    return 1;
}

int keel_position_is_handed_over(const keel_recovery_t *rec)
{
    return is_handed_over(rec) || (KEEL_REACHED(gsync_awaits_hand_over), 0);
}

/* True if @a rank died before it handed its earlier accesses over to the process. */
int keel_position_lost_hand_over(const keel_recovery_t *rec, uint32_t rank)
{
    const keel_peer_state_t *peer_state = &rec->peer_states[rank];

    return rec->life == KEEL_LIFE_AWAITING && peer_state->hand_over_lost && peer_state->received_end <= rec->phase;
}

static position_message_t position_message(const keel_recovery_t *rec, position_handed_t handed)
{
    return (position_message_t){
        .position = rec->phase, .state = (uint16_t)keel_recovery_state(rec), .handed = (uint16_t)handed};
}

static void position_announce(keel_recovery_t *rec, position_handed_t handed)
{
    const position_message_t message = position_message(rec, handed);

    (void)keel_lane_control_send_all(rec->lane, KEEL_CONTROL_POSITION, &message, sizeof(message));
}

void keel_position_announce(keel_recovery_t *rec)
{
    position_announce(rec, HANDED_POSITION_ONLY);
}

/* True if all ranks have handed over, except for pending fetches and the records after them. */
static int have_others_handed_over(const keel_recovery_t *rec)
{
    int has_rest = 0;

    KEEL_EACH_MEMBER_WHILE(r, rec->lane, rec->life == KEEL_LIFE_AWAITING) {
        const keel_peer_state_t *peer_state = &rec->peer_states[r];

        if (r == rec->lane->rank || peer_state->received_end > rec->phase) {
            continue;
        }
        if (!keel_peer_state_has(peer_state, KEEL_TRANSFER_PREFIX_RECEIVED)) {
            return 0;
        }
        has_rest = 1;
    }
    return has_rest;
}

void keel_position_announce_complete(keel_recovery_t *rec)
{
    const int is_complete = rec->life == KEEL_LIFE_AWAITING && is_handed_over(rec);
    const int others_done = have_others_handed_over(rec);

    if (is_complete && !rec->is_complete_announced) {
        position_announce(rec, HANDED_BY_ALL);
    } else if (others_done && !rec->is_others_announced) {
        position_announce(rec, HANDED_BY_OTHERS);
    }
    rec->is_others_announced = others_done;
    /* a rank that has died since has to hand over again, and its replacement has to be told */
    rec->is_complete_announced = is_complete;
}

/*
 * False for ranks that re-execute earlier phases together: had their predecessors fetched, or mixed
 * classes, the job would roll back. False for critical sections.
 * A rank in replay of waits asks for its records, and is complete when it goes live. But in the
 * phase of the first wait a replacement may receive a hand-over.
 */
int keel_position_is_incomplete(const keel_recovery_t *rec, uint32_t rank)
{
    if (keel_recovery_state(rec) != KEEL_RANK_FRONT || !may_be_handed_over(rec)) {
        return 0;
    }
    if (rank == rec->lane->rank) {
        return keel_sync_replays(rec->sync) == KEEL_STYLE_GSYNCS && !is_handed_over(rec);
    }
    return !keel_peer_state_is_replaying(&rec->peer_states[rank]) &&
           rec->peer_states[rank].complete == KEEL_COMPLETE_NOT;
}

int keel_position_blocks_atomic(const keel_recovery_t *rec, uint32_t rank, unsigned op, int fetches)
{
    if (!keel_position_is_incomplete(rec, rank) || (fetches && KEEL_PLANT(position_fetched_incomplete))) {
        return 0;
    }
    /* a fetched value of the phase may reflect atomics without a hand-over yet */
    return fetches || keel_announced_has_fetched(rec->sync) ||
           (!keel_classes_commute(keel_announced_classes_at(rec->sync, rank, op)) &&
            !KEEL_PLANT(position_mixed_incomplete));
}

void keel_position_leave(keel_recovery_t *rec, uint32_t number)
{
    keel_recovery_set_position(rec, number, rec->front);
    keel_shrink_note_gsync(rec);
    keel_waits_begin_phase(rec->sync);
    keel_put_log_set_phase(rec->puts, number);
    keel_get_log_set_phase(rec->gets, number);
    if (keel_recovery_state(rec) == KEEL_RANK_RECOVERING) {
        KEEL_REACHED(gsync_handed);
        if (number >= rec->front) {
            keel_recovery_info(rec, "front %u reached", number);
            keel_recovery_life_event(rec, KEEL_LIFE_REACHES_FRONT);
            rec->front_reached = number + 1;
            /* the predecessor may have died in this phase */
            keel_remote_put_from(rec->lane, number + 1);
            rec->recoveries++;
            rec->times[KEEL_TIME_REPLAY] = keel_recovery_now(rec) - rec->mark_ns;
            keel_trace_end(rec->lane->trace, KEEL_TRACE_REPLAY, number);
            keel_trace_begin(rec->lane->trace, KEEL_TRACE_CATCH_UP, number);
        }
        keel_position_announce(rec);
    }
    keel_position_step(rec);
}

/* The rank has freed the same windows as the process, and gets no more hand-overs for them. */
static void set_live(keel_recovery_t *rec, uint32_t rank)
{
    keel_lane_set_mode(rec->lane, rank, KEEL_PEER_LIVE);
    keel_lane_regions_close_retired(rec->lane, rank);
}

void keel_position_go_live_caught_up(keel_recovery_t *rec)
{
    KEEL_EACH_MEMBER(r, rec->lane) {
        if (r == rec->lane->rank || !rec->lane->peers[r].is_up) {
            continue;
        }
        /* else inside a section there, with records still to be sent */
        if (rec->lane->peers[r].mode != KEEL_PEER_LIVE) {
            keel_put_log_mark_sent(rec->puts, r);
            set_live(rec, r);
        }
        (void)keel_arrival_send(rec->lane, r, keel_larger(rec->arrived, keel_position(rec)));
        keel_hand_over_announce(rec, r);
    }
    (void)keel_lane_control_send_all(rec->lane, KEEL_CONTROL_CAUGHT_UP, NULL, 0);
}

int keel_position_is_undecided(const keel_recovery_t *rec, uint32_t rank)
{
    return keel_recovery_is_frozen(rec) && !keel_recovery_is_finished(rec) &&
           rec->lane->peers[rank].mode != KEEL_PEER_LIVE && may_be_handed_over(rec) &&
           !KEEL_PLANT(position_flush_undecided);
}

int keel_position_blocks_puts(const keel_recovery_t *rec, uint32_t rank)
{
    const keel_peer_mode_t mode = rec->lane->peers[rank].mode;

    return (keel_peer_state_defers_puts(&rec->peer_states[rank]) && mode != KEEL_PEER_LIVE &&
            mode != KEEL_PEER_AHEAD) ||
           (keel_sync_style(rec->sync) == KEEL_STYLE_WAITS && keel_position_is_undecided(rec, rank));
}

/* A program that waits: the rank in replay has asked for the rest of the phase. */
static void send_rest(keel_recovery_t *rec, uint32_t rank)
{
    keel_peer_state_t *peer_state = &rec->peer_states[rank];
    keel_status_t status;

    if (peer_state->replay != KEEL_REPLAY_DONE) {
        return;
    }
    status = keel_waits_send_remaining(rec->sync, rank, keel_position(rec), peer_state->records_sent);
    if (status != KEEL_OK) {
        keel_error(rec->message, "what was put could not be sent to rank %u: %s", rank, keel_status_string(status));
        rec->fatal = status;
        return;
    }
    keel_position_replay_event(rec, rank, KEEL_REPLAY_SENDS_REST);
}

/* The rank has replayed the rest: later puts come after the rest. */
static void go_live_rest_done(keel_recovery_t *rec, uint32_t rank)
{
    keel_peer_state_t *peer_state = &rec->peer_states[rank];

    keel_put_log_mark_sent(rec->puts, rank);
    set_live(rec, rank);
    keel_position_replay_event(rec, rank, KEEL_REPLAY_LIVE);
    peer_state->records_sent = 0;
    if (keel_announced_send(rec->sync, rank) == KEEL_OK &&
        keel_arrival_send(rec->lane, rank, keel_larger(rec->arrived, keel_position(rec))) == KEEL_OK) {
        keel_hand_over_announce(rec, rank);
    }
}

/* A repeated fetch has to include every effect that some rank has found. So the rank waits for
 * all hand-overs with such effects. */
static void position_hand_prefix(keel_recovery_t *rec, uint32_t rank)
{
    keel_peer_state_t *peer_state = &rec->peer_states[rank];
    const position_message_t message = position_message(rec, HANDED_PREFIX);

    if (!keel_peer_state_has(peer_state, KEEL_TRANSFER_PREFIX_SENT) && keel_hand_over_prefix(rec, rank) == KEEL_OK) {
        (void)keel_lane_control_send(rec->lane, rank, KEEL_CONTROL_POSITION, &message, sizeof(message));
        peer_state->transfers |= KEEL_TRANSFER_PREFIX_SENT;
    }
}

static void go_live(keel_recovery_t *rec, uint32_t rank)
{
    keel_peer_state_t *peer_state = &rec->peer_states[rank];
    const uint32_t mine = keel_position(rec);

    if (rec->lane->peers[rank].mode == KEEL_PEER_LIVE) {
        return;
    }
    if (peer_state->replay == KEEL_REPLAY_PHASES) {
        keel_hand_over_to_replay(rec, rank, mine, keel_larger(rec->arrived, mine));
        return;
    }
    if (keel_peer_state_is_replaying(peer_state) && keel_sync_style(rec->sync) == KEEL_STYLE_WAITS) {
        send_rest(rec, rank);
        if (peer_state->replay == KEEL_REPLAY_REST_DONE) {
            go_live_rest_done(rec, rank);
        }
        return;
    }
    if (keel_peer_state_has(peer_state, KEEL_TRANSFER_HOLD_BACK) &&
        !keel_peer_state_has(peer_state, KEEL_TRANSFER_OTHERS_SENT)) {
        position_hand_prefix(rec, rank);
        return;
    }
    if (keel_hand_over(rec, rank, mine, keel_larger(rec->arrived, mine)) == KEEL_OK) {
        KEEL_PLANT_CALL(position_refill_last, rec, rank);
        keel_put_log_mark_sent(rec->puts, rank);
        set_live(rec, rank);
        keel_sections_release_due(rec->sync, rank);
        keel_position_replay_event(
            rec, rank, (peer_state->state == KEEL_RANK_FRONT) ? KEEL_REPLAY_LIVE_AT_FRONT : KEEL_REPLAY_LIVE);
        peer_state->records_sent = 0;
        keel_hand_over_announce(rec, rank);
    }
}

static void peer_state_step(keel_recovery_t *rec, uint32_t rank)
{
    keel_peer_state_t *peer_state = &rec->peer_states[rank];
    keel_peer_t *peer = &rec->lane->peers[rank];
    const uint32_t mine = keel_position(rec);

    if (!peer->is_up || peer_state->state == KEEL_RANK_FRESH) {
        return;
    }
    if (!keel_peer_state_has(peer_state, KEEL_TRANSFER_GETLOG_REFILLED)) {
        if (!KEEL_PLANT(position_no_refill) && !KEEL_PLANT(position_refill_last)) {
            (void)keel_get_log_refill(rec->gets, rank);
        }
        if (!KEEL_PLANT(position_refill_unannounced)) {
            (void)keel_announced_send(rec->sync, rank);
        }
        peer_state->transfers |= KEEL_TRANSFER_GETLOG_REFILLED;
    }
    if (!follows_positions(rec)) {
        return;
    }
    if (peer_state->state == KEEL_RANK_FRONT) {
        if (keel_recovery_state(rec) == KEEL_RANK_FRONT) {
            KEEL_REACHED(hand_front);
            go_live(rec, rank);
        } else {
            keel_lane_set_mode(rec->lane, rank, KEEL_PEER_AHEAD);
        }
    } else if (mine == peer_state->position) {
        KEEL_REACHED(hand_pair);
        go_live(rec, rank);
    } else if (mine < peer_state->position) {
        keel_lane_set_mode(rec->lane, rank, KEEL_PEER_AHEAD);
    } else {
        keel_lane_set_mode(rec->lane, rank, KEEL_PEER_BEHIND);
        if (keel_peer_state_is_replaying(peer_state)) {
            keel_hand_over_to_replay(rec, rank, peer_state->position, peer_state->position + 1);
        } else if (peer_state->handed_over_end <= peer_state->position) {
            KEEL_REACHED(hand_behind);
            (void)keel_hand_over(rec, rank, peer_state->position, peer_state->position + 1);
        }
    }
}

void keel_position_step(keel_recovery_t *rec)
{
    if (keel_recovery_is_frozen(rec) || rec->roll != KEEL_ROLL_NONE || keel_recovery_state(rec) == KEEL_RANK_FRESH ||
        rec->fatal != KEEL_OK) {
        return;
    }
    KEEL_EACH_MEMBER(r, rec->lane) {
        if (r != rec->lane->rank) {
            peer_state_step(rec, r);
        }
    }
}

void keel_position_receive(void *arg, const keel_control_in_t *in)
{
    keel_recovery_t *rec = arg;
    const position_message_t *message = (const void *)in->payload;
    keel_peer_state_t *peer_state = &rec->peer_states[in->source];

    if (in->length != sizeof(*message) || message->state >= KEEL_RANK_FRESH) {
        keel_error(rec->message, "malformed position from rank %u refused", in->source);
        return;
    }
    peer_state->state = (keel_rank_state_t)message->state;
    peer_state->position = message->position;
    if (message->handed == HANDED_BY_ALL) {
        keel_position_complete_event(rec, in->source, KEEL_COMPLETE_REPORTS);
    } else if (message->handed == HANDED_BY_OTHERS) {
        peer_state->transfers |= KEEL_TRANSFER_OTHERS_SENT;
    } else if (message->handed == HANDED_PREFIX) {
        peer_state->transfers |= KEEL_TRANSFER_PREFIX_RECEIVED;
    }
    keel_position_step(rec);
}
