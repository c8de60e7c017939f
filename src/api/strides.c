/* Puts and gets of blocks, all of which are checked ahead. What is put is one record (api/put_blocks), and each get one of its own. */
#include "api/by_message.h"
#include "api/inside.h"
#include "api/get.h"
#include "api/lock.h"
#include "api/mix.h"
#include "api/put_blocks.h"
#include "api/refuse.h"
#include "api/request.h"
#include "api/target.h"
#include "check/plant.h"

/* bytes from the first block's begin to the last one's end; 0: more than there can be */
static uint64_t blocks_span(const keel_blocks_t *blocks)
{
    uint64_t last;

    if (__builtin_mul_overflow(blocks->stride, (uint64_t)blocks->count - 1, &last) ||
        __builtin_add_overflow(last, (uint64_t)blocks->length, &last)) {
        return 0;
    }
    return last;
}

static int blocks_are_none(const keel_blocks_t *blocks)
{
    return blocks->length == 0 || blocks->count == 0;
}

static int blocks_are_one(const keel_blocks_t *blocks)
{
    return blocks->count == 1 || (blocks->stride == blocks->length && blocks->buffer_stride == blocks->length);
}

static keel_status_t blocks_check(keel_win_h win, uint32_t rank, const keel_blocks_t *blocks, const void *buffer)
{
    uint64_t span;

    if (win == NULL || blocks == NULL) {
        return keel_refuse_null(win == NULL ? "the window" : "the blocks of an access");
    }
    span = blocks_are_none(blocks) ? 0 : blocks_span(blocks);
    if (span == 0 && !blocks_are_none(blocks)) {
        keel_error_ctx(win->ctx, "%zu blocks at distances of %lu bytes leave any window", blocks->count,
                       (unsigned long)blocks->stride);
        return KEEL_ERR_RANGE;
    }
    return keel_win_check(win, rank, blocks->offset, span, buffer, NULL);
}

keel_status_t keel_put_strided(keel_win_h win, uint32_t rank, const keel_blocks_t *blocks, const void *buffer)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = blocks_check(win, rank, blocks, buffer);

    if (status != KEEL_OK) {
        return (win != NULL) ? keel_win_end(win, status) : status;
    }
    if (blocks_are_none(blocks)) {
        return KEEL_OK;
    }
    if (blocks_are_one(blocks)) {
        return keel_put(win, rank, blocks->offset, buffer, blocks->length * blocks->count);
    }
    return keel_win_end(win, keel_put_blocks_strided(win, rank, blocks, buffer));
}

keel_status_t keel_get_strided(keel_win_h win, uint32_t rank, const keel_blocks_t *blocks, void *buffer)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = blocks_check(win, rank, blocks, buffer);
    keel_req_h req = NULL;
    struct keel_req *issued;
    char *to = buffer;

    status = (status == KEEL_OK) ? keel_lock_admit(win->ctx, rank, 0) : status;
    status = (status == KEEL_OK) ? keel_get_admit(win->ctx, rank) : status;
    status = (status == KEEL_OK) ? keel_by_message_begin(win, rank, "keel_get_strided") : status;
    if (status != KEEL_OK) {
        return (win != NULL) ? keel_win_end(win, status) : status;
    }
    if (blocks_are_none(blocks)) {
        return KEEL_OK;
    }
    if (blocks_are_one(blocks)) {
        return keel_get(win, rank, blocks->offset, buffer, blocks->length * blocks->count);
    }
    win->ctx->stats.gets += blocks->count;
    win->ctx->stats.get_bytes += blocks->count * blocks->length;
    if (rank == win->ctx->lane.rank) {
        return keel_win_end(win, win->ctx->own_get(win, blocks, buffer));
    }
    issued = keel_req_obtain(win->ctx, NULL);
    if (issued == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < blocks->count && status == KEEL_OK; i++) {
        if (KEEL_PLANT(block_missed) && i + 1 == blocks->count) {
            break;
        }
        status = keel_get_issue(win, rank, blocks->offset + i * blocks->stride, to + i * blocks->buffer_stride,
                                blocks->length, issued);
    }
    status = keel_request_finish(issued, status, &req);
    return (status == KEEL_INPROGRESS) ? keel_req_wait(req) : keel_win_end(win, status);
}
