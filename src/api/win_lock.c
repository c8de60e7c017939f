/*
 * Locks of windows: a word for each window in the owner's lock area (peer/winlock_word). A program that takes one mixes, so a death
 * writes all of them off, and a rollback sets the words, and what each process knows to hold, as they were in the gsync of the image.
 */
#include "api/win_lock.h"
#include "api/inside.h"
#include "api/lock_ask.h"
#include "api/refuse.h"
#include "api/flush.h"
#include "api/unlogged.h"

#include "base/memory.h"
#include "check/plant.h"
#include "peer/issue.h"
#include "peer/store.h"

#define WIN_LOCK_PATIENCE 64 /* rounds that who would share lets others go ahead */

typedef struct win_locks_image {
    uint64_t count;
    uint64_t reserved;
} win_locks_image_t;

/* what is held at another rank, or, with KEEL_RANK_NONE, the own word */
typedef struct win_locks_entry {
    uint32_t window, rank;
    uint64_t value; /* keel_lock_how_t, or the word */
} win_locks_entry_t;

/* ---- taking and giving ---- */

static unsigned win_number(const struct keel_win *win)
{
    return win->region - KEEL_REGION_WINDOW0;
}

static keel_status_t win_lock_ask(keel_win_h win, uint32_t rank, keel_lock_ask_t ask, int has_waited,
                                  uint64_t *answer_p)
{
    keel_lock_request_t request = {.ask = ask, .number = win_number(win) | (has_waited ? KEEL_WINLOCK_WAITED : 0)};

    return keel_lock_ask(win->ctx, rank, &request, answer_p);
}

/* 1 + what @a rank's memory is locked for here, 0: it is not */
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
    status = keel_unlogged_begin(win, rank, 0, 0, win, call);
    if (status == KEEL_OK) {
        status = keel_context_check_outside(win->ctx, call);
    }
    if (status == KEEL_OK && win->locked == NULL) {
        win->locked = keel_alloc(win->ctx->lane.size, "locks of a window");
        status = (win->locked == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
    }
    if (status == KEEL_OK && win->locked[rank] != 0) {
        keel_error_ctx(win->ctx, "%s of window %u at rank %u, which is locked already", call, win_number(win), rank);
        return KEEL_ERR_STATE;
    }
    return status;
}

static keel_status_t win_lock_try(keel_win_h win, uint32_t rank, keel_lock_how_t how, int has_waited)
{
    const keel_lock_ask_t ask = (how == KEEL_LOCK_SHARED) ? KEEL_LOCK_WINDOW_TRY_SHARED : KEEL_LOCK_WINDOW_TRY;
    uint64_t answer = 0;
    keel_status_t status = keel_unlogged_await(win, rank);

    if (status == KEEL_OK) {
        status = win_lock_ask(win, rank, ask, has_waited, &answer);
    }
    if (status != KEEL_OK) {
        return (status == KEEL_ERR_UNREACHABLE) ? KEEL_INPROGRESS
                                                : status; /* it died: asked of its replacement, or not at all */
    }
    if (answer == 0) {
        return KEEL_INPROGRESS;
    }
    if (win->locked[rank] != 0) { /* shared, for another thread meanwhile */
        status = win_lock_ask(win, rank, KEEL_LOCK_WINDOW_RELEASE_SHARED, 0, &answer);
        return (status == KEEL_OK) ? KEEL_ERR_STATE : status;
    }
    win->locked[rank] = (uint8_t)how;
    win->ctx->windows_locked++;
    win->ctx->stats.locks++;
    return KEEL_OK;
}

keel_status_t keel_win_lock(keel_win_h win, uint32_t rank, keel_lock_how_t how)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = win_lock_begin(win, rank, how, "keel_win_lock");
    unsigned rounds = 0;

    while (status == KEEL_OK) {
        /* who wants it for itself says so at once */
        status = win_lock_try(win, rank, how, how == KEEL_LOCK_EXCLUSIVE || rounds > WIN_LOCK_PATIENCE);
        if (status != KEEL_INPROGRESS) {
            break;
        }
        status = keel_context_wait(win->ctx, &rounds);
    }
    return (win != NULL) ? keel_win_end(win, status) : status;
}

keel_status_t keel_win_trylock(keel_win_h win, uint32_t rank, keel_lock_how_t how)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = win_lock_begin(win, rank, how, "keel_win_trylock"), progress;

    if (status == KEEL_OK) {
        status = win_lock_try(win, rank, how, 0);
    }
    if (status == KEEL_INPROGRESS) {
        progress = keel_progress(win->ctx);
        status = (progress == KEEL_OK) ? status : progress;
    }
    return (win != NULL) ? keel_win_end(win, status) : status;
}

keel_status_t keel_win_unlock(keel_win_h win, uint32_t rank)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status;
    uint64_t answer;
    int how;

    if (win == NULL) {
        return keel_refuse_null("the window");
    }
    status = keel_context_begin_outside(win->ctx, "keel_win_unlock");
    if (status != KEEL_OK) {
        return keel_win_end(win, status);
    }
    if (rank >= win->ctx->lane.programs || win->locked == NULL || win->locked[rank] == 0) {
        keel_error_ctx(win->ctx, "keel_win_unlock of window %u at rank %u, which is not locked", win_number(win), rank);
        return KEEL_ERR_STATE;
    }
    status = keel_unlogged_begin(win, rank, 0, 0, win, "keel_win_unlock");
    status = (status == KEEL_OK) ? keel_flush_one(win->ctx, rank) : status;
    status = (status == KEEL_OK) ? keel_unlogged_await(win, rank) : status;
    if (status == KEEL_OK) {
        how = win->locked[rank];
        win->locked[rank] = 0;
        win->ctx->windows_locked--;
        status = win_lock_ask(win, rank,
                              (how == KEEL_LOCK_SHARED) ? KEEL_LOCK_WINDOW_RELEASE_SHARED : KEEL_LOCK_WINDOW_RELEASE, 0,
                              &answer);
        status = (status == KEEL_ERR_UNREACHABLE) ? KEEL_OK : status; /* its death is a rollback */
    }
    return keel_win_end(win, status);
}

/* ---- images ---- */

static uint64_t *win_word(const struct keel_win *win)
{
    return keel_lock_window(keel_lane_locks(&win->ctx->lane), win->ctx->lane.size, win_number(win));
}

/* writes what there is, where @a entry is not NULL; how many entries that are */
static size_t win_locks_of(const struct keel_win *win, win_locks_entry_t *entry)
{
    const uint64_t word = __atomic_load_n(win_word(win), __ATOMIC_ACQUIRE);
    const unsigned window = win_number(win);
    size_t count = 0;

    if (word != 0) {
        if (entry != NULL) {
            entry[count] = (win_locks_entry_t){.window = window, .rank = KEEL_RANK_NONE, .value = word};
        }
        count++;
    }
    for (uint32_t r = 0; win->locked != NULL && r < win->ctx->lane.size; r++) {
        if (win->locked[r] != 0) {
            if (entry != NULL) {
                entry[count] = (win_locks_entry_t){.window = window, .rank = r, .value = win->locked[r]};
            }
            count++;
        }
    }
    return count;
}

size_t keel_win_locks_size(keel_context_h ctx)
{
    size_t count = 0;

    for (unsigned i = 0; i < ctx->window_count; i++) {
        count += win_locks_of(ctx->windows[i], NULL);
    }
    return (count > 0) ? sizeof(win_locks_image_t) + count * sizeof(win_locks_entry_t) : 0;
}

size_t keel_win_locks_none(void)
{
    return sizeof(win_locks_image_t);
}

void keel_win_locks_save(keel_context_h ctx, void *to)
{
    win_locks_image_t *image = to;
    win_locks_entry_t *entry = (win_locks_entry_t *)(image + 1);

    *image = (win_locks_image_t){0};
    for (unsigned i = 0; i < ctx->window_count; i++) {
        image->count += win_locks_of(ctx->windows[i], entry + image->count);
    }
}

void keel_win_locks_reset(keel_context_h ctx)
{
    for (unsigned i = 0; i < ctx->window_count; i++) {
        struct keel_win *win = ctx->windows[i];

        keel_free(win->locked);
        win->locked = NULL;
        keel_store_word_fenced(win_word(win), 0);
    }
    ctx->windows_locked = 0;
}

static keel_status_t win_locks_take(keel_context_h ctx, const win_locks_entry_t *entry)
{
    struct keel_win *win = (entry->window < ctx->window_count) ? ctx->windows[entry->window] : NULL;

    if (win == NULL) {
        return KEEL_ERR_CORRUPT;
    }
    if (entry->rank == KEEL_RANK_NONE) {
        keel_store_word_fenced(win_word(win), entry->value);
        return KEEL_OK;
    }
    if (entry->rank >= ctx->lane.size || entry->value >= KEEL_LOCK_HOW_LAST) {
        return KEEL_ERR_CORRUPT;
    }
    if (win->locked == NULL) {
        win->locked = keel_alloc(ctx->lane.size, "locks of a window");
    }
    if (win->locked == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    win->locked[entry->rank] = (uint8_t)entry->value;
    ctx->windows_locked++;
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
    for (uint64_t i = 0; i < image->count && status == KEEL_OK; i++) {
        status = win_locks_take(ctx, &entry[i]);
    }
    *taken_p = sizeof(*image) + image->count * sizeof(*entry);
    return status;
}
