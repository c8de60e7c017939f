/*
 * Put.
 *
 * Hot path on the direct lane: one comparison (the table of targets is current), the gate, which
 * must be open, the range check, and one append to the log fused with the copy to the target
 * (put_log.h). The path allocates nothing, takes no lock and makes no system call. All other cases
 * are out of line.
 */
#include "rma/put_record.h"
#include "access/admit.h"
#include "engine/threads.h"

#include "check/plant.h"
#include "rma/by_message.h"
#include "peer/access.h"

#include <string.h>

static keel_status_t put_issue(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length)
{
    keel_context_h ctx = win->ctx;
    const int is_long = length > ctx->puts.record_max;
    keel_put_record_t put = {.win = win, .signal_win = win, .rank = rank};
    const char *from = buffer;
    keel_status_t status;

    switch (keel_route(win, rank)) {
    case KEEL_ROUTE_OWN: /* own computation: neither logged nor replayed */
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
    /* callbacks in the waits may have flushed before the last record */
    keel_context_touch_again(ctx, rank);
    return status;
}

/* the generic path, out of line so that the hot path keeps its registers */
static __attribute__((noinline)) keel_status_t put_generic(keel_win_h win, uint32_t rank, uint64_t offset,
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
    return keel_win_end(win, put_issue(win, rank, offset, buffer, length));
}

/*
 * Served lane. With the gate open, a short put to a live rank with room in the log only appends a
 * record; a later message or operation sends the record with others (oplog/put_send). All other
 * puts take the generic path, including the first put after a flush of all and the put that makes
 * sending due.
 */
static __attribute__((noinline)) keel_status_t put_queued(keel_win_h win, uint32_t rank, uint64_t offset,
                                                          const void *buffer, size_t length,
                                                          const keel_rma_params_t *params)
{
    const keel_target_t *target;
    keel_record_t *record;
    keel_context_h ctx;

    if (win == NULL || params != NULL || rank >= win->ctx->fast_ranks) {
        return put_generic(win, rank, offset, buffer, length, params);
    }
    ctx = win->ctx;
    target = keel_win_target(win, rank);
    if (target->ptr != NULL || offset > target->size || length > target->size - offset || buffer == NULL ||
        keel_context_gate_rma(ctx, 0) != 0 || !ctx->touched.has[rank] ||
        keel_sync_style(&ctx->sync) == KEEL_STYLE_WAITS || keel_fork_is_child(ctx)) {
        return put_generic(win, rank, offset, buffer, length, params);
    }
    record = keel_put_log_take_short(&ctx->puts, rank, length);
    if (record == NULL) {
        return put_generic(win, rank, offset, buffer, length, params);
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
 * Programs that wait: a short put to the target of the last numbered put, under the same clock.
 * Does what the generic path would do there. Returns 0 if the put has to take the generic path.
 */
static inline __attribute__((always_inline)) int put_cached(keel_win_h win, uint32_t rank, uint64_t offset,
                                                            const void *buffer, size_t length, char *target)
{
    keel_context_h ctx = win->ctx;
    const struct keel_home *home = ctx->home;
    const uint32_t clock = KEEL_PLANT(put_clockless) ? (uint32_t)(home->cached_target >> 32) : ctx->sync.waits.clock;
    keel_board_slot_t *slot;
    keel_record_t *record;
    uint64_t word;

    if (home->cached_target != keel_context_cached_target(rank, clock) ||
        !keel_put_log_take(&ctx->puts, home->log, length, &record)) {
        return 0;
    }
    KEEL_REACHED(put_cached);
    keel_case_access(ctx, rank, 0);
    ctx->stats.puts++;
    ctx->stats.put_bytes += length;
    slot = home->slot;
    word = home->phase | home->log->count;
    keel_put_open(slot, 1, word);
    keel_put_log_store(&ctx->puts, record, keel_where(offset, KEEL_RECORD_PUT, win->region), target, buffer, length);
    KEEL_MOMENT();
    keel_store_word_release(&slot->done, word);
    return 1;
}

static __attribute__((noinline)) keel_status_t put_try_cached(keel_win_h win, uint32_t rank, uint64_t offset,
                                                              const void *buffer, size_t length, char *target)
{
    return put_cached(win, rank, offset, buffer, length, target) ? KEEL_OK
                                                                 : put_generic(win, rank, offset, buffer, length, NULL);
}

/* Direct lane: a put of any length, to any window, also after a change of the peers' states. */
static __attribute__((noinline)) keel_status_t put_fast(keel_win_h win, uint32_t rank, uint64_t offset,
                                                        const void *buffer, size_t length,
                                                        const keel_rma_params_t *params)
{
    char *target = keel_win_reach(win, rank, offset, length);
    keel_context_h ctx;
    uint32_t gate;

    if (__builtin_expect(target == NULL || params != NULL, 0)) {
        return put_queued(win, rank, offset, buffer, length, params);
    }
    ctx = win->ctx;
    /* An empty put makes no record. Records are counted, and the generic path, which a replacement
     * on another lane takes for all puts, makes none for it either. */
    gate = keel_context_gate_rma(ctx, 0);
    if (__builtin_expect(length - 1 >= ctx->puts.record_max || gate != 0 || buffer == NULL, 0)) {
        return (gate == KEEL_GATE_WAITS && length - 1 < ctx->puts.record_max && buffer != NULL)
                   ? put_try_cached(win, rank, offset, buffer, length, target)
                   : put_queued(win, rank, offset, buffer, length, params);
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

/* Puts and logs one word. Returns 0 if the log is off or full, or the word is not mapped here. */
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

/* programs that wait: puts one word to the window of the last numbered put */
static inline __attribute__((always_inline)) int put_word_cached(keel_win_h win, uint32_t rank, uint64_t offset,
                                                                 const void *buffer)
{
    const struct keel_home *home = win->ctx->home;

    return home->win == win && offset <= home->last &&
           put_cached(win, rank, offset, buffer, sizeof(uint64_t), home->base + offset);
}

/* Both public calls inline this function. A put of one word that finds the gate open, or closed
 * only because the program waits, is done here. Words are so short that each saved register counts:
 * no path calls a function and continues afterwards. */
static inline __attribute__((always_inline)) keel_status_t
put(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length, const keel_rma_params_t *params)
{
    uint32_t gate;

    if (length == sizeof(uint64_t) && win != NULL && params == NULL && buffer != NULL && rank < win->ctx->fast_ranks &&
        win->changes == win->ctx->lane.changes) {
        gate = keel_context_gate_rma(win->ctx, 0);
        if ((gate == 0 && put_word(win, rank, offset, buffer)) ||
            (gate == KEEL_GATE_WAITS && put_word_cached(win, rank, offset, buffer))) {
            return KEEL_OK;
        }
        /* a constant length saves a register */
        return put_fast(win, rank, offset, buffer, sizeof(uint64_t), NULL);
    }
    return put_fast(win, rank, offset, buffer, length, params);
}

keel_status_t keel_put(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length)
{
    return put(win, rank, offset, buffer, length, NULL);
}

/* A put returns no request: on either lane the buffer is free on return. */
keel_status_t keel_put_nbx(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length,
                           const keel_rma_params_t *params, keel_req_h *req_p)
{
    return put(win, rank, offset, buffer, length, params);
}
