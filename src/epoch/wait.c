/*
 * Waits inside a phase for puts of other ranks (protocol/waits.md). sync/waits describes
 * the replay into a wait.
 *
 * All ranks know that the program waits, from its first wait on. A rank that waits without knowing
 * of earlier waits announces its own to all ranks before the wait returns, and all ranks number
 * their puts from the next phase on. A death in the phase of the first wait is a rollback. A rank
 * that died in the phase before the first wait was recovered as in a program without waits, and its
 * replacement repeats the predecessor's accesses. So no wait may return before the replacement is
 * beyond them. A wait or an arrival of the replacement shows its progress. But the replacement may
 * poll for an effect of the wait, and do neither; then the job rolls back, too.
 */
#include "epoch/wait.h"
#include "access/target.h"
#include "engine/threads.h"

#include "check/plant.h"
#include "check/reached.h"
#include "order/compare.h"
#include "order/mix.h"
#include "order/flush.h"
#include "oplog/get_log_replay.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "peer/arrival.h"
#include "peer/members.h"
#include "peer/region.h"
#include "recovery/rollback_request.h"
#include "recovery/position.h"
#include "recovery/recover.h"

typedef struct wait {
    const void *word;
    size_t size;
    keel_compare_t compare;
    uint64_t value;
} wait_t;

/* ---- the first wait of the program ---- */

/*
 * True if every replaced rank is beyond the point of its predecessor's death. Otherwise a
 * replacement may repeat, without a number, puts that other ranks have waited for and gone on from,
 * and may lack puts that were flushed towards it.
 */
static int wait_all_are_back(const keel_context_h ctx)
{
    const keel_lane_t *lane = &ctx->lane;

    if (ctx->rec.phase > ctx->rec.front + 1) {
        return 1; /* no rank died in this phase, not even before this process was there */
    }
    KEEL_EACH_MEMBER(r, lane) {
        const uint32_t arrived = keel_lane_arrived(lane, r, &lane->board[r].arrive);

        if (r != lane->rank && lane->peers[r].incarnation > 0 && keel_board_get(&lane->board[r].waits) == 0 &&
            arrived <= ctx->rec.phase) {
            return 0;
        }
    }
    return 1;
}

keel_status_t keel_wait_begin(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    __atomic_store_n(&ctx->lane.awaits_records, 1, __ATOMIC_RELEASE);
    if (!keel_sync_may_be_local(&ctx->sync)) {
        return KEEL_OK; /* nothing is replayed into waits */
    }
    keel_waits_note_wait(&ctx->sync);
    if (!keel_gate_has(ctx, KEEL_GATE_WAITS)) {
        keel_gate_set(ctx, KEEL_GATE_WAITS);
        keel_put_log_number_all(&ctx->puts);
    }
    keel_put_log_send_only(&ctx->puts);
    if (keel_waits_are_announced(&ctx->sync)) {
        return KEEL_OK;
    }
    /* Puts to the own memory have arrived when the process announces its wait: other ranks rely
     * on the order (wait_all_are_back()). */
    while (status == KEEL_OK && (!keel_recovery_all_are_live(&ctx->rec) || !keel_position_is_handed_over(&ctx->rec))) {
        KEEL_REACHED(first_wait_waits);
        status = keel_context_wait(ctx, &rounds);
    }
    if (status == KEEL_OK) {
        keel_waits_begin(&ctx->sync);
        keel_announce_add(ctx, (keel_usage_t){.waits = ctx->sync.phase + 2});
    }
    if (status == KEEL_OK && !wait_all_are_back(ctx) && !KEEL_PLANT(wait_first_amid_replay)) {
        KEEL_REACHED(request_first_wait);
        return keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_MIXES);
    }
    return status;
}

/* ---- any wait ---- */

static int wait_is_over(const wait_t *wait)
{
    return keel_word_compares(keel_word_load(wait->word, wait->size), wait->size, wait->compare, wait->value);
}

/* Awaits the puts of this phase. Then replays as little as the wait needs while records remain, and
 * everything in the end. */
static keel_status_t wait_replay(keel_context_h ctx, const wait_t *wait)
{
    keel_status_t status = KEEL_OK;

    if (!keel_wait_begin_replay(ctx, &status)) {
        return status;
    }
    /* Some changes of the word, replayed in another order, may produce a value that the word
     * never had. */
    if (keel_replay_changes(&ctx->sync.waits.replay, &ctx->lane, wait->word, wait->size) &&
        !KEEL_PLANT(wait_over_by_some)) {
        return keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_CHANGES);
    }
    status = KEEL_INPROGRESS;
    while (status == KEEL_INPROGRESS && (!wait_is_over(wait) || KEEL_PLANT(wait_replays_at_once))) {
        status = keel_waits_replay_next(&ctx->sync);
    }
    if (status != KEEL_OK && status != KEEL_INPROGRESS) {
        return keel_wait_fail(ctx, status);
    }
    if (wait_is_over(wait)) {
        KEEL_REACHED(wait_replayed);
        return KEEL_OK;
    }
    if (ctx->rec.phase < ctx->rec.front) {
        keel_error_ctx(ctx,
                       "nobody put what this process waits for in phase %u, which it has left: is the program "
                       "deterministic?",
                       ctx->rec.phase);
        return keel_wait_fail(ctx, KEEL_ERR_CORRUPT);
    }
    KEEL_REACHED(wait_asks_rest);
    return keel_wait_take_remaining(ctx);
}

keel_status_t keel_wait_until_closed(keel_context_h ctx)
{
    keel_board_slot_t *board = ctx->lane.board;
    const keel_rank_set_t sources = keel_board_sources(board, ctx->lane.size);
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    keel_store_fence();
    for (uint32_t r = keel_rank_set_next(&sources, 0); r != KEEL_RANK_SET_END;
         r = keel_rank_set_next(&sources, r + 1)) {
        uint64_t opened = KEEL_PLANT(wait_open_unawaited) ? 0 : keel_board_get(&board[r].opened);

        while (status == KEEL_OK && __atomic_load_n(&board[r].done, __ATOMIC_ACQUIRE) < opened) {
            status = keel_context_wait(ctx, &rounds);
            opened = KEEL_PLANT(wait_open_any) ? keel_board_get(&board[r].opened) : opened;
        }
    }
    return status;
}

static keel_status_t wait_run(keel_context_h ctx, const wait_t *wait)
{
    keel_status_t status;
    unsigned rounds = 0;

    keel_flush_ring(ctx);
    status = keel_flush_start_all(ctx); /* other ranks may wait for these accesses */
    if (status == KEEL_OK && keel_sync_replays(&ctx->sync) == KEEL_STYLE_WAITS) {
        status = wait_replay(ctx, wait);
    }
    while (status == KEEL_OK && !wait_is_over(wait) && !KEEL_PLANT(wait_early)) {
        status = keel_context_wait(ctx, &rounds);
    }
    if (status == KEEL_OK) {
        status = keel_wait_until_closed(ctx);
    }
    if (status == KEEL_OK && keel_gate_has(ctx, KEEL_GATE_WAITS)) {
        keel_waits_tick(&ctx->sync);
    }
    return status;
}

keel_status_t keel_wait_until(keel_win_h win, uint64_t offset, size_t size, keel_compare_t compare, uint64_t value)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = keel_word_check(win, offset, size, compare);
    wait_t wait = {.size = size, .compare = compare, .value = value};

    if (status == KEEL_OK) {
        status = keel_mix(win->ctx, KEEL_WAY_WAIT, "keel_wait_until");
    }
    if (status == KEEL_OK) {
        status = keel_wait_begin(win->ctx);
    }
    if (status == KEEL_OK) {
        wait.word = (const char *)win->base + offset;
        status = wait_run(win->ctx, &wait);
    }
    return keel_win_end(win, status);
}
