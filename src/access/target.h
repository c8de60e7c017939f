/* What puts, gets and atomics share. */
#ifndef KEEL_ACCESS_TARGET_H_
#define KEEL_ACCESS_TARGET_H_

#include "check/reached.h"
#include "engine/context.h"
#include "access/route.h"
#include "window/targets.h"
#include "window/window.h"
#include "peer/access.h"

#include <string.h>

static inline const keel_target_t *keel_win_target(keel_win_h win, uint32_t rank)
{
    if (__builtin_expect(win->changes != win->ctx->lane.changes, 0)) {
        keel_win_refresh(win);
    }
    return &win->targets[rank];
}

/* where that part of a window of a rank is mapped here; NULL: nowhere, or it leaves the window */
static inline __attribute__((always_inline)) char *keel_target_part(const keel_target_t *target, uint64_t offset,
                                                                    size_t length)
{
    if (__builtin_expect(target->ptr == NULL || offset > target->size || length > target->size - offset, 0)) {
        return NULL;
    }
    return target->ptr + offset;
}

/* where the fast path of an access goes: a live peer's memory that is mapped here; NULL: the access goes the general way. Own
 * memory does, and what leaves the window. The caller looks at the gate. */
static inline __attribute__((always_inline)) char *keel_win_reach(keel_win_h win, uint32_t rank, uint64_t offset,
                                                                  size_t length)
{
    if (__builtin_expect(win == NULL || rank >= win->ctx->fast_ranks || rank == win->ctx->lane.rank, 0)) {
        return NULL;
    }
    return keel_target_part(keel_win_target(win, rank), offset, length);
}

/* by the address at its owner: memory that the program gave begins anywhere */
static inline int keel_win_is_aligned(const keel_win_h win, uint32_t rank, uint64_t offset, size_t size)
{
    const uint64_t base = (rank < win->ctx->lane.programs) ? keel_access_base(&win->ctx->lane, rank, win->region) : 0;

    return (base + offset) % size == 0;
}

/* arguments and state of any access; off the hot path */
keel_status_t keel_win_check(keel_win_h win, uint32_t rank, uint64_t offset, size_t length, const void *buffer,
                             const keel_rma_params_t *params);
/* Checks the arguments of a wait or test for a word of the own window: KEEL_OK if the program may look at it now. */
keel_status_t keel_word_check(keel_win_h win, uint64_t offset, size_t size, keel_compare_t compare);
/* right before what goes to @a rank: it knows what this process uses; on the direct lane: until a live peer's memory is mapped, or the peer
 * is live no more */
keel_status_t keel_win_await_map(keel_win_h win, uint32_t rank);
/* served lane: a record for the bounce buffer, which is free when this returns KEEL_OK; and the same sent as a put */
keel_status_t keel_bounce_fill(keel_context_h ctx, uint32_t rank, uint64_t where, const void *payload, size_t length);
/* its head alone, with the payload left to the caller; and what was filled so sent as a put */
keel_status_t keel_bounce_take(keel_context_h ctx, uint32_t rank, uint64_t where, size_t length,
                               keel_record_t **record_p);
keel_status_t keel_bounce_send(keel_context_h ctx, uint32_t rank, size_t length);
keel_status_t keel_put_bounce(keel_context_h ctx, uint32_t rank, uint64_t where, const void *buffer, size_t length);

/* counts the row of the table of positions that a put or atomic is in (check/reached.h) */
static inline void keel_case_access(keel_context_h ctx, uint32_t rank, int is_atomic)
{
    const keel_peer_mode_t mode = (keel_peer_mode_t)ctx->lane.peers[rank].mode;

    if (mode == KEEL_PEER_BEHIND && is_atomic) {
        KEEL_REACHED(atomic_behind);
    } else if (mode == KEEL_PEER_BEHIND) {
        KEEL_REACHED(put_behind);
    } else if (mode == KEEL_PEER_AHEAD && is_atomic) {
        KEEL_REACHED(atomic_ahead);
    } else if (mode == KEEL_PEER_AHEAD) {
        KEEL_REACHED(put_ahead);
    } else if (keel_recovery_state(&ctx->rec) == KEEL_RANK_RECOVERING && rank != ctx->lane.rank && is_atomic) {
        KEEL_REACHED(atomic_same);
    } else if (keel_recovery_state(&ctx->rec) == KEEL_RANK_RECOVERING && rank != ctx->lane.rank) {
        KEEL_REACHED(put_same);
    }
}

#endif
