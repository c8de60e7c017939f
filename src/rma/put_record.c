/*
 * One record of a put: reserved in the log, numbered, and then stored, sent, or kept for the
 * target's replacement.
 */
#include "rma/put_record.h"

#include "check/plant.h"
#include "oplog/put_send.h"
#include "order/flush.h"
#include "peer/access.h"
#include "recovery/position.h"
#include "rma/by_message.h"
#include "rma/put_parts.h"

#include <string.h>

/* waits until the peer's memory of both windows is mapped, or the peer is not live */
static keel_status_t put_await_maps(keel_win_h win, keel_win_h other, uint32_t rank)
{
    const keel_lane_t *lane = &win->ctx->lane;
    keel_status_t status = keel_win_await_logged(win, rank);
    uint64_t changes;

    if (other == win) {
        return status;
    }
    do {
        changes = lane->changes; /* both maps are current if nothing changes meanwhile */
        status = (status == KEEL_OK) ? keel_win_await_logged(other, rank) : status;
        status = (status == KEEL_OK) ? keel_win_await_logged(win, rank) : status;
    } while (status == KEEL_OK && changes != lane->changes);
    return status;
}

keel_status_t keel_put_reserve(keel_win_h win, keel_win_h other, uint32_t rank, size_t length, keel_record_t **record_p)
{
    keel_context_h ctx = win->ctx;
    keel_status_t status;
    unsigned rounds = 0;

    *record_p = NULL;
    while ((status = put_await_maps(win, other, rank)) == KEEL_OK) {
        if (!keel_position_blocks_puts(&ctx->rec, rank) || KEEL_PLANT(put_record_amid_rest)) {
            *record_p = keel_put_log_reserve(&ctx->puts, rank, length);
            if (*record_p != NULL || ctx->lane.peers[rank].mode != KEEL_PEER_BEHIND ||
                KEEL_PLANT(view_off_log_complete)) {
                break;
            }
        } else {
            KEEL_REACHED(put_is_held);
        }
        status = keel_context_wait(ctx, &rounds);
        if (status != KEEL_OK) {
            break;
        }
    }
    return status;
}

void keel_put_push_gets(keel_context_h ctx, uint32_t rank)
{
    if (!KEEL_PLANT(put_record_before_get_records)) {
        /* records of earlier gets there precede the put [F 3.2.3] */
        keel_get_log_push(&ctx->gets, rank);
    }
    if (ctx->touched.count == 1 && ctx->touched.ranks[0] == rank) { /* no other rank was read */
        keel_gate_clear(ctx, KEEL_GATE_GETS);
    }
}

int keel_put_was_before(const keel_context_h ctx, uint32_t rank)
{
    return keel_gate_has(ctx, KEEL_GATE_REEXECUTES) && keel_sync_style(&ctx->sync) != KEEL_STYLE_LOCKS &&
           keel_board_counted(keel_access_slot(&ctx->lane, rank), ctx->rec.phase) >
               keel_put_log_counted(&ctx->puts, rank) &&
           !KEEL_PLANT(put_record_again_before_atomic);
}

/* writes the payload alone */
static void record_fill(const keel_put_record_t *put, keel_record_t *record)
{
    if (put->data != NULL) {
        memcpy(record + 1, put->data, put->length);
    } else {
        keel_put_parts_write(put, record, 0);
    }
}

/* writes the record, if there is one */
static void record_log(const keel_put_record_t *put, keel_record_t *record)
{
    const keel_put_log_t *log = &put->win->ctx->puts;

    if (record == NULL) {
        return;
    }
    if (put->data == NULL) {
        keel_put_log_head(log, record, put->where, put->length);
        keel_put_parts_write(put, record, 0);
    } else {
        keel_record_fill(log, record, put->where, put->data, put->length);
    }
}

/* writes the record, if there is one, and stores to the target's mapped memory */
static void record_store(const keel_put_record_t *put, keel_record_t *record)
{
    const keel_put_log_t *log = &put->win->ctx->puts;

    if (put->data != NULL) {
        keel_put_log_store(log, record, put->where,
                           keel_win_target(put->win, put->rank)->ptr + keel_where_offset(put->where), put->data,
                           put->length);
        return;
    }
    if (record != NULL) {
        keel_put_log_head(log, record, put->where, put->length);
    }
    keel_put_parts_write(put, record, 1);
}

void keel_put_record_open(const keel_put_record_t *put, keel_record_t *record, keel_board_slot_t *slot, int has_number,
                          uint64_t word)
{
    if (has_number) {
        keel_access_join(&put->win->ctx->lane, slot);
    }
    keel_put_open(slot, has_number, word);
    KEEL_PLANT_CALL(put_record_parts_closed_early, put, slot, has_number, word);
    record_store(put, record);
    KEEL_MOMENT();
}

/* the predecessor carried out the record: only log it */
static int record_is_done(const keel_put_record_t *put, const keel_board_slot_t *slot, uint64_t word)
{
    if (keel_board_get(&slot->done) < word ||
        (put->data != NULL ? KEEL_PLANT(put_record_again) : KEEL_PLANT(put_record_parts_again))) {
        return 0;
    }
    if (put->data != NULL) {
        KEEL_REACHED(put_was_done);
    } else {
        KEEL_REACHED(parts_were_done);
    }
    return 1;
}

static void record_numbered(const keel_put_record_t *put, keel_record_t *record)
{
    keel_context_h ctx = put->win->ctx;
    keel_board_slot_t *slot = keel_access_slot(&ctx->lane, put->rank);
    const uint32_t number = keel_put_log_number(&ctx->puts, put->rank);
    /* no number left: if this process dies, the job rolls back */
    const int has_number = number != ctx->puts.number_end;
    const uint64_t word = keel_phase_word(ctx->rec.phase, number + 1);

    if (has_number && record_is_done(put, slot, word)) {
        record_log(put, record);
        return;
    }
    if (keel_where_op(put->where) == KEEL_RECORD_CLOCK) {
        record_log(put, record);
        keel_board_raise(keel_access_clock(&ctx->lane, put->rank),
                         keel_phase_word(ctx->rec.phase, ctx->sync.waits.clock));
    } else {
        keel_put_record_open(put, record, slot, has_number, word);
    }
    if (has_number) {
        keel_board_done(slot, ctx->rec.phase, number + 1);
    }
}

static void record_stored(const keel_put_record_t *put, keel_record_t *record)
{
    keel_context_h ctx = put->win->ctx;

    keel_put_push_gets(ctx, put->rank);
    if (keel_gate_has(ctx, KEEL_GATE_WAITS)) {
        record_numbered(put, record);
        keel_put_cache_target(put->win, put->rank);
        keel_flush_ring_later(ctx, put->rank);
        return;
    }
    /* locks: the end of the critical section announces the put */
    (void)keel_put_log_number(&ctx->puts, put->rank);
    if (keel_put_was_before(ctx, put->rank)) {
        record_log(put, record);
    } else {
        record_store(put, record);
    }
}

static keel_status_t record_send(const keel_put_record_t *put, keel_record_t *record)
{
    keel_put_log_t *log = &put->win->ctx->puts;

    (void)keel_put_log_number(log, put->rank);
    if (put->data != NULL) {
        keel_put_log_fill(log, put->rank, record, put->where, put->data, put->length);
    } else {
        record_log(put, record);
    }
    return keel_put_log_gather(log, put->rank, put->length, put->is_due, put->left);
}

static void record_keep(const keel_put_record_t *put, keel_record_t *record)
{
    keel_put_log_t *log = &put->win->ctx->puts;

    if (record == NULL) {
        (void)keel_put_log_number_sent(log, put->rank);
        return;
    }
    (void)keel_put_log_number(log, put->rank);
    record_log(put, record);
}

/* served lane: no log has room */
static keel_status_t record_bounce(const keel_put_record_t *put)
{
    keel_context_h ctx = put->win->ctx;
    keel_record_t *record;
    const keel_status_t status = keel_bounce_take(ctx, put->rank, put->where, put->length, &record);

    if (status != KEEL_OK) {
        return status;
    }
    record_fill(put, record);
    return keel_bounce_send(ctx, put->rank, put->length);
}

keel_status_t keel_put_record(const keel_put_record_t *put)
{
    keel_context_h ctx = put->win->ctx;
    const uint32_t rank = put->rank;
    keel_record_t *record;
    const keel_status_t status = keel_put_reserve(put->win, put->signal_win, rank, put->length, &record);

    if (status != KEEL_OK) {
        return status;
    }
    keel_case_access(ctx, rank, 0);
    switch (keel_route_of(&ctx->lane, rank)) {
    case KEEL_ROUTE_STORED:
        record_stored(put, record);
        return KEEL_OK;
    case KEEL_ROUTE_SERVED:
        return (record != NULL) ? record_send(put, record) : record_bounce(put);
    default: /* handed over later, or applied already */
        record_keep(put, record);
        return KEEL_OK;
    }
}

keel_status_t keel_put_record_by_message(const keel_put_record_t *put)
{
    keel_record_t *record;
    const keel_status_t status = keel_by_message_take(put->win, put->rank, put->where, put->length, &record);

    if (status != KEEL_OK) {
        return status;
    }
    record_fill(put, record);
    return keel_by_message_send(put->win, put->rank);
}

/* The last clock of a phase: puts under it have no order among the puts of others. A target that
 * is being brought back replays by that order, so the call waits for the target; later targets
 * get no logged puts under the last clock. */
static keel_status_t put_last_clock(keel_context_h ctx, uint32_t rank)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && ctx->lane.peers[rank].mode == KEEL_PEER_BEHIND) {
        status = keel_context_wait(ctx, &rounds);
    }
    if (ctx->puts.targets[rank].lost <= ctx->rec.phase) {
        keel_warn(&ctx->message,
                  "this rank waited more than %u times in one phase: should rank %u die, the job rolls back",
                  keel_counters_clocks(&ctx->lane.counters), rank);
    }
    keel_put_log_note_missing(&ctx->puts, rank);
    return status;
}

keel_status_t keel_put_clock(keel_win_h win, uint32_t rank)
{
    const uint64_t clock = win->ctx->sync.waits.clock;
    keel_status_t status;

    if (win->ctx->puts.targets[rank].clock == clock) {
        return KEEL_OK;
    }
    if (clock == keel_counters_clocks(&win->ctx->lane.counters) && !KEEL_PLANT(put_record_last_clock_logged)) {
        status = put_last_clock(win->ctx, rank);
        if (status != KEEL_OK) {
            return status;
        }
    }
    keel_put_log_set_clock(&win->ctx->puts, rank, (uint32_t)clock);
    return keel_put_record(&(keel_put_record_t){.win = win,
                                                .signal_win = win,
                                                .rank = rank,
                                                .where = keel_where(0, KEEL_RECORD_CLOCK, win->region),
                                                .length = sizeof(clock),
                                                .data = &clock});
}
