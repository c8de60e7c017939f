/*
 * Atomics: combining puts [F 2.1]; fetching atomics are also gets.
 *
 * Exactly once (protocol/rma.md). Served lane: the target's service thread applies an
 * atomic and counts it in one step (peer/served). The thread skips re-executed atomics, and the get
 * log holds the fetched values. The replacement of a dead target receives each logged atomic once,
 * as a fetching one if the value is still pending (keel_atomic_again()). Direct lane: the caller
 * numbers its atomics at the target, so only the atomic under way at the caller's death is in doubt
 * (atomic_numbered()); a fetched value is recorded at the target before the atomic is closed.
 * Outside programs that wait, a phase with fetches from own memory is in doubt, too.
 *
 * Hot path on the direct lane. Condition: the target's board announces atomics in this phase (the
 * first atomic takes the generic path and announces), no more than this process has done in this
 * life. Steps: a record in the put log, the number, and the locked instruction, which orders the
 * announcement before it; a fetch also has a record in the get log, here and at the target. Each
 * atomic reads the board itself, not a copy, because a target's replacement has another board.
 */
#include "rma/atomic.h"
#include "order/completion.h"
#include "access/admit.h"
#include "rma/atomic_issue.h"
#include "order/flush.h"
#include "engine/threads.h"
#include "rma/elements.h"
#include "rma/exclude.h"
#include "rma/atomic_record.h"
#include "rma/atomic_served.h"
#include "rma/atomic_stored.h"
#include "rma/atomic_waits.h"
#include "rma/fetch.h"
#include "access/target.h"

#include "check/plant.h"
#include "rma/by_message.h"
#include "rma/device.h"
#include "peer/access.h"
#include "peer/apply.h"
#include "rma/get.h"
#include "rma/poll.h"
#include "engine/refuse.h"
#include "engine/request.h"

#include <stddef.h>
#include <string.h>

/* The board announces atomics in this phase, as many as this process has done at the target. For
 * a fetch: all ranks know that this process fetches, and no earlier get there is pending. */
static inline __attribute__((always_inline)) int atomic_is_marked(keel_context_h ctx, uint32_t rank, unsigned op,
                                                                  int fetches, unsigned region, uint64_t offset)
{
    const keel_board_slot_t *slot = keel_access_slot(&ctx->lane, rank);
    const uint32_t phase = ctx->rec.phase, count = keel_put_log_counted(&ctx->puts, rank);
    uint64_t atomics;

    if (slot == NULL || (ctx->is_logging && (keel_board_get(&slot->done) != keel_phase_word(phase, count) ||
                                             count == ctx->puts.number_end || keel_board_get(&slot->opened) == 0 ||
                                             !keel_exclude_is_settled(ctx, rank, region, offset)))) {
        return 0;
    }
    atomics = keel_board_get(&slot->atomics);
    return keel_atomics_any(atomics) == phase + 1 && (ctx->sync.announced.own.classes & keel_classes_bit(op, 0)) != 0 &&
           ctx->rec.incomplete_count == 0 &&
           (!fetches || (ctx->fragments_open[rank] == 0 && ctx->sync.announced.own.fetched == phase + 1));
}

/* Word by word, each from its register: bytes gathered in memory first stall the copy. */
static inline __attribute__((always_inline)) void atomic_write(keel_record_t *record,
                                                               const keel_record_atomic_t *atomic)
{
    keel_record_atomic_t *payload = (keel_record_atomic_t *)(record + 1);
    const uint64_t head = atomic->op | (uint64_t)atomic->size << 8 | (uint64_t)atomic->fetches << 16;

    _Static_assert(offsetof(keel_record_atomic_t, fetches) == 2, "bytes of head");
    memcpy(payload, &head, sizeof(head));
    payload->operand = atomic->operand;
    payload->compare = atomic->compare;
    payload->change = 0;
}

/* Applies the atomic to live, mapped memory. Returns 0 if the generic path has to do it. */
static inline __attribute__((always_inline)) int atomic_fast(keel_win_h win, keel_atomic_op_t op, uint32_t rank,
                                                             uint64_t offset, size_t size, uint64_t operand,
                                                             uint64_t compare, void *result)
{
    const keel_record_atomic_t atomic = {
        .op = (uint8_t)op, .size = (uint8_t)size, .fetches = result != NULL, .operand = operand, .compare = compare};
    char *target = keel_win_reach(win, rank, offset, size);
    keel_board_slot_t *slot = NULL;
    keel_record_t *record = NULL;
    keel_context_h ctx;
    uint64_t where, old, done = 0;

    if (__builtin_expect(target == NULL || (size != 8 && size != 4) || (offset & (size - 1)) != 0 ||
                             (unsigned)op >= KEEL_ATOMIC_FAST,
                         0)) {
        return 0;
    }
    ctx = win->ctx;
    /* Earlier gets there need their records first: a posted atomic waits for them, as a put
     * does; a fetch adds its own. */
    if (__builtin_expect((keel_context_gate(ctx) & ~(uint32_t)(result != NULL ? KEEL_GATE_GETS : 0)) != 0 ||
                             (result != NULL && keel_get_log_has_replay(&ctx->gets, rank)) ||
                             !atomic_is_marked(ctx, rank, (unsigned)op, result != NULL, win->region, offset),
                         0)) {
        return 0;
    }
    KEEL_REACHED(atomic_fast);
    ctx->stats.atomics++;
    where = keel_where(offset, KEEL_RECORD_ATOMIC, win->region);
    if (result != NULL) {
        keel_context_touch(ctx, rank); /* a flush has to bring the record there */
    }
    if (ctx->is_logging) {
        slot = keel_access_slot(&ctx->lane, rank);
        done = keel_phase_word(ctx->rec.phase, keel_put_log_counted(&ctx->puts, rank) + 1);
        record = keel_put_log_reserve(&ctx->puts, rank, sizeof(atomic));
        keel_put_log_note_atomic(&ctx->puts, rank, keel_classes_kind(op, 1));
        if (record != NULL) {
            keel_prefetch_write((const uint8_t *)(record + 1) + KEEL_COPY_AHEAD);
            keel_put_log_head(&ctx->puts, record, where, sizeof(atomic));
            atomic_write(record, &atomic);
        }
        keel_board_set(&slot->opened, done);
    }
    old = keel_atomic_do(ctx, rank, where, target, &atomic, result, slot != NULL);
    if (record != NULL && (result != NULL || keel_atomic_may_change(op))) {
        keel_atomic_found(record, &atomic, old);
    }
    if (slot != NULL) {
        keel_atomic_push(ctx, rank, &atomic);
        keel_store_word_release(&slot->done, done);
    }
    return 1;
}

/* Own memory without protection: no process is ever replaced, so the atomic has neither record nor
 * announcement. Returns 0 if the generic path has to do it. */
static __attribute__((noinline)) int atomic_own_fast(keel_win_h win, keel_atomic_op_t op, uint32_t rank,
                                                     uint64_t offset, size_t size, uint64_t operand, uint64_t compare,
                                                     void *result)
{
    const keel_record_atomic_t atomic = {
        .op = (uint8_t)op, .size = (uint8_t)size, .fetches = result != NULL, .operand = operand, .compare = compare};
    const keel_context_h ctx = (win != NULL) ? win->ctx : NULL;
    char *target;

    if (ctx == NULL || rank != ctx->lane.rank || rank >= ctx->fast_ranks || ctx->config.protect != KEEL_PROTECT_NONE ||
        keel_context_gate(ctx) != 0 || win->base == NULL || win->freed_call > 0 || keel_win_is_for_device(win, rank)) {
        return 0;
    }
    target = (char *)win->base + offset;
    if ((unsigned)op >= KEEL_ATOMIC_FAST || (size != 8 && size != 4) || ((uintptr_t)target & (size - 1)) != 0 ||
        offset > win->size || size > win->size - offset) {
        return 0;
    }
    ctx->stats.atomics++;
    keel_atomic_store_result(result, size, keel_apply_atomic(target, &atomic));
    return 1;
}

static keel_status_t atomic_check(keel_win_h win, keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size)
{
    if (win == NULL) {
        return keel_refuse_null("the window");
    }
    if ((unsigned)op >= KEEL_ATOMIC_LAST || (size != 1 && size != 2 && size != 4 && size != 8)) {
        keel_error_ctx(win->ctx, "there is no atomic %u of %zu bytes", (unsigned)op, size);
        return KEEL_ERR_UNSUPPORTED;
    }
    if (!keel_win_is_aligned(win, rank, offset, size)) {
        keel_error_ctx(win->ctx, "offset %lu of an atomic is not aligned to its size %zu", (unsigned long)offset, size);
        return KEEL_ERR_ALIGNMENT;
    }
    return KEEL_OK;
}

/* the generic path, out of line to keep the registers of the hot path */
static __attribute__((noinline)) keel_status_t atomic_generic(keel_win_h win, keel_atomic_op_t op, uint32_t rank,
                                                              uint64_t offset, size_t size, uint64_t operand,
                                                              uint64_t compare, void *result,
                                                              const keel_rma_params_t *params, keel_req_h *req_p)
{
    KEEL_INSIDE_WIN(win);
    const keel_record_atomic_t atomic = {
        .op = (uint8_t)op, .size = (uint8_t)size, .fetches = result != NULL, .operand = operand, .compare = compare};
    keel_status_t status = atomic_check(win, op, rank, offset, size);
    keel_atomic_call_t call;
    struct keel_req *req;

    if (status == KEEL_OK && keel_win_is_for_device(win, rank) &&
        keel_device_atomic(win, rank, offset, &atomic, result, params, req_p, &status)) {
        return status;
    }
    if (status == KEEL_OK && op == KEEL_ATOMIC_FETCH) { /* like any poll */
        status = keel_flush_start_all(win->ctx);
    }
    if (status == KEEL_OK && op == KEEL_ATOMIC_FETCH && result != NULL && size != 2 && keel_poll_may_order(win->ctx) &&
        !keel_win_is_by_message(win, rank)) {
        return keel_poll_any(win, rank, offset, result, size, "an atomic FETCH");
    }
    if (status == KEEL_OK && (!keel_atomic_is_logged((unsigned)op) || size < 4 || keel_win_is_by_message(win, rank))) {
        return keel_accumulate_word(win, rank, offset, &atomic, result, params, req_p);
    }
    status = (status == KEEL_OK) ? keel_win_check(win, rank, offset, size, win, params) : status;
    status = (status == KEEL_OK) ? keel_access_admit(win, rank, KEEL_ACCESS_PUT, "keel_atomic") : status;
    if (status != KEEL_OK) {
        return keel_win_end(win, status);
    }
    req = keel_req_obtain(win->ctx, params);
    if (req == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    win->ctx->stats.atomics++;
    call = (keel_atomic_call_t){.win = win,
                                .rank = rank,
                                .where = keel_where(offset, KEEL_RECORD_ATOMIC, win->region),
                                .atomic = &atomic,
                                .result = result,
                                .req = req,
                                .is_ordered = keel_fetch_is_ordered(win->ctx, rank, &atomic)};
    status = keel_atomic_issue(&call);
    if (status == KEEL_OK && call.is_ordered) {
        status = keel_fetch_end(req, size, result);
    }
    return keel_win_end(win, keel_request_finish(req, status, req_p));
}

/* Programs that wait, with one thread: others change the gate. A window of device atomics sets a
 * bit of the gate. */
static int atomic_is_waited(keel_win_h win, keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size,
                            uint64_t operand, uint64_t compare, void *result)
{
    return win != NULL && rank < win->ctx->fast_ranks && keel_context_gate(win->ctx) == KEEL_GATE_WAITS &&
           keel_atomic_waits(win, op, rank, offset, size, operand, compare, result);
}

keel_status_t keel_atomic_nbx(keel_win_h win, keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size,
                              uint64_t operand, uint64_t compare, void *result, const keel_rma_params_t *params,
                              keel_req_h *req_p)
{
    if (__builtin_expect(params == NULL && atomic_fast(win, op, rank, offset, size, operand, compare, result), 1)) {
        return KEEL_OK;
    }
    if (params == NULL && (atomic_is_waited(win, op, rank, offset, size, operand, compare, result) ||
                           atomic_own_fast(win, op, rank, offset, size, operand, compare, result))) {
        return KEEL_OK;
    }
    return atomic_generic(win, op, rank, offset, size, operand, compare, result, params, req_p);
}

static __attribute__((noinline)) keel_status_t atomic_generic_wait(keel_win_h win, keel_atomic_op_t op, uint32_t rank,
                                                                   uint64_t offset, size_t size, uint64_t operand,
                                                                   uint64_t compare, void *result)
{
    keel_req_h req = NULL;
    keel_status_t status;

    if (atomic_is_waited(win, op, rank, offset, size, operand, compare, result)) {
        return KEEL_OK;
    }
    status = atomic_generic(win, op, rank, offset, size, operand, compare, result, NULL, &req);
    return (status == KEEL_INPROGRESS) ? keel_req_wait(req) : status;
}

keel_status_t keel_atomic(keel_win_h win, keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size,
                          uint64_t operand, uint64_t compare, void *result)
{
    /* the short way, compiled for these values */
    if (op == KEEL_ATOMIC_ADD && size == sizeof(uint64_t) && result != NULL) {
        if (__builtin_expect(atomic_fast(win, KEEL_ATOMIC_ADD, rank, offset, sizeof(uint64_t), operand, 0, result),
                             1)) {
            return KEEL_OK;
        }
    } else if (__builtin_expect(atomic_fast(win, op, rank, offset, size, operand, compare, result), 1)) {
        return KEEL_OK;
    }
    return atomic_own_fast(win, op, rank, offset, size, operand, compare, result)
               ? KEEL_OK
               : atomic_generic_wait(win, op, rank, offset, size, operand, compare, result);
}
