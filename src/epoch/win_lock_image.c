/*
 * Locks of windows in images. In the gsync of an image both sides agree over all ranks, so each
 * process saves the locks that it holds, and the exclusive owner of its own word. Locks of gone
 * ranks are not loaded: no rank would release these.
 */
#include "epoch/win_lock_image.h"

#include "order/win_share.h"
#include "base/memory.h"
#include "check/plant.h"
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

static unsigned win_locks_number(const struct keel_win *win)
{
    return win->region - KEEL_REGION_WINDOW0;
}

static uint64_t *win_word(const struct keel_win *win)
{
    return keel_lock_window(keel_lane_locks(&win->ctx->lane), win->ctx->lane.size, win_locks_number(win));
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
    const unsigned window = win_locks_number(win);
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

    *image = (win_locks_image_t){.is_revoked = KEEL_PLANT(win_lock_image_unrevoked) ? 0 : win_locks_are_revoked(ctx)};
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

/* True for a lock that a gone rank holds, or that is held at a gone rank. */
static int win_locks_are_of_gone(const keel_lane_t *lane, const win_locks_entry_t *entry)
{
    const uint64_t rank = (entry->rank == WIN_LOCKS_WORD) ? entry->value - 1 : entry->rank;

    return rank < lane->size && keel_rank_is_gone(lane, (uint32_t)rank) && !KEEL_PLANT(win_lock_image_of_gone);
}

static keel_status_t win_locks_take(keel_context_h ctx, const win_locks_entry_t *entry)
{
    struct keel_win *win = (entry->window < ctx->windows.count) ? ctx->windows.list[entry->window] : NULL;
    const uint64_t how = entry->value & ~(uint64_t)KEEL_LOCK_BIASED;

    if (win == NULL) {
        return KEEL_ERR_CORRUPT;
    }
    if (win_locks_are_of_gone(&ctx->lane, entry)) {
        return KEEL_OK;
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
