/*
 * Positions and the hand-over (design 4.7).
 *
 * Safety. Towards a peer at the same position accesses are done (LIVE); towards one that is behind they are only logged,
 * and it is handed the log phase by phase as it says its position; towards one that is ahead they are only logged,
 * because it has them already. The arrival number a peer sees from this process never exceeds what it was handed: it is
 * sent behind the records, on the same lane, so a peer that leaves gsync k + 1 has every action of phase k. What is known
 * of a recovering peer's position may be old, never too high: it cannot leave its phase without this process's arrival.
 */
#include "recovery/recovery.h"

#include "base/plant.h"
#include "base/reached.h"
#include "lane/apply.h"

#include <string.h>

typedef struct position_message {
    uint32_t position;
    uint16_t state;
    uint16_t is_whole; /* all have handed over to it */
} position_message_t;

/* whoever replays critical sections has everything of the phase that this process had to send it */
static int arrival_is_due(const keel_recovery_t *rec, uint32_t rank, uint32_t number)
{
    const keel_place_t *place = &rec->places[rank];

    return rec->lane->peers[rank].mode == KEEL_PEER_LIVE || rec->sections.is_replaying ||
           (place->is_replaying && place->handed >= number);
}

keel_status_t keel_position_arrive(keel_recovery_t *rec, uint32_t number)
{
    keel_status_t status = KEEL_OK;

    rec->arrived = number;
    for (uint32_t r = 0; r < rec->lane->size && status == KEEL_OK; r++) {
        if (r != rec->lane->rank && rec->lane->peers[r].is_up && arrival_is_due(rec, r, number)) {
            status = keel_lane_board_post(rec->lane, r, number);
        }
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (uint32_t r = 0; r < rec->lane->size; r++) {
        keel_lane_ring(rec->lane, r);
    }
    return status;
}

static uint32_t arrival_of(const keel_recovery_t *rec, uint32_t rank)
{
    const keel_lane_t *lane = rec->lane;

    if (KEEL_PLANT(dead_arrivals)) {
        return (uint32_t)lane->board[rank].arrive;
    }
    return keel_arrive_number(__atomic_load_n(&lane->board[rank].arrive, __ATOMIC_ACQUIRE), lane->rollback,
                              lane->peers[rank].incarnation);
}

int keel_position_is_released(const keel_recovery_t *rec, uint32_t number)
{
    return rec->state == KEEL_RANK_FRONT && rec->front >= number;
}

int keel_position_may_leave(keel_recovery_t *rec, uint32_t number)
{
    const uint32_t size = rec->lane->size;

    if (rec->is_frozen && !KEEL_PLANT(leave_frozen)) {
        return 0;
    }
    if (keel_position_is_released(rec, number)) {
        KEEL_REACHED(gsync_released);
        return 1;
    }
    /* all of them, beginning with the one that was missing when this was asked last */
    for (uint32_t step = 0, r = rec->awaited; step < size; step++, r = (r + 1 < size) ? r + 1 : 0) {
        if (KEEL_PLANT(leave_without_behind) && rec->state == KEEL_RANK_RECOVERING &&
            rec->places[r].state == KEEL_RANK_RECOVERING && rec->places[r].position < rec->phase) {
            continue;
        }
        if (r != rec->lane->rank && arrival_of(rec, r) < number) {
            rec->awaited = r;
            return 0;
        }
    }
    return 1;
}

static int has_hands(const keel_recovery_t *rec)
{
    for (uint32_t r = 0; rec->awaits_hands && !rec->sections.is_replaying && r < rec->lane->size; r++) {
        if (r != rec->lane->rank && rec->places[r].hands <= rec->phase && !KEEL_PLANT(no_wait_for_hands)) {
            return 0;
        }
    }
    return 1;
}

int keel_position_has_hands(const keel_recovery_t *rec)
{
    return has_hands(rec) || (KEEL_REACHED(gsync_awaits_hands), 0);
}

/* @a rank died, and what it had done here before this process was there did not come back */
int keel_position_is_unhanded(const keel_recovery_t *rec, uint32_t rank)
{
    const keel_place_t *place = &rec->places[rank];

    return rec->awaits_hands && place->is_unhanded && place->hands <= rec->phase;
}

static void position_say(keel_recovery_t *rec, int is_whole)
{
    position_message_t message = {
        .position = rec->phase, .state = (uint16_t)rec->state, .is_whole = (uint16_t)is_whole};

    (void)keel_lane_control_send_all(rec->lane, KEEL_CONTROL_POSITION, &message, sizeof(message));
}

void keel_position_say(keel_recovery_t *rec)
{
    position_say(rec, 0);
}

void keel_position_tell_whole(keel_recovery_t *rec)
{
    const int is_whole = rec->awaits_hands && has_hands(rec);

    if (is_whole && !rec->is_whole_told) {
        position_say(rec, 1);
    }
    rec->is_whole_told = is_whole; /* who has died since has to hand over again, and its replacement to be told */
}

uint32_t keel_classes_known(const keel_recovery_t *rec, uint32_t rank)
{
    const uint32_t told =
        (rank == rec->lane->rank) ? rec->classes : (uint32_t)keel_board_get(&rec->lane->board[rank].classes);

    return told | rec->places[rank].classes;
}

/* Those that re-execute earlier phases together need not: had their predecessors fetched, or mixed classes, all would roll back. */
int keel_position_is_short(const keel_recovery_t *rec, uint32_t rank)
{
    if (rec->state != KEEL_RANK_FRONT || rec->sections.is_used || keel_waits_are_used(rec)) {
        return 0;
    }
    return (rank == rec->lane->rank) ? !has_hands(rec) : rec->places[rank].is_short;
}

int keel_position_holds(const keel_recovery_t *rec, uint32_t rank, unsigned op, int fetches)
{
    uint32_t classes;

    if (!keel_position_is_short(rec, rank) || (fetches && KEEL_PLANT(fetched_short))) {
        return 0;
    }
    classes = keel_classes_bit(op, 0) | keel_classes_own(keel_classes_known(rec, rank));
    for (uint32_t r = 0; r < rec->lane->size; r++) {
        classes |= keel_classes_others(keel_classes_known(rec, r));
    }
    return fetches || (!keel_classes_commute(classes) && !KEEL_PLANT(mixed_short));
}

void keel_position_leave(keel_recovery_t *rec, uint32_t number)
{
    rec->phase = number;
    keel_waits_begin_phase(rec);
    keel_put_log_set_phase(rec->puts, number);
    keel_get_log_set_phase(rec->gets, number);
    if (rec->state == KEEL_RANK_RECOVERING) {
        KEEL_REACHED(gsync_handed);
        if (number >= rec->front) {
            keel_recovery_say(rec, "front %u reached", number);
            rec->state = KEEL_RANK_FRONT;
            rec->awaits_hands = 1;
            rec->returned = number + 1;
            rec->recoveries++;
            rec->times[KEEL_TIME_REPLAY] = keel_recovery_now(rec) - rec->mark_ns;
        }
        keel_position_say(rec);
    }
    keel_position_step(rec);
}

typedef struct hand_over {
    keel_recovery_t *rec;
    uint32_t rank, phase;
    uint64_t number; /* of the next record in the phase */
    uint32_t skip;   /* the first records of the phase, which it has */
} hand_over_t;

/* what the target counts it as */
static uint32_t hand_over_number(const hand_over_t *over, uint32_t behind)
{
    return (uint32_t)keel_lane_done_word(over->rec->lane, 0, over->number + behind);
}

static void hand_over_record(const hand_over_t *over, char *window, const keel_record_t *record)
{
    const keel_fetch_t fetch = {.record = record, .phase = over->phase};
    keel_lane_t *lane = over->rec->lane;
    char *target = window + keel_where_offset(record->where);
    keel_board_slot_t *board = keel_lane_region_ptr(lane, over->rank, KEEL_REGION_BOARD);
    uint64_t old;

    KEEL_STORES();
    if (keel_where_op(record->where) == KEEL_RECORD_CLOCK) {
        return;
    }
    if (keel_where_op(record->where) == KEEL_RECORD_PUT) {
        memcpy(target, record + 1, record->length);
    } else {
        keel_board_mark(&board[lane->rank], over->phase, 1);
        KEEL_STORES();
        old = keel_apply_atomic(target, (const void *)(record + 1));
        (void)over->rec->on_fetch(over->rec->arg, over->rank, &fetch, &old);
    }
}

static int is_fetching(const keel_record_t *record)
{
    return keel_where_op(record->where) == KEEL_RECORD_ATOMIC && ((const keel_record_atomic_t *)(record + 1))->fetches;
}

static keel_status_t hand_over_send(hand_over_t *over, const void *from, const void *to, uint32_t count)
{
    const uint32_t number = hand_over_number(over, 0);

    over->number += count;
    return (count == 0) ? KEEL_OK
                        : keel_lane_send_records(over->rec->lane, over->rank, over->phase, number, from,
                                                 (size_t)((const uint8_t *)to - (const uint8_t *)from));
}

/* as they lie; a value that is still awaited is asked for on the way */
static keel_status_t hand_over_served(hand_over_t *over, keel_records_t run)
{
    keel_status_t status = KEEL_OK;
    const keel_record_t *record;
    const void *from = run.at;
    uint32_t count = 0;

    while (status == KEEL_OK && (record = keel_records_next(&run)) != NULL) {
        keel_fetch_t fetch = {.record = record, .phase = over->phase, .number = hand_over_number(over, count)};

        if (!is_fetching(record)) {
            count++;
            continue;
        }
        status = hand_over_send(over, from, record, count);
        if (status == KEEL_OK && over->rec->on_fetch(over->rec->arg, over->rank, &fetch, NULL)) {
            over->number++;
            from = run.at;
            count = 0;
        } else {
            from = record;
            count = 1;
        }
    }
    return (status == KEEL_OK) ? hand_over_send(over, from, run.end, count) : status;
}

static keel_status_t hand_over_run(void *arg, const keel_record_t *records, size_t length)
{
    hand_over_t *over = arg;
    keel_lane_t *lane = over->rec->lane;
    keel_records_t run = keel_records_of(records, length);
    const keel_record_t *record, *first;

    if (KEEL_PLANT(no_hand_over)) {
        return KEEL_OK;
    }
    while (over->number < over->skip && keel_records_next(&run) != NULL) {
        over->number++;
    }
    if (!keel_lane_has_direct(lane, over->rank)) {
        return hand_over_served(over, run);
    }
    first = (const void *)run.at;
    while ((record = keel_records_next(&run)) != NULL) {
        char *window = keel_lane_region_ptr(lane, over->rank, keel_where_region(record->where));

        if (window == NULL && keel_lane_region_is_unmapped(lane, over->rank, keel_where_region(record->where))) {
            return KEEL_ERR_UNREACHABLE; /* it has just died: the launcher will say so */
        }
        if (window == NULL) {
            keel_error(over->rec->message, "rank %u has no window %u to be handed phase %u", over->rank,
                       keel_where_region(record->where) - KEEL_REGION_WINDOW0, over->phase);
            return KEEL_ERR_STATE;
        }
        hand_over_record(over, window, record);
        if (KEEL_PLANT(records_reordered) && keel_records_are_over(&run)) {
            hand_over_record(over, keel_lane_region_ptr(lane, over->rank, keel_where_region(first->where)), first);
        }
    }
    return KEEL_OK;
}

/* its predecessor was told; should this process die together with whom it fetched from, nobody else may know */
static keel_status_t tell_fetched(keel_recovery_t *rec, uint32_t rank)
{
    const uint32_t marked = keel_larger(rec->marked, rec->atomics_before);
    keel_status_t status = KEEL_OK;

    if (marked > 0 && !KEEL_PLANT(fetches_untold)) {
        status = keel_lane_mark_atomics(rec->lane, rank, marked - 1, 0);
    }
    if (status == KEEL_OK && rec->marked_own > 0) {
        status = keel_lane_mark_atomics(rec->lane, rank, rec->marked_own - 1, 1);
    }
    if (status == KEEL_OK && rec->begun > 0) {
        status = keel_lane_mark_atomics(rec->lane, rank, rec->begun - 1, 0);
    }
    if (status == KEEL_OK && rec->classes != 0) {
        status = keel_lane_tell_classes(rec->lane, rank, rec->classes);
    }
    return status;
}

/* all logged actions of @a phase towards @a rank, in order, those from before its death too; then the arrival */
static keel_status_t hand_over(keel_recovery_t *rec, uint32_t rank, uint32_t phase, uint32_t arrival)
{
    hand_over_t over = {.rec = rec, .rank = rank, .phase = phase, .skip = rec->places[rank].streamed};
    uint64_t count = 0;
    keel_status_t status;

    if (KEEL_PLANT(arrival_before_records)) {
        (void)keel_lane_board_send(rec->lane, rank, arrival);
    }
    status = tell_fetched(rec, rank);
    KEEL_STORES();
    if (status == KEEL_OK) {
        status = keel_put_log_for_phase(rec->puts, rank, phase, rec->lane->ops->max_data, hand_over_run, &over, &count);
    }
    if (KEEL_PLANT(record_twice)) {
        (void)keel_put_log_for_phase(rec->puts, rank, phase, rec->lane->ops->max_data, hand_over_run, &over, &count);
    }
    if (status == KEEL_ERR_UNREACHABLE) {
        return status;
    }
    if (status != KEEL_OK) {
        keel_error(rec->message, "handing phase %u over to rank %u failed: %s", phase, rank,
                   keel_status_string(status));
        rec->fatal = status;
        return status;
    }
    if (phase == rec->puts->phase) {
        keel_put_log_has_numbers(rec->puts, rank, over.number); /* those on the direct lane had none */
        if (rec->sections.is_used) {
            keel_put_log_tell_done(rec->puts, rank);
        }
    }
    rec->replayed_puts += count;
    rec->places[rank].given += count;
    rec->places[rank].handed = phase + 1;
    return keel_lane_board_send(rec->lane, rank, arrival);
}

/* a program that locks or waits: what was done in @a phase at @a rank, which replays it in its order; then the arrival */
static void send_to_replay(keel_recovery_t *rec, uint32_t rank, uint32_t phase, uint32_t arrival)
{
    keel_place_t *place = &rec->places[rank];
    keel_status_t status;

    if (place->handed > phase) {
        return;
    }
    status = keel_waits_are_used(rec) ? keel_waits_send(rec, rank, phase, &place->streamed)
                                      : keel_sections_send(rec, rank, phase, &place->streamed);
    if (status == KEEL_OK) {
        place->handed = phase + 1;
        place->given += place->streamed;
        rec->replayed_puts += place->streamed;
        status = keel_lane_board_send(rec->lane, rank, arrival);
    }
    if (status != KEEL_OK) {
        keel_error(rec->message, "what was done in phase %u could not be sent to rank %u: %s", phase, rank,
                   keel_status_string(status));
        rec->fatal = status;
    }
}

/* it has freed what this process has, and is handed nothing more of it */
static void set_live(keel_recovery_t *rec, uint32_t rank)
{
    keel_lane_set_mode(rec->lane, rank, KEEL_PEER_LIVE);
    keel_lane_regions_close_retired(rec->lane, rank);
}

void keel_position_go_live_whole(keel_recovery_t *rec)
{
    for (uint32_t r = 0; r < rec->lane->size; r++) {
        if (r == rec->lane->rank || !rec->lane->peers[r].is_up) {
            continue;
        }
        if (rec->lane->peers[r].mode != KEEL_PEER_LIVE) { /* else inside a section there, with records to be sent */
            keel_put_log_mark_sent(rec->puts, r);
            set_live(rec, r);
        }
        (void)keel_lane_board_send(rec->lane, r, keel_larger(rec->arrived, keel_position(rec)));
        keel_hands_say(rec, r);
    }
}

/* a program that waits: whoever replays has asked for the rest */
static void send_rest(keel_recovery_t *rec, uint32_t rank)
{
    keel_place_t *place = &rec->places[rank];
    keel_status_t status;

    if (place->is_held) {
        return;
    }
    status = keel_waits_send_rest(rec, rank, keel_position(rec), place->streamed);
    if (status != KEEL_OK) {
        keel_error(rec->message, "what was put could not be sent to rank %u: %s", rank, keel_status_string(status));
        rec->fatal = status;
        return;
    }
    place->is_held = 1;
}

/* and has replayed that: what is put from now on comes behind it */
static void go_live_taken(keel_recovery_t *rec, uint32_t rank)
{
    keel_place_t *place = &rec->places[rank];

    keel_put_log_mark_sent(rec->puts, rank);
    set_live(rec, rank);
    place->is_replaying = place->is_held = 0;
    place->streamed = 0;
    if (tell_fetched(rec, rank) == KEEL_OK &&
        keel_lane_board_send(rec->lane, rank, keel_larger(rec->arrived, keel_position(rec))) == KEEL_OK) {
        keel_hands_say(rec, rank);
    }
}

static void go_live(keel_recovery_t *rec, uint32_t rank)
{
    const uint32_t mine = keel_position(rec);

    if (rec->lane->peers[rank].mode == KEEL_PEER_LIVE) {
        return;
    }
    if (rec->places[rank].is_replaying && !rec->places[rank].is_whole) {
        send_to_replay(rec, rank, mine, keel_larger(rec->arrived, mine));
        return;
    }
    if (rec->places[rank].is_replaying && keel_waits_are_used(rec)) {
        send_rest(rec, rank);
        if (rec->places[rank].is_taken) {
            go_live_taken(rec, rank);
        }
        return;
    }
    if (hand_over(rec, rank, mine, keel_larger(rec->arrived, mine)) == KEEL_OK) {
        if (KEEL_PLANT(refill_last)) {
            (void)keel_get_log_refill(rec->gets, rank);
        }
        keel_put_log_mark_sent(rec->puts, rank);
        set_live(rec, rank);
        keel_sections_release_due(rec, rank);
        rec->places[rank].is_replaying = 0;
        rec->places[rank].is_held &= (rec->places[rank].state != KEEL_RANK_FRONT); /* it may fall behind again */
        rec->places[rank].streamed = 0;
        keel_hands_say(rec, rank);
    }
}

static void place_step(keel_recovery_t *rec, uint32_t rank)
{
    keel_place_t *place = &rec->places[rank];
    keel_peer_t *peer = &rec->lane->peers[rank];
    const uint32_t mine = keel_position(rec);

    if (!peer->is_up || place->state == KEEL_RANK_FRESH ||
        (place->state == KEEL_RANK_RECOVERING && !place->is_placed)) {
        return;
    }
    if (!place->is_refilled) {
        if (!KEEL_PLANT(no_refill) && !KEEL_PLANT(refill_last)) {
            (void)keel_get_log_refill(rec->gets, rank);
        }
        if (!KEEL_PLANT(refill_untold)) {
            KEEL_STORES();
            (void)tell_fetched(rec, rank);
        }
        KEEL_STORES();
        place->is_refilled = 1;
    }
    if (rec->sections.is_replaying) {
        return; /* what an access does depends on its critical section (rma/lock) */
    }
    if (place->state == KEEL_RANK_FRONT) {
        if (rec->state == KEEL_RANK_FRONT) {
            KEEL_REACHED(hand_front);
            go_live(rec, rank);
        } else {
            keel_lane_set_mode(rec->lane, rank, KEEL_PEER_AHEAD);
        }
    } else if (mine == place->position) {
        KEEL_REACHED(hand_pair);
        go_live(rec, rank);
    } else if (mine < place->position) {
        keel_lane_set_mode(rec->lane, rank, KEEL_PEER_AHEAD);
    } else {
        keel_lane_set_mode(rec->lane, rank, KEEL_PEER_BEHIND);
        if (place->is_replaying) {
            send_to_replay(rec, rank, place->position, place->position + 1);
        } else if (place->handed <= place->position) {
            KEEL_REACHED(hand_behind);
            (void)hand_over(rec, rank, place->position, place->position + 1);
        }
    }
}

void keel_position_step(keel_recovery_t *rec)
{
    if (rec->is_frozen || rec->roll != KEEL_ROLL_NONE || rec->state == KEEL_RANK_FRESH || rec->fatal != KEEL_OK) {
        return;
    }
    for (uint32_t r = 0; r < rec->lane->size; r++) {
        if (r != rec->lane->rank) {
            place_step(rec, r);
        }
    }
}

void keel_position_receive(keel_recovery_t *rec, const keel_control_in_t *in)
{
    const position_message_t *message = (const void *)in->payload;
    keel_place_t *place = &rec->places[in->source];

    if (in->length != sizeof(*message) || message->state >= KEEL_RANK_FRESH) {
        keel_error(rec->message, "malformed position from rank %u refused", in->source);
        return;
    }
    place->state = (keel_rank_state_t)message->state;
    place->position = message->position;
    place->is_placed = 1;
    if (message->is_whole) {
        place->is_whole_told = 1;
        rec->short_count -= place->is_short;
        place->is_short = 0;
    }
    keel_position_step(rec);
}
