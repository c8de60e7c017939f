/*
 * Shared locks of windows by bias. A rank that locks exclusively mixes, and asks all ranks; a rank
 * that shares need not ask. As long as no rank has locked exclusively, a shared lock excludes
 * nobody and orders nothing: only the holder knows of the lock, the image has it, and a replacement
 * takes the same lock again. So no death concerns the lock, and it costs no message.
 *
 * The first exclusive locker asks every process, after announcing KEEL_CLASS_MIXES
 * (KEEL_LOCK_REVOKE). From then on the process asked shares by words of the ranks
 * (peer/winlock_word), and converts the locks held in the next calls, one by one. The requests are
 * granted, because no rank gets an exclusive lock before all counts were seen to be 0. Both sides
 * look behind their own store (peer/lockword), so no lock slips through.
 *
 * An image has every shared lock as a biased one, visible or not, and of lock words only the owner:
 * in the gsync of the image some locks may just become visible. After a rollback the locks become
 * visible again, and all ranks are asked again, as a replacement knows of nothing. The image has
 * the revocation, too: there may be exclusive locks in it.
 */
#include "order/win_share.h"

#include "order/announce.h"
#include "check/plant.h"
#include "peer/issue.h"
#include "peer/members.h"
#include "recovery/recover.h"

int keel_win_share(keel_context_h ctx)
{
    return keel_lock_try_bias(keel_lane_locks(&ctx->lane));
}

void keel_win_share_restore(keel_context_h ctx)
{
    keel_lock_area_t *area = keel_lane_locks(&ctx->lane);

    keel_store_word_fenced(&area->biased, area->biased + 1);
}

void keel_win_unshare(keel_context_h ctx)
{
    keel_lock_drop_bias(keel_lane_locks(&ctx->lane));
}

/* ---- conversion to visible locks ---- */

int keel_win_is_revoked(const keel_context_h ctx)
{
    const keel_lock_area_t *area = keel_lane_locks(&ctx->lane);

    return area->biased != 0 && __atomic_load_n(&area->revoked, __ATOMIC_ACQUIRE) != 0;
}

/* Finds the next biased lock, and stores it in ctx->share; 0: there is none. */
static int share_find(keel_context_h ctx)
{
    for (; ctx->share.window < ctx->windows.count; ctx->share.window++, ctx->share.rank = 0) {
        struct keel_win *win = ctx->windows.list[ctx->share.window];
        const int is_all = (win->all & KEEL_LOCK_BIASED) != 0;

        ctx->share.rank = keel_member_from(&ctx->lane, ctx->share.rank);
        for (; win->locked != NULL && ctx->share.rank < ctx->lane.programs;
             ctx->share.rank = keel_member_next(&ctx->lane, ctx->share.rank)) {
            if (is_all ? win->locked[ctx->share.rank] == 0 : win->locked[ctx->share.rank] & KEEL_LOCK_BIASED) {
                return 1;
            }
        }
        if (is_all) {
            win->all = KEEL_LOCK_SHARED;
            ctx->windows_locked--; /* locks are counted one by one from here on */
            keel_win_unshare(ctx);
        }
    }
    return 0;
}

static void share_converted(void *arg, keel_status_t status)
{
    keel_context_h ctx = arg;
    struct keel_win *win;

    ctx->share.is_pending = 0;
    if (status != KEEL_OK || ctx->share.answer == 0) {
        return;
    }
    win = ctx->windows.list[ctx->share.window];
    if (!(win->all & KEEL_LOCK_BIASED)) {
        keel_win_unshare(ctx);
    } else {
        ctx->windows_locked++;
    }
    win->locked[ctx->share.rank] = KEEL_LOCK_SHARED;
}

int keel_win_is_converting(const keel_win_h win, uint32_t rank)
{
    const keel_context_h ctx = win->ctx;

    return ctx->share.is_pending && ctx->windows.list[ctx->share.window] == win &&
           (rank == KEEL_RANK_NONE || ctx->share.rank == rank);
}

void keel_win_shares_progress(keel_context_h ctx)
{
    keel_lock_request_t request = {.ask = KEEL_LOCK_WINDOW_TRY_SHARED};
    keel_status_t status;
    int is_granted = 1;

    if (keel_recovery_status(&ctx->rec) != KEEL_OK) { /* rollback: biased locks are dropped */
        return;
    }
    while (keel_win_is_revoked(ctx) && !ctx->share.is_pending && is_granted && share_find(ctx) &&
           ctx->lane.peers[ctx->share.rank].mode == KEEL_PEER_LIVE) {
        /* past all claims */
        request.number = keel_lock_of_window(ctx->share.window, 0, KEEL_CLAIM_LOST);
        ctx->share.answer = 1;
        ctx->share.is_pending = 1;
        /* like the revoking rank: ranks must know how the granted lock came about */
        keel_announce_classes(ctx, KEEL_CLASS_MIXES);
        status = keel_announce_to(ctx, ctx->share.rank);
        status = (KEEL_PLANT(win_share_unseen) || status != KEEL_OK)
                     ? status
                     : keel_lane_lock(&ctx->lane, ctx->share.rank, &request, &ctx->share.answer, share_converted, ctx);
        if (status != KEEL_INPROGRESS) {
            share_converted(ctx, status);
            is_granted = status == KEEL_OK && ctx->share.answer != 0;
        }
    }
    if (keel_win_is_revoked(ctx)) {
        /* look again: no message will report the next step */
        __atomic_store_n(&ctx->gate.part.news, 1, __ATOMIC_RELAXED);
    }
}

void keel_win_shares_reset(keel_context_h ctx)
{
    keel_store_word_fenced(&keel_lane_locks(&ctx->lane)->biased, 0);
    ctx->share.window = 0;
    ctx->share.rank = 0;
    ctx->revoked_by = 0;
}
