/*
 * Put.
 *
 * Hot path on the direct lane: one comparison that what was derived from the peers' states still holds, the range check,
 * one append to the log fused with the copy to the target (put_log.h). It allocates nothing, takes no lock, makes no
 * system call. Everything else is out of line.
 */
#include "rma/put_record.h"
#include "access/admit.h"
#include "engine/threads.h"

#include "check/plant.h"
#include "rma/by_message.h"
#include "peer/access.h"

#include <string.h>

static keel_status_t put_slow(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length)
{
    keel_context_h ctx = win->ctx;
    const int is_long = length > ctx->puts.record_max;
    keel_put_record_t put = {.win = win, .signal_win = win, .rank = rank};
    const char *from = buffer;
    keel_status_t status;

    switch (keel_route(win, rank)) {
    case KEEL_ROUTE_OWN: /* the process's own computation: neither logged nor replayed */
        memmove((char *)win->base + offset, buffer, length);
        return KEEL_OK;
    case KEEL_ROUTE_MESSAGE:
        return keel_by_message_put(win, rank, offset, buffer, length);
    default:
        break;
    }
    keel_context_touch(ctx, rank);
    status = keel_put_clock(win, rank);
    for (; length > 0 && status == KEEL_OK; from += put.length, offset += put.length) {
        put.where = keel_where(offset, KEEL_RECORD_PUT, win->region);
        put.data = from;
        put.length = keel_put_log_record_length(&ctx->puts, rank, length);
        put.is_due = is_long && keel_put_log_cut(&ctx->puts, rank, put.length);
        put.left = (length -= put.length);
        status = keel_put_record(&put);
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
    status = keel_access_admit(win, rank, KEEL_ACCESS_PUT, "keel_put");
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
    keel_put_open(slot, 1, word);
    keel_put_log_store(&ctx->puts, record, keel_where(offset, KEEL_RECORD_PUT, win->region), target, buffer, length);
    keel_put_opened(slot, 1, word);
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
