/*
 * Locks of windows: a word for each window in the owner's lock area (peer/winlock_word). A program
 * that locks one exclusively mixes. So a death voids all of them, and a rollback sets the words,
 * and the locks that each process knows, as in the gsync of the image. Until the first exclusive
 * lock, shared locks need no words (order/win_share).
 */
#include "engine/context.h"
#include "access/target.h"
#include "engine/threads.h"
#include "order/announce.h"
#include "order/lock_ask.h"
#include "engine/refuse.h"
#include "order/flush.h"
#include "access/unlogged.h"
#include "order/win_share.h"

#include "base/memory.h"
#include "check/plant.h"
#include "peer/issue.h"
#include "peer/members.h"

static unsigned win_number(const struct keel_win *win)
{
    return win->region - KEEL_REGION_WINDOW0;
}

static keel_status_t win_lock_ask(keel_win_h win, uint32_t rank, keel_lock_ask_t ask, uint64_t *answer_p)
{
    keel_lock_request_t request = {.ask = ask, .number = win_number(win)};

    return keel_lock_ask(win->ctx, rank, &request, answer_p);
}

/* KEEL_OK: the lock of @a rank may be requested; shared locks may also be taken by bias. */
static keel_status_t win_lock_begin(keel_win_h win, uint32_t rank, keel_lock_how_t how, const char *call)
{
    keel_status_t status;

    if (win == NULL) {
        return keel_refuse_null("the window");
    }
    if (how != KEEL_LOCK_SHARED && how != KEEL_LOCK_EXCLUSIVE) {
        keel_error_ctx(win->ctx, "%s: there is no way %u to lock", call, (unsigned)how);
        return KEEL_ERR_UNSUPPORTED;
    }
    status = (how == KEEL_LOCK_SHARED) ? keel_win_check(win, rank, 0, 0, win, NULL)
                                       : keel_unlogged_begin(win, rank, 0, 0, win, call);
    if (status == KEEL_OK) {
        status = keel_context_check_outside(win->ctx, call);
    }
    if (status == KEEL_OK && win->locked == NULL) {
        win->locked = keel_alloc(win->ctx->lane.size, "locks of a window");
        status = (win->locked == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
    }
    if (status == KEEL_OK && (win->locked[rank] != 0 || win->all != 0)) {
        keel_error_ctx(win->ctx, "%s of window %u at rank %u, which is locked already", call, win_number(win), rank);
        return KEEL_ERR_STATE;
    }
    return status;
}

static void win_lock_note(keel_win_h win, uint32_t rank, uint8_t how)
{
    win->locked[rank] = how;
    win->ctx->windows_locked++;
    win->ctx->stats.locks++;
}

/* Returns 1 if the lock is shared by bias, without a message. */
static int win_lock_by_bias(keel_win_h win, uint32_t rank, keel_lock_how_t how)
{
    if (how != KEEL_LOCK_SHARED || !keel_win_share(win->ctx)) {
        return 0;
    }
    win_lock_note(win, rank, KEEL_LOCK_SHARED | KEEL_LOCK_BIASED);
    return 1;
}

/* Switches to words: a program that uses them mixes. */
static keel_status_t win_lock_by_words(keel_win_h win, uint32_t rank, keel_lock_how_t how, const char *call)
{
    return (how == KEEL_LOCK_SHARED) ? keel_unlogged_begin(win, rank, 0, 0, win, call) : KEEL_OK;
}

/* Before an exclusive lock. KEEL_OK: no rank shares by bias; KEEL_INPROGRESS: some rank does. */
static keel_status_t win_lock_revoke(keel_context_h ctx)
{
    const keel_lock_request_t request = {.ask = KEEL_LOCK_REVOKE, .number = ctx->rec.phase};
    keel_status_t status;
    uint64_t count;

    for (uint32_t r; (r = ctx->revoked_by = keel_member_from(&ctx->lane, ctx->revoked_by)) < ctx->lane.programs;) {
        if (ctx->lane.peers[r].mode != KEEL_PEER_LIVE) {
            return KEEL_INPROGRESS;
        }
        status = keel_announce_to(ctx, r);
        status = (status == KEEL_OK) ? keel_lock_ask(ctx, r, &request, &count) : status;
        if (status != KEEL_OK) {
            return (status == KEEL_ERR_UNREACHABLE) ? KEEL_INPROGRESS : status;
        }
        if (count != 0 && !KEEL_PLANT(win_lock_revoke_unawaited)) {
            return KEEL_INPROGRESS;
        }
        ctx->revoked_by += (ctx->revoked_by == r); /* another thread may have asked the rank, too */
    }
    return KEEL_OK;
}

/* @a waits, @a looks: keel_claim_t */
static keel_status_t win_lock_try(keel_win_h win, uint32_t rank, keel_lock_how_t how, int waits, uint64_t looks)
{
    const keel_lock_request_t request = {.ask = (how == KEEL_LOCK_SHARED) ? KEEL_LOCK_WINDOW_TRY_SHARED
                                                                          : KEEL_LOCK_WINDOW_TRY,
                                         .number = keel_lock_of_window(win_number(win), waits, looks)};
    uint64_t answer = 0;
    keel_status_t status = keel_unlogged_await(win, rank);

    if (status == KEEL_OK && how == KEEL_LOCK_EXCLUSIVE) {
        status = win_lock_revoke(win->ctx);
        if (status == KEEL_INPROGRESS) {
            return status;
        }
    }
    if (status == KEEL_OK) {
        status = keel_lock_ask(win->ctx, rank, &request, &answer);
    }
    if (status != KEEL_OK) {
        /* the rank died: ask its replacement, or give up */
        return (status == KEEL_ERR_UNREACHABLE) ? KEEL_INPROGRESS : status;
    }
    if (answer == 0) {
        return KEEL_INPROGRESS;
    }
    if (win->locked[rank] != 0) { /* another thread has shared it meanwhile */
        status = win_lock_ask(win, rank, KEEL_LOCK_WINDOW_RELEASE_SHARED, &answer);
        return (status == KEEL_OK) ? KEEL_ERR_STATE : status;
    }
    win_lock_note(win, rank, (uint8_t)how);
    return KEEL_OK;
}

static keel_status_t win_lock_until(keel_win_h win, uint32_t rank, keel_lock_how_t how)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0, looks = 0;

    while (status == KEEL_OK) {
        status = win_lock_try(win, rank, how, 1, looks);
        looks += (looks < KEEL_CLAIM_LOST);
        if (status != KEEL_INPROGRESS) {
            break;
        }
        status = keel_context_wait(win->ctx, &rounds);
    }
    return status;
}

keel_status_t keel_win_lock(keel_win_h win, uint32_t rank, keel_lock_how_t how)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = win_lock_begin(win, rank, how, "keel_win_lock");

    if (status == KEEL_OK && !win_lock_by_bias(win, rank, how)) {
        status = win_lock_by_words(win, rank, how, "keel_win_lock");
        status = (status == KEEL_OK) ? win_lock_until(win, rank, how) : status;
    }
    return (win != NULL) ? keel_win_end(win, status) : status;
}

keel_status_t keel_win_trylock(keel_win_h win, uint32_t rank, keel_lock_how_t how)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = win_lock_begin(win, rank, how, "keel_win_trylock"), progress;
    const uint64_t looks = (how == KEEL_LOCK_SHARED) ? KEEL_CLAIM_LOST : 0; /* a holder may wait */

    if (status == KEEL_OK && !win_lock_by_bias(win, rank, how)) {
        status = win_lock_by_words(win, rank, how, "keel_win_trylock");
        status = (status == KEEL_OK) ? win_lock_try(win, rank, how, 0, looks) : status;
    }
    if (status == KEEL_INPROGRESS) {
        progress = keel_flush_progress(win->ctx);
        status = (progress == KEEL_OK) ? status : progress;
    }
    return (win != NULL) ? keel_win_end(win, status) : status;
}

/* Completes the accesses under the lock. */
static keel_status_t win_unlock_words(keel_win_h win, uint32_t rank, const char *call)
{
    keel_status_t status = keel_unlogged_begin(win, rank, 0, 0, win, call);
    uint64_t answer;
    int how;

    status = (status == KEEL_OK) ? keel_flush_one(win->ctx, rank) : status;
    status = (status == KEEL_OK) ? keel_unlogged_await(win, rank) : status;
    if (status == KEEL_OK) {
        how = win->locked[rank];
        win->locked[rank] = 0;
        win->ctx->windows_locked--;
        status = win_lock_ask(
            win, rank, (how == KEEL_LOCK_SHARED) ? KEEL_LOCK_WINDOW_RELEASE_SHARED : KEEL_LOCK_WINDOW_RELEASE, &answer);
        status = (status == KEEL_ERR_UNREACHABLE) ? KEEL_OK : status; /* the death is a rollback */
    }
    return status;
}

static keel_status_t win_unlock_begin(keel_win_h win, const char *call)
{
    if (win->freed_call > 0) {
        return keel_win_refuse_freed(win);
    }
    return keel_context_begin_outside(win->ctx, call);
}

/* Completes all accesses under the lock, also of callbacks. Waits until the lock is visible. */
static keel_status_t win_unlock_complete(keel_win_h win, uint32_t rank)
{
    const int is_all = rank == KEEL_RANK_NONE;
    keel_status_t status = is_all ? keel_flush_all(win->ctx) : keel_flush(win->ctx, rank);
    unsigned rounds = 0;

    while (status == KEEL_OK && keel_win_is_converting(win, rank)) {
        status = keel_context_wait(win->ctx, &rounds);
        if (status == KEEL_OK) {
            status = is_all ? keel_flush_all(win->ctx) : keel_flush(win->ctx, rank);
        }
    }
    return status;
}

static void win_unlock_bias(keel_win_h win, uint8_t *how)
{
    *how = 0;
    win->ctx->windows_locked--;
    keel_win_unshare(win->ctx);
}

keel_status_t keel_win_unlock(keel_win_h win, uint32_t rank)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status;

    if (win == NULL) {
        return keel_refuse_null("the window");
    }
    status = win_unlock_begin(win, "keel_win_unlock");
    if (status != KEEL_OK) {
        return keel_win_end(win, status);
    }
    if (rank >= win->ctx->lane.programs || win->all != 0 || win->locked == NULL || win->locked[rank] == 0) {
        keel_error_ctx(win->ctx, "keel_win_unlock of window %u at rank %u, which is not locked%s", win_number(win),
                       rank, (win->all != 0) ? " by itself" : "");
        return KEEL_ERR_STATE;
    }
    status = win_unlock_complete(win, rank);
    if (status == KEEL_OK && (win->locked[rank] & KEEL_LOCK_BIASED)) {
        win_unlock_bias(win, &win->locked[rank]);
    } else if (status == KEEL_OK) {
        status = win_unlock_words(win, rank, "keel_win_unlock");
    }
    return keel_win_end(win, status);
}

/* ---- of all ranks ---- */

static keel_status_t win_lock_all_begin(keel_win_h win)
{
    keel_status_t status = keel_win_check(win, win->ctx->lane.rank, 0, 0, win, NULL);

    if (status == KEEL_OK) {
        status = keel_context_check_outside(win->ctx, "keel_win_lock_all");
    }
    if (status == KEEL_OK && win->locked == NULL) {
        win->locked = keel_alloc(win->ctx->lane.size, "locks of a window");
        status = (win->locked == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
    }
    for (uint32_t r = 0; status == KEEL_OK && r < win->ctx->lane.programs; r++) {
        if (win->locked[r] != 0 || win->all != 0) {
            keel_error_ctx(win->ctx, "keel_win_lock_all of window %u, which is locked at rank %u already",
                           win_number(win), r);
            return KEEL_ERR_STATE;
        }
    }
    return status;
}

/* Locks rank after rank; undoes all if one fails. */
static keel_status_t win_lock_all_words(keel_win_h win)
{
    keel_status_t status = KEEL_OK, undone = KEEL_OK;
    uint32_t had = 0;

    while (status == KEEL_OK && (had = keel_member_from(&win->ctx->lane, had)) < win->ctx->lane.programs) {
        status = win_lock_by_words(win, had, KEEL_LOCK_SHARED, "keel_win_lock_all");
        status = (status == KEEL_OK) ? win_lock_until(win, had, KEEL_LOCK_SHARED) : status;
        had += (status == KEEL_OK);
    }
    if (status == KEEL_OK) {
        win->all = KEEL_LOCK_SHARED;
    }
    while (status != KEEL_OK && status != KEEL_ERR_ROLLED_BACK && undone == KEEL_OK && had > 0) {
        undone = (win->locked[--had] != 0) ? win_unlock_words(win, had, "keel_win_lock_all") : KEEL_OK;
    }
    return status;
}

keel_status_t keel_win_lock_all(keel_win_h win)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = (win == NULL) ? keel_refuse_null("the window") : win_lock_all_begin(win);

    if (status == KEEL_OK && keel_win_share(win->ctx)) {
        win->all = KEEL_LOCK_SHARED | KEEL_LOCK_BIASED;
        win->ctx->windows_locked++;
        win->ctx->stats.locks++;
    } else if (status == KEEL_OK) {
        status = win_lock_all_words(win);
    }
    return (win != NULL) ? keel_win_end(win, status) : status;
}

keel_status_t keel_win_unlock_all(keel_win_h win)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status;

    if (win == NULL) {
        return keel_refuse_null("the window");
    }
    status = win_unlock_begin(win, "keel_win_unlock_all");
    if (status != KEEL_OK) {
        return keel_win_end(win, status);
    }
    if (win->all == 0) {
        keel_error_ctx(win->ctx, "keel_win_unlock_all of window %u, which keel_win_lock_all has not locked",
                       win_number(win));
        return KEEL_ERR_STATE;
    }
    status = win_unlock_complete(win, KEEL_RANK_NONE);
    if (status == KEEL_OK && (win->all & KEEL_LOCK_BIASED)) {
        win_unlock_bias(win, &win->all);
        win->all = KEEL_LOCK_SHARED; /* the lock may be visible at some ranks */
    }
    for (uint32_t r = 0; r < win->ctx->lane.programs && status == KEEL_OK; r++) {
        if (win->locked[r] != 0) {
            status = win_unlock_words(win, r, "keel_win_unlock_all");
        }
    }
    win->all = (status == KEEL_OK) ? 0 : win->all;
    return keel_win_end(win, status);
}
