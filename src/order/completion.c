/*
 * Completion of requests: tests and waits of the program, and callbacks (protocol/determinants.md).
 *
 * In a program that waits only gets can be in progress: a put is complete locally when the call
 * returns, and a fetch or a poll returns with the value. A replacement reads values from records at
 * once, where the predecessor had to ask. So two facts are determinants: whether a get returned a
 * request, and how often the request was in progress. The first needs no record, as each get
 * returns a request, complete or not.
 *
 * Looks at requests are numbered in a phase. A look that finds the request in progress is a
 * determinant (sync/determinants); consecutive looks are one record, with the number of the first
 * look and the count. The record says nothing of own memory and has no clock. A look at a complete
 * request has no record: a replacement at a look without a record waits until the request is
 * complete. Either the predecessor found the same, and the get has a record, or no rank depends on
 * the result of the look. The replacement waits for the service side or the memory of a live rank,
 * and for no program.
 *
 * Not recorded are looks from callbacks, at a request known to be complete, and in a later phase,
 * since the gsync has completed the request.
 */
#include "order/completion.h"
#include "engine/threads.h"
#include "order/mix.h"
#include "engine/refuse.h"
#include "engine/request.h"
#include "order/determinant.h"

#include "check/plant.h"
#include "check/reached.h"
#include "recovery/recover.h"

void keel_requests_call_back(keel_context_h ctx)
{
    struct keel_req *req;

    while (ctx->callbacks == 0 && (req = ctx->requests.due) != NULL) {
        ctx->requests.due = req->next;
        ctx->callbacks++;
        ctx->called++;
        keel_threads_set_in_callback(ctx, 1);
        if (req->is_new) {
            (void)keel_wait_catch_up(ctx); /* the next call reports its status */
        }
        req->cb(req->user, req->status);
        keel_threads_set_in_callback(ctx, 0);
        ctx->callbacks--;
        req->is_due = 0;
        if (req->is_released) { /* released, perhaps by the callback */
            keel_req_recycle(req);
        }
    }
}

/* phase and rollback number, never 0 */
static uint64_t look_phase(const keel_context_h ctx)
{
    return ((uint64_t)ctx->lane.rollback << 32 | ctx->rec.phase) + 1;
}

void keel_req_begin_looks(struct keel_req *req, uint32_t rank, size_t length)
{
    const keel_context_h ctx = req->ctx;

    if (length > 0 && rank != ctx->lane.rank && ctx->polls == NULL && keel_sync_records_values(&ctx->sync)) {
        req->looked = look_phase(ctx);
    }
}

/*
 * Replacement: KEEL_INPROGRESS if the predecessor found the request in progress, KEEL_OK if it is
 * complete.
 */
static keel_status_t look_again(struct keel_req *req, uint64_t look)
{
    keel_context_h ctx = req->ctx;
    unsigned rounds = 0;
    int is_first = 0;
    keel_status_t status = keel_results_replay_look(&ctx->sync, &ctx->gets, look, &is_first);

    if (status == KEEL_ERR_CORRUPT) {
        return keel_determinant_differs(ctx, "for a request in another place than before");
    }
    if (status == KEEL_INPROGRESS) {
        KEEL_REACHED(look_recorded);
        keel_recovery_count_gets(&ctx->rec, (uint64_t)is_first);
        return status;
    }
    while (status == KEEL_OK && req->fragments > 0) {
        KEEL_REACHED(look_waits);
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

/*
 * Logs a look before the program learns that the request is in progress. KEEL_OK: it has become
 * complete meanwhile.
 */
static keel_status_t look_log(struct keel_req *req, uint64_t look)
{
    keel_context_h ctx = req->ctx;
    keel_record_local_read_t *answer;
    keel_status_t status;
    uint32_t holder;

    if (keel_results_repeat_look(&ctx->sync, look)) {
        return KEEL_INPROGRESS;
    }
    status = keel_determinant_find_holder(ctx, &holder);
    if (status != KEEL_OK || req->fragments == 0) {
        return status;
    }
    if (holder != KEEL_RANK_NONE) {
        answer = keel_determinant_open_result(ctx, sizeof(*answer));
        if (answer != NULL) {
            *answer = (keel_record_local_read_t){.times = 1, .clock = look};
        }
    }
    return KEEL_INPROGRESS;
}

static keel_status_t req_look(struct keel_req *req)
{
    keel_context_h ctx = req->ctx;
    keel_status_t status;
    uint64_t look;

    if (ctx->callbacks > 0 || req->looked != look_phase(ctx) || !keel_sync_may_be_local(&ctx->sync) ||
        keel_recovery_status(&ctx->rec) != KEEL_OK || KEEL_PLANT(completion_look_unrecorded)) {
        return KEEL_OK;
    }
    status = keel_determinant_stabilize_polls(ctx);
    if (status != KEEL_OK) {
        return status;
    }
    look = keel_results_count_look(&ctx->sync);
    if (keel_sync_replays(&ctx->sync) == KEEL_STYLE_WAITS) {
        status = look_again(req, look);
    } else if (req->fragments > 0) {
        status = look_log(req, look);
    }
    if (status == KEEL_OK) {
        req->looked = 0;
    }
    return status;
}

keel_status_t keel_req_test(keel_req_h req)
{
    KEEL_INSIDE((req != NULL) ? req->ctx : NULL);
    keel_status_t status;

    if (req == NULL) {
        return keel_refuse_null("the request");
    }
    keel_context_poll(req->ctx);
    if (__builtin_expect(req->looked != 0, 0)) {
        status = req_look(req);
        if (status != KEEL_OK) {
            return keel_context_end(req->ctx, status);
        }
    }
    if (req->fragments == 0) {
        return (req->status == KEEL_OK && req->is_new && !KEEL_PLANT(completion_tested_alone))
                   ? keel_context_end(req->ctx, keel_wait_catch_up(req->ctx))
                   : req->status;
    }
    if (keel_recovery_status(&req->ctx->rec) == KEEL_OK) {
        return KEEL_INPROGRESS;
    }
    /* the request will never be complete */
    return keel_context_end(req->ctx, keel_context_check(req->ctx));
}

keel_status_t keel_req_wait(keel_req_h req)
{
    KEEL_INSIDE((req != NULL) ? req->ctx : NULL);
    keel_status_t status = KEEL_OK;
    keel_context_h ctx;
    unsigned rounds = 0;

    if (req == NULL) {
        return keel_refuse_null("the request");
    }
    ctx = req->ctx;
    while (req->fragments > 0 && status == KEEL_OK) {
        status = keel_context_wait(ctx, &rounds);
    }
    if (status == KEEL_OK) {
        status = req->status;
    }
    if (status == KEEL_OK && req->is_new) {
        status = keel_wait_catch_up(ctx);
    }
    keel_req_free(req);
    return keel_context_end(ctx, status);
}

keel_status_t keel_request_finish(struct keel_req *req, keel_status_t status, keel_req_h *req_p)
{
    const int is_given =
        req->looked != 0 && status == KEEL_OK && req->status == KEEL_OK && !KEEL_PLANT(completion_get_ungiven);

    if (req->fragments > 1 || is_given) {
        if (status != KEEL_OK) {
            req->status = status; /* the remaining pieces were not issued */
        }
        if (req_p != NULL) {
            *req_p = req;
        } else {
            req->is_released = 1;
        }
        keel_req_fragment_done(req, KEEL_OK);
        return KEEL_INPROGRESS;
    }
    req->fragments = 0;
    status = (status == KEEL_OK) ? req->status : status;
    if (status == KEEL_OK && req->is_new) {
        status = keel_wait_catch_up(req->ctx);
    }
    keel_req_free(req);
    return status;
}
