/*
 * Programs that mix ways to synchronise: sections with gsyncs, waits or accesses without a lock. No log has an order between
 * these, so from the first such call on every death is a rollback; programs that say KEEL_PARAM_FLAG_NONDETERMINISTIC begin so.
 */
#ifndef KEEL_ORDER_MIX_H_
#define KEEL_ORDER_MIX_H_

#include "order/usage.h"
#include "order/determinant.h"

/* every death is a rollback, whatever is done */
static inline int keel_may_mix(const keel_context_h ctx)
{
    return !keel_sync_may_be_local(&ctx->sync);
}

/*
 * @a call is about to synchronise in this way, or, BARE, to access what is not locked, or, ANSWER, to be told what no log
 * has, or, UNLOGGED, to do what no log has. KEEL_OK: that goes with what the program did so far, or it mixes from here on.
 * KEEL_ERR_ROLLED_BACK: some rank may be doing again what its predecessor did, in the logs' order: the job rolls back, and may mix then.
 */
keel_status_t keel_mix(keel_context_h ctx, keel_way_t way, const char *call);

/* before what goes to @a rank: whoever is accessed knows how, and what the program goes on by is settled */
keel_status_t keel_mix_access_first(keel_context_h ctx, uint32_t rank);
static inline keel_status_t keel_mix_poll(keel_context_h ctx, uint32_t rank)
{
    const keel_status_t status = ctx->is_open ? KEEL_OK : keel_mix_access_first(ctx, rank);

    keel_wait_settle_reads(ctx);
    return (status == KEEL_OK) ? keel_kinds_tell(ctx, rank) : status; /* it settles by itself what has to be */
}
static inline keel_status_t keel_mix_access(keel_context_h ctx, uint32_t rank)
{
    const keel_status_t status = keel_wait_settle_answers(ctx);

    return (status == KEEL_OK) ? keel_mix_poll(ctx, rank) : status;
}

#endif
