/*
 * A put and its signal word. A set signal belongs to the record of the data (rma/put_blocks), and
 * every apply stores the word after the data. An added signal is an atomic, so it has a record of
 * its own after the put's: a replacement and a served target apply the two in order. On mapped
 * memory a fence orders the stores; one-sided operations use an epoch each.
 */
#include "rma/by_message.h"
#include "engine/refuse.h"
#include "engine/threads.h"
#include "order/flush.h"
#include "rma/put_blocks.h"
#include "access/target.h"

#include "check/plant.h"
#include "peer/remote_put.h"
#include "peer/store.h"

static keel_status_t signal_check(keel_win_h win, uint32_t rank, const keel_signal_t *signal)
{
    const keel_win_h at = (signal != NULL && signal->win != NULL) ? signal->win : win;

    if (win == NULL || signal == NULL) {
        return keel_refuse_null(win == NULL ? "the window" : "keel_put_signal: the signal");
    }
    if (at->ctx != win->ctx) {
        keel_error_ctx(win->ctx, "keel_put_signal: the signal's window is of another context");
        return KEEL_ERR_INVALID_PARAM;
    }
    if ((unsigned)signal->op >= KEEL_SIGNAL_LAST) {
        keel_error_ctx(win->ctx, "there is no signal %u", (unsigned)signal->op);
        return KEEL_ERR_UNSUPPORTED;
    }
    if (!keel_win_is_aligned(at, rank, signal->offset, sizeof(signal->value))) {
        keel_error_ctx(win->ctx, "offset %lu of a signal is not aligned to its 8 bytes", (unsigned long)signal->offset);
        return KEEL_ERR_ALIGNMENT;
    }
    return keel_win_check(at, rank, signal->offset, sizeof(signal->value), signal, NULL);
}

static keel_status_t signal_send(keel_win_h win, uint32_t rank, const keel_signal_t *signal)
{
    if (signal->op == KEEL_SIGNAL_ADD) {
        return keel_atomic(win, KEEL_ATOMIC_ADD, rank, signal->offset, sizeof(signal->value), signal->value, 0, NULL);
    }
    return keel_put(win, rank, signal->offset, &signal->value, sizeof(signal->value));
}

/* two records: data, then the signal */
static keel_status_t signal_behind(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length,
                                   const keel_signal_t *signal)
{
    const keel_win_h at = (signal->win != NULL) ? signal->win : win;
    keel_status_t status = KEEL_OK;

    KEEL_PLANT_CALL(put_signal_first, at, rank, signal);
    if (length > 0) {
        status = keel_put(win, rank, offset, buffer, length);
    }
    keel_store_fence();
    if (length > 0 && keel_remote_is_possible(&win->ctx->lane, rank, win->region) && !KEEL_PLANT(put_signal_unfenced)) {
        keel_put_log_close_epoch(&win->ctx->puts); /* operations of one epoch have no order */
    }
    return (status == KEEL_OK && !KEEL_PLANT(put_signal_first)) ? signal_send(at, rank, signal) : status;
}

/* Whether data and signal are one record. Depends on the arguments alone, except for unlogged
 * memory. */
static int signal_is_one(keel_win_h win, uint32_t rank, size_t length, const keel_signal_t *signal)
{
    const keel_win_h at = (signal->win != NULL) ? signal->win : win;

    return signal->op == KEEL_SIGNAL_SET && length > 0 && rank != win->ctx->lane.rank &&
           !keel_win_is_by_message(win, rank) && !keel_win_is_by_message(at, rank) && !KEEL_PLANT(put_signal_first) &&
           !KEEL_PLANT(put_signal_unfenced);
}

keel_status_t keel_put_signal(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length,
                              const keel_signal_t *signal)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = signal_check(win, rank, signal);

    if (status == KEEL_OK) {
        status = keel_win_check(win, rank, offset, length, buffer, NULL);
    }
    if (status != KEEL_OK) {
        return (win != NULL) ? keel_win_end(win, status) : status;
    }
    status = signal_is_one(win, rank, length, signal)
                 ? keel_put_blocks_signal(win, rank, offset, buffer, length, signal)
                 : signal_behind(win, rank, offset, buffer, length, signal);
    if (status == KEEL_OK) {
        status = keel_flush_start(win->ctx, rank);
    }
    keel_store_fence();
    keel_lane_ring(&win->ctx->lane, rank);
    return keel_win_end(win, status);
}
