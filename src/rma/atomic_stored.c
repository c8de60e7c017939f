/*
 * Marks at the target while an atomic on mapped memory is carried out. From the marks, the source's
 * replacement knows the finished atomics and those in doubt.
 */
#include "rma/atomic_stored.h"
#include "rma/atomic_record.h"
#include "rma/exclude.h"
#include "rma/fetch.h"
#include "access/target.h"
#include "engine/request.h"

#include "check/plant.h"
#include "check/reached.h"
#include "peer/access.h"
#include "peer/combine.h"
#include "rma/get.h"
#include "rma/put_record.h"

/* @a record: takes the old value; NULL: nothing takes it */
static void atomic_carry_out(const keel_atomic_call_t *call, char *target, keel_record_t *record)
{
    uint64_t old;

    if (call->many != NULL) {
        const int is_changing = call->many->may_change && record != NULL;
        char *found = is_changing ? call->win->ctx->changes : NULL;

        KEEL_MOMENT();
        keel_exclude_combine(call, target, found);
        KEEL_MOMENT();
        if (is_changing) {
            keel_record_accumulate_t *head = (keel_record_accumulate_t *)(record + 1);

            keel_access_find(&call->win->ctx->lane, call->rank);
            keel_combine_change(head, head + 1, found, found + keel_combine_bytes(call->many));
        }
        return;
    }
    if (call->is_ordered) {
        keel_fetch_stored(call->win->ctx, call->rank, call->where, target, call->atomic, &call->req->fetched);
        old = call->req->fetched.old;
    } else {
        old = keel_atomic_do(call->win->ctx, call->rank, call->where, target, call->atomic, call->result, 0);
    }
    if (record != NULL) {
        keel_atomic_found(record, call->atomic, old);
    }
}

/*
 * Programs that wait: numbered like a put (record_numbered() in rma/put_record.c), with a mark on
 * the board for an open atomic. Only a death inside an open atomic puts the atomic in doubt. The
 * replacement only logs closed atomics; an atomic that was never opened was not done.
 */
static keel_status_t atomic_numbered(const keel_atomic_call_t *call, char *target)
{
    keel_context_h ctx = call->win->ctx;
    const keel_record_atomic_t *atomic = call->atomic;
    const uint32_t rank = call->rank;
    keel_board_slot_t *slot = keel_access_slot(&ctx->lane, rank);
    const uint32_t number = keel_put_log_count(&ctx->puts, rank);
    const uint64_t word = keel_phase_word(ctx->rec.phase, number + 1);
    const int is_done = number != ctx->puts.number_end && keel_board_get(&slot->done) >= word && !atomic->fetches &&
                        !KEEL_PLANT(atomic_stored_again);
    keel_record_t *record;

    keel_board_mark(slot, ctx->rec.phase, atomic->fetches && !call->is_ordered);
    if (number != ctx->puts.number_end && call->is_ordered && keel_board_get(&slot->done) >= word) {
        return keel_get_is_missing(ctx, rank); /* the atomic was done, and its record is missing */
    }
    record = keel_atomic_log(call, !is_done || KEEL_PLANT(atomic_stored_change_passed_over));
    if (record == NULL) {
        (void)keel_put_log_number(&ctx->puts, rank);
    }
    /* no number left: if this process dies, the job rolls back */
    if (number == ctx->puts.number_end) {
        atomic_carry_out(call, target, record);
        return KEEL_OK;
    }
    if (is_done) { /* the old value is lost */
        KEEL_REACHED(atomic_was_done);
        return KEEL_OK;
    }
    keel_put_push_gets(ctx, rank);
    keel_access_join(&ctx->lane, slot);
    keel_board_set(&slot->opened_atomic, word);
    keel_board_set(&slot->opened, word);
    keel_store_fence();
    KEEL_MOMENT();
    atomic_carry_out(call, target, record);
    KEEL_MOMENT();
    keel_board_done(slot, ctx->rec.phase, number + 1);
    keel_lane_ring(&ctx->lane, rank);
    return KEEL_OK;
}

/* Programs that lock: an atomic in an open critical section is in doubt, in a closed section
 * not. */
static keel_status_t atomic_in_section(const keel_atomic_call_t *call, char *target)
{
    keel_context_h ctx = call->win->ctx;
    keel_board_slot_t *slot = keel_access_slot(&ctx->lane, call->rank);

    keel_board_mark(slot, ctx->rec.phase, 1); /* before the first atomic: in doubt from here on */
    keel_store_fence();
    if (keel_atomic_log(call, 0) == NULL) {
        (void)keel_put_log_number(&ctx->puts, call->rank);
    }
    atomic_carry_out(call, target, NULL); /* critical sections have an order */
    return KEEL_OK;
}

/* Other programs: puts have no numbers, but atomics have, and a re-execution on this lane counts
 * alike. A re-execution on another lane has atomics in doubt (recovery/view), and so does a
 * phase without a number left. */
static keel_status_t atomic_counted(const keel_atomic_call_t *call, char *target)
{
    keel_context_h ctx = call->win->ctx;
    keel_board_slot_t *slot = keel_access_slot(&ctx->lane, call->rank);
    const uint32_t number = keel_put_log_counted(&ctx->puts, call->rank);
    const uint64_t word = keel_phase_word(ctx->rec.phase, number + 1);
    const int has_number = number != ctx->puts.number_end;
    const int is_done = keel_board_counted(slot, ctx->rec.phase) > number;
    keel_record_t *record;

    keel_put_push_gets(ctx, call->rank);
    keel_board_mark(slot, ctx->rec.phase, !has_number);
    if (is_done && call->atomic->fetches) {
        /* the atomic was done, and its record is missing */
        return keel_get_is_missing(ctx, call->rank);
    }
    record = keel_atomic_log(call, !is_done || KEEL_PLANT(atomic_stored_change_passed_over));
    if (record == NULL) {
        (void)keel_put_log_number(&ctx->puts, call->rank);
    }
    if (is_done && !KEEL_PLANT(atomic_stored_counted_again)) { /* the old value is lost */
        KEEL_REACHED(atomic_was_done);
        return KEEL_OK;
    }
    if (has_number) {
        /* discard the count of another lane */
        keel_board_set(&slot->done, keel_phase_word(ctx->rec.phase, number));
        keel_access_join(&ctx->lane, slot);
        keel_board_set(&slot->opened, word);
    }
    keel_store_fence();
    KEEL_MOMENT();
    atomic_carry_out(call, target, record);
    keel_atomic_push(ctx, call->rank, call->atomic);
    KEEL_MOMENT();
    if (has_number) {
        keel_board_done(slot, ctx->rec.phase, number + 1);
    }
    return KEEL_OK;
}

keel_status_t keel_atomic_stored(const keel_atomic_call_t *call)
{
    char *target = keel_win_target(call->win, call->rank)->ptr + keel_where_offset(call->where);
    const keel_context_h ctx = call->win->ctx;

    if (keel_gate_has(ctx, KEEL_GATE_WAITS)) {
        return atomic_numbered(call, target);
    }
    return (keel_sync_style(&ctx->sync) == KEEL_STYLE_LOCKS) ? atomic_in_section(call, target)
                                                             : atomic_counted(call, target);
}
