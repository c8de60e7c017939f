/* The calls that ranks make in a gsync. */
#include "epoch/gsync_call.h"

#include "check/plant.h"
#include "peer/members.h"
#include "recovery/recover.h"
#include "recovery/recovery_status.h"

#define CALL_STORE_NAME "keel_store_submit"

static const char *const call_names[] = {
    [KEEL_CALL_PLAIN] = "keel_gsync",           [KEEL_CALL_SAFE] = "keel_gsync with KEEL_GSYNC_SAFE",
    [KEEL_CALL_ALLOC] = "keel_win_alloc",       [KEEL_CALL_FREE] = "keel_win_free",
    [KEEL_CALL_CHECKPOINT] = "keel_checkpoint", [KEEL_CALL_SECOND] = "the second half of keel_checkpoint",
    [KEEL_CALL_FINAL] = "keel_finalize",        [KEEL_ARRIVE_CALL_STOP] = "keel_safe_point",
    [KEEL_CALL_SUBMIT] = CALL_STORE_NAME,       [KEEL_CALL_REFUSED] = "a call with refused arguments"};

#define CALL_COUNT (sizeof(call_names) / sizeof(*call_names))

unsigned keel_gsync_call(unsigned flags)
{
    return (flags & KEEL_GSYNC_FOLLOW)     ? KEEL_CALL_ANY
           : (flags & KEEL_GSYNC_REFUSED)  ? KEEL_CALL_REFUSED
           : (flags & KEEL_GSYNC_STOP)     ? KEEL_ARRIVE_CALL_STOP
           : (flags & KEEL_GSYNC_FINAL)    ? KEEL_CALL_FINAL
           : (flags & KEEL_GSYNC_SECOND)   ? KEEL_CALL_SECOND
           : (flags & KEEL_GSYNC_EXPLICIT) ? KEEL_CALL_CHECKPOINT
           : (flags & KEEL_GSYNC_FREE)     ? KEEL_CALL_FREE
           : (flags & KEEL_GSYNC_ALLOC)    ? KEEL_CALL_ALLOC
           : (flags & KEEL_GSYNC_SUBMIT)   ? KEEL_CALL_STORES + (flags >> KEEL_GSYNC_STORE_SHIFT)
           : (flags & KEEL_GSYNC_SAFE)     ? KEEL_CALL_SAFE
                                           : KEEL_CALL_PLAIN;
}

static unsigned call_of(const keel_context_h ctx, uint32_t rank, uint32_t number)
{
    const keel_lane_t *lane = &ctx->lane;

    return keel_arrive_call((rank == lane->rank) ? lane->slot.flags[number & 1]
                                                 : keel_board_get(&lane->board[rank].flags[number & 1]));
}

static const char *name_of(unsigned call)
{
    return (call >= KEEL_CALL_STORES) ? CALL_STORE_NAME : call_names[call];
}

static keel_status_t report_other(keel_context_h ctx, uint32_t number, unsigned own, uint32_t rank, unsigned other)
{
    keel_error_ctx(ctx, "this is %s and rank %u is in %s%s, as gsync %u: ranks have to make the same collective calls",
                   name_of(own), rank, name_of(other),
                   (own >= KEEL_CALL_STORES && other >= KEEL_CALL_STORES) ? " of another store" : "", number);
    return KEEL_ERR_STATE;
}

/* A rank that refuses the arguments; UINT32_MAX: none. *all_p: all ranks do. */
static uint32_t refuser_of(const keel_context_h ctx, uint32_t number, int *all_p)
{
    uint32_t refuser = UINT32_MAX;

    *all_p = 1;
    KEEL_EACH_MEMBER(r, &ctx->lane) {
        const unsigned call = call_of(ctx, r, number);

        if (call == KEEL_CALL_REFUSED) {
            refuser = r;
        } else if (call != KEEL_CALL_ANY) {
            *all_p = 0;
        }
    }
    return refuser;
}

/* In calls that ranks may refuse: all ranks learn of a refusal, and the job ends. */
static keel_status_t check_refusals(keel_context_h ctx, uint32_t number, unsigned own)
{
    int all = 0;
    const uint32_t refuser = KEEL_PLANT(gsync_call_refusal_unseen) ? UINT32_MAX : refuser_of(ctx, number, &all);

    if (refuser == UINT32_MAX || all) {
        return KEEL_OK;
    }
    keel_recovery_fail(&ctx->rec, KEEL_ERR_INVALID_PARAM);
    if (own != KEEL_CALL_REFUSED) {
        keel_error_ctx(ctx, "rank %u refuses its arguments of the call that is gsync %u: the job cannot go on", refuser,
                       number);
    }
    return KEEL_ERR_INVALID_PARAM;
}

/* True if @a other is another call than the own one. After a stop the ranks repeat their calls, and
 * check_refusals() reports refusals. */
static int is_other_call(unsigned own, unsigned other)
{
    const int is_known = (other > KEEL_CALL_ANY && other < CALL_COUNT) || other >= KEEL_CALL_STORES;

    return is_known && other != own && own != KEEL_ARRIVE_CALL_STOP && other != KEEL_ARRIVE_CALL_STOP &&
           other != KEEL_CALL_REFUSED;
}

/* Another call of @a rank, made beside the own submit; KEEL_CALL_ANY: none. A new process of the
 * rank has not arrived, and has announced calls of earlier gsyncs. */
static unsigned other_beside_submit(const keel_context_h ctx, uint32_t number, unsigned own, uint32_t rank)
{
    const keel_lane_t *lane = &ctx->lane;
    const int has_arrived = keel_lane_arrived(lane, rank, &lane->board[rank].arrive) >= number;
    const unsigned other = has_arrived ? call_of(ctx, rank, number) : KEEL_CALL_ANY;

    return is_other_call(own, other) ? other : KEEL_CALL_ANY;
}

/* Every rank compares the own call with the leader's, and in a submit with all others: a rank in a
 * submit would wait for data of the other ranks. */
keel_status_t keel_gsync_check_call(keel_context_h ctx, uint32_t number, unsigned flags, int was_front)
{
    const unsigned own = keel_gsync_call(flags);
    const int may_refuse = (flags & (KEEL_GSYNC_ALLOC | KEEL_GSYNC_SUBMIT)) != 0;
    keel_status_t status = KEEL_OK;
    unsigned other;

    if (!was_front || keel_recovery_is_finished(&ctx->rec) || own == KEEL_CALL_ANY) {
        return KEEL_OK;
    }
    if (may_refuse) {
        status = check_refusals(ctx, number, own);
    }
    if (status != KEEL_OK || own == KEEL_CALL_REFUSED) {
        return status;
    }
    KEEL_EACH_MEMBER_WHILE(r, &ctx->lane, status == KEEL_OK && (flags & KEEL_GSYNC_SUBMIT)) {
        other = other_beside_submit(ctx, number, own, r);
        if (other != KEEL_CALL_ANY) {
            status = report_other(ctx, number, own, r, other);
        }
    }
    other = call_of(ctx, ctx->lane.leader, number);
    if (status != KEEL_OK || keel_lane_is_leader(&ctx->lane) || other == KEEL_CALL_ANY || other == own ||
        other == KEEL_ARRIVE_CALL_STOP || (other >= CALL_COUNT && other < KEEL_CALL_STORES)) {
        return status;
    }
    return report_other(ctx, number, own, ctx->lane.leader, other);
}
