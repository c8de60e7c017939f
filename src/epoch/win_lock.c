/*
 * Locks of windows: a word for each window in the owner's lock area (peer/winlock_word). A program
 * that locks one exclusively mixes. So a death voids all of them, and a rollback sets the words,
 * and the locks that each process knows, as in the gsync of the image. Until the first exclusive
 * lock, shared locks need no words (order/win_share).
 */
#include "epoch/win_lock.h"
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
#include "peer/store.h"

typedef struct win_locks_image {
    uint64_t count;
    uint64_t is_revoked; /* keel_lock_area_t.revoked */
} win_locks_image_t;

#define WIN_LOCKS_WORD KEEL_RANK_NONE       /* the own word */
#define WIN_LOCKS_ALL  (KEEL_RANK_NONE - 1) /* keel_win.all */

/* A lock held at a rank, or one of the two above. */
typedef struct win_locks_entry {
    uint32_t window, rank;
    uint64_t value; /* keel_win.locked, or the word */
} win_locks_entry_t;

/* ---- acquire and release ---- */

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

/* ---- images ---- */
static uint64_t *win_word(const struct keel_win *win)
{
    return keel_lock_window(keel_lane_locks(&win->ctx->lane), win->ctx->lane.size, win_number(win));
}

static void win_locks_add(win_locks_entry_t *to, size_t *count, unsigned window, uint32_t rank, uint64_t value)
{
    if (value != 0 && to != NULL) {
        to[*count] = (win_locks_entry_t){.window = window, .rank = rank, .value = value};
    }
    *count += (value != 0);
}

/* Counts the entries, and writes them if @a entry is not NULL. Shared locks may become visible
 * meanwhile, so all are saved as locks by bias, and shares of a word are not. */
static size_t win_locks_of(const struct keel_win *win, win_locks_entry_t *entry)
{
    const uint64_t word = __atomic_load_n(win_word(win), __ATOMIC_ACQUIRE);
    const unsigned window = win_number(win);
    size_t count = 0;

    win_locks_add(entry, &count, window, WIN_LOCKS_WORD, word & KEEL_WINLOCK_OWNER);
    win_locks_add(entry, &count, window, WIN_LOCKS_ALL, (win->all != 0) ? KEEL_LOCK_SHARED | KEEL_LOCK_BIASED : 0);
    KEEL_EACH_TOUCHED_WHILE(r, &win->ctx->lane, win->locked != NULL && win->all == 0) {
        win_locks_add(entry, &count, window, r,
                      (win->locked[r] & KEEL_LOCK_SHARED) ? KEEL_LOCK_SHARED | KEEL_LOCK_BIASED : win->locked[r]);
    }
    return count;
}

static uint64_t win_locks_are_revoked(keel_context_h ctx)
{
    return __atomic_load_n(&keel_lane_locks(&ctx->lane)->revoked, __ATOMIC_ACQUIRE);
}

size_t keel_win_locks_size(keel_context_h ctx)
{
    size_t count = 0;

    for (unsigned i = 0; i < ctx->windows.count; i++) {
        count += win_locks_of(ctx->windows.list[i], NULL);
    }
    return (count > 0 || win_locks_are_revoked(ctx) != 0)
               ? sizeof(win_locks_image_t) + count * sizeof(win_locks_entry_t)
               : 0;
}

size_t keel_win_locks_none(void)
{
    return sizeof(win_locks_image_t);
}

void keel_win_locks_save(keel_context_h ctx, void *to)
{
    win_locks_image_t *image = to;
    win_locks_entry_t *entry = (win_locks_entry_t *)(image + 1);

    *image = (win_locks_image_t){.is_revoked = KEEL_PLANT(win_lock_revoke_forgotten) ? 0 : win_locks_are_revoked(ctx)};
    for (unsigned i = 0; i < ctx->windows.count; i++) {
        image->count += win_locks_of(ctx->windows.list[i], entry + image->count);
    }
}

void keel_win_locks_reset(keel_context_h ctx)
{
    for (unsigned i = 0; i < ctx->windows.count; i++) {
        struct keel_win *win = ctx->windows.list[i];

        keel_free(win->locked);
        win->locked = NULL;
        win->all = 0;
        keel_store_word_fenced(win_word(win), 0);
    }
    ctx->windows_locked = 0;
    keel_win_shares_reset(ctx);
}

static keel_status_t win_locks_take(keel_context_h ctx, const win_locks_entry_t *entry)
{
    struct keel_win *win = (entry->window < ctx->windows.count) ? ctx->windows.list[entry->window] : NULL;
    const uint64_t how = entry->value & ~(uint64_t)KEEL_LOCK_BIASED;

    if (win == NULL) {
        return KEEL_ERR_CORRUPT;
    }
    if (entry->rank == WIN_LOCKS_WORD) {
        keel_store_word_fenced(win_word(win), entry->value);
        return KEEL_OK;
    }
    if ((entry->rank >= ctx->lane.size && entry->rank != WIN_LOCKS_ALL) || how == 0 || how >= KEEL_LOCK_HOW_LAST) {
        return KEEL_ERR_CORRUPT;
    }
    if (win->locked == NULL) {
        win->locked = keel_alloc(ctx->lane.size, "locks of a window");
    }
    if (win->locked == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    if (entry->rank == WIN_LOCKS_ALL) {
        win->all = (uint8_t)entry->value;
    } else {
        win->locked[entry->rank] = (uint8_t)entry->value;
    }
    ctx->windows_locked++;
    if (how != entry->value) {
        keel_win_share_restore(ctx);
    }
    return KEEL_OK;
}

keel_status_t keel_win_locks_load(keel_context_h ctx, const void *from, size_t length, size_t *taken_p)
{
    const win_locks_image_t *image = from;
    const win_locks_entry_t *entry = (const win_locks_entry_t *)(image + 1);
    keel_status_t status = KEEL_OK;

    if (length < sizeof(*image) || (length - sizeof(*image)) / sizeof(*entry) < image->count) {
        return KEEL_ERR_CORRUPT;
    }
    if (image->is_revoked != 0) {
        (void)keel_lock_revoke_bias(keel_lane_locks(&ctx->lane), image->is_revoked - 1);
    }
    for (uint64_t i = 0; i < image->count && status == KEEL_OK; i++) {
        status = win_locks_take(ctx, &entry[i]);
    }
    *taken_p = sizeof(*image) + image->count * sizeof(*entry);
    /* the locks become visible */
    __atomic_store_n(&ctx->gate.part.news, 1, __ATOMIC_RELAXED);
    return status;
}
