/*
 * Gets of several blocks (protocol/rma.md): one access with one record of the places of
 * the blocks and the bytes read, packed.
 *
 * On mapped memory the blocks are copied to the caller and to the record at once. Otherwise a
 * message asks for all blocks, even where one-sided operations could read each: the target's
 * service side reads, records and answers. A replacement takes all blocks from the record, or none.
 *
 * The arguments and the job's settings alone cut a call, so a re-execution on any lane has the same
 * accesses: as many blocks as a record holds, then the next. A single remaining block, or a block
 * that exceeds a record, is an ordinary get.
 *
 * Each block is an access of its own where each get is a poll, because the clock of a poll covers a
 * single look at bytes that are read in order. The same holds for memory that its owner serves
 * without a log.
 */
#include "rma/get_blocks.h"
#include "access/admit.h"
#include "access/fragment.h"
#include "order/completion.h"
#include "rma/get.h"
#include "engine/threads.h"
#include "engine/refuse.h"
#include "engine/request.h"
#include "access/target.h"
#include "base/memory.h"
#include "check/plant.h"
#include "peer/issue.h"
#include "recovery/rollback_request.h"
#include "wire/get_parts.h"

#include <string.h>

/* blocks of one access */
typedef struct blocks_run {
    size_t first, count;
    uint32_t parts;
    uint32_t bytes; /* of all blocks; UINT32_MAX: one block that exceeds an access */
} blocks_run_t;

static size_t run_max(const keel_context_h ctx)
{
    return ctx->gets.record_max - keel_get_parts_size(1);
}

/* The access from block @a first on. Each non-empty block of a list is a part; strided blocks
 * are one part. */
static blocks_run_t run_from(const keel_context_h ctx, const keel_gather_t *gather, size_t first)
{
    const size_t max = run_max(ctx), left = gather->count - first;
    blocks_run_t run = {.first = first, .count = 1, .parts = 1};
    size_t room = ctx->gets.record_max - keel_get_parts_size(0);

    if (gather->list == NULL) {
        const size_t length = gather->blocks->length, fit = (length <= max) ? max / length : 1;

        run.count = (fit < left) ? fit : left;
        run.bytes = (length <= max) ? (uint32_t)(run.count * length) : UINT32_MAX;
        return run;
    }
    for (run.count = run.parts = 0; run.count < left; run.count++) {
        const size_t length = gather->list[first + run.count].length;

        if (length > 0 && (length > room || sizeof(keel_get_part_t) > room - length)) {
            break;
        }
        room -= (length > 0) ? length + sizeof(keel_get_part_t) : 0;
        run.bytes += (uint32_t)length;
        run.parts += (length > 0);
    }
    return (run.count > 0) ? run : (blocks_run_t){.first = first, .count = 1, .parts = 1, .bytes = UINT32_MAX};
}

/* the next part of the blocks from *next_p on, before @a end */
static keel_get_part_t run_part(const keel_gather_t *gather, unsigned region, size_t *next_p, size_t end)
{
    keel_block_t block = keel_gather_block(gather, *next_p);
    keel_get_part_t part = {.count = 1};

    if (gather->list == NULL) {
        part.count = (uint32_t)(end - *next_p);
        part.stride = gather->blocks->stride;
        *next_p = end;
    } else {
        while (block.length == 0) {
            block = gather->list[++*next_p];
        }
        ++*next_p;
    }
    part.where = keel_where(block.offset, KEEL_RECORD_PUT, region);
    part.length = (uint32_t)block.length;
    return part;
}

/* writes the heads that precede the bytes in the record */
static void run_describe(const keel_gather_t *gather, const blocks_run_t *run, unsigned region, char *to)
{
    const keel_get_parts_t head = {.count = run->parts};
    size_t next = run->first;

    memcpy(to, &head, sizeof(head));
    for (uint32_t i = 0; i < run->parts; i++) {
        const keel_get_part_t part = run_part(gather, region, &next, run->first + run->count);

        memcpy(to + keel_get_parts_size(i), &part, sizeof(part));
    }
}

/* whether a recorded payload describes the same blocks */
static int run_is_described(const keel_gather_t *gather, const blocks_run_t *run, unsigned region, const char *payload)
{
    const keel_get_parts_t head = {.count = run->parts};
    size_t next = run->first;

    if (memcmp(payload, &head, sizeof(head)) != 0) {
        return 0;
    }
    for (uint32_t i = 0; i < run->parts; i++) {
        const keel_get_part_t part = run_part(gather, region, &next, run->first + run->count);

        if (memcmp(payload + keel_get_parts_size(i), &part, sizeof(part)) != 0) {
            return 0;
        }
    }
    return 1;
}

static void run_scatter(const keel_gather_t *gather, size_t first, size_t count, const char *packed)
{
    for (size_t i = 0; i < count; i++) {
        const keel_block_t block = keel_gather_block(gather, first + i);

        if (block.length > 0) {
            memcpy(block.buffer, packed, block.length);
        }
        packed += block.length;
    }
}

/* ---- fragments ---- */

static blocks_run_t fragment_run(const keel_fragment_t *fragment)
{
    const size_t parts = (fragment->length - fragment->polled - keel_get_parts_size(0)) / sizeof(keel_get_part_t);

    return (blocks_run_t){
        .first = fragment->first, .count = fragment->blocks, .parts = (uint32_t)parts, .bytes = fragment->polled};
}

/* the call ended with an error: its blocks may be freed */
static int fragment_is_abandoned(const keel_fragment_t *fragment)
{
    return fragment->gather == NULL || fragment->req->status != KEEL_OK;
}

/* reads the memory once: record and caller get the same bytes */
static void blocks_copy(void *record, void *buffer, const char *from, size_t length)
{
    if (record != NULL && length < KEEL_COPY_STREAM) {
        keel_copy_two(record, buffer, from, length);
        return;
    }
    memcpy(buffer, from, length);
    if (record != NULL) {
        keel_copy_barrier(buffer);
        memcpy(record, buffer, length);
    }
}

static void blocks_stored(keel_fragment_t *fragment, const char *from)
{
    const char *base = from - keel_where_offset(fragment->where);
    char *payload = (char *)(fragment->record != NULL ? fragment->record + 1 : NULL);
    char *packed = (payload != NULL) ? payload + fragment->length - fragment->polled : NULL;
    const blocks_run_t run = fragment_run(fragment);

    if (fragment_is_abandoned(fragment)) {
        keel_fragment_done(fragment, KEEL_ERR_ROLLED_BACK);
        return;
    }
    for (size_t i = 0; i < run.count; i++) {
        const keel_block_t block = keel_gather_block(fragment->gather, run.first + i);

        if (block.length > 0) {
            blocks_copy(packed, block.buffer, base + block.offset, block.length);
            packed = (packed != NULL) ? packed + block.length : NULL;
        }
    }
    if (payload != NULL) {
        run_describe(fragment->gather, &run, keel_where_region(fragment->where), payload);
        fragment->record->completeness = KEEL_GET_COMPLETE;
        fragment->record = NULL;
    }
    fragment->gather = NULL;
    keel_fragment_stored(fragment);
}

static keel_status_t blocks_send(keel_fragment_t *fragment, const keel_get_record_t *record)
{
    keel_context_h ctx = fragment->ctx;
    const size_t described = fragment->length - fragment->polled;
    const blocks_run_t run = fragment_run(fragment);
    char *payload;

    if (fragment_is_abandoned(fragment)) {
        return KEEL_ERR_ROLLED_BACK;
    }
    if (fragment->record == NULL && fragment->buffer == NULL) {
        fragment->buffer = keel_alloc(fragment->length, "blocks that are got");
        if (fragment->buffer == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
    }
    payload = (char *)(fragment->record != NULL ? fragment->record + 1 : fragment->buffer);
    run_describe(fragment->gather, &run, keel_where_region(fragment->where), payload);
    return keel_lane_read_blocks(&ctx->lane, fragment->rank, record, payload, described, !ctx->gets.is_off,
                                 keel_fragment_done, fragment);
}

static void blocks_answered(keel_fragment_t *fragment)
{
    const char *payload = (const char *)(fragment->record != NULL ? fragment->record + 1 : fragment->buffer);

    if (fragment->record != NULL) {
        fragment->record->completeness = KEEL_GET_COMPLETE;
        fragment->record = NULL;
    }
    if (!fragment_is_abandoned(fragment)) {
        run_scatter(fragment->gather, fragment->first, fragment->blocks, payload + fragment->length - fragment->polled);
    }
}

static const keel_fragment_ops_t blocks_fragment_ops = {
    .stored = blocks_stored, .send = blocks_send, .answered = blocks_answered};

/* ---- accesses ---- */

/* KEEL_INPROGRESS: the access has no record */
static keel_status_t run_replay(keel_win_h win, uint32_t rank, const keel_gather_t *gather, const blocks_run_t *run,
                                uint64_t where)
{
    keel_context_h ctx = win->ctx;
    const size_t described = keel_get_parts_size(run->parts);
    const keel_get_record_t *record;
    keel_status_t status = keel_get_log_next(&ctx->gets, rank, where, described + run->bytes, &record);

    if (status == KEEL_INPROGRESS) {
        return status;
    }
    if (status == KEEL_OK && !run_is_described(gather, run, win->region, (const char *)(record + 1))) {
        keel_error_ctx(
            ctx,
            "re-execution differs from the first life: get %u of phase %u at rank %u is of other blocks than "
            "the one recorded; is the program deterministic, and all memory protected that it goes on from?",
            record->index, record->phase, rank);
        status = KEEL_ERR_CORRUPT;
    }
    if (status == KEEL_OK) {
        run_scatter(gather, run->first, KEEL_PLANT(get_blocks_first_alone) ? 1 : run->count,
                    (const char *)(record + 1) + described);
        KEEL_PLANT_CALL(get_blocks_live, win, rank, gather, run->first + 1, run->first + run->count);
    }
    return keel_get_replayed(ctx, rank, status);
}

static keel_status_t run_get(keel_win_h win, uint32_t rank, const keel_gather_t *gather, const blocks_run_t *run,
                             struct keel_req *req)
{
    keel_context_h ctx = win->ctx;
    size_t next = run->first;
    const uint64_t where = keel_where_blocks(run_part(gather, win->region, &next, run->first + run->count).where);
    keel_status_t status = run_replay(win, rank, gather, run, where);
    keel_fragment_t *fragment;

    if (status != KEEL_INPROGRESS) {
        return status;
    }
    status = keel_get_make_fragment(ctx, rank, where, (uint32_t)keel_get_parts_size(run->parts) + run->bytes, req,
                                    &fragment);
    if (status == KEEL_OK) {
        fragment->ops = &blocks_fragment_ops;
        fragment->polled = run->bytes;
        fragment->buffer = NULL;
        fragment->gather = gather;
        fragment->first = run->first;
        fragment->blocks = run->count;
        keel_get_start_fragment(fragment);
    }
    return status;
}

static keel_status_t blocks_issue(keel_win_h win, uint32_t rank, const keel_gather_t *gather, struct keel_req *req)
{
    const int are_one = win->ctx->polls == NULL && !keel_win_is_by_message(win, rank);
    keel_status_t status = KEEL_OK;
    blocks_run_t run;

    keel_context_touch(win->ctx, rank);
    for (size_t first = 0; first < gather->count && status == KEEL_OK; first += run.count) {
        run = are_one ? run_from(win->ctx, gather, first) : (blocks_run_t){.first = first, .count = 1, .parts = 1};
        if (run.parts > 0 && (run.parts > 1 || (gather->list == NULL && run.count > 1))) {
            status = run_get(win, rank, gather, &run, req);
            continue;
        }
        for (size_t i = 0; i < run.count && status == KEEL_OK; i++) {
            const keel_block_t block = keel_gather_block(gather, first + i);

            status = keel_get_issue(win, rank, block.offset, block.buffer, block.length, req);
        }
    }
    return status;
}

keel_status_t keel_get_blocks(keel_win_h win, uint32_t rank, const keel_gather_t *gather, const char *call)
{
    keel_context_h ctx = win->ctx;
    keel_status_t status = keel_access_admit(win, rank, KEEL_ACCESS_GET, call), done;
    struct keel_req *req;
    unsigned rounds = 0;

    if (status != KEEL_OK || gather->count == 0) {
        return keel_win_end(win, status);
    }
    for (size_t i = 0; i < gather->count; i++) {
        ctx->stats.gets++;
        ctx->stats.get_bytes += keel_gather_block(gather, i).length;
    }
    if (rank == ctx->lane.rank) {
        return keel_win_end(win, ctx->get_own(win, gather));
    }
    req = keel_req_obtain(ctx, NULL);
    if (req == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = blocks_issue(win, rank, gather, req);
    while (status == KEEL_OK && req->fragments > 1) {
        status = keel_context_wait(ctx, &rounds);
    }
    /* after an error, pending fragments find the error in the request */
    done = keel_request_finish(req, status, NULL);
    return keel_win_end(win, (done == KEEL_INPROGRESS) ? status : done);
}

keel_status_t keel_get_list(keel_win_h win, uint32_t rank, const keel_block_t *blocks, size_t count)
{
    KEEL_INSIDE_WIN(win);
    const keel_gather_t gather = {.list = blocks, .count = count - (KEEL_PLANT(get_blocks_last_missed) && count > 0)};
    keel_status_t status = keel_win_check(win, rank, 0, 0, NULL, NULL);

    if (status == KEEL_OK && blocks == NULL && count > 0) {
        return keel_refuse_null("the blocks of an access");
    }
    for (size_t i = 0; i < count && status == KEEL_OK; i++) {
        status = keel_win_check(win, rank, blocks[i].offset, blocks[i].length, blocks[i].buffer, NULL);
    }
    if (status != KEEL_OK) {
        return (win != NULL) ? keel_win_end(win, status) : status;
    }
    return keel_get_blocks(win, rank, &gather, "keel_get_list");
}
