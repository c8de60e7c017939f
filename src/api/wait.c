/*
 * Waiting inside a phase for what others put (protocol.md, Waits inside a phase); sync/waits has what is replayed into a wait, and why.
 *
 * That the program waits is known to everybody from its first wait on: whoever waits without knowing that of the program tells
 * all others before its wait returns, and they number their puts from the next phase on. In the phase of the first wait a
 * death is a rollback. Who died in this phase before anybody waited was recovered as in a program that does not wait, and its
 * replacement does again what it had done, so nobody may wait before it is beyond that. That it is shows when it waits itself or has
 * arrived at the gsync; but it may poll for what follows the wait, and do neither. So the job rolls back then, too.
 */
#include "api/wait.h"
#include "api/inside.h"

#include "check/plant.h"
#include "check/reached.h"
#include "api/compare.h"
#include "api/mix.h"
#include "api/flush.h"
#include "oplog/getlog_replay.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "peer/tell.h"
#include "peer/region.h"
#include "recovery/ask.h"
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
    if (!keel_context_is_shut(ctx, KEEL_GATE_WAITS)) {
        keel_context_shut(ctx, KEEL_GATE_WAITS);
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
        return keel_recovery_ask(&ctx->rec, KEEL_ERR_MIXED_SYNC);
    }
    return status;
}

/* ---- a replacement ---- */

static keel_status_t wait_await_puts(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && !keel_waits_are_here(&ctx->sync)) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

/* what was recorded cannot be replayed */
static keel_status_t wait_refuse(keel_context_h ctx, keel_status_t status)
{
    keel_recovery_fail(&ctx->rec, status);
    return status;
}

/* beyond the predecessor's death: all that the others put meanwhile */
static keel_status_t wait_take_rest(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && keel_recovery_is_frozen(&ctx->rec)) {
        status = keel_context_wait(ctx, &rounds);
    }
    if (status != KEEL_OK) {
        return status;
    }
    keel_waits_ask_rest(&ctx->sync);
    while (status == KEEL_OK && !keel_waits_have_rest(&ctx->sync)) {
        status = keel_context_wait(ctx, &rounds);
    }
    if (status != KEEL_OK) {
        return status;
    }
    status = keel_waits_take_rest(&ctx->sync);
    if (status != KEEL_OK) {
        return wait_refuse(ctx, status);
    }
    keel_recovery_say(&ctx->rec, "%lu records were replayed into waits", ctx->sync.waits.replay.replayed);
    return KEEL_OK;
}

/* all that was put in this phase */
static keel_status_t wait_replay_all(keel_context_h ctx)
{
    keel_status_t status = wait_await_puts(ctx);

    if (status != KEEL_OK) {
        return status;
    }
    while ((status = keel_waits_replay_next(&ctx->sync)) == KEEL_INPROGRESS) {
    }
    return (status == KEEL_OK) ? KEEL_OK : wait_refuse(ctx, status);
}

keel_status_t keel_wait_settle(keel_context_h ctx)
{
    keel_status_t status;

    if (!keel_sync_replays_waits(&ctx->sync)) {
        return KEEL_OK;
    }
    status = wait_replay_all(ctx);
    if (status != KEEL_OK || ctx->rec.phase < ctx->rec.front) {
        return status;
    }
    KEEL_REACHED(gsync_asks_rest);
    return wait_take_rest(ctx);
}

keel_status_t keel_wait_new(keel_context_h ctx)
{
    keel_status_t status;

    if (!keel_sync_replays_waits(&ctx->sync) || KEEL_PLANT(new_get_alone)) {
        return KEEL_OK;
    }
    status = wait_replay_all(ctx);
    KEEL_REACHED(get_asks_rest);
    return (status == KEEL_OK) ? wait_take_rest(ctx) : status;
}

keel_status_t keel_wait_changes(keel_context_h ctx)
{
    keel_status_t status;

    if (!keel_sync_replays_waits(&ctx->sync)) {
        return KEEL_OK;
    }
    status = wait_await_puts(ctx);
    return (status == KEEL_OK && ctx->sync.waits.replay.has_changes) ? keel_wait_new(ctx) : status;
}

keel_status_t keel_wait_new_at(keel_context_h ctx, uint32_t rank)
{
    return keel_waits_has_new(&ctx->sync, rank) ? keel_wait_new(ctx) : KEEL_OK;
}

keel_status_t keel_wait_fetched(keel_context_h ctx, uint32_t clock)
{
    keel_status_t status;

    if (!keel_sync_replays_waits(&ctx->sync) || KEEL_PLANT(fetch_unreplayed)) {
        return KEEL_OK;
    }
    status = wait_await_puts(ctx);
    while (status == KEEL_OK && keel_waits_is_within(&ctx->sync, clock)) {
        KEEL_REACHED(fetch_replays);
        status = keel_waits_replay_next(&ctx->sync);
        if (status != KEEL_OK && status != KEEL_INPROGRESS) {
            return wait_refuse(ctx, status);
        }
        status = KEEL_OK;
    }
    return status;
}

void keel_wait_resume(keel_context_h ctx)
{
    keel_context_open(ctx, KEEL_GATE_WAITS | KEEL_GATE_AGAIN | KEEL_GATE_TOLD | KEEL_GATE_READ);
    keel_context_part(ctx);
    if (ctx->lane.incarnation > 0 && ctx->rec.phase <= ctx->rec.front) {
        keel_context_shut(ctx, KEEL_GATE_AGAIN);
    }
    if (keel_may_mix(ctx)) { /* nothing is replayed, by whatever order */
        keel_context_open(ctx, KEEL_GATE_LOCKS);
    } else if (keel_waits_are_numbered(&ctx->sync)) {
        keel_context_shut(ctx, KEEL_GATE_WAITS);
        keel_put_log_send_only(&ctx->puts);
    }
}

/* ---- answers ---- */

keel_status_t keel_wait_differs(keel_context_h ctx, const char *what)
{
    keel_error_ctx(ctx,
                   "re-execution differs from the first life: in phase %u this program asks %s; is the program "
                   "deterministic?",
                   ctx->rec.phase, what);
    return keel_recovery_ask(&ctx->rec, KEEL_ERR_CORRUPT);
}

/* gets that were asked of the holder before are answered: records go to a replacement of it up to the first that is not complete */
static keel_status_t wait_complete_before(keel_context_h ctx)
{
    const uint32_t holder = ctx->sync.answers.holder;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    if (keel_answers_last(&ctx->sync) == NULL || ctx->pieces_open[holder] == 0 || KEEL_PLANT(answer_behind_get)) {
        return KEEL_OK;
    }
    status = keel_flush_start(ctx, holder);
    while (status == KEEL_OK && ctx->pieces_open[holder] > 0) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

/* an answer is given to who knows how it came about, as what is accessed */
static keel_status_t wait_tell_holder(keel_context_h ctx)
{
    return (keel_answers_last(&ctx->sync) == NULL) ? KEEL_OK : keel_kinds_tell(ctx, ctx->sync.answers.holder);
}

keel_status_t keel_wait_close_answer(keel_context_h ctx, uint32_t *holder_p)
{
    keel_status_t status = wait_complete_before(ctx);
    unsigned rounds = 0;

    if (status != KEEL_OK) {
        return status;
    }
    while ((status = wait_tell_holder(ctx)) == KEEL_OK &&
           (status = keel_answers_close(&ctx->sync, &ctx->gets, holder_p)) == KEEL_INPROGRESS) {
        status = keel_context_wait(ctx, &rounds); /* until it has a replacement, as a get does */
        if (status != KEEL_OK) {
            break;
        }
    }
    return status;
}

keel_status_t keel_wait_find_holder(keel_context_h ctx, uint32_t *holder_p)
{
    keel_status_t status;
    unsigned rounds = 0;

    do {
        status = keel_wait_close_answer(ctx, holder_p);
        while (status == KEEL_OK && !keel_answers_find_holder(&ctx->sync, holder_p)) {
            status = keel_context_wait(ctx, &rounds);
        }
    } while (status == KEEL_OK && keel_answers_last(&ctx->sync) != NULL);
    return status;
}

keel_record_answer_t *keel_wait_open_answer(keel_context_h ctx, size_t length)
{
    keel_context_shut(ctx, KEEL_GATE_TOLD);
    return keel_answers_open(&ctx->sync, &ctx->gets, length);
}

static keel_status_t settle_answers(keel_context_h ctx)
{
    const uint32_t number = keel_answers_number(&ctx->sync.answers);
    uint32_t holder;
    keel_status_t status;

    if (keel_answers_are_left(&ctx->sync)) {
        return keel_wait_differs(ctx, "fewer times than before");
    }
    if (KEEL_PLANT(answer_unsettled)) {
        keel_answers_settled(&ctx->sync, number);
        return KEEL_OK;
    }
    status = keel_wait_close_answer(ctx, &holder);
    if (status != KEEL_OK || holder == KEEL_RANK_NONE) {
        return status;
    }
    /* Some determinants have no record: the holder of the others must know, as this rank may be lost before its arrival. */
    if (ctx->gets.is_off && !KEEL_PLANT(wait_holder_untold)) {
        status = keel_lane_board_send(&ctx->lane, holder, keel_larger(ctx->rec.arrived, keel_position(&ctx->rec)));
        status =
            (status == KEEL_ERR_UNREACHABLE) ? KEEL_OK : status; /* it died: its replacement is told with the rest */
    }
    if (status == KEEL_OK && keel_access_is_served(&ctx->lane, holder) && !KEEL_PLANT(answer_unflushed)) {
        status = keel_flush_one(ctx, holder);
    }
    if (status == KEEL_OK) {
        keel_answers_settled(&ctx->sync, number);
    }
    return status;
}

keel_status_t keel_wait_settle_answers_now(keel_context_h ctx)
{
    const keel_status_t status = keel_answers_are_unsettled(&ctx->sync.answers) ? settle_answers(ctx) : KEEL_OK;

    if (status == KEEL_OK && !keel_wait_is_unsettled(ctx)) {
        keel_context_open(ctx, KEEL_GATE_TOLD);
    }
    return status;
}

/* ---- reads and polls ---- */

void keel_wait_settle_reads_now(keel_context_h ctx)
{
    keel_context_open(ctx, KEEL_GATE_READ);
    if (!KEEL_PLANT(read_unsettled)) {
        KEEL_REACHED(read_settled);
        keel_get_log_push(&ctx->gets, ctx->read_rank);
    }
}

/* phases have polls of their own, and a rollback leaves nothing to be settled */
keel_polling_t *keel_wait_polling(keel_context_h ctx)
{
    keel_polling_t *polling = &ctx->polling;
    const uint64_t phase = (uint64_t)ctx->lane.rollback << 32 | ctx->rec.phase;

    if (polling->phase != phase) {
        *polling = (keel_polling_t){.phase = phase};
    }
    return polling;
}

keel_status_t keel_wait_settle_polls_now(keel_context_h ctx)
{
    keel_polling_t *polling = keel_wait_polling(ctx);
    keel_get_record_t *record = polling->open;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;
    uint32_t rank;

    if (polling->left > 0) {
        return keel_wait_differs(ctx, "fewer times than before");
    }
    while (record != NULL && status == KEEL_OK && ctx->lane.peers[polling->rank].mode != KEEL_PEER_LIVE) {
        status =
            keel_context_wait(ctx, &rounds);   /* what is complete goes to a replacement with the rest, and only once */
        record = keel_wait_polling(ctx)->open; /* a callback may have settled it */
    }
    if (status != KEEL_OK || record == NULL) {
        return status;
    }
    rank = polling->rank;
    polling->open = NULL;
    polling->is_unsettled = 0;
    record->reserved = KEEL_GET_COMPLETE;
    status = KEEL_PLANT(poll_unsettled) ? KEEL_OK : keel_get_log_give(&ctx->gets, rank, record);
    return (status == KEEL_OK && keel_access_is_served(&ctx->lane, rank)) ? keel_flush_one(ctx, rank) : status;
}

/* ---- any wait ---- */

static int wait_is_over(const wait_t *wait)
{
    return keel_word_compares(keel_word_load(wait->word, wait->size), wait->size, wait->compare, wait->value);
}

/* no further than needed, as long as there is anything; then everything */
static keel_status_t wait_replay(keel_context_h ctx, const wait_t *wait)
{
    keel_status_t status = wait_await_puts(ctx);

    if (status != KEEL_OK) {
        return status;
    }
    /* some of what changed the word, in another order than it did, may be what it has never been */
    if (keel_replay_changes(&ctx->sync.waits.replay, &ctx->lane, wait->word, wait->size) &&
        !KEEL_PLANT(change_waited_on)) {
        return keel_recovery_ask(&ctx->rec, KEEL_ERR_STATE);
    }
    status = KEEL_INPROGRESS;
    while (status == KEEL_INPROGRESS && (!wait_is_over(wait) || KEEL_PLANT(waits_at_once))) {
        status = keel_waits_replay_next(&ctx->sync);
    }
    if (status != KEEL_OK && status != KEEL_INPROGRESS) {
        return wait_refuse(ctx, status);
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
        return wait_refuse(ctx, KEEL_ERR_CORRUPT);
    }
    KEEL_REACHED(wait_asks_rest);
    return wait_take_rest(ctx);
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
    if (status == KEEL_OK && keel_context_is_shut(ctx, KEEL_GATE_WAITS)) {
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
