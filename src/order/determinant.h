/*
 * Determinants: made stable before others can act on them, and replayed (protocol/determinants.md).
 */
#ifndef KEEL_ORDER_DETERMINANT_H_
#define KEEL_ORDER_DETERMINANT_H_

#include "engine/context.h"

/*
 * Makes reads stable. Call before an effect that others can see: records the values read at the
 * rank they were read at. Before, no rank can know that this rank has continued after the reads, so
 * a replacement may read other values. All such reads are at one rank, so no record is there
 * without the records before it. Reads are no sequence of sync/determinants: each get has a record
 * of its own with the value, at the rank read, and the record's place in the get log is its number.
 * So no holder has to be chosen and no result is repeated; a bit of the gate and the rank suffice.
 */
void keel_determinant_stabilize_reads_now(keel_context_h ctx);
static inline void keel_determinant_stabilize_reads(keel_context_h ctx)
{
    if (keel_gate_has(ctx, KEEL_GATE_READ)) {
        keel_determinant_stabilize_reads_now(ctx);
    }
}
/*
 * Makes the determinants of one sequence stable (sync/determinants): the records are at the holder.
 * If a replacement has not replayed its current record as often as the predecessor, re-execution
 * differs.
 */
keel_status_t keel_determinant_make_stable(keel_context_h ctx, keel_determinants_t *d);
/* Makes reads and polls stable. Call before a result is taken. */
static inline keel_status_t keel_determinant_stabilize_polls(keel_context_h ctx)
{
    keel_determinant_stabilize_reads(ctx);
    return __builtin_expect(ctx->sync.polls.is_unstable, 0) ? keel_determinant_make_stable(ctx, &ctx->sync.polls)
                                                            : KEEL_OK;
}
/* Makes all determinants stable. Call before an effect that others can see. */
keel_status_t keel_determinant_stabilize_all_now(keel_context_h ctx);
static inline keel_status_t keel_determinant_stabilize_all(keel_context_h ctx)
{
    const keel_status_t status = keel_determinant_stabilize_polls(ctx);

    return (status == KEEL_OK && (keel_gate_has(ctx, KEEL_GATE_DETERMINANTS) || ctx->sync.results.is_unstable))
               ? keel_determinant_stabilize_all_now(ctx)
               : status;
}
/* Opens a new result of @a length bytes; NULL if no log has room. */
keel_record_local_read_t *keel_determinant_open_result(keel_context_h ctx, size_t length);
/*
 * Closes the last result, and finds a live holder for the next. Repeats if callbacks took results
 * meanwhile.
 */
keel_status_t keel_determinant_find_holder(keel_context_h ctx, uint32_t *holder_p);
/*
 * Replacement: the predecessor's next result about @a words own words. KEEL_INPROGRESS: no rank
 * knows of one, so the program is beyond the predecessor's death. *is_first_p: 0 if the result
 * repeats the one before.
 */
keel_status_t keel_determinant_replay_result(keel_context_h ctx, unsigned words,
                                             const keel_record_local_read_t **answer_p, int *is_first_p);
/* Reports that re-execution differs from the first life, and asks for a rollback. */
keel_status_t keel_determinant_differs(keel_context_h ctx, const char *what);

/*
 * Replacement in a program that waits, before a gsync: replays all puts of the phase, and the
 * remaining ones in the front phase.
 */
keel_status_t keel_wait_replay_phase(keel_context_h ctx);
/*
 * Replacement: the same when the program learns that a get without a record is complete, for the
 * predecessor did not reach that place. keel_wait_catch_up_at(): in a flush or fence, if such a get
 * was at @a rank; KEEL_RANK_NONE: at any rank.
 */
keel_status_t keel_wait_catch_up(keel_context_h ctx);
/* Replacement: the same if records of this phase have differences made to words. */
keel_status_t keel_wait_catch_up_changes(keel_context_h ctx);
keel_status_t keel_wait_catch_up_at(keel_context_h ctx, uint32_t rank);
/*
 * Replacement: a value comes from a record with clock @a clock. Replays all puts up to the clock,
 * because the predecessor may have learned of them by the value.
 */
keel_status_t keel_wait_replay_until(keel_context_h ctx, uint32_t clock);
/*
 * True for a replacement that replays puts into its waits, once the puts of this phase are here.
 * @a status_p: in, KEEL_OK; out, the failure of the wait for the puts.
 */
int keel_wait_begin_replay(keel_context_h ctx, keel_status_t *status_p);
/*
 * The replacement has passed the point of the predecessor's death: fetches and applies everything
 * put by peers since.
 */
keel_status_t keel_wait_take_remaining(keel_context_h ctx);
/* The records cannot be replayed: ends the job with @a status, and returns it. */
keel_status_t keel_wait_fail(keel_context_h ctx, keel_status_t status);
/* Call at the beginning of a phase, and after a restore: sets the gates of the fast paths. */
void keel_wait_set_gates(keel_context_h ctx);

#endif
