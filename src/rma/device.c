/*
 * Atomics by a device at the target.
 *
 * Safety. No log contains these atomics, so a program mixes before its first (order/mix), and every
 * death is a rollback. The rollback begins after all atomics under way between survivors have taken
 * effect, and after each survivor's disconnect() from the dead. A process waits for its atomics on
 * its own memory, so none is under way when the process turns to the rollback.
 */
#include "rma/device.h"
#include "access/fragment.h"
#include "order/completion.h"
#include "rma/get.h"
#include "order/mix.h"
#include "engine/refuse.h"
#include "engine/request.h"
#include "access/unlogged.h"
#include "check/plant.h"
#include "oplog/put_send.h"
#include "peer/issue.h"
#include "peer/read.h"
#include "recovery/rollback_request.h"

keel_status_t keel_device_refuse(keel_win_h win, const char *call)
{
    keel_error_ctx(win->ctx,
                   "%s: of window %u a device carries out the atomics (KEEL_WIN_ATOMICS_DEVICE): those are ADD, CSWAP "
                   "and FETCH of 8 bytes",
                   call, win->region - KEEL_REGION_WINDOW0);
    return KEEL_ERR_UNSUPPORTED;
}

static keel_transport_atomic_t request_of(const keel_record_atomic_t *atomic)
{
    return (keel_transport_atomic_t){.op =
                                         (atomic->op == KEEL_ATOMIC_CSWAP) ? KEEL_TRANSPORT_CSWAP : KEEL_TRANSPORT_ADD,
                                     .operand = (atomic->op == KEEL_ATOMIC_FETCH) ? 0 : atomic->operand,
                                     .compare = atomic->compare};
}

static keel_fragment_t *fragment_make(keel_win_h win, uint32_t rank, uint64_t where, void *result, struct keel_req *req)
{
    keel_fragment_t *fragment = keel_fragment_obtain(win->ctx);

    if (fragment != NULL) {
        fragment->rank = rank;
        fragment->where = where;
        fragment->length = sizeof(uint64_t);
        fragment->buffer = (result != NULL) ? result : &req->fetched;
        fragment->req = req;
        fragment->atomic = NULL;
        fragment->record = NULL;
    }
    return fragment;
}

static keel_status_t issue_once(keel_win_h win, keel_fragment_t *fragment, const keel_transport_atomic_t *atomic)
{
    keel_context_h ctx = win->ctx;
    keel_status_t status;

    keel_context_touch(ctx, fragment->rank);
    fragment->req->fragments++;
    ctx->fragments_open[fragment->rank]++;
    status = keel_lane_atomic(&ctx->lane, fragment->rank, fragment->where, atomic, fragment->buffer, keel_fragment_done,
                              fragment);
    if (status != KEEL_INPROGRESS) {
        fragment->req->fragments--;
        ctx->fragments_open[fragment->rank]--;
    }
    return status;
}

/* Sends earlier puts first. The atomic counts as pending only once the transport takes it,
 * because callbacks in the waits may flush. */
static keel_status_t issue(keel_win_h win, keel_fragment_t *fragment, const keel_transport_atomic_t *atomic)
{
    keel_context_h ctx = win->ctx;
    keel_status_t status;
    unsigned rounds = 0;

    do {
        status = keel_unlogged_await(win, fragment->rank);
        if (status == KEEL_OK && !keel_access_is_by_device(&ctx->lane, fragment->rank, win->region)) {
            status = keel_rollback_request(
                /* the replacement has no device, and the wait above was for the replacement */
                &ctx->rec, KEEL_ROLLBACK_MIXES);
        }
        if (status == KEEL_OK && keel_access_is_served(&ctx->lane, fragment->rank)) {
            status = keel_put_log_send(&ctx->puts, fragment->rank);
        }
        status = (status == KEEL_OK) ? issue_once(win, fragment, atomic) : status;
        if (status == KEEL_INPROGRESS) {
            return KEEL_OK;
        }
        status = (status == KEEL_ERR_NO_MEMORY) ? keel_context_wait(ctx, &rounds) : status;
    } while (status == KEEL_OK);
    keel_fragment_release(fragment);
    return status;
}

/* Waits even during a rollback: the atomic must not take effect afterwards. */
static keel_status_t await_own(keel_context_h ctx, const struct keel_req *req)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (req->fragments > 1 && (status == KEEL_OK || status == KEEL_ERR_ROLLED_BACK)) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

static keel_status_t run(keel_win_h win, uint32_t rank, uint64_t offset, const keel_record_atomic_t *atomic,
                         void *result, struct keel_req *req)
{
    keel_context_h ctx = win->ctx;
    const keel_transport_atomic_t request = request_of(atomic);
    keel_fragment_t *fragment =
        fragment_make(win, rank, keel_where(offset, KEEL_RECORD_ATOMIC, win->region), result, req);
    keel_status_t status;

    if (fragment == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    ctx->stats.atomics++;
    status = issue(win, fragment, &request);
    return (status == KEEL_OK && rank == ctx->lane.rank) ? await_own(ctx, req) : status;
}

int keel_device_atomic(keel_win_h win, uint32_t rank, uint64_t offset, const keel_record_atomic_t *atomic, void *result,
                       const keel_rma_params_t *params, keel_req_h *req_p, keel_status_t *status_p)
{
    struct keel_req *req;
    keel_status_t status;

    if (atomic->size != sizeof(uint64_t) ||
        (atomic->op != KEEL_ATOMIC_ADD && atomic->op != KEEL_ATOMIC_CSWAP && atomic->op != KEEL_ATOMIC_FETCH)) {
        *status_p = keel_device_refuse(win, "keel_atomic");
        return 1;
    }
    if (!keel_access_is_by_device(&win->ctx->lane, rank, win->region)) {
        return 0;
    }
    status = keel_win_check(win, rank, offset, atomic->size, win, params);
    if (status == KEEL_OK && !KEEL_PLANT(device_unmixed)) {
        status = keel_unlogged_begin(win, rank, offset, atomic->size, win, "an atomic by a device");
    }
    if (status == KEEL_OK && !keel_access_is_by_device(&win->ctx->lane, rank, win->region)) {
        return 0; /* the replacement has no device */
    }
    req = (status == KEEL_OK) ? keel_req_obtain(win->ctx, params) : NULL;
    if (req == NULL) {
        *status_p = (status == KEEL_OK) ? KEEL_ERR_NO_MEMORY : keel_win_end(win, status);
        return 1;
    }
    status = run(win, rank, offset, atomic, result, req);
    *status_p = keel_win_end(win, keel_request_finish(req, status, req_p));
    return 1;
}
