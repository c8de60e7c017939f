/* Puts and gets of strided blocks, checked as a whole: one access each (rma/put_blocks,
 * rma/get_blocks). */
#include "rma/get_blocks.h"
#include "engine/threads.h"
#include "rma/put_blocks.h"
#include "engine/refuse.h"
#include "access/target.h"
#include "check/plant.h"
#include "wire/blocks.h"

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
    span = keel_blocks_span(blocks->length, blocks->count, blocks->stride);
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
    const keel_status_t status = blocks_check(win, rank, blocks, buffer);
    const size_t count = (status == KEEL_OK && !blocks_are_none(blocks)) ? blocks->count : 0;
    const keel_gather_t gather = {
        .blocks = blocks, .buffer = buffer, .count = count - (KEEL_PLANT(get_blocks_last_missed) && count > 1)};

    if (status != KEEL_OK) {
        return (win != NULL) ? keel_win_end(win, status) : status;
    }
    if (count > 0 && blocks_are_one(blocks)) {
        return keel_get(win, rank, blocks->offset, buffer, blocks->length * blocks->count);
    }
    return keel_get_blocks(win, rank, &gather, "keel_get_strided");
}
