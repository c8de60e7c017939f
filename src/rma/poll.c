/*
 * Polls (protocol/determinants.md).
 *
 * A process that acts on bytes read from a target follows the put of these bytes and everything its
 * source did before. A poll therefore also loads, after the bytes, the clock of all accesses to the
 * target so far, and the caller's clock advances beyond it. Bytes and clock are recorded at the
 * target before any later effect of the caller becomes visible. A fetching atomic does the same
 * (rma/fetch), but a poll changes nothing: a poll has no number, is never in doubt, and is issued
 * again if the target dies before answering.
 *
 * A program that polls in a loop reads the same bytes many times. While no access with a higher
 * clock arrives at the target, the program learns only the number of its polls, so a single record
 * with a count holds them all. On mapped memory the record stays here, open, until it is made
 * stable before the next visible effect. Where the target's service side records its answers, each
 * poll has its own record.
 */
#include "rma/poll.h"
#include "access/admit.h"
#include "access/fragment.h"
#include "order/completion.h"
#include "engine/threads.h"

#include "order/flush.h"
#include "order/announce.h"
#include "order/mix.h"
#include "rma/get_own.h"
#include "engine/request.h"
#include "access/target.h"
#include "order/compare.h"
#include "epoch/wait.h"

#include "base/memory.h"
#include "check/plant.h"
#include "oplog/get_log_replay.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "recovery/position.h"
#include "recovery/rollback_request.h"
#include "recovery/recover.h"

#include <string.h>

static char *polled_of(const keel_get_record_t *record)
{
    return (char *)(uintptr_t)(record + 1) + record->length - sizeof(keel_polled_t);
}

static keel_polled_t polled_load(const keel_get_record_t *record)
{
    keel_polled_t polled;

    memcpy(&polled, polled_of(record), sizeof(polled));
    return polled;
}

static void polled_store(keel_get_record_t *record, keel_polled_t polled)
{
    memcpy(polled_of(record), &polled, sizeof(polled));
}

/* ---- a mapped target ---- */

/* Whether the poll repeats the last poll. The clock counts, too: a put may restore the old
 * bytes, and the program may have learned of the put by another wait. */
static int poll_is_again(keel_win_h win, uint32_t rank, uint64_t where, void *buffer, size_t length)
{
    keel_context_h ctx = win->ctx;
    const keel_determinants_t *polls = keel_determinants_of(&ctx->sync, &ctx->sync.polls);
    keel_get_record_t *record = polls->open;
    const char *from = keel_access_at(&ctx->lane, rank, keel_where_region(where));
    keel_polled_t polled;

    if (record == NULL || from == NULL || polls->holder != rank || record->where != where ||
        record->length != keel_polled_length(length) || ctx->lane.peers[rank].mode != KEEL_PEER_LIVE ||
        ctx->lane.peers[rank].incarnation != polls->incarnation) {
        return 0;
    }
    polled = polled_load(record);
    if (keel_access_clock_of(&ctx->lane, rank, ctx->rec.phase) > polled.clock && !KEEL_PLANT(poll_repeated)) {
        return 0; /* the clock of a phase never falls: do not load the bytes twice */
    }
    keel_load_words(buffer, from + keel_where_offset(where), length);
    if (memcmp(buffer, record + 1, length) != 0 ||
        (keel_access_clock_of(&ctx->lane, rank, ctx->rec.phase) > polled.clock && !KEEL_PLANT(poll_repeated))) {
        return 0;
    }
    polled.times++;
    polled_store(record, polled);
    return 1;
}

static void poll_stored(keel_fragment_t *fragment, const char *from)
{
    keel_context_h ctx = fragment->ctx;
    keel_determinants_t *polls = keel_determinants_of(&ctx->sync, &ctx->sync.polls);
    keel_get_record_t *record = fragment->record;
    uint32_t clock;

    keel_free(fragment->buffer); /* left from a request to a predecessor */
    fragment->buffer = NULL;
    if (fragment->to == NULL) {
        keel_fragment_done(fragment, KEEL_ERR_ROLLED_BACK);
        return;
    }
    keel_load_words(fragment->to, from, fragment->polled);
    KEEL_MOMENT();
    clock = keel_access_clock_of(&ctx->lane, fragment->rank, ctx->rec.phase);
    keel_access_find(&ctx->lane, fragment->rank);
    fragment->req->fetched.clock = clock;
    fragment->record = NULL;
    if (record != NULL) {
        memcpy(record + 1, fragment->to, fragment->polled);
        keel_polled_fill(record + 1, fragment->polled, clock);
        keel_determinants_open(polls, fragment->rank, ctx->lane.peers[fragment->rank].incarnation, record);
        keel_gate_set(ctx, KEEL_GATE_DETERMINANTS);
    } else {
        keel_get_log_push(&ctx->gets, fragment->rank); /* announces that there is no record */
    }
    keel_fragment_done(fragment, KEEL_OK);
}

/* ---- a served target ---- */

static keel_status_t poll_send(keel_fragment_t *fragment, const keel_get_record_t *record)
{
    keel_context_h ctx = fragment->ctx;

    fragment->buffer = (fragment->buffer == NULL) ? keel_alloc(fragment->length, "what is polled") : fragment->buffer;
    return (fragment->buffer == NULL)
               ? KEEL_ERR_NO_MEMORY
               : keel_lane_poll_window(&ctx->lane, fragment->rank, record, fragment->polled, !ctx->gets.is_off,
                                       fragment->buffer, keel_fragment_done, fragment);
}

static void poll_answered(keel_fragment_t *fragment)
{
    keel_polled_t polled;

    if (fragment->to == NULL || fragment->buffer == NULL) {
        return;
    }
    memcpy(&polled, (const char *)fragment->buffer + fragment->length - sizeof(polled), sizeof(polled));
    memcpy(fragment->to, fragment->buffer, fragment->polled);
    fragment->req->fetched.clock = polled.clock;
}

static const keel_fragment_ops_t poll_fragment_ops = {
    .stored = poll_stored, .send = poll_send, .answered = poll_answered};

/* ---- any target ---- */

int keel_poll_may_order(const keel_context_h ctx)
{
    return keel_sync_may_be_local(&ctx->sync) && keel_sync_mixes_by(&ctx->sync, KEEL_WAY_WAIT, 1) == NULL;
}

/* The bytes read may come from a put that is still open; the poll then puts the source of that
 * put in doubt. */
static keel_status_t poll_begin(keel_context_h ctx, uint32_t rank, const char *call, int *is_ordered_p)
{
    keel_status_t status = keel_mix(ctx, KEEL_WAY_WAIT, call);

    status = (status == KEEL_OK) ? keel_wait_begin(ctx) : status;
    *is_ordered_p =
        status == KEEL_OK && keel_sync_may_be_local(&ctx->sync) && keel_sync_style(&ctx->sync) == KEEL_STYLE_WAITS;
    if (*is_ordered_p && ctx->sync.results.is_unstable) {
        status = keel_determinant_stabilize_all(ctx);
    }
    if (status == KEEL_OK && *is_ordered_p) {
        keel_announce_classes(ctx, KEEL_CLASS_FETCHES);
    }
    return (status == KEEL_OK) ? keel_announce_to(ctx, rank) : status;
}

/* KEEL_INPROGRESS: the poll has no record */
static keel_status_t poll_replay(keel_win_h win, uint32_t rank, uint64_t where, void *buffer, size_t length)
{
    keel_context_h ctx = win->ctx;
    keel_determinants_t *polls = keel_determinants_of(&ctx->sync, &ctx->sync.polls);
    const keel_get_record_t *record = polls->replayed;
    keel_polled_t polled;
    keel_status_t status;

    if (polls->remaining > 0 && polls->holder == rank && record->where == where &&
        record->length == keel_polled_length(length)) {
        memcpy(buffer, record + 1, length);
        keel_determinants_count_replay(polls);
        return KEEL_OK;
    }
    if (polls->remaining > 0) {
        return keel_determinant_stabilize_polls(ctx);
    }
    status = keel_get_log_next(&ctx->gets, rank, where, keel_polled_length(length), &record);
    if (status == KEEL_ERR_CORRUPT) {
        return keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_DIFFERS);
    }
    if (status != KEEL_OK) {
        return status;
    }
    polled = polled_load(record);
    if (polled.times == 0) {
        return keel_determinant_differs(ctx, "what was not recorded as a poll");
    }
    status = keel_determinant_stabilize_polls(ctx);
    memcpy(buffer, record + 1, length);
    keel_recovery_count_gets(&ctx->rec, 1);
    status = (status != KEEL_OK)
                 ? status
                 : keel_wait_replay_until(ctx, KEEL_PLANT(poll_unreplayed) ? 0 : (uint32_t)polled.clock);
    keel_waits_join(&ctx->sync, KEEL_PLANT(poll_unrejoined) ? 0 : (uint32_t)polled.clock);
    keel_determinants_replay(polls, rank, record, polled.times);
    keel_determinants_count_replay(polls);
    return status;
}

/* Waits for the target's replacement, and for gets meant for its predecessor: records lie at the
 * target in the order of the accesses. */
static keel_status_t poll_await_target(keel_context_h ctx, uint32_t rank)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && (ctx->lane.peers[rank].mode != KEEL_PEER_LIVE ||
                                 (keel_access_is_stored(&ctx->lane, rank) && ctx->fragments_open[rank] > 0) ||
                                 keel_position_blocks_atomic(&ctx->rec, rank, KEEL_ATOMIC_FETCH, 1))) {
        if (ctx->lane.peers[rank].mode == KEEL_PEER_AHEAD) {
            return keel_get_is_missing(ctx, rank);
        }
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

static keel_status_t poll_wait(keel_context_h ctx, keel_fragment_t *fragment, const struct keel_req *req)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && req->fragments > 1) {
        status = keel_context_wait(ctx, &rounds);
    }
    if (req->fragments > 1) {
        fragment->to = NULL; /* the program's memory may be freed when the reply arrives */
    }
    return status;
}

static keel_status_t poll_fragment(keel_win_h win, uint32_t rank, uint64_t offset, char *buffer, uint32_t length,
                                   struct keel_req *req)
{
    keel_context_h ctx = win->ctx;
    const uint64_t where = keel_where(offset, KEEL_RECORD_PUT, win->region);
    keel_status_t status = poll_replay(win, rank, where, buffer, length);
    keel_fragment_t *fragment;

    if (status != KEEL_INPROGRESS) {
        return status;
    }
    if (poll_is_again(win, rank, where, buffer, length)) {
        keel_context_poll(ctx);
        return KEEL_OK;
    }
    do { /* callbacks in the waits may poll or add determinants */
        status = keel_determinant_stabilize_all(ctx);
        status = (status == KEEL_OK) ? poll_await_target(ctx, rank) : status;
    } while (status == KEEL_OK && (ctx->sync.polls.is_unstable || ctx->sync.results.is_unstable));
    if (status != KEEL_OK) {
        return status;
    }
    fragment = keel_fragment_obtain(ctx);
    if (fragment == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    fragment->rank = rank;
    fragment->where = where;
    fragment->length = (uint32_t)keel_polled_length(length);
    fragment->ops = &poll_fragment_ops;
    fragment->polled = length;
    fragment->to = buffer;
    fragment->buffer = NULL;
    fragment->req = req;
    fragment->atomic = NULL;
    fragment->record = keel_get_log_reserve(&ctx->gets, rank, where, fragment->length, &fragment->index);
    req->is_new |= (uint8_t)keel_waits_note_unrecorded(&ctx->sync, rank);
    req->fragments++;
    ctx->fragments_open[rank]++;
    keel_fragment_issue(fragment);
    status = poll_wait(ctx, fragment, req);
    status = (status == KEEL_OK) ? req->status : status;
    if (status == KEEL_OK) {
        keel_waits_join(&ctx->sync, KEEL_PLANT(poll_unjoined) ? 0 : (uint32_t)req->fetched.clock);
    }
    return status;
}

static keel_status_t poll_issue(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length,
                                const char *call, struct keel_req *req)
{
    keel_context_h ctx = win->ctx;
    const uint32_t most = (uint32_t)(ctx->gets.record_max - keel_polled_length(8)) & ~7u;
    keel_status_t status;
    int is_ordered;

    status = keel_flush_start_all(ctx);
    status = (status == KEEL_OK) ? poll_begin(ctx, rank, call, &is_ordered) : status;
    if (status == KEEL_OK && !is_ordered) {
        return keel_get_fragments(win, rank, offset, buffer, length, req);
    }
    keel_flush_ring(ctx);
    keel_context_touch(ctx, rank);
    for (uint64_t done = 0; status == KEEL_OK && done < length; done += most) {
        const uint64_t fragment = (length - done < most) ? length - done : most;

        status = poll_fragment(win, rank, offset + done, (char *)buffer + done, (uint32_t)fragment, req);
    }
    return status;
}

static keel_status_t poll_own(keel_win_h win, uint64_t offset, void *buffer, size_t length)
{
    const keel_block_t block = {.offset = offset, .length = length, .buffer = buffer};

    if (keel_sync_may_be_local(&win->ctx->sync)) {
        return keel_get_own_determinants(win, &(keel_gather_t){.list = &block, .count = 1});
    }
    keel_load_words(buffer, (const char *)win->base + offset, length);
    return keel_flush_start_all(win->ctx);
}

const keel_poll_ops_t keel_poll_ops = {.issue = poll_issue};

static keel_status_t poll_any(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length,
                              const char *call, keel_req_h *left_p)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = keel_win_check(win, rank, offset, length, buffer, NULL);
    struct keel_req *req;

    status = (status == KEEL_OK) ? keel_access_admit(win, rank, KEEL_ACCESS_POLL, call) : status;
    if (status != KEEL_OK || length == 0) {
        return (win != NULL) ? keel_win_end(win, status) : status;
    }
    win->ctx->stats.gets++;
    win->ctx->stats.get_bytes += length;
    if (rank == win->ctx->lane.rank) {
        return keel_win_end(win, poll_own(win, offset, buffer, length));
    }
    req = keel_req_obtain(win->ctx, NULL);
    if (req == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = poll_issue(win, rank, offset, buffer, length, call, req);
    return keel_win_end(win, keel_request_finish(req, status, left_p));
}

keel_status_t keel_poll_any(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length,
                            const char *call)
{
    keel_req_h left = NULL;
    const keel_status_t status = poll_any(win, rank, offset, buffer, length, call, &left);

    return (status == KEEL_INPROGRESS) ? keel_req_wait(left) : status;
}

/*
 * Repeats the last poll on mapped memory. While its record is open nothing of this process became
 * visible since, so what the generic path does before a poll is done. Returns 0 if the poll has to
 * take the generic path.
 */
static int poll_again_fast(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length)
{
    const uint32_t harmless = KEEL_GATE_GETS | KEEL_GATE_DETERMINANTS;
    keel_context_h ctx;

    if (keel_win_reach(win, rank, offset, length) == NULL || buffer == NULL || length == 0) {
        return 0;
    }
    ctx = win->ctx;
    if (keel_context_gate_rma(ctx, harmless) != KEEL_GATE_WAITS || keel_sync_replays(&ctx->sync) == KEEL_STYLE_WAITS ||
        ctx->sync.results.is_unstable || ctx->sync.polls.remaining > 0 || keel_get_log_has_replay(&ctx->gets, rank) ||
        ctx->doorbells.count > 0 || ctx->stats.puts + ctx->stats.atomics != ctx->issued_started ||
        keel_fork_is_child(ctx) ||
        !poll_is_again(win, rank, keel_where(offset, KEEL_RECORD_PUT, win->region), buffer, length)) {
        return 0;
    }
    KEEL_REACHED(poll_again_fast);
    ctx->stats.gets++;
    ctx->stats.get_bytes += length;
    keel_context_touch(ctx, rank);
    return 1;
}

keel_status_t keel_poll(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length)
{
    if (poll_again_fast(win, rank, offset, buffer, length)) {
        return KEEL_OK;
    }
    return keel_poll_any(win, rank, offset, buffer, length, "keel_poll");
}
