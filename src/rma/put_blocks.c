/*
 * Puts of several blocks as one record: of a list, of blocks at regular distances, of data and the word that tells of it.
 *
 * A record has one number, so whoever applies it applies all of it or, should this process die in it, all of it again: exactly once, as a put
 * (rma/put.c). It is written once, with the blocks packed, and what is mapped here is stored from the program's memory meanwhile. No
 * one-sided operation does it: where there are such it is sent as a message, which they are in order with (peer/remote_put.h).
 *
 * What is longer than a record is several, cut by the call's arguments alone: a re-execution makes the same ones, on either lane. A block
 * that is longer alone is a put, and so is what is left of a call if it is one block.
 */
#include "rma/put_blocks.h"
#include "rma/by_message.h"
#include "order/flush.h"
#include "engine/threads.h"
#include "epoch/lock.h"
#include "order/mix.h"
#include "rma/put.h"
#include "access/target.h"

#include "check/plant.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/store_part.h"

#include <string.h>

/* what becomes one record: blocks of a list, with a signal or without, or blocks at regular distances */
typedef struct put_record {
    keel_win_h win, signal_win;  /* the latter is .win where there is no signal */
    const keel_block_t *list;    /* of .count, empty ones too; or NULL, */
    const keel_blocks_t *blocks; /* and then these, */
    const char *from;            /* from here */
    const keel_signal_t *signal;
    size_t count, length; /* and of its payload */
    uint64_t where;
    uint32_t rank;
} put_record_t;

/* a part, and where it comes from */
typedef struct put_part {
    keel_record_part_t head;
    uint64_t stride, apart;
    const char *from;
} put_part_t;

static put_part_t record_part(const put_record_t *put, size_t i)
{
    const unsigned region = put->win->region;

    if (put->list != NULL) {
        const keel_block_t *block = &put->list[i];

        return (put_part_t){.head = {.where = keel_where(block->offset, KEEL_RECORD_PUT, region),
                                     .length = (uint32_t)block->length,
                                     .count = 1},
                            .from = block->buffer};
    }
    return (put_part_t){.head = {.where = keel_where(put->blocks->offset, KEEL_RECORD_PUT, region),
                                 .length = (uint32_t)put->blocks->length,
                                 .count = (uint32_t)put->blocks->count},
                        .stride = put->blocks->stride,
                        .apart = KEEL_PLANT(blocks_packed) ? put->blocks->length : put->blocks->buffer_stride,
                        .from = put->from};
}

/* writes a part's head, if it has one, behind what is written; returns where its blocks go */
static uint8_t *part_write_head(uint8_t *to, const put_part_t *part)
{
    memcpy(to, &part->head, sizeof(part->head));
    to += sizeof(part->head);
    if (part->head.count > 1) {
        memcpy(to, &part->stride, sizeof(part->stride));
        to += sizeof(part->stride);
    }
    return to;
}

/* blocks into a record, or to memory that is mapped here, or both; each byte is read once */
static void part_copy(const put_part_t *part, uint8_t *to, char *target)
{
    const size_t length = part->head.length;

    for (uint32_t i = 0; i < part->head.count; i++) {
        const char *from = part->from + i * part->apart;

        if (to != NULL && target != NULL) {
            keel_store_two(to + i * length, target + i * part->stride, from, length);
        } else if (to != NULL) {
            memcpy(to + i * length, from, length);
        } else {
            keel_store_bytes(target + i * part->stride, from, length);
        }
    }
}

/* the payload, where there is a record, and, where the target's memory is mapped here, what it does */
static void record_do(const put_record_t *put, keel_record_t *record, int is_stored)
{
    char *base = is_stored ? keel_win_target(put->win, put->rank)->ptr : NULL;
    uint8_t *to = (record != NULL) ? (uint8_t *)(record + 1) : NULL;

    if (to != NULL && put->signal != NULL) {
        const keel_record_signal_t word = {
            .where = keel_where(put->signal->offset, KEEL_RECORD_PUT, put->signal_win->region),
            .value = put->signal->value};

        memcpy(to, &word, sizeof(word));
        to += sizeof(word);
    }
    for (size_t i = 0; i < put->count; i++) {
        const put_part_t part = record_part(put, i);
        const size_t bytes = (size_t)part.head.length * part.head.count;

        if (bytes == 0) {
            continue;
        }
        if (to != NULL && put->signal == NULL) {
            to = part_write_head(to, &part);
            memset(to + bytes, 0, keel_pad8(bytes) - bytes);
        }
        part_copy(&part, to, (base != NULL) ? base + keel_where_offset(part.head.where) : NULL);
        to = (to != NULL) ? to + keel_pad8(bytes) : NULL;
        KEEL_MOMENT();
    }
    if (put->signal != NULL && is_stored) {
        keel_store_behind();
        keel_store_bytes(keel_win_target(put->signal_win, put->rank)->ptr + put->signal->offset, &put->signal->value,
                         sizeof(put->signal->value));
    }
}

/* the same of one in the log */
static void record_log(const put_record_t *put, keel_record_t *record, int is_stored)
{
    if (record != NULL) {
        keel_put_log_head(&put->win->ctx->puts, record, put->where, put->length);
    }
    if (record != NULL || is_stored) {
        record_do(put, record, is_stored);
    }
}

/* direct lane, programs that wait: opened, done and closed as one (rma/put.c) */
static void record_open(const put_record_t *put, keel_record_t *record, keel_board_slot_t *slot, int has_number,
                        uint64_t word)
{
    if (has_number) {
        keel_board_set(&slot->opened, word);
    }
    keel_store_barrier(); /* pairs with keel_wait_until_closed(): who sees any of it sees it open */
    KEEL_MOMENT();
    if (KEEL_PLANT(parts_closed_early) && has_number) {
        keel_store_word_release(&slot->done, word);
    }
    record_log(put, record, 1);
    KEEL_MOMENT();
}

static void record_numbered(const put_record_t *put, keel_record_t *record)
{
    keel_context_h ctx = put->win->ctx;
    keel_board_slot_t *slot = keel_access_slot(&ctx->lane, put->rank);
    const uint32_t number = keel_put_log_number(&ctx->puts, put->rank);
    const int has_number = number != ctx->puts.number_end;
    const uint64_t word = keel_phase_word(ctx->rec.phase, number + 1);

    if (has_number && keel_board_get(&slot->done) >= word && !KEEL_PLANT(parts_again)) {
        KEEL_REACHED(parts_were_done);
        record_log(put, record, 0);
        return;
    }
    record_open(put, record, slot, has_number, word);
    if (has_number) {
        keel_board_done(slot, ctx->rec.phase, number + 1);
    }
}

static void record_stored(const put_record_t *put, keel_record_t *record)
{
    keel_context_h ctx = put->win->ctx;

    keel_put_push_gets(ctx, put->rank);
    if (keel_gate_has(ctx, KEEL_GATE_WAITS)) {
        record_numbered(put, record);
        keel_put_set_near(put->win, put->rank);
        keel_flush_ring_later(ctx, put->rank);
    } else {
        (void)keel_put_log_number(&ctx->puts, put->rank);
        record_log(put, record, !keel_put_was_before(ctx, put->rank));
    }
}

/* logs it, and does or sends it if the target is live: as a piece of a put (rma/put.c) */
static keel_status_t record_put(const put_record_t *put)
{
    keel_context_h ctx = put->win->ctx;
    const keel_peer_t *peer = &ctx->lane.peers[put->rank];
    keel_record_t *record;
    keel_status_t status = keel_put_reserve(put->win, put->signal_win, put->rank, put->length, &record);

    if (status != KEEL_OK) {
        return status;
    }
    keel_case_access(ctx, put->rank, 0);
    if (peer->mode == KEEL_PEER_LIVE && keel_access_is_stored(&ctx->lane, put->rank)) {
        record_stored(put, record);
        return KEEL_OK;
    }
    if (record != NULL) {
        (void)keel_put_log_number(&ctx->puts, put->rank);
        record_log(put, record, 0);
    }
    if (peer->mode != KEEL_PEER_LIVE) {
        if (record == NULL) {
            (void)keel_put_log_number_sent(&ctx->puts, put->rank);
        }
        return KEEL_OK; /* handed over later, or there already */
    }
    if (record != NULL) {
        return keel_put_log_gather(&ctx->puts, put->rank, put->length, 0, 0);
    }
    status = keel_bounce_take(ctx, put->rank, put->where, put->length, &record);
    if (status == KEEL_OK) {
        record_do(put, record, 0);
        status = keel_bounce_send(ctx, put->rank, put->length);
    }
    return status;
}

static keel_status_t record_by_message(const put_record_t *put)
{
    keel_record_t *record;
    keel_status_t status = keel_by_message_take(put->win, put->rank, put->where, put->length, &record);

    if (status == KEEL_OK) {
        record_do(put, record, 0);
        status = keel_by_message_send(put->win, put->rank);
    }
    return status;
}

/* counts it, and does it; @a bytes in so many @a blocks */
static keel_status_t record_issue(const put_record_t *put, uint64_t blocks, uint64_t bytes)
{
    keel_context_h ctx = put->win->ctx;
    keel_status_t status = keel_lock_admit(ctx, put->rank, 1);

    status = (status == KEEL_OK) ? keel_mix_access(ctx, put->rank) : status;
    status = (status == KEEL_OK) ? keel_by_message_begin(put->win, put->rank, "keel_put") : status;
    if (status != KEEL_OK) {
        return status;
    }
    ctx->stats.puts += blocks;
    ctx->stats.put_bytes += bytes;
    keel_context_touch(ctx, put->rank);
    if (keel_win_is_by_message(put->win, put->rank)) {
        return record_by_message(put);
    }
    KEEL_REACHED(put_parts);
    status = keel_put_clock(put->win, put->rank);
    status = (status == KEEL_OK) ? record_put(put) : status;
    keel_context_touch_again(ctx, put->rank);
    return status;
}

/* ---- what is cut ---- */

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
            const put_record_t put = {.win = win,
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
        from += next.count * (KEEL_PLANT(blocks_packed) ? next.length : next.buffer_stride);
    }
    return status;
}

keel_status_t keel_put_blocks_list(keel_win_h win, uint32_t rank, const keel_block_t *blocks, size_t count)
{
    const size_t max = win->ctx->puts.record_max;
    keel_status_t status = KEEL_OK;
    size_t first = 0;

    while (first < count && status == KEEL_OK) {
        put_record_t put = {.win = win, .signal_win = win, .list = &blocks[first], .rank = rank};
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

/* programs that wait: the short way of a put (put_near()), where word and data go where it does. 0: it goes the general way. */
static int signal_near(const put_record_t *put)
{
    const keel_signal_t *signal = put->signal;
    keel_context_h ctx = put->win->ctx;
    const struct keel_home *home = ctx->home;
    keel_record_t *record;
    uint64_t word;

    if (home->near != keel_context_cached_target(put->rank, ctx->sync.waits.clock) ||
        keel_context_gate_rma(ctx, 0) != KEEL_GATE_WAITS ||
        keel_win_reach(put->win, put->rank, put->list->offset, put->list->length) == NULL ||
        keel_win_reach(put->signal_win, put->rank, signal->offset, sizeof(signal->value)) == NULL ||
        !keel_put_log_take(&ctx->puts, home->log, put->length, &record)) {
        return 0;
    }
    KEEL_REACHED(signal_near);
    keel_case_access(ctx, put->rank, 0);
    ctx->stats.puts += 2;
    ctx->stats.put_bytes += put->list->length + sizeof(signal->value);
    word = home->phase | home->log->count;
    record_open(put, record, home->slot, 1, word);
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
    const put_record_t put = {.win = win,
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
    } else if (signal_near(&put)) {
        return KEEL_OK;
    }
    return (status == KEEL_OK) ? record_issue(&put, 2, data.length + sizeof(signal->value)) : status;
}
