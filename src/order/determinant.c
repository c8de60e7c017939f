/*
 * Determinants: facts that this program learned and no other rank can know, made stable before
 * others can act on them, and replayed by a replacement (protocol/determinants.md). They are
 * results of tests and waits (sync/determinants), values polled, and values read.
 */
#include "order/determinant.h"

#include "order/flush.h"
#include "order/mix.h"
#include "check/plant.h"
#include "check/reached.h"
#include "oplog/get_log_replay.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "peer/arrival.h"
#include "recovery/rollback_request.h"
#include "recovery/position.h"
#include "recovery/recover.h"

/* ---- a replacement ---- */

int keel_wait_begin_replay(keel_context_h ctx, keel_status_t *status_p)
{
    unsigned rounds = 0;

    if (keel_sync_replays(&ctx->sync) != KEEL_STYLE_WAITS) {
        return 0;
    }
    while (*status_p == KEEL_OK && !keel_waits_are_here(&ctx->sync)) {
        *status_p = keel_context_wait(ctx, &rounds);
    }
    return *status_p == KEEL_OK;
}

keel_status_t keel_wait_fail(keel_context_h ctx, keel_status_t status)
{
    keel_recovery_fail(&ctx->rec, status);
    return status;
}

keel_status_t keel_wait_take_remaining(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && keel_recovery_is_frozen(&ctx->rec)) {
        status = keel_context_wait(ctx, &rounds);
    }
    if (status != KEEL_OK) {
        return status;
    }
    keel_waits_ask_remaining(&ctx->sync);
    while (status == KEEL_OK && !keel_waits_have_remaining(&ctx->sync)) {
        status = keel_context_wait(ctx, &rounds);
    }
    if (status != KEEL_OK) {
        return status;
    }
    status = keel_waits_take_remaining(&ctx->sync);
    if (status != KEEL_OK) {
        return keel_wait_fail(ctx, status);
    }
    keel_recovery_info(&ctx->rec, "%lu records were replayed into waits", ctx->sync.waits.replay.replayed);
    return KEEL_OK;
}

/* Replays all puts of this phase, which are here. */
static keel_status_t replay_all_puts(keel_context_h ctx)
{
    keel_status_t status;

    while ((status = keel_waits_replay_next(&ctx->sync)) == KEEL_INPROGRESS) {
    }
    return (status == KEEL_OK) ? KEEL_OK : keel_wait_fail(ctx, status);
}

keel_status_t keel_wait_replay_phase(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;

    if (!keel_wait_begin_replay(ctx, &status)) {
        return status;
    }
    status = replay_all_puts(ctx);
    if (status != KEEL_OK || ctx->rec.phase < ctx->rec.front) {
        return status;
    }
    KEEL_REACHED(gsync_asks_rest);
    return keel_wait_take_remaining(ctx);
}

keel_status_t keel_wait_catch_up(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;

    if (KEEL_PLANT(determinant_new_get_alone) || !keel_wait_begin_replay(ctx, &status)) {
        return status;
    }
    status = replay_all_puts(ctx);
    KEEL_REACHED(get_asks_rest);
    return (status == KEEL_OK) ? keel_wait_take_remaining(ctx) : status;
}

keel_status_t keel_wait_catch_up_changes(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;

    return (keel_wait_begin_replay(ctx, &status) && ctx->sync.waits.replay.has_changes) ? keel_wait_catch_up(ctx)
                                                                                        : status;
}

keel_status_t keel_wait_catch_up_at(keel_context_h ctx, uint32_t rank)
{
    return keel_waits_has_unrecorded(&ctx->sync, rank) ? keel_wait_catch_up(ctx) : KEEL_OK;
}

keel_status_t keel_wait_replay_until(keel_context_h ctx, uint32_t clock)
{
    keel_status_t status = KEEL_OK;

    if (KEEL_PLANT(determinant_fetch_unreplayed) || !keel_wait_begin_replay(ctx, &status)) {
        return status;
    }
    while (keel_waits_is_within(&ctx->sync, clock)) {
        KEEL_REACHED(fetch_replays);
        status = keel_waits_replay_next(&ctx->sync);
        if (status != KEEL_OK && status != KEEL_INPROGRESS) {
            return keel_wait_fail(ctx, status);
        }
    }
    return KEEL_OK;
}

void keel_wait_set_gates(keel_context_h ctx)
{
    keel_gate_clear(ctx, KEEL_GATE_WAITS | KEEL_GATE_REEXECUTES | KEEL_GATE_DETERMINANTS | KEEL_GATE_READ);
    keel_context_uncache(ctx);
    if (ctx->lane.incarnation > 0 && ctx->rec.phase <= ctx->rec.front) {
        keel_gate_set(ctx, KEEL_GATE_REEXECUTES);
    }
    if (!keel_sync_may_be_local(&ctx->sync)) { /* nothing is replayed in any order */
        keel_gate_clear(ctx, KEEL_GATE_LOCKS);
    } else if (keel_waits_are_numbered(&ctx->sync)) {
        keel_gate_set(ctx, KEEL_GATE_WAITS);
        keel_put_log_send_only(&ctx->puts);
    }
}

/* ---- results and polls ---- */

keel_status_t keel_determinant_differs(keel_context_h ctx, const char *what)
{
    keel_error_ctx(ctx,
                   "re-execution differs from the first life: in phase %u this program asks %s; is the program "
                   "deterministic?",
                   ctx->rec.phase, what);
    return keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_DIFFERS);
}

keel_status_t keel_determinant_replay_result(keel_context_h ctx, unsigned words,
                                             const keel_record_local_read_t **answer_p, int *is_first_p)
{
    keel_status_t status;

    if (keel_sync_replays(&ctx->sync) != KEEL_STYLE_WAITS) {
        return KEEL_INPROGRESS;
    }
    status = keel_results_replay_next(&ctx->sync, &ctx->gets, answer_p, is_first_p);
    if (status == KEEL_OK && (*answer_p)->words == words) {
        return KEEL_OK;
    }
    if (status != KEEL_INPROGRESS) {
        return keel_determinant_differs(ctx, "about other words than before");
    }
    /* a job of one rank has no records: no other rank accesses the memory */
    if (ctx->lane.programs > 1) {
        if (ctx->rec.phase < ctx->rec.front) {
            return keel_determinant_differs(ctx, "what it has not asked before");
        }
        KEEL_REACHED(answer_asks_rest);
    }
    return KEEL_INPROGRESS;
}

/*
 * Completes earlier gets at the holder: a replacement of the holder gets records up to the first
 * incomplete one.
 */
static keel_status_t complete_before(keel_context_h ctx, const keel_determinants_t *d)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    if (d->open == NULL || ctx->fragments_open[d->holder] == 0 || KEEL_PLANT(determinant_behind_get)) {
        return KEEL_OK;
    }
    status = keel_flush_start(ctx, d->holder);
    while (status == KEEL_OK && ctx->fragments_open[d->holder] > 0) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

/* The holder of a result learns the usage first, as with an access; a poll was an access itself. */
static keel_status_t announce_to_holder(keel_context_h ctx, const keel_determinants_t *d)
{
    return (d->open == NULL || d == &ctx->sync.polls) ? KEEL_OK : keel_announce_to(ctx, d->holder);
}

/* Ends the repetition of the last determinant. */
static keel_status_t close_last(keel_context_h ctx, keel_determinants_t *d, uint32_t *holder_p)
{
    keel_status_t status = complete_before(ctx, keel_determinants_of(&ctx->sync, d));
    unsigned rounds = 0;

    if (status != KEEL_OK) {
        return status;
    }
    while ((status = announce_to_holder(ctx, d)) == KEEL_OK &&
           (status = keel_determinants_close(&ctx->sync, d, &ctx->gets, holder_p)) == KEEL_INPROGRESS) {
        /* until the holder has a replacement, as for a get */
        status = keel_context_wait(ctx, &rounds);
        if (status != KEEL_OK) {
            break;
        }
    }
    return status;
}

keel_status_t keel_determinant_find_holder(keel_context_h ctx, uint32_t *holder_p)
{
    keel_status_t status;
    unsigned rounds = 0;

    do {
        status = close_last(ctx, &ctx->sync.results, holder_p);
        while (status == KEEL_OK && !keel_results_find_holder(&ctx->sync, holder_p)) {
            status = keel_context_wait(ctx, &rounds);
        }
    } while (status == KEEL_OK && keel_results_last(&ctx->sync) != NULL);
    return status;
}

keel_record_local_read_t *keel_determinant_open_result(keel_context_h ctx, size_t length)
{
    keel_gate_set(ctx, KEEL_GATE_DETERMINANTS);
    return keel_results_open(&ctx->sync, &ctx->gets, length);
}

keel_status_t keel_determinant_make_stable(keel_context_h ctx, keel_determinants_t *d)
{
    const uint32_t number = keel_determinants_of(&ctx->sync, d)->number;
    keel_status_t status;
    uint32_t holder;

    if (d->remaining > 0) {
        return keel_determinant_differs(ctx, "fewer times than before");
    }
    status = close_last(ctx, d, &holder);
    if (status != KEEL_OK || holder == KEEL_RANK_NONE) {
        return status;
    }
    /*
     * Some determinants have no record. The holder of the others must know of the loss: this rank
     * may die before its arrival.
     */
    if (ctx->gets.is_off && !KEEL_PLANT(determinant_holder_unannounced)) {
        status = keel_arrival_send(&ctx->lane, holder, keel_larger(ctx->rec.arrived, keel_position(&ctx->rec)));
        /* the replacement of a dead holder learns of the loss with the hand-over */
        status = (status == KEEL_ERR_UNREACHABLE) ? KEEL_OK : status;
    }
    if (status == KEEL_OK && keel_access_is_served(&ctx->lane, holder) && !KEEL_PLANT(determinant_unflushed)) {
        status = keel_flush_one(ctx, holder);
    }
    if (status == KEEL_OK) {
        keel_determinants_set_stable(d, number);
    }
    return status;
}

keel_status_t keel_determinant_stabilize_all_now(keel_context_h ctx)
{
    const keel_status_t status =
        ctx->sync.results.is_unstable ? keel_determinant_make_stable(ctx, &ctx->sync.results) : KEEL_OK;

    if (status == KEEL_OK && !ctx->sync.polls.is_unstable && !ctx->sync.results.is_unstable) {
        keel_gate_clear(ctx, KEEL_GATE_DETERMINANTS);
    }
    return status;
}

/* ---- reads ---- */

void keel_determinant_stabilize_reads_now(keel_context_h ctx)
{
    keel_gate_clear(ctx, KEEL_GATE_READ);
    if (!KEEL_PLANT(determinant_read_unstable)) {
        KEEL_REACHED(read_stable);
        keel_get_log_push(&ctx->gets, ctx->read_rank);
    }
}
