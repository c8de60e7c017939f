/*
 * The short path of atomics on mapped memory in programs that wait (rma/atomic_stored:
 * atomic_numbered()). Condition, as for the fast path of other programs (rma/atomic): the first
 * atomic of a kind in a phase takes the generic path, which announces the usage and marks the board
 * of the target. Besides, all ranks number their records, nothing of a predecessor is repeated, and
 * the board has every record of this process as done.
 *
 * Steps: the clock, if it has moved, as a record and on the target's board; the record of the
 * atomic; its number, opened; the locked instruction, which orders these stores before the word;
 * for a fetch the clock of the target and the record of both in the get log, here and there; the
 * number, closed. The value and its clock are at the target before the caller has them
 * (protocol/determinants.md).
 */
#include "rma/atomic_waits.h"

#include "access/target.h"
#include "check/plant.h"
#include "peer/access.h"
#include "peer/apply.h"
#include "rma/atomic_stored.h"
#include "rma/exclude.h"

/* room for the record of a clock and that of an atomic */
#define WAITS_ROOM (sizeof(uint64_t) + sizeof(keel_record_t) + sizeof(keel_record_atomic_t))

/* The usage is announced and marked at the target, and there is nothing to repeat or wait for. */
static inline int waits_is_marked(keel_context_h ctx, uint32_t rank, unsigned op, int fetches)
{
    const keel_board_slot_t *slot = keel_access_slot(&ctx->lane, rank);
    const keel_usage_t *own = &ctx->sync.announced.own;
    const uint32_t phase = ctx->rec.phase, count = keel_put_log_count(&ctx->puts, rank);
    const uint32_t classes = keel_classes_bit(op, 0) | (fetches ? KEEL_CLASS_FETCHES : 0);

    return slot != NULL && keel_board_get(&slot->done) == keel_phase_word(phase, count) &&
           keel_board_get(&slot->opened) != 0 && keel_atomics_any(keel_board_get(&slot->atomics)) == phase + 1 &&
           (own->classes & classes) == classes &&
           (!fetches || (own->fetched == phase + 1 && !keel_get_log_has_replay(&ctx->gets, rank))) &&
           ctx->rec.incomplete_count == 0 && ctx->fragments_open[rank] == 0 &&
           keel_sync_replays(&ctx->sync) == KEEL_STYLE_GSYNCS && keel_sync_records_values(&ctx->sync);
}

/* The log has room and numbers for both records, and the phase has a clock left. */
static inline int waits_has_room(keel_context_h ctx, uint32_t rank)
{
    return ctx->puts.number_end - keel_put_log_count(&ctx->puts, rank) > 2 &&
           keel_put_log_has_room(&ctx->puts, rank, WAITS_ROOM) &&
           ctx->sync.waits.clock != keel_counters_clocks(&ctx->lane.counters);
}

/* the next record: waits_has_room() */
static inline keel_record_t *waits_take(keel_context_h ctx, uint32_t rank, uint64_t where, size_t length)
{
    keel_record_t *record;

    if (!keel_put_log_take(&ctx->puts, &ctx->puts.targets[rank], length, &record)) {
        __builtin_unreachable();
    }
    keel_put_log_head(&ctx->puts, record, where, length);
    return record;
}

/* keel_put_clock(), with room and a number */
static void waits_log_clock(keel_context_h ctx, uint32_t rank, unsigned region, keel_board_slot_t *slot)
{
    const uint64_t clock = ctx->sync.waits.clock;
    keel_record_t *record;

    keel_put_log_set_clock(&ctx->puts, rank, (uint32_t)clock);
    record = waits_take(ctx, rank, keel_where(0, KEEL_RECORD_CLOCK, region), sizeof(clock));
    memcpy(record + 1, &clock, sizeof(clock));
    keel_board_raise(keel_access_clock(&ctx->lane, rank), keel_phase_word(ctx->rec.phase, (uint32_t)clock));
    keel_store_word_release(&slot->done, keel_phase_word(ctx->rec.phase, keel_put_log_count(&ctx->puts, rank)));
}

/* keel_fetch_stored(), with the record at the target stored from registers */
static inline __attribute__((always_inline)) keel_fetched_t
waits_fetch(keel_context_h ctx, uint32_t rank, uint64_t where, char *target, const keel_record_atomic_t *atomic)
{
    keel_fetched_t fetched;
    uint32_t index;
    keel_get_record_t *record = keel_get_log_reserve(&ctx->gets, rank, where, sizeof(fetched), &index);

    fetched.old = keel_apply_atomic(target, atomic);
    fetched.clock = keel_access_clock_of(&ctx->lane, rank, ctx->rec.phase);
    keel_access_find(&ctx->lane, rank);
    KEEL_MOMENT();
    if (record != NULL) {
        memcpy(record + 1, &fetched.old, sizeof(fetched.old));
        memcpy((char *)(record + 1) + sizeof(fetched.old), &fetched.clock, sizeof(fetched.clock));
        keel_get_record_end(record);
    }
    if (record != NULL && !KEEL_PLANT(fetch_unpushed)) {
        keel_get_log_push_words(&ctx->gets, rank, record, where, index, sizeof(fetched), fetched.old, &fetched.clock);
    }
    if (!KEEL_PLANT(fetch_unpushed) && !keel_get_log_is_pushed(&ctx->gets, rank)) {
        keel_get_log_push(&ctx->gets, rank);
    }
    return fetched;
}

int keel_atomic_waits(keel_win_h win, keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size,
                      uint64_t operand, uint64_t compare, void *result)
{
    const keel_record_atomic_t atomic = {
        .op = (uint8_t)op, .size = (uint8_t)size, .fetches = result != NULL, .operand = operand, .compare = compare};
    char *target = keel_win_reach(win, rank, offset, size);
    const uint64_t where = keel_where(offset, KEEL_RECORD_ATOMIC, win->region);
    keel_context_h ctx = win->ctx;
    keel_fetched_t fetched = {0, 0};
    keel_board_slot_t *slot;
    keel_record_t *record;
    uint64_t word;

    if (target == NULL || (size != 8 && size != 4) || (offset & (size - 1)) != 0 || (unsigned)op >= KEEL_ATOMIC_FAST ||
        (ctx->is_logging && !keel_exclude_is_settled(ctx, rank, win->region, offset)) ||
        !waits_is_marked(ctx, rank, op, result != NULL) || !waits_has_room(ctx, rank) || keel_fork_is_child(ctx)) {
        return 0;
    }
    KEEL_REACHED(atomic_waits_fast);
    keel_case_access(ctx, rank, 1);
    ctx->stats.atomics++;
    keel_context_touch(ctx, rank);
    slot = keel_access_slot(&ctx->lane, rank);
    if (!keel_get_log_is_pushed(&ctx->gets, rank)) {
        keel_get_log_push(&ctx->gets, rank);
    }
    if (ctx->puts.targets[rank].clock != ctx->sync.waits.clock) {
        waits_log_clock(ctx, rank, win->region, slot);
    }
    record = waits_take(ctx, rank, where, sizeof(atomic));
    keel_put_log_note_atomic(&ctx->puts, rank, keel_classes_kind((unsigned)op, 1));
    keel_prefetch_write((const uint8_t *)(record + 1) + KEEL_COPY_AHEAD);
    memcpy(record + 1, &atomic, sizeof(atomic));
    word = keel_phase_word(ctx->rec.phase, keel_put_log_count(&ctx->puts, rank));
    keel_board_set(&slot->opened_atomic, word);
    keel_board_set(&slot->opened, word);
    KEEL_MOMENT();
    if (result != NULL) {
        fetched = waits_fetch(ctx, rank, where, target, &atomic);
    } else {
        fetched.old = keel_atomic_do(ctx, rank, where, target, &atomic, NULL, 0);
    }
    keel_atomic_found(record, &atomic, fetched.old);
    KEEL_MOMENT();
    keel_store_word_release(&slot->done, word);
    keel_lane_ring(&ctx->lane, rank);
    if (result != NULL) {
        keel_atomic_store_result(result, size, fetched.old);
        keel_waits_join(&ctx->sync, (uint32_t)fetched.clock);
    }
    return 1;
}
