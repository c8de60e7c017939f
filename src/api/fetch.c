/*
 * Fetching atomics in programs that wait (protocol.md, Waits inside a phase).
 *
 * Whose atomic another one has found, with all that its source did before it, comes before what that one does next. So with the value
 * comes the clock of all that was done at the target until then, and the fetching process goes beyond it. The clock is loaded after
 * the word was changed, and who changes the word has raised the clock before: whoever is found is covered. Both are in the record, at the
 * target before anything else is done: a replacement that is answered from it replays what others put under that clock or a lower one,
 * for the predecessor may have learned that it is there, and goes beyond the same clock (sync/waits).
 */
#include "api/fetch.h"

#include "api/wait.h"
#include "check/plant.h"
#include "peer/access.h"
#include "peer/apply.h"

int keel_fetch_is_ordered(const keel_context_h ctx, uint32_t rank, const keel_record_atomic_t *atomic)
{
    return atomic->fetches && rank != ctx->lane.rank && keel_sync_is_numbered(&ctx->sync) &&
           keel_sync_may_be_local(&ctx->sync);
}

void keel_fetch_stored(keel_context_h ctx, uint32_t rank, uint64_t where, char *target,
                       const keel_record_atomic_t *atomic, keel_fetched_t *fetched_p)
{
    uint32_t index;
    keel_get_record_t *record = keel_get_log_reserve(&ctx->gets, rank, where, sizeof(*fetched_p), &index);

    fetched_p->old = keel_apply_atomic(target, atomic);
    fetched_p->clock = keel_access_clock_of(&ctx->lane, rank, ctx->rec.phase);
    KEEL_MOMENT();
    if (record != NULL) {
        keel_get_log_complete(record, fetched_p);
    }
    if (!KEEL_PLANT(fetch_unpushed)) {
        keel_get_log_push(&ctx->gets, rank);
    }
}

keel_status_t keel_fetch_end(struct keel_req *req, uint32_t rank, size_t size, void *result)
{
    keel_context_h ctx = req->ctx;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    keel_waits_await(&ctx->sync, rank, 1);
    while (status == KEEL_OK && req->pieces > 1) {
        status = keel_context_wait(ctx, &rounds);
    }
    keel_waits_await(&ctx->sync, rank, 0);
    status = (status == KEEL_OK) ? req->status : status;
    if (status == KEEL_OK && !req->is_new) {
        status = keel_wait_fetched(ctx, (uint32_t)req->fetched.clock);
    }
    if (status == KEEL_OK) {
        keel_atomic_store_result(result, size, req->fetched.old);
        keel_waits_join(&ctx->sync, (uint32_t)req->fetched.clock);
    }
    return status;
}

/*
 * Own memory of a replacement in a program that waits: what others did there comes as far as waits need. What is fetched there has to find
 * all of it. It was not done in the first life, whose death would have been a rollback.
 */
keel_status_t keel_fetch_own(keel_context_h ctx, const keel_record_atomic_t *atomic)
{
    return (ctx->rec.phase >= ctx->rec.front && atomic->fetches && !KEEL_PLANT(own_fetch_early)) ? keel_wait_new(ctx)
                                                                                                 : KEEL_OK;
}
