/*
 * Get: fragments that a record, a load or a request answers, now or when the target is back.
 *
 * Hot path on the direct lane, like a put's: the table of targets is current, no record has to
 * answer the get, then one append to the get log fused with the copy to the caller. The record
 * reaches the target when the epoch closes, or before the next put there, which the gate sends to
 * the generic path. The records of a long get are written at the target (oplog/get_reference).
 */
#include "rma/get.h"
#include "order/completion.h"
#include "rma/atomic_record.h"
#include "access/admit.h"
#include "engine/threads.h"
#include "access/target.h"

#include "base/memory.h"
#include "check/plant.h"
#include "rma/by_message.h"
#include "engine/request.h"
#include "order/determinant.h"
#include "oplog/get_reference.h"
#include "oplog/get_remote.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "peer/region.h"
#include "recovery/rollback_request.h"
#include "recovery/hand_over_check.h"
#include "recovery/recovery_status.h"

#include <string.h>

static keel_status_t get_fragment(keel_win_h win, uint32_t rank, uint64_t offset, char *buffer, uint32_t length,
                                  struct keel_req *req)
{
    keel_context_h ctx = win->ctx;
    const uint64_t where = keel_where(offset, KEEL_RECORD_PUT, win->region);
    keel_status_t status;
    keel_fragment_t *fragment;

    if (keel_win_is_by_message(win, rank)) {
        return keel_by_message_get(win, rank, offset, buffer, length, req);
    }
    status = keel_get_log_replay(&ctx->gets, rank, where, length, buffer);
    if (status != KEEL_INPROGRESS) {
        KEEL_PLANT_CALL(get_live, win, rank, offset, buffer, length);
        return keel_get_replayed(ctx, rank, status);
    }
    status = keel_get_make_fragment(ctx, rank, where, length, req, &fragment);
    if (status == KEEL_OK) {
        fragment->buffer = buffer;
        keel_get_start_fragment(fragment);
    }
    return status;
}

keel_status_t keel_get_issue(keel_win_h win, uint32_t rank, uint64_t offset, char *buffer, size_t length,
                             struct keel_req *req)
{
    const keel_poll_ops_t *polls = win->ctx->polls;

    return (polls != NULL && length > 0 && rank != win->ctx->lane.rank)
               ? polls->issue(win, rank, offset, buffer, length, "keel_get", req)
               : keel_get_fragments(win, rank, offset, buffer, length, req);
}

keel_status_t keel_get_fragments(keel_win_h win, uint32_t rank, uint64_t offset, char *buffer, size_t length,
                                 struct keel_req *req)
{
    keel_context_h ctx = win->ctx;
    keel_status_t status = KEEL_OK;
    const keel_block_t block = {.offset = offset, .length = length, .buffer = buffer};
    uint32_t fragment;

    if (rank == ctx->lane.rank) {
        return ctx->get_own(win, &(keel_gather_t){.list = &block, .count = 1});
    }
    keel_context_touch(ctx, rank);
    for (; length > 0 && status == KEEL_OK; length -= fragment, buffer += fragment, offset += fragment) {
        fragment = length < ctx->gets.record_max ? (uint32_t)length : ctx->gets.record_max;
        status = get_fragment(win, rank, offset, buffer, fragment, req);
    }
    return status;
}

/* the generic path, out of line so that the hot path keeps its registers */
static __attribute__((noinline)) keel_status_t get_generic(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer,
                                                           size_t length, const keel_rma_params_t *params,
                                                           keel_req_h *req_p)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = keel_win_check(win, rank, offset, length, buffer, params);
    struct keel_req *req;

    if (status != KEEL_OK) {
        return keel_win_end(win, status);
    }
    status = keel_access_admit(win, rank, KEEL_ACCESS_GET, "keel_get");
    if (status != KEEL_OK) {
        return keel_win_end(win, status);
    }
    win->ctx->stats.gets++;
    win->ctx->stats.get_bytes += length;
    /* no request: a jump to the restart point may leave this call */
    if (rank == win->ctx->lane.rank) {
        return keel_win_end(win, keel_get_fragments(win, rank, offset, buffer, length, NULL));
    }
    req = keel_req_obtain(win->ctx, params);
    if (req == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    keel_req_begin_looks(req, rank, length);
    status = keel_get_issue(win, rank, offset, buffer, length, req);
    return keel_win_end(win, keel_request_finish(req, status, req_p));
}

/* Programs that wait: defers the record of a get to keel_determinant_stabilize_reads(), which runs
 * first if the deferred gets read another rank. Returns 0 if the get takes the generic path. */
static __attribute__((noinline)) int get_defers_record(keel_context_h ctx, uint32_t rank, uint32_t gate)
{
    if ((gate & ~(uint32_t)(KEEL_GATE_WAITS | KEEL_GATE_READ)) != 0 || ctx->polls != NULL || keel_fork_is_child(ctx)) {
        return 0;
    }
    if (ctx->read_rank != rank && !KEEL_PLANT(get_read_elsewhere)) {
        keel_determinant_stabilize_reads(ctx);
    }
    KEEL_REACHED(get_waiting);
    ctx->read_rank = rank;
    keel_gate_set(ctx, KEEL_GATE_READ);
    return 1;
}

static inline void get_count(keel_context_h ctx, size_t length)
{
    KEEL_REACHED(get_fast);
    ctx->stats.gets++;
    ctx->stats.get_bytes += length;
}

/* A long get: its records, cut as by the generic path, are at the target at once. */
static __attribute__((noinline)) void get_long(keel_win_h win, uint32_t rank, uint64_t offset, char *buffer,
                                               const char *from, size_t length)
{
    keel_context_h ctx = win->ctx;
    uint32_t fragment, index;

    if (length == 0) {
        return;
    }
    get_count(ctx, length);
    keel_context_touch(ctx, rank);
    for (; length > 0; length -= fragment, buffer += fragment, from += fragment, offset += fragment) {
        const uint64_t where = keel_where(offset, KEEL_RECORD_PUT, win->region);

        fragment = length < ctx->gets.record_max ? (uint32_t)length : ctx->gets.record_max;
        if (!keel_get_reference_read(&ctx->gets, rank, where, buffer, from, fragment)) {
            keel_gate_set(ctx, keel_gate_has(ctx, KEEL_GATE_READ) ? KEEL_GATE_READ : KEEL_GATE_GETS);
            keel_get_log_read(keel_get_log_reserve(&ctx->gets, rank, where, fragment, &index), buffer, from, fragment);
        }
    }
}

/* Gets from live, mapped memory. Returns 0 if the get has to take the generic path: in programs
 * that wait, a get with a request has to return the request. An empty get has no record. */
static inline __attribute__((always_inline)) int get_fast(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer,
                                                          size_t length, int has_no_request)
{
    const char *from = keel_win_reach(win, rank, offset, length);
    keel_context_h ctx;
    uint32_t index, gate;

    if (__builtin_expect(from == NULL, 0)) {
        return 0;
    }
    ctx = win->ctx;
    gate = keel_context_gate_rma(ctx, KEEL_GATE_GETS);
    if (__builtin_expect((keel_get_log_has_replay(&ctx->gets, rank) && !KEEL_PLANT(get_fast_in_replay)) ||
                             buffer == NULL || (gate != 0 && !(has_no_request && get_defers_record(ctx, rank, gate))),
                         0)) {
        return 0;
    }
    if (__builtin_expect(length - 1 >= ctx->gets.long_from - 1, 0)) {
        get_long(win, rank, offset, buffer, from, length);
        return length > 0;
    }
    get_count(ctx, length);
    /* not twice: a store of a byte stalls the next load of the word */
    if (gate == 0 && !keel_gate_has(ctx, KEEL_GATE_GETS)) {
        keel_gate_set(ctx, KEEL_GATE_GETS);
    }
    keel_context_touch(ctx, rank);
    keel_get_log_read(keel_get_log_reserve(&ctx->gets, rank, keel_where(offset, KEEL_RECORD_PUT, win->region),
                                           (uint32_t)length, &index),
                      buffer, from, length);
    return 1;
}

keel_status_t keel_get_nbx(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length,
                           const keel_rma_params_t *params, keel_req_h *req_p)
{
    if (__builtin_expect(params == NULL && get_fast(win, rank, offset, buffer, length, req_p == NULL), 1)) {
        return KEEL_OK;
    }
    return get_generic(win, rank, offset, buffer, length, params, req_p);
}

static __attribute__((noinline)) keel_status_t get_generic_wait(keel_win_h win, uint32_t rank, uint64_t offset,
                                                                void *buffer, size_t length)
{
    keel_req_h req = NULL;
    keel_status_t status = get_generic(win, rank, offset, buffer, length, NULL, &req);

    return (status == KEEL_INPROGRESS) ? keel_req_wait(req) : status;
}

keel_status_t keel_get(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length)
{
    if (__builtin_expect(get_fast(win, rank, offset, buffer, length, 1), 1)) {
        return KEEL_OK;
    }
    return get_generic_wait(win, rank, offset, buffer, length);
}
