/*
 * Puts of several blocks as one record: a list of blocks, strided blocks, or data with a signal.
 *
 * A record has a single number. The target applies all of the record, or all of it again after the
 * source died inside: exactly once, as with any put (rma/put_record). The record is written once,
 * with the blocks packed; mapped memory is stored from the program's buffer at the same time.
 * One-sided operations cannot apply such a record, so the record goes as a message, in order with
 * the operations (peer/remote_put.h).
 *
 * A call that exceeds a record is cut by its arguments alone: a re-execution makes the same
 * records, on either lane. A block that exceeds a record is a put of its own, and so is a single
 * remaining block.
 */
#include "rma/put_blocks.h"
#include "access/admit.h"
#include "rma/put_record.h"

#include "check/plant.h"
#include "peer/access.h"
#include "peer/store_part.h"

/* admits the access, counts @a blocks and @a bytes, and carries out the record */
static keel_status_t record_issue(const keel_put_record_t *put, uint64_t blocks, uint64_t bytes)
{
    keel_context_h ctx = put->win->ctx;
    keel_status_t status = keel_access_admit(put->win, put->rank, KEEL_ACCESS_PUT, "keel_put");

    if (status != KEEL_OK) {
        return status;
    }
    ctx->stats.puts += blocks;
    ctx->stats.put_bytes += bytes;
    keel_context_touch(ctx, put->rank);
    if (keel_route(put->win, put->rank) == KEEL_ROUTE_MESSAGE) {
        return keel_put_record_by_message(put);
    }
    KEEL_REACHED(put_parts);
    status = keel_put_clock(put->win, put->rank);
    status = (status == KEEL_OK) ? keel_put_record(put) : status;
    keel_context_touch_again(ctx, put->rank);
    return status;
}

/* ---- the cut into records ---- */

keel_status_t keel_put_blocks_strided(keel_win_h win, uint32_t rank, const keel_blocks_t *blocks, const void *buffer)
{
    const size_t head = sizeof(keel_record_part_t) + sizeof(uint64_t);
    const size_t most = (win->ctx->puts.record_max - head) / blocks->length;
    const char *from = buffer;
    keel_blocks_t left = *blocks;
    keel_status_t status = KEEL_OK;

    while (left.count > 0 && status == KEEL_OK) {
        keel_blocks_t next = left;

        next.count = (left.count < most) ? left.count : most;
        if (next.count < 2 || rank == win->ctx->lane.rank) {
            next.count = 1;
            status = keel_put(win, rank, next.offset, from, next.length);
        } else {
            const size_t bytes = next.length * next.count;
            const keel_put_record_t put = {.win = win,
                                           .signal_win = win,
                                           .blocks = &next,
                                           .from = from,
                                           .count = 1,
                                           .length = head + keel_pad8(bytes),
                                           .where = keel_where(next.offset, KEEL_RECORD_BLOCKS, win->region),
                                           .rank = rank};

            status = record_issue(&put, next.count, bytes);
        }
        left.count -= next.count;
        left.offset += next.count * next.stride;
        from += next.count * (KEEL_PLANT(put_blocks_packed) ? next.length : next.buffer_stride);
    }
    return status;
}

keel_status_t keel_put_blocks_list(keel_win_h win, uint32_t rank, const keel_block_t *blocks, size_t count)
{
    const size_t max = win->ctx->puts.record_max;
    keel_status_t status = KEEL_OK;
    size_t first = 0;

    while (first < count && status == KEEL_OK) {
        keel_put_record_t put = {.win = win, .signal_win = win, .list = &blocks[first], .rank = rank};
        uint64_t parts = 0, bytes = 0;

        if (blocks[first].length == 0) {
            first++;
            continue;
        }
        for (; first + put.count < count; put.count++) {
            const size_t length = put.list[put.count].length;
            const size_t size = (length < max) ? keel_part_size((uint32_t)length, 1) : max + 1;

            if (length > 0 && put.length + size > max) {
                break;
            }
            put.length += (length > 0) ? size : 0;
            parts += length > 0;
            bytes += length;
        }
        if (parts < 2 || rank == win->ctx->lane.rank) {
            put.count = (parts == 0) ? 1 : put.count;
            for (size_t i = 0; i < put.count && status == KEEL_OK; i++) {
                status = (put.list[i].length == 0)
                             ? KEEL_OK
                             : keel_put(win, rank, put.list[i].offset, put.list[i].buffer, put.list[i].length);
            }
        } else {
            put.where = keel_where(put.list->offset, KEEL_RECORD_BLOCKS, win->region);
            status = record_issue(&put, parts, bytes);
        }
        first += put.count;
    }
    return status;
}

/* Programs that wait: the cached path of a put (put_cached() in rma/put.c) for data and signal.
 * Returns 0 if the generic path has to carry out the record. */
static int signal_cached(const keel_put_record_t *put)
{
    const keel_signal_t *signal = put->signal;
    keel_context_h ctx = put->win->ctx;
    const struct keel_home *home = ctx->home;
    keel_record_t *record;
    uint64_t word;

    if (home->cached_target != keel_context_cached_target(put->rank, ctx->sync.waits.clock) ||
        keel_context_gate_rma(ctx, 0) != KEEL_GATE_WAITS ||
        keel_win_reach(put->win, put->rank, put->list->offset, put->list->length) == NULL ||
        keel_win_reach(put->signal_win, put->rank, signal->offset, sizeof(signal->value)) == NULL ||
        !keel_put_log_take(&ctx->puts, home->log, put->length, &record)) {
        return 0;
    }
    KEEL_REACHED(signal_cached);
    keel_case_access(ctx, put->rank, 0);
    ctx->stats.puts += 2;
    ctx->stats.put_bytes += put->list->length + sizeof(signal->value);
    word = home->phase | home->log->count;
    keel_put_record_open(put, record, home->slot, 1, word);
    keel_store_word_release(&home->slot->done, word);
    return 1;
}

keel_status_t keel_put_blocks_signal(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length,
                                     const keel_signal_t *signal)
{
    const size_t head = sizeof(keel_record_signal_t), most = (win->ctx->puts.record_max - head) & ~(size_t)7;
    const size_t ahead = (length > most) ? length - most : 0;
    const keel_block_t data = {
        .offset = offset + ahead, .length = length - ahead, .buffer = (char *)(uintptr_t)buffer + ahead};
    const keel_put_record_t put = {.win = win,
                                   .signal_win = (signal->win != NULL) ? signal->win : win,
                                   .list = &data,
                                   .signal = signal,
                                   .count = 1,
                                   .length = head + data.length,
                                   .where = keel_where(data.offset, KEEL_RECORD_SIGNAL, win->region),
                                   .rank = rank};
    keel_status_t status = KEEL_OK;

    if (ahead > 0) {
        status = keel_put(win, rank, offset, buffer, ahead);
    } else if (signal_cached(&put)) {
        return KEEL_OK;
    }
    return (status == KEEL_OK) ? record_issue(&put, 2, data.length + sizeof(signal->value)) : status;
}
