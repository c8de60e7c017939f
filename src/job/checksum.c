/*
 * A checksum rank (KEEL_PARITY=dedicated) holds parity for other ranks and runs no program. The
 * rank follows each gsync of the program, for any purpose, like a rank with a program of gsyncs
 * alone; the arrival of the leader announces the gsyncs that take a checkpoint. So a checksum rank
 * dies and recovers like any other rank; its memory is its parity share, and the replacement
 * computes the share again.
 */
#include "job/checksum.h"
#include "check/plant.h"
#include "engine/context.h"
#include "epoch/gsync_call.h"
#include "epoch/stop.h"
#include "recovery/rebuild.h"
#include "recovery/rollback.h"
#include "recovery/recover.h"

static keel_status_t checksum_restore(void *arg, const void *image, size_t size)
{
    return KEEL_OK; /* a checksum rank has no image of its own */
}

static int checksum_is_busy(const keel_context_h ctx, uint32_t making)
{
    return ctx->ckpt.set.making.number == making && keel_image_set_is_making(&ctx->ckpt.set);
}

/* The leader was in a keel_checkpoint() that takes the generation, or in a submit of a store: the
 * ranks choose a slot after the next gsync, by the generation in use. */
static int checksum_is_awaited(const keel_context_h ctx, uint32_t making)
{
    const keel_board_slot_t *leader = &ctx->lane.board[ctx->lane.leader];
    const uint32_t phase = ctx->rec.phase;

    return (making == phase && (leader->flags[making & 1] & KEEL_ARRIVE_EXPLICIT)) ||
           (keel_arrive_call(leader->flags[phase & 1]) >= KEEL_CALL_STORES && !KEEL_PLANT(checksum_share_late));
}

/*
 * Runs the next gsync. After a gsync of a keel_checkpoint() or of a submit, the share is complete
 * before this rank arrives at the following gsync.
 */
static keel_status_t checksum_gsync(keel_context_h ctx)
{
    keel_status_t status = keel_gsync_run(ctx, KEEL_GSYNC_SAFE | KEEL_GSYNC_FOLLOW);
    const uint32_t making = ctx->ckpt.set.making.number;
    unsigned rounds = 0;

    if (making != 0 && checksum_is_awaited(ctx, making)) {
        while (status == KEEL_OK && checksum_is_busy(ctx, making) && !keel_recovery_is_finished(&ctx->rec)) {
            status = keel_context_wait(ctx, &rounds);
        }
    }
    return status;
}

keel_status_t keel_checksum_run(keel_context_h ctx)
{
    keel_recovery_t *rec = &ctx->rec;
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && !keel_recovery_is_finished(rec)) {
        if (rec->roll != KEEL_ROLL_NONE) {
            status = keel_rollback_run(rec, checksum_restore, ctx);
        } else if (keel_recovery_state(rec) == KEEL_RANK_FRESH) {
            status = keel_rebuild_run(rec, checksum_restore, ctx);
        } else {
            status = checksum_gsync(ctx);
        }
        if (status == KEEL_ERR_ROLLED_BACK) {
            status = KEEL_OK;
        }
    }
    if (keel_recovery_is_finished(rec) && rec->fatal == KEEL_OK) {
        if (rec->leave == KEEL_LEAVE_CERTAIN) {
            keel_recovery_finish(rec); /* as a rank that leaves keel_finalize() does */
        }
        return KEEL_OK;
    }
    return (rec->fatal == KEEL_OK) ? status : rec->fatal;
}
