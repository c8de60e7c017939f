/*
 * Put.
 *
 * Hot path on the direct lane: one comparison that what was derived from the peers' states still holds, the range check,
 * one append to the log fused with the copy to the target (put_log.h). It allocates nothing, takes no lock, makes no
 * system call. Everything else is out of line.
 */
#include "rma/put.h"
#include "engine/threads.h"
#include "access/target.h"

#include "check/plant.h"
#include "rma/by_message.h"
#include "order/flush.h"
#include "epoch/lock.h"
#include "order/mix.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/region.h"
#include "recovery/position.h"

#include <string.h>

/* the peer's memory of either window is mapped, or the peer is live no more */
static keel_status_t put_await_maps(keel_win_h win, keel_win_h other, uint32_t rank)
{
    const keel_lane_t *lane = &win->ctx->lane;
    keel_status_t status = keel_win_await_map(win, rank);
    uint64_t changes;

    if (other == win) {
        return status;
    }
    do {
        changes = lane->changes; /* both as they are when nothing changes meanwhile */
        status = (status == KEEL_OK) ? keel_win_await_map(other, rank) : status;
        status = (status == KEEL_OK) ? keel_win_await_map(win, rank) : status;
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
        if (!keel_position_blocks_puts(&ctx->rec, rank) || KEEL_PLANT(rest_not_held)) {
            *record_p = keel_put_log_reserve(&ctx->puts, rank, length);
            if (*record_p != NULL || ctx->lane.peers[rank].mode != KEEL_PEER_BEHIND || KEEL_PLANT(off_log_complete)) {
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
    if (!KEEL_PLANT(get_record_after_put)) {
        keel_get_log_push(&ctx->gets, rank); /* what was read there before is recorded there before [F 3.2.3] */
    }
    if (ctx->touched_count == 1 && ctx->touched[0] == rank) { /* and nothing was read elsewhere */
        keel_gate_clear(ctx, KEEL_GATE_GETS);
    }
}

/*
 * Direct lane, programs that wait: exactly once. The number of a record is opened at the target, then it is done, then it is
 * closed; a wait there does not return while one is open. So if this process dies, what is closed is in place, and its replacement
 * only logs it: the target may have gone on and others have overwritten it. What is open was seen by nobody and is done again.
 * The target is woken by what makes it sure that it is there (keel_flush_ring()).
 */
static inline __attribute__((always_inline)) void put_open(keel_context_h ctx, keel_board_slot_t *slot, int has_number,
                                                           uint64_t word, keel_record_t *record, uint64_t where,
                                                           char *target, const void *buffer, size_t length)
{
    if (KEEL_PLANT(opened_late)) {
        keel_put_log_store(&ctx->puts, record, where, target, buffer, length);
        KEEL_MOMENT();
    }
    if (has_number) {
        keel_board_set(&slot->opened, word);
    }
    if (!KEEL_PLANT(opened_unfenced)) {
        keel_store_barrier(); /* pairs with keel_wait_until_closed(): who sees the data sees it open */
    }
    KEEL_MOMENT();
    if (!KEEL_PLANT(opened_late)) {
        keel_put_log_store(&ctx->puts, record, where, target, buffer, length);
    }
    KEEL_MOMENT();
}

static void put_numbered(keel_context_h ctx, uint32_t rank, keel_record_t *record, uint64_t where, char *target,
                         const void *buffer, size_t length)
{
    keel_board_slot_t *slot = keel_access_slot(&ctx->lane, rank);
    const uint32_t number = keel_put_log_number(&ctx->puts, rank);
    const int has_number =
        number != ctx->puts.number_end; /* else all are taken, and should this process die, the job rolls back */
    const uint64_t word = keel_phase_word(ctx->rec.phase, number + 1);

    if (has_number && keel_board_get(&slot->done) >= word && !KEEL_PLANT(put_again)) {
        KEEL_REACHED(put_was_done);
        if (record != NULL) {
            keel_record_fill(&ctx->puts, record, where, buffer, length);
        }
        return;
    }
    if (keel_where_op(where) == KEEL_RECORD_CLOCK) {
        if (record != NULL) {
            keel_record_fill(&ctx->puts, record, where, buffer, length);
        }
        keel_board_raise(keel_access_clock(&ctx->lane, rank), keel_phase_word(ctx->rec.phase, ctx->sync.waits.clock));
    } else {
        put_open(ctx, slot, has_number, word, record, where, target, buffer, length);
    }
    if (has_number) {
        keel_board_done(slot, ctx->rec.phase, number + 1);
    }
}

int keel_put_was_before(const keel_context_h ctx, uint32_t rank)
{
    return keel_gate_has(ctx, KEEL_GATE_REEXECUTES) && !keel_sync_is_sectioned(&ctx->sync) &&
           keel_board_counted(keel_access_slot(&ctx->lane, rank), ctx->rec.phase) >
               keel_put_log_counted(&ctx->puts, rank) &&
           !KEEL_PLANT(put_before_again);
}

/* logs one piece of a put of which @a left bytes come after it, and stores it on the direct lane, or sends it when there is enough,
 * if the target is live */
static keel_status_t put_piece(keel_win_h win, uint32_t rank, uint64_t where, const char *buffer, size_t length,
                               int is_due, size_t left)
{
    keel_context_h ctx = win->ctx;
    keel_peer_t *peer = &ctx->lane.peers[rank];
    keel_record_t *record;
    keel_status_t status = keel_put_reserve(win, win, rank, length, &record);

    if (status != KEEL_OK) {
        return status;
    }
    keel_case_access(ctx, rank, 0);
    if (peer->mode == KEEL_PEER_LIVE && keel_access_is_stored(&ctx->lane, rank)) {
        char *at = keel_win_target(win, rank)->ptr + keel_where_offset(where);

        keel_put_push_gets(ctx, rank);
        if (keel_gate_has(ctx, KEEL_GATE_WAITS)) {
            put_numbered(ctx, rank, record, where, at, buffer, length);
            keel_put_set_near(win, rank);
            keel_flush_ring_later(ctx, rank);
        } else {
            (void)keel_put_log_number(&ctx->puts, rank); /* locks: told when the section ends */
            if (!keel_put_was_before(ctx, rank)) {
                keel_put_log_store(&ctx->puts, record, where, at, buffer, length);
            } else if (record != NULL) {
                keel_record_fill(&ctx->puts, record, where, buffer, length);
            }
        }
        return KEEL_OK;
    }
    if (record != NULL) {
        (void)keel_put_log_number(&ctx->puts, rank);
        if (peer->mode == KEEL_PEER_LIVE) {
            keel_put_log_fill(&ctx->puts, rank, record, where, buffer, length);
        } else {
            keel_record_fill(&ctx->puts, record, where, buffer, length);
        }
    }
    if (peer->mode != KEEL_PEER_LIVE) {
        if (record == NULL) {
            (void)keel_put_log_number_sent(&ctx->puts, rank);
        }
        return KEEL_OK; /* handed over later, or there already */
    }
    if (record == NULL) {
        return keel_put_bounce(ctx, rank, where, buffer, length);
    }
    return keel_put_log_gather(&ctx->puts, rank, length, is_due, left);
}

/* The last clock there is: what is put under it has no order among what others put. Who is being brought back replays by that
 * order, so it is waited for; later ones are refused what is logged. */
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
    if (clock == keel_counters_clocks(&win->ctx->lane.counters) && !KEEL_PLANT(last_clock_logged)) {
        status = put_last_clock(win->ctx, rank);
        if (status != KEEL_OK) {
            return status;
        }
    }
    keel_put_log_set_clock(&win->ctx->puts, rank, (uint32_t)clock);
    return put_piece(win, rank, keel_where(0, KEEL_RECORD_CLOCK, win->region), (const char *)&clock, sizeof(clock), 0,
                     0);
}

static keel_status_t put_slow(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length)
{
    keel_context_h ctx = win->ctx;
    const int is_long = length > ctx->puts.record_max;
    const char *from = buffer;
    keel_status_t status;
    size_t piece;
    int is_due;

    if (rank == ctx->lane.rank) { /* the process's own computation: neither logged nor replayed */
        memmove((char *)win->base + offset, buffer, length);
        return KEEL_OK;
    }
    if (keel_win_is_by_message(win, rank)) {
        return keel_by_message_put(win, rank, offset, buffer, length);
    }
    keel_context_touch(ctx, rank);
    status = keel_put_clock(win, rank);
    for (; length > 0 && status == KEEL_OK; length -= piece, from += piece, offset += piece) {
        piece = keel_put_log_record_length(&ctx->puts, rank, length);
        is_due = is_long && keel_put_log_cut(&ctx->puts, rank, piece);
        status =
            put_piece(win, rank, keel_where(offset, KEEL_RECORD_PUT, win->region), from, piece, is_due, length - piece);
    }
    keel_context_touch_again(ctx, rank); /* callbacks of what it waited for may have flushed before the last piece */
    return status;
}

/* any put; out of line, so that the hot path keeps its registers */
static __attribute__((noinline)) keel_status_t put_any(keel_win_h win, uint32_t rank, uint64_t offset,
                                                       const void *buffer, size_t length,
                                                       const keel_rma_params_t *params)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = keel_win_check(win, rank, offset, length, buffer, params);

    if (status != KEEL_OK) {
        return keel_win_end(win, status);
    }
    status = keel_lock_admit(win->ctx, rank, 1);
    status = (status == KEEL_OK) ? keel_mix_access(win->ctx, rank) : status;
    status = (status == KEEL_OK) ? keel_by_message_begin(win, rank, "keel_put") : status;
    if (status != KEEL_OK) {
        return keel_win_end(win, status);
    }
    win->ctx->stats.puts++;
    win->ctx->stats.put_bytes += length;
    return keel_win_end(win, put_slow(win, rank, offset, buffer, length));
}

/*
 * What the hot path does not do. A short put to a live rank whose log has room is a record there and no more: it is sent with
 * others, by messages or operations (oplog/put_send). All else goes the general way, also the first since a flush of all, and the
 * one that makes sending due.
 */
static __attribute__((noinline)) keel_status_t put_beside(keel_win_h win, uint32_t rank, uint64_t offset,
                                                          const void *buffer, size_t length,
                                                          const keel_rma_params_t *params)
{
    const keel_target_t *target;
    keel_record_t *record;
    keel_context_h ctx;

    if (win == NULL || params != NULL || rank >= win->ctx->fast_ranks) {
        return put_any(win, rank, offset, buffer, length, params);
    }
    ctx = win->ctx;
    target = keel_win_target(win, rank);
    if (target->ptr != NULL || offset > target->size || length > target->size - offset || buffer == NULL ||
        keel_context_gate_rma(ctx, 0) != 0 || !ctx->is_touched[rank] || keel_sync_has_rest(&ctx->sync) ||
        keel_fork_is_child(ctx)) {
        return put_any(win, rank, offset, buffer, length, params);
    }
    record = keel_put_log_take_short(&ctx->puts, rank, length);
    if (record == NULL) {
        return put_any(win, rank, offset, buffer, length, params);
    }
    keel_case_access(ctx, rank, 0);
    ctx->stats.puts++;
    ctx->stats.put_bytes += length;
    keel_put_log_head(&ctx->puts, record, keel_where(offset, KEEL_RECORD_PUT, win->region), length);
    if (length == sizeof(uint64_t)) {
        memcpy(record + 1, buffer, sizeof(uint64_t));
    } else {
        memcpy(record + 1, buffer, length);
    }
    keel_prefetch_write((const uint8_t *)(record + 1) + length + KEEL_COPY_AHEAD);
    return KEEL_OK;
}

/*
 * Programs that wait: what the general way comes to where a short put goes where the last one went that did, under the same clock, and there
 * is nothing else to be looked at. 0: it goes that way.
 */
static inline __attribute__((always_inline)) int put_near(keel_win_h win, uint32_t rank, uint64_t offset,
                                                          const void *buffer, size_t length, char *target)
{
    keel_context_h ctx = win->ctx;
    const struct keel_home *home = ctx->home;
    const uint32_t clock = KEEL_PLANT(near_clockless) ? (uint32_t)(home->near >> 32) : ctx->sync.waits.clock;
    keel_board_slot_t *slot;
    keel_record_t *record;
    uint64_t word;

    if (home->near != keel_context_cached_target(rank, clock) ||
        !keel_put_log_take(&ctx->puts, home->log, length, &record)) {
        return 0;
    }
    KEEL_REACHED(put_near);
    keel_case_access(ctx, rank, 0);
    ctx->stats.puts++;
    ctx->stats.put_bytes += length;
    slot = home->slot;
    word = home->phase | home->log->count;
    put_open(ctx, slot, 1, word, record, keel_where(offset, KEEL_RECORD_PUT, win->region), target, buffer, length);
    keel_store_word_release(&slot->done, word);
    return 1;
}

static __attribute__((noinline)) keel_status_t put_waiting(keel_win_h win, uint32_t rank, uint64_t offset,
                                                           const void *buffer, size_t length, char *target)
{
    return put_near(win, rank, offset, buffer, length, target) ? KEEL_OK
                                                               : put_any(win, rank, offset, buffer, length, NULL);
}

/* of any length, in any window, also where something has changed */
static __attribute__((noinline)) keel_status_t put_of_any(keel_win_h win, uint32_t rank, uint64_t offset,
                                                          const void *buffer, size_t length,
                                                          const keel_rma_params_t *params)
{
    char *target = keel_win_reach(win, rank, offset, length);
    keel_context_h ctx;
    uint32_t gate;

    if (__builtin_expect(target == NULL || params != NULL, 0)) {
        return put_beside(win, rank, offset, buffer, length, params);
    }
    ctx = win->ctx;
    /* an empty put has no record: records are counted, and those of a replacement elsewhere all go the general way */
    gate = keel_context_gate_rma(ctx, 0);
    if (__builtin_expect(length - 1 >= ctx->puts.record_max || gate != 0 || buffer == NULL, 0)) {
        return (gate == KEEL_GATE_WAITS && length - 1 < ctx->puts.record_max && buffer != NULL)
                   ? put_waiting(win, rank, offset, buffer, length, target)
                   : put_beside(win, rank, offset, buffer, length, params);
    }
    ctx->stats.puts++;
    ctx->stats.put_bytes += length;
    if (ctx->is_logging) {
        keel_put_log_store(&ctx->puts, keel_put_log_reserve(&ctx->puts, rank, length),
                           keel_where(offset, KEEL_RECORD_PUT, win->region), target, buffer, length);
    } else {
        keel_store_bytes(target, buffer, length);
    }
    return KEEL_OK;
}

/* a word, which is logged where the log has room; 0: it goes another way */
static inline __attribute__((always_inline)) int put_word(keel_win_h win, uint32_t rank, uint64_t offset,
                                                          const void *buffer)
{
    keel_context_h ctx = win->ctx;
    keel_record_t *record;
    char *target;

    if (rank == ctx->lane.rank || !ctx->is_logging) {
        return 0;
    }
    target = keel_target_part(&win->targets[rank], offset, sizeof(uint64_t));
    if (target == NULL || !keel_put_log_has_room(&ctx->puts, rank, sizeof(uint64_t))) {
        return 0;
    }
    record = keel_put_log_reserve(&ctx->puts, rank, sizeof(uint64_t));
    ctx->stats.puts++;
    ctx->stats.put_bytes += sizeof(uint64_t);
    keel_put_log_store(&ctx->puts, record, keel_where(offset, KEEL_RECORD_PUT, win->region), target, buffer,
                       sizeof(uint64_t));
    return 1;
}

/* programs that wait: a word in the last put's window */
static inline __attribute__((always_inline)) int put_word_near(keel_win_h win, uint32_t rank, uint64_t offset,
                                                               const void *buffer)
{
    const struct keel_home *home = win->ctx->home;

    return home->win == win && offset <= home->last &&
           put_near(win, rank, offset, buffer, sizeof(uint64_t), home->base + offset);
}

/* of both calls: words are so short that what a function saves counts, so here is nothing that calls one and goes on */
static inline __attribute__((always_inline)) keel_status_t
put(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length, const keel_rma_params_t *params)
{
    uint32_t gate;

    if (length == sizeof(uint64_t) && win != NULL && params == NULL && buffer != NULL && rank < win->ctx->fast_ranks &&
        win->changes == win->ctx->lane.changes) {
        gate = keel_context_gate_rma(win->ctx, 0);
        if ((gate == 0 && put_word(win, rank, offset, buffer)) ||
            (gate == KEEL_GATE_WAITS && put_word_near(win, rank, offset, buffer))) {
            return KEEL_OK;
        }
        return put_of_any(win, rank, offset, buffer, sizeof(uint64_t), NULL); /* of a constant: one register less */
    }
    return put_of_any(win, rank, offset, buffer, length, params);
}

keel_status_t keel_put(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length)
{
    return put(win, rank, offset, buffer, length, NULL);
}

/* A put returns no request: its buffer is free when it returns, on either lane. */
keel_status_t keel_put_nbx(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length,
                           const keel_rma_params_t *params, keel_req_h *req_p)
{
    return put(win, rank, offset, buffer, length, params);
}
