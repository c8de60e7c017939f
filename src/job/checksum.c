/*
 * A rank that holds parity for others (KEEL_PARITY=dedicated) and runs no program: it follows the program's gsyncs, whatever
 * they are for, as if its own program were nothing else, and rank 0's arrival tells it which of them take a checkpoint. So its
 * death, and its way back, are those of any rank; its memory is its share, which it computes again.
 */
#include "job/checksum.h"
#include "engine/context.h"
#include "epoch/stop.h"
#include "recovery/rebuild.h"
#include "recovery/rollback.h"
#include "recovery/recover.h"

static keel_status_t checksum_restore(void *arg, const void *image, size_t size)
{
    return KEEL_OK; /* what it has is no image */
}

static int checksum_is_busy(const keel_context_h ctx, uint32_t making)
{
    return ctx->ckpt.set.making.number == making && keel_image_set_is_making(&ctx->ckpt.set);
}

/* the next gsync; after one of keel_checkpoint() the share is complete before it arrives at the following */
static keel_status_t checksum_gsync(keel_context_h ctx)
{
    keel_status_t status = keel_gsync_run(ctx, KEEL_GSYNC_SAFE | KEEL_GSYNC_FOLLOW);
    const uint32_t making = ctx->ckpt.set.making.number;
    unsigned rounds = 0;

    if (making != 0 && making == ctx->rec.phase && (ctx->lane.board[0].flags[making & 1] & KEEL_ARRIVE_EXPLICIT)) {
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
        if (rec->leave == KEEL_LEAVE_TOLD) {
            keel_recovery_finish(rec); /* as a rank that leaves finalize does */
        }
        return KEEL_OK;
    }
    return (rec->fatal == KEEL_OK) ? status : rec->fatal;
}
