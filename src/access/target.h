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

/* Returns the address here of a part of a rank's window, or NULL if the part is not mapped or
 * leaves the window. */
static inline __attribute__((always_inline)) char *keel_target_part(const keel_target_t *target, uint64_t offset,
                                                                    size_t length)
{
    if (__builtin_expect(target->ptr == NULL || offset > target->size || length > target->size - offset, 0)) {
        return NULL;
    }
    return target->ptr + offset;
}

/* Returns the address for the fast path: a live peer's memory that is mapped here. Returns NULL
 * for the generic path, which own memory and ranges outside the window take. The caller checks
 * the gate. */
static inline __attribute__((always_inline)) char *keel_win_reach(keel_win_h win, uint32_t rank, uint64_t offset,
                                                                  size_t length)
{
    if (__builtin_expect(win == NULL || rank >= win->ctx->fast_ranks || rank == win->ctx->lane.rank, 0)) {
        return NULL;
    }
    return keel_target_part(keel_win_target(win, rank), offset, length);
}

/* Alignment counts at the owner's address: memory of the program begins anywhere. */
static inline int keel_win_is_aligned(const keel_win_h win, uint32_t rank, uint64_t offset, size_t size)
{
    const uint64_t base = (rank < win->ctx->lane.programs) ? keel_access_base(&win->ctx->lane, rank, win->region) : 0;

    return (base + offset) % size == 0;
}

/* checks arguments and state of any access, off the hot path */
keel_status_t keel_win_check(keel_win_h win, uint32_t rank, uint64_t offset, size_t length, const void *buffer,
                             const keel_rma_params_t *params);
/* Checks the arguments of a wait or test for a word of the own window: KEEL_OK if the program
 * may look at it now. */
keel_status_t keel_word_check(keel_win_h win, uint64_t offset, size_t size, keel_compare_t compare);
/* Call immediately before an access to @a rank. Announces this process's usage flags to the
 * rank, then waits until its window is mapped (direct lane) or the rank is no longer live. */
keel_status_t keel_win_await_map(keel_win_h win, uint32_t rank);
/* keel_win_await_map() before an access that needs a record. The job rolls back if the rank is a
 * replacement now, with memory that is not mapped: no log has the messages to that memory. */
keel_status_t keel_win_await_logged(keel_win_h win, uint32_t rank);
/* Served lane: fills a record in the bounce buffer, which is free when this returns KEEL_OK.
 * keel_put_bounce() fills and sends a put. */
keel_status_t keel_bounce_fill(keel_context_h ctx, uint32_t rank, uint64_t where, const void *payload, size_t length);
/* keel_bounce_take() writes the head and leaves the payload to the caller; keel_bounce_send()
 * sends the record. */
keel_status_t keel_bounce_take(keel_context_h ctx, uint32_t rank, uint64_t where, size_t length,
                               keel_record_t **record_p);
keel_status_t keel_bounce_send(keel_context_h ctx, uint32_t rank, size_t length);
keel_status_t keel_put_bounce(keel_context_h ctx, uint32_t rank, uint64_t where, const void *buffer, size_t length);

/* counts the row of the table of positions for a put or atomic (check/reached.h) */
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
