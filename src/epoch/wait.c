/*
 * Waiting inside a phase for what others put (protocol.md, Waits inside a phase); sync/waits has what is replayed into a wait, and why.
 *
 * That the program waits is known to everybody from its first wait on: whoever waits without knowing that of the program tells
 * all others before its wait returns, and they number their puts from the next phase on. In the phase of the first wait a
 * death is a rollback. Who died in this phase before anybody waited was recovered as in a program that does not wait, and its
 * replacement does again what it had done, so nobody may wait before it is beyond that. That it is shows when it waits itself or has
 * arrived at the gsync; but it may poll for what follows the wait, and do neither. So the job rolls back then, too.
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
#include "peer/tell.h"
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
 * Whoever was replaced is known to be beyond where its predecessor died: else it may put again, without a number, what others have
 * waited for and gone on from, and not have what was flushed towards it.
 */
static int wait_all_are_back(const keel_context_h ctx)
{
    const keel_lane_t *lane = &ctx->lane;

    if (ctx->rec.phase > ctx->rec.front + 1) {
        return 1; /* nobody died in this phase, not even one who was here first */
    }
    for (uint32_t r = 0; r < lane->size; r++) {
        const uint64_t arrive = __atomic_load_n(&lane->board[r].arrive, __ATOMIC_ACQUIRE);

        if (r != lane->rank && lane->peers[r].incarnation > 0 && keel_board_get(&lane->board[r].waits) == 0 &&
            keel_arrive_number(arrive, lane->rollback, lane->peers[r].incarnation) <= ctx->rec.phase) {
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
    if (keel_may_mix(ctx)) {
        return KEEL_OK; /* nothing is replayed into waits */
    }
    keel_waits_note(&ctx->sync);
    if (!keel_gate_has(ctx, KEEL_GATE_WAITS)) {
        keel_gate_set(ctx, KEEL_GATE_WAITS);
        keel_put_log_number_all(&ctx->puts);
    }
    keel_put_log_send_only(&ctx->puts);
    if (keel_waits_are_told(&ctx->sync)) {
        return KEEL_OK;
    }
    /* what was put to this process is here when it is heard of: others go on by that (wait_all_are_back()) */
    while (status == KEEL_OK && (!keel_recovery_all_are_live(&ctx->rec) || !keel_position_is_handed_over(&ctx->rec))) {
        KEEL_REACHED(first_wait_waits);
        status = keel_context_wait(ctx, &rounds);
    }
    if (status == KEEL_OK) {
        keel_waits_begin(&ctx->sync);
        keel_kinds_wait(ctx);
    }
    if (status == KEEL_OK && !wait_all_are_back(ctx) && !KEEL_PLANT(first_wait_amid_replay)) {
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

/* no further than needed, as long as there is anything; then everything */
static keel_status_t wait_replay(keel_context_h ctx, const wait_t *wait)
{
    keel_status_t status = keel_wait_await_puts(ctx);

    if (status != KEEL_OK) {
        return status;
    }
    /* some of what changed the word, in another order than it did, may be what it has never been */
    if (keel_replay_changes(&ctx->sync.waits.replay, &ctx->lane, wait->word, wait->size) &&
        !KEEL_PLANT(change_waited_on)) {
        return keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_CHANGES);
    }
    status = KEEL_INPROGRESS;
    while (status == KEEL_INPROGRESS && (!wait_is_over(wait) || KEEL_PLANT(waits_at_once))) {
        status = keel_waits_replay_next(&ctx->sync);
    }
    if (status != KEEL_OK && status != KEEL_INPROGRESS) {
        return keel_wait_refuse(ctx, status);
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
        return keel_wait_refuse(ctx, KEEL_ERR_CORRUPT);
    }
    KEEL_REACHED(wait_asks_rest);
    return keel_wait_take_rest(ctx);
}

keel_status_t keel_wait_until_closed(keel_context_h ctx)
{
    const keel_board_slot_t *board = ctx->lane.board;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    keel_store_fence();
    for (uint32_t r = 0; r < ctx->lane.size; r++) {
        uint64_t opened = KEEL_PLANT(open_not_awaited) ? 0 : keel_board_get(&board[r].opened);

        while (status == KEEL_OK && __atomic_load_n(&board[r].done, __ATOMIC_ACQUIRE) < opened) {
            status = keel_context_wait(ctx, &rounds);
            opened = KEEL_PLANT(open_any_awaited) ? keel_board_get(&board[r].opened) : opened;
        }
    }
    return status;
}

static keel_status_t wait_run(keel_context_h ctx, const wait_t *wait)
{
    keel_status_t status;
    unsigned rounds = 0;

    keel_flush_ring(ctx);
    status = keel_flush_start_all(ctx); /* others may wait for it */
    if (status == KEEL_OK && keel_sync_replays_waits(&ctx->sync)) {
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
