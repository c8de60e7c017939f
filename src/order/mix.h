/*
 * Programs that mix ways to synchronise: critical sections with gsyncs, waits or accesses without a
 * lock. No log has an order between these, so from the first such call on every death is a
 * rollback. Programs with KEEL_PARAM_FLAG_NONDETERMINISTIC begin in this state.
 */
#ifndef KEEL_ORDER_MIX_H_
#define KEEL_ORDER_MIX_H_

#include "order/announce.h"
#include "order/determinant.h"

/*
 * Call before @a call synchronises in this way. KEEL_WAY_BARE: accesses memory without a lock.
 * KEEL_WAY_ANSWER: returns a value that no log has. KEEL_WAY_UNLOGGED: has an effect that no log
 * has. KEEL_OK: the way fits the program so far, or the program mixes from here on.
 * KEEL_ERR_ROLLED_BACK: a replacement may be re-executing in the order of the logs, so the job
 * rolls back and may mix then.
 */
keel_status_t keel_mix(keel_context_h ctx, keel_way_t way, const char *call);

/*
 * Call before an access to @a rank: announces the usage of this rank there, and makes determinants
 * stable. keel_mix_poll() leaves determinants, except reads, to the poll.
 */
keel_status_t keel_mix_access_first(keel_context_h ctx, uint32_t rank);
static inline keel_status_t keel_mix_poll(keel_context_h ctx, uint32_t rank)
{
    const keel_status_t status = ctx->is_open ? KEEL_OK : keel_mix_access_first(ctx, rank);

    keel_determinant_stabilize_reads(ctx);
    return (status == KEEL_OK) ? keel_announce_to(ctx, rank) : status;
}
static inline keel_status_t keel_mix_access(keel_context_h ctx, uint32_t rank)
{
    const keel_status_t status = keel_determinant_stabilize_all(ctx);

    return (status == KEEL_OK) ? keel_mix_poll(ctx, rank) : status;
}

#endif
