/*
 * Determinants: made stable before others can act on them, and replayed (protocol.md, Waits inside
 * a phase).
 */
#ifndef KEEL_ORDER_DETERMINANT_H_
#define KEEL_ORDER_DETERMINANT_H_

#include "engine/context.h"

/*
 * Before anything that others may go on by: what was read is recorded where it was read. Until then
 * nobody can tell that this process has gone on from there, so its replacement does so by what it
 * reads itself. All of it lies with one rank, so no record is there without those before it.
 */
void keel_wait_settle_reads_now(keel_context_h ctx);
static inline void keel_wait_settle_reads(keel_context_h ctx)
{
    if (keel_gate_has(ctx, KEEL_GATE_READ)) {
        keel_wait_settle_reads_now(ctx);
    }
}
/*
 * Makes the determinants of one sequence stable (sync/determinants): their records are at the
 * holder. A replacement that has not replayed the current record as often as its predecessor
 * differs from it.
 */
keel_status_t keel_wait_make_stable(keel_context_h ctx, keel_determinants_t *d);
/* Makes reads and polls stable. Call before a result is taken. */
static inline keel_status_t keel_wait_settle_polls(keel_context_h ctx)
{
    keel_wait_settle_reads(ctx);
    return __builtin_expect(ctx->sync.polls.is_unstable, 0) ? keel_wait_make_stable(ctx, &ctx->sync.polls) : KEEL_OK;
}
/* Makes all determinants stable. Call before an effect that others can see. */
keel_status_t keel_wait_settle_answers_now(keel_context_h ctx);
static inline keel_status_t keel_wait_settle_answers(keel_context_h ctx)
{
    const keel_status_t status = keel_wait_settle_polls(ctx);

    return (status == KEEL_OK && (keel_gate_has(ctx, KEEL_GATE_DETERMINANTS) || ctx->sync.results.is_unstable))
               ? keel_wait_settle_answers_now(ctx)
               : status;
}
/* room for another one (sync/determinants) */
keel_record_local_read_t *keel_wait_open_answer(keel_context_h ctx, size_t length);
/* and somebody can hold the next one: all of it again when callbacks were answered meanwhile */
keel_status_t keel_wait_find_holder(keel_context_h ctx, uint32_t *holder_p);
/* what it asks for is not what its predecessor did */
keel_status_t keel_wait_differs(keel_context_h ctx, const char *what);

/* a replacement in a program that waits: before a gsync; after it, and when it was restored */
keel_status_t keel_wait_settle(keel_context_h ctx);
/*
 * And when the program learns that a get is complete of which there was no record: the predecessor
 * did not come as far. The second, in a flush or fence, of what is read at @a rank, or anywhere
 * with KEEL_RANK_NONE.
 */
keel_status_t keel_wait_new(keel_context_h ctx);
/* the same where others changed words by what they found there, in the phase that it is in */
keel_status_t keel_wait_changes(keel_context_h ctx);
keel_status_t keel_wait_new_at(keel_context_h ctx, uint32_t rank);
/*
 * a replacement fetches what is in a record, with that clock: what the predecessor may have learned
 * by it is replayed
 */
keel_status_t keel_wait_fetched(keel_context_h ctx, uint32_t clock);
/*
 * A replacement in a wait: the steps of its replay. Waits until the records of this phase are here.
 */
keel_status_t keel_wait_await_puts(keel_context_h ctx);
/*
 * The replacement has passed the point of its predecessor's death: fetches and applies everything
 * that peers have put since.
 */
keel_status_t keel_wait_take_rest(keel_context_h ctx);
/* The records cannot be replayed: ends the job with @a status, and returns it. */
keel_status_t keel_wait_refuse(keel_context_h ctx, keel_status_t status);
void keel_wait_resume(keel_context_h ctx);

#endif
