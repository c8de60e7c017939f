/* Hand-over of logged accesses to a rank that lost them. */
#include "recovery/hand_over.h"

#include "check/plant.h"
#include "peer/access.h"
#include "peer/apply.h"
#include "peer/combine.h"
#include "peer/issue.h"
#include "peer/arrival.h"
#include "peer/region.h"
#include "peer/store_part.h"
#include "recovery/recovery.h"
#include "recovery/rollback_request.h"
#include "trace/trace_area.h"

#include <string.h>

typedef struct hand_over {
    keel_recovery_t *rec;
    uint32_t rank, phase;
    uint64_t number; /* number of the next record in the phase */
    uint32_t skip;   /* first records of the phase, already at the rank */
    int is_prefix;   /* stop at the first record with a pending value */
    int is_over;     /* the record with a pending value was met */
} hand_over_t;

/* The number under which the target counts the record. */
static uint32_t hand_over_number(const hand_over_t *over, uint32_t behind)
{
    return (uint32_t)keel_lane_done_word(over->rec->lane, 0, over->number + behind);
}

static char *hand_over_window(const hand_over_t *over, uint64_t where)
{
    return keel_access_at(over->rec->lane, over->rank, keel_where_region(where));
}

static void hand_over_parts(const hand_over_t *over, const keel_record_t *record)
{
    keel_parts_t parts = keel_parts_of(record, record + 1);
    keel_blocks_part_t part;

    while (keel_parts_next(&parts, &part) && !(KEEL_PLANT(hand_over_last_part_missed) && keel_parts_at_end(&parts))) {
        keel_store_part(hand_over_window(over, part.where) + keel_where_offset(part.where), &part);
    }
}

/* A region of the record that the replacement lacks; 0: none. */
static unsigned hand_over_lacks(const hand_over_t *over, const keel_record_t *record)
{
    keel_parts_t parts = keel_parts_of(record, record + 1);
    keel_blocks_part_t part;
    unsigned region = (hand_over_window(over, record->where) == NULL) ? keel_where_region(record->where) : 0;

    while (region == 0 && keel_where_has_parts(record->where) && keel_parts_next(&parts, &part)) {
        region = (hand_over_window(over, part.where) == NULL) ? keel_where_region(part.where) : 0;
    }
    return region;
}

static void hand_over_record(const hand_over_t *over, const keel_record_t *record)
{
    const keel_fetch_t fetch = {.record = record, .phase = over->phase};
    keel_lane_t *lane = over->rec->lane;
    char *target = hand_over_window(over, record->where) + keel_where_offset(record->where);
    keel_board_slot_t *slot = keel_access_slot(lane, over->rank);
    keel_fetched_t found = {0};

    if (keel_where_op(record->where) == KEEL_RECORD_CLOCK) {
        return;
    }
    if (keel_where_op(record->where) == KEEL_RECORD_PUT) {
        keel_store_bytes(target, record + 1, record->length);
    } else if (keel_where_has_parts(record->where)) {
        hand_over_parts(over, record);
    } else if (keel_where_op(record->where) == KEEL_RECORD_ATOMICS) {
        keel_board_mark(slot, over->phase, 1);
        if (!KEEL_PLANT(hand_over_without_atomics)) {
            keel_combine_logged((const void *)(record + 1), target,
                                (const uint8_t *)(record + 1) + sizeof(keel_record_accumulate_t));
        }
    } else {
        keel_board_mark(slot, over->phase, 1);
        found.old = keel_apply_logged(target, (const void *)(record + 1));
        (void)over->rec->on_fetch(over->rec->arg, over->rank, &fetch, &found);
    }
}

static int is_fetching(const keel_record_t *record)
{
    return keel_where_op(record->where) == KEEL_RECORD_ATOMIC && ((const keel_record_atomic_t *)(record + 1))->fetches;
}

/* True if nothing more is handed over from this record on. */
static int hand_over_is_at_end(hand_over_t *over, const keel_record_t *record)
{
    over->is_over |=
        over->is_prefix && is_fetching(record) && !((const keel_record_atomic_t *)(record + 1))->is_value_known;
    return over->is_over;
}

static keel_status_t hand_over_send(hand_over_t *over, const void *from, const void *to, uint32_t count)
{
    const uint32_t number = hand_over_number(over, 0);

    over->number += count;
    return (count == 0) ? KEEL_OK
                        : keel_lane_send_records(over->rec->lane, over->rank, over->phase, number, from,
                                                 (size_t)((const uint8_t *)to - (const uint8_t *)from));
}

/* Sends records as they lie in the log. A record with a pending value is sent as a fetch
 * instead. */
static keel_status_t hand_over_served(hand_over_t *over, keel_records_t run)
{
    keel_status_t status = KEEL_OK;
    const keel_record_t *record;
    const void *from = run.at;
    uint32_t count = 0;

    while (status == KEEL_OK && (record = keel_records_next(&run)) != NULL) {
        keel_fetch_t fetch = {.record = record, .phase = over->phase, .number = hand_over_number(over, count)};

        if (hand_over_is_at_end(over, record)) {
            return hand_over_send(over, from, record, count);
        }
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
    const keel_record_t *record;

    if (KEEL_PLANT(hand_over_skipped) || over->is_over) {
        return KEEL_OK;
    }
    while (over->number < over->skip && keel_records_next(&run) != NULL) {
        over->number++;
    }
    if (keel_access_is_served(lane, over->rank)) {
        return hand_over_served(over, run);
    }
    while ((record = keel_records_next(&run)) != NULL) {
        const unsigned region = hand_over_lacks(over, record);

        if (hand_over_is_at_end(over, record)) {
            return KEEL_OK;
        }
        if (region != 0 && keel_access_is_unmapped(lane, over->rank, region)) {
            return KEEL_ERR_UNREACHABLE; /* the rank has just died, and the launcher reports it */
        }
        if (region != 0 && keel_access_is_by_message(lane, over->rank, region)) {
            /* the predecessor's memory was mapped */
            return keel_rollback_request(over->rec, KEEL_ROLLBACK_MIXES);
        }
        if (region != 0) {
            keel_error(over->rec->message, "rank %u has no window %u to be handed phase %u", over->rank,
                       region - KEEL_REGION_WINDOW0, over->phase);
            return KEEL_ERR_STATE;
        }
        hand_over_record(over, record);
    }
    KEEL_PLANT_CALL(hand_over_reordered, lane, over->rank, records, length);
    return KEEL_OK;
}

static keel_status_t hand_over_failed(keel_recovery_t *rec, uint32_t rank, uint32_t phase, keel_status_t status)
{
    if (status != KEEL_ERR_UNREACHABLE && status != KEEL_ERR_ROLLED_BACK) {
        keel_error(rec->message, "handing phase %u over to rank %u failed: %s", phase, rank,
                   keel_status_string(status));
        rec->fatal = status;
    }
    return status;
}

keel_status_t keel_hand_over_prefix(keel_recovery_t *rec, uint32_t rank)
{
    const uint32_t phase = keel_position(rec);
    hand_over_t over = {.rec = rec, .rank = rank, .phase = phase, .is_prefix = 1};
    uint64_t count = 0;
    keel_status_t status = keel_announced_send(rec->sync, rank);

    if (status == KEEL_OK) {
        status = keel_put_log_for_phase(rec->puts, rank, phase, rec->lane->ops->max_data, hand_over_run, &over, &count);
    }
    if (status != KEEL_OK) {
        return hand_over_failed(rec, rank, phase, status);
    }
    rec->peer_states[rank].records_sent = (uint32_t)over.number;
    return KEEL_OK;
}

keel_status_t keel_hand_over(keel_recovery_t *rec, uint32_t rank, uint32_t phase, uint32_t arrival)
{
    hand_over_t over = {.rec = rec, .rank = rank, .phase = phase, .skip = rec->peer_states[rank].records_sent};
    uint64_t count = 0;
    keel_status_t status;

    KEEL_PLANT_CALL(hand_over_arrival_first, rec->lane, rank, arrival);
    status = keel_announced_send(rec->sync, rank);
    if (status == KEEL_OK) {
        status = keel_put_log_for_phase(rec->puts, rank, phase, rec->lane->ops->max_data, hand_over_run, &over, &count);
    }
    KEEL_PLANT_CALL(hand_over_twice, rec, rank, phase, hand_over_run, &over);
    if (status != KEEL_OK) {
        return hand_over_failed(rec, rank, phase, status);
    }
    if (phase == rec->puts->phase) {
        /* records on the direct lane had no numbers */
        keel_put_log_raise_count(rec->puts, rank, over.number);
        if (keel_sync_style(rec->sync) == KEEL_STYLE_LOCKS) {
            keel_put_log_announce_done(rec->puts, rank);
        }
    }
    if (count > 0) {
        keel_trace_instant(rec->lane->trace, KEEL_TRACE_HAND_OVER, rank, phase, count);
    }
    rec->replayed_puts += count;
    rec->peer_states[rank].records_given += count;
    rec->peer_states[rank].handed_over_end = phase + 1;
    return keel_arrival_send(rec->lane, rank, arrival);
}

void keel_hand_over_to_replay(keel_recovery_t *rec, uint32_t rank, uint32_t phase, uint32_t arrival)
{
    keel_peer_state_t *peer_state = &rec->peer_states[rank];
    uint32_t limit = UINT32_MAX;
    keel_status_t status;

    if (peer_state->handed_over_end > phase) {
        return;
    }
    if (phase >= rec->front && !KEEL_PLANT(hand_over_cut_late)) {
        limit = (phase == rec->front) ? peer_state->records_at_decision : 0;
    }
    status = keel_sync_send(rec->sync, rank, phase, limit, &peer_state->records_sent);
    if (status == KEEL_OK) {
        peer_state->handed_over_end = phase + 1;
        peer_state->records_given += peer_state->records_sent;
        rec->replayed_puts += peer_state->records_sent;
        if (peer_state->records_sent > 0) {
            keel_trace_instant(rec->lane->trace, KEEL_TRACE_HAND_OVER, rank, phase, peer_state->records_sent);
        }
        status = keel_arrival_send(rec->lane, rank, arrival);
    }
    if (status != KEEL_OK) {
        keel_error(rec->message, "what was done in phase %u could not be sent to rank %u: %s", phase, rank,
                   keel_status_string(status));
        rec->fatal = status;
    }
}

/* ---- end of a hand-over ---- */

typedef struct hand_over_done {
    uint32_t position;
    uint32_t reserved;
    uint64_t records; /* all records handed over to the incarnation */
    uint64_t done;    /* as in keel_peer_state_t */
    keel_digest_t digest;
} hand_over_done_t;

void keel_hand_over_announce(keel_recovery_t *rec, uint32_t rank)
{
    hand_over_done_t message = {.position = keel_position(rec), .records = rec->peer_states[rank].records_given};
    const uint64_t direct = keel_board_get(&rec->lane->board[rank].done);

    pthread_mutex_lock(&rec->lane->lock);
    message.done = rec->lane->peers[rank].done;
    message.digest = rec->lane->peers[rank].digest;
    pthread_mutex_unlock(&rec->lane->lock);
    message.done = (direct > message.done) ? direct : message.done;
    (void)keel_lane_control_send(rec->lane, rank, KEEL_CONTROL_HANDED, &message, sizeof(message));
}

void keel_hand_over_receive(void *arg, const keel_control_in_t *in)
{
    keel_recovery_t *rec = arg;
    keel_peer_state_t *peer_state = &rec->peer_states[in->source];
    hand_over_done_t message;

    if (in->length != sizeof(message)) {
        keel_error(rec->message, "malformed hand-over message from rank %u refused", in->source);
        return;
    }
    memcpy(&message, in->payload, sizeof(message));
    peer_state->received_end = keel_larger(peer_state->received_end, message.position + 1);
    peer_state->records_received = message.records;
    peer_state->done = message.done;
    peer_state->digest = message.digest;
}
