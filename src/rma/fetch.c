/*
 * Fetching atomics in programs that wait (protocol/determinants.md).
 *
 * A process that fetches the effect of an atomic follows the atomic and everything its source did
 * before. A fetch therefore also returns the clock of all accesses to the target so far, and the
 * fetching process's clock advances beyond it. The fetch loads the clock after the word was
 * changed, and a source raises the clock before changing the word: the clock covers every atomic in
 * the value found. Value and clock are recorded at the target before any later effect of the
 * fetching process. A replacement with the record replays all puts of others under the clock or a
 * lower clock, because the predecessor may have learned of these puts, and then advances beyond the
 * same clock (sync/waits).
 */
#include "rma/fetch.h"

#include "order/flush.h"
#include "engine/request.h"
#include "epoch/wait.h"
#include "check/plant.h"
#include "check/reached.h"
#include "peer/access.h"
#include "peer/apply.h"
#include "peer/arrival.h"
#include "recovery/position.h"

int keel_fetch_is_recorded(const keel_context_h ctx, const keel_record_atomic_t *atomic)
{
    return atomic->fetches && keel_sync_records_values(&ctx->sync);
}

int keel_fetch_is_ordered(const keel_context_h ctx, uint32_t rank, const keel_record_atomic_t *atomic)
{
    return rank != ctx->lane.rank && keel_fetch_is_recorded(ctx, atomic);
}

void keel_fetch_stored(keel_context_h ctx, uint32_t rank, uint64_t where, char *target,
                       const keel_record_atomic_t *atomic, keel_fetched_t *fetched_p)
{
    uint32_t index;
    keel_get_record_t *record = keel_get_log_reserve(&ctx->gets, rank, where, sizeof(*fetched_p), &index);

    fetched_p->old = keel_apply_atomic(target, atomic);
    fetched_p->clock = keel_access_clock_of(&ctx->lane, rank, ctx->rec.phase);
    keel_access_find(&ctx->lane, rank);
    KEEL_MOMENT();
    if (record != NULL) {
        keel_get_log_complete(record, fetched_p);
    }
    if (!KEEL_PLANT(fetch_unpushed)) {
        keel_get_log_push(&ctx->gets, rank);
    }
}

keel_status_t keel_fetch_end(struct keel_req *req, size_t size, void *result)
{
    keel_context_h ctx = req->ctx;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && req->fragments > 1) {
        status = keel_context_wait(ctx, &rounds);
    }
    status = (status == KEEL_OK) ? req->status : status;
    if (status == KEEL_OK && !req->is_new) {
        status = keel_wait_replay_until(ctx, (uint32_t)req->fetched.clock);
    }
    if (status == KEEL_OK) {
        const int is_left_out =
            KEEL_PLANT(fetch_unrejoined) && keel_gate_has(ctx, KEEL_GATE_REEXECUTES) && !req->is_new;

        keel_atomic_store_result(result, size, req->fetched.old);
        keel_waits_join(&ctx->sync, is_left_out ? 0 : (uint32_t)req->fetched.clock);
    }
    return status;
}

/* ---- own memory ---- */

/*
 * A replacement, before all ranks know that the program waits, has replayed others' accesses only
 * as far as its waits needed. A fetch must find all of them, so the replay is completed now. The
 * first life did not execute this fetch: its death would have been a rollback. Nor did the first
 * life, in any such phase, execute an atomic that does not commute with the changes of others,
 * because the class would be known.
 */
keel_status_t keel_fetch_own_first(keel_context_h ctx, const keel_record_atomic_t *atomic)
{
    if (ctx->rec.phase < ctx->rec.front) {
        return KEEL_OK;
    }
    if (atomic->fetches && !KEEL_PLANT(fetch_own_early)) {
        return keel_wait_catch_up(ctx);
    }
    return (atomic->op != KEEL_ATOMIC_ADD && !KEEL_PLANT(fetch_own_change_early)) ? keel_wait_catch_up_changes(ctx)
                                                                                  : KEEL_OK;
}

/* Repeats the predecessor's fetch. KEEL_INPROGRESS: no determinant of it survives. */
static keel_status_t fetch_own_again(keel_win_h win, char *target, const keel_record_atomic_t *atomic, uint64_t *old_p)
{
    keel_context_h ctx = win->ctx;
    const keel_record_local_read_t *answer;
    keel_status_t status;
    int is_first;

    status = keel_determinant_replay_result(ctx, 1, &answer, &is_first);
    if (status != KEEL_OK) {
        return status;
    }
    if (answer->times != 1) {
        return keel_determinant_differs(ctx, "for a word of its own in another place than before");
    }
    KEEL_REACHED(own_fetch_recorded);
    keel_recovery_count_gets(&ctx->rec, 1);
    /* Apply before the puts of ranks that found the value: such puts may have the same clock.
     * Earlier determinants have replayed all puts that precede the fetch, and the rest commutes. */
    KEEL_PLANT_CALL(fetch_own_late, ctx, (uint32_t)answer->clock);
    (void)keel_apply_atomic(target, atomic);
    status = keel_wait_replay_until(ctx, (uint32_t)answer->clock);
    keel_waits_join(&ctx->sync, KEEL_PLANT(fetch_own_unrejoined) ? 0 : (uint32_t)answer->clock);
    *old_p = keel_result_values(answer)[0];
    return status;
}

/*
 * Announces to a rank that can hold the record that a fetch will come. On return the rank is live
 * as far as the caller knows, and determinants of callbacks in the waits are stable.
 */
static keel_status_t fetch_own_open(keel_context_h ctx, uint32_t *holder_p)
{
    keel_lane_t *lane = &ctx->lane;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;
    uint32_t incarnation;

    do {
        status = keel_determinant_stabilize_all(ctx);
        while (status == KEEL_OK && !keel_results_find_holder(&ctx->sync, holder_p)) {
            status = keel_context_wait(ctx, &rounds);
        }
        if (status != KEEL_OK || *holder_p == KEEL_RANK_NONE) {
            return status;
        }
        incarnation = lane->peers[*holder_p].incarnation;
        status = KEEL_PLANT(fetch_own_unopened) ? KEEL_OK : keel_arrival_open_own(lane, *holder_p, ctx->rec.phase);
        if (status == KEEL_OK && keel_access_is_served(lane, *holder_p)) {
            status = keel_flush_one(ctx, *holder_p);
        }
    } while (status == KEEL_OK && (lane->peers[*holder_p].mode != KEEL_PEER_LIVE ||
                                   lane->peers[*holder_p].incarnation != incarnation || ctx->sync.results.is_unstable));
    return status;
}

/* Only a death of this process can come between the operation and its record: then the fetch is
 * in doubt. */
static keel_status_t fetch_own_now(keel_context_h ctx, char *target, const keel_record_atomic_t *atomic,
                                   uint64_t *old_p)
{
    keel_record_local_read_t *answer;
    keel_status_t status;
    uint32_t holder, clock;

    status = fetch_own_open(ctx, &holder);
    if (status != KEEL_OK) {
        return status;
    }
    KEEL_MOMENT();
    *old_p = keel_apply_atomic(target, atomic);
    KEEL_MOMENT();
    clock = keel_waits_here(&ctx->sync);
    KEEL_MOMENT();
    keel_waits_join(&ctx->sync, clock);
    if (holder == KEEL_RANK_NONE) {
        return KEEL_OK;
    }
    answer = keel_determinant_open_result(ctx, keel_result_length(1));
    if (answer == NULL) {
        return KEEL_OK; /* no log has room: the announcement stays open */
    }
    *answer = (keel_record_local_read_t){.times = 1, .clock = clock, .words = 1, .is_over = 1};
    keel_result_values(answer)[0] = *old_p;
    keel_result_values(answer)[1] = 1;
    status = keel_determinants_close(&ctx->sync, &ctx->sync.results, &ctx->gets, &holder);
    /* the announcement stays open until the record is there */
    keel_determinants_set_stable(&ctx->sync.results, ctx->sync.results.number);
    KEEL_MOMENT();
    return (status == KEEL_OK) ? keel_arrival_close_own(&ctx->lane, holder) : status;
}

keel_status_t keel_fetch_own(keel_win_h win, uint64_t offset, const keel_record_atomic_t *atomic, void *result)
{
    keel_context_h ctx = win->ctx;
    char *target = (char *)win->base + offset;
    unsigned rounds = 0;
    uint64_t old = 0;
    keel_status_t status = fetch_own_again(win, target, atomic, &old);

    if (status == KEEL_INPROGRESS) {
        status = (ctx->lane.programs == 1 || KEEL_PLANT(fetch_own_early)) ? KEEL_OK : keel_wait_catch_up(ctx);
        while (status == KEEL_OK && keel_position_blocks_atomic(&ctx->rec, ctx->lane.rank, atomic->op, 1)) {
            status = keel_context_wait(ctx, &rounds);
        }
        status = (status == KEEL_OK) ? fetch_own_now(ctx, target, atomic, &old) : status;
    }
    if (status == KEEL_OK) {
        keel_atomic_store_result(result, atomic->size, old);
    }
    return status;
}
