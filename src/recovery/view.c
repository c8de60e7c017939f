/*
 * Reports and the decision (protocol/recovery.md).
 *
 * Safety: the leader alone computes the decision, from one report of every rank, all for the same
 * vector of incarnations. Only processes with the same vector adopt the decision. Positions do not
 * change between report and decision (keel_view_t), so F, the maximum of the reports, is the
 * highest position of any rank. A rank at F passed the gsync because all ranks had arrived. So a
 * survivor below F is inside that gsync and may be released.
 */
#include "recovery/view.h"

#include "base/memory.h"
#include "check/plant.h"
#include "check/reached.h"
#include "recovery/adopt.h"
#include "recovery/rollback_request.h"
#include "recovery/commit.h"
#include "recovery/decide.h"
#include "recovery/position.h"
#include "recovery/recovery_status.h"
#include "recovery/shrink.h"
#include "peer/access.h"
#include "peer/combine.h"
#include "peer/control.h"
#include "peer/members.h"
#include "oplog/get_log_chunks.h"
#include "oplog/get_log_replay.h"
#include "oplog/get_reference.h"
#include "trace/trace_area.h"

#include <string.h>

_Static_assert(sizeof(report_about_t) <= KEEL_CONTROL_RANK_MAX && sizeof(decision_rank_t) <= KEEL_CONTROL_RANK_MAX &&
                   sizeof(keel_report_t) <= KEEL_CONTROL_HEAD_MAX && sizeof(decision_t) <= KEEL_CONTROL_HEAD_MAX,
               "reports and decisions are control messages");

keel_status_t keel_view_init(keel_recovery_t *rec)
{
    rec->report_size = sizeof(keel_report_t) + rec->lane->size * sizeof(report_about_t);
    rec->reports = keel_alloc(rec->lane->size * sizeof(*rec->reports), "reports");
    return (rec->reports == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
}

void keel_view_release(keel_recovery_t *rec)
{
    KEEL_EACH_RANK_WHILE(r, rec->lane, rec->reports != NULL) {
        keel_free(rec->reports[r]);
    }
    keel_free(rec->reports);
}

int keel_view_is_complete(const keel_recovery_t *rec)
{
    KEEL_EACH_MEMBER(r, rec->lane) {
        if (r != rec->lane->rank && !rec->lane->peers[r].is_up) {
            return 0;
        }
    }
    return 1;
}

/* A spare's incarnation is the spare's place in an order, and another rank may have the spares
 * before it. Of the incarnations that end now, the number of those that no process had; a spare
 * that died before it came is no death of the rank. 0 without spares, and of a rank that this
 * process has never been connected to. */
static uint32_t view_unborn(const keel_lane_t *lane, uint32_t rank, uint32_t incarnation)
{
    const keel_peer_t *peer = &lane->peers[rank];
    const int has_spares = lane->runtime->spares > 0 || lane->config->spawns > 0;

    return (peer->was_up && has_spares) ? incarnation + 1 - peer->incarnation - peer->is_up : 0;
}

void keel_view_death(keel_recovery_t *rec, uint32_t rank, uint32_t incarnation)
{
    keel_lane_t *lane = rec->lane;
    uint32_t unborn;
    int is_real;

    if (rank == lane->rank || incarnation < lane->peers[rank].incarnation) {
        return; /* known already */
    }
    if (rank == lane->leader && rec->view == KEEL_VIEW_REPORTED) {
        KEEL_REACHED(coordinator_dies);
    }
    if (!keel_recovery_is_frozen(rec) && rec->generation.number > 0 &&
        rec->peer_states[rank].state == KEEL_RANK_FRESH) {
        KEEL_REACHED(rebuild_dies);
    }
    unborn = view_unborn(lane, rank, incarnation);
    is_real = unborn == 0 || lane->peers[rank].is_up;
    rec->deaths += is_real;
    keel_get_references_resolve(rec->gets, rank);
    keel_lane_peer_down(lane, rank, incarnation + 1);
    keel_get_log_source_down(rec->gets, rank);
    keel_get_log_target_down(rec->gets, rank);
    if (keel_recovery_state(rec) == KEEL_RANK_FRESH) {
        keel_get_log_drop_replay(rec->gets, rank);
    }
    keel_put_log_mark_sent(rec->puts, rank);
    /* the number repeats if all ranks that knew of the rollback are dead */
    rec->roll_stages[rank] = 0;
    KEEL_PLANT_CALL(view_lock_released, lane, rank);
    keel_repair_member_down(&rec->ckpt->set, rank);
    keel_repair_member_down(&rec->demand->set, rank);
    keel_position_rank_died(rec, rank);
    keel_outcome_death(rec, rank, incarnation, unborn);
    keel_trace_instant(lane->trace, KEEL_TRACE_DEATH, rank, incarnation, 0);
    if (!keel_recovery_is_frozen(rec)) {
        keel_trace_begin(lane->trace, KEEL_TRACE_VIEW, 0);
    }
    keel_recovery_view_event(rec, KEEL_VIEW_CHANGES);
    if (lane->config->protect == KEEL_PROTECT_NONE && !keel_shrink_is_on(rec) && !keel_recovery_is_finished(rec)) {
        keel_error(rec->message, "rank %u incarnation %u died and KEEL_PROTECT is none: the job cannot go on", rank,
                   incarnation);
        rec->fatal = KEEL_ERR_CATASTROPHIC;
    }
    keel_recovery_info(rec, is_real ? "rank %u incarnation %u died" : "rank %u has no incarnation %u", rank,
                       incarnation);
}

/* True if some rank may have acted on a fetched value, also of an open put: only waits look for
 * these. */
static int report_fetches(const keel_recovery_t *rec)
{
    KEEL_EACH_MEMBER(r, rec->lane) {
        if (keel_announced_classes(rec->sync, r) & KEEL_CLASS_FETCHES) {
            return !KEEL_PLANT(view_open_put_fetched);
        }
    }
    return 0;
}

/*
 * With stores only the one atomic under way is in doubt, or all of a phase if the board says so. If
 * puts have numbers, too, in programs that wait, the numbers are the same on both lanes. In other
 * programs a replacement that stores here does not see the count of the service thread, nor the
 * service thread the predecessor's count.
 */
static uint32_t report_doubt(const keel_recovery_t *rec, uint32_t rank, int fetches)
{
    const keel_lane_t *lane = rec->lane;
    const keel_board_slot_t *slot = &lane->board[rank];
    const int is_numbered = keel_sync_records_values(rec->sync);
    const uint32_t half_done =
        KEEL_PLANT(view_half_done_local) ? 0 : keel_board_half_done(slot, fetches || !is_numbered);
    const uint32_t marked = keel_atomics_in_doubt(keel_board_get(&slot->atomics));
    const uint32_t own = KEEL_PLANT(view_own_open_local) ? 0 : keel_board_own_open(slot);
    const uint32_t doubt = keel_larger(keel_larger(marked, own), half_done);
    const uint32_t served = __atomic_load_n(&lane->peers[rank].atomics, __ATOMIC_ACQUIRE);
    const uint32_t stored = keel_board_opened(slot);

    if (is_numbered || KEEL_PLANT(view_lane_changed_local)) {
        return doubt;
    }
    return keel_larger(doubt, keel_access_is_stored(lane, rank) ? served : stored);
}

typedef struct words {
    uint64_t touched, fetched, fetches_pending, values_found; /* as in report_about_t */
    uint32_t values_pending;                                  /* fetches without a reply */
} words_t;

/* One bit for a word; other words may share it. */
static uint64_t word_bit(uint64_t where, uint64_t behind)
{
    const uint64_t word = ((uint64_t)keel_where_region(where) << 52) ^ (keel_where_offset(where) / 8 + behind);

    return 1ull << ((word * 0x9e3779b97f4a7c15u) >> 58);
}

static uint64_t words_bits(const keel_record_t *record)
{
    const uint64_t bytes = keel_combine_bytes((const void *)(record + 1));
    const uint64_t words = (keel_where_offset(record->where) % 8 + bytes + 7) / 8;
    uint64_t bits = 0;

    for (uint64_t i = 0; i < words; i++) {
        bits |= word_bit(record->where, i);
    }
    return bits;
}

/* Joins the words of atomic records. */
static keel_status_t words_add(void *arg, const keel_record_t *records, size_t length)
{
    words_t *words = arg;
    keel_records_t run = keel_records_of(records, length);
    const keel_record_t *record;

    while ((record = keel_records_next(&run)) != NULL) {
        uint64_t bits = 0;

        if (keel_where_op(record->where) == KEEL_RECORD_ATOMIC) {
            const keel_record_atomic_t *atomic = (const void *)(record + 1);

            bits = word_bit(record->where, 0);
            words->fetched |= atomic->fetches ? bits : 0;
            words->fetches_pending |= (atomic->fetches && !atomic->is_value_known) ? bits : 0;
            words->values_found |= (atomic->fetches && atomic->is_value_known) ? bits : 0;
            words->values_pending += atomic->fetches && !atomic->is_value_known;
        } else if (keel_where_op(record->where) == KEEL_RECORD_ATOMICS) {
            bits = words_bits(record);
        }
        words->touched |= bits;
        if (keel_record_changed(record, record + 1) > 0 && !KEEL_PLANT(view_change_unfetched)) {
            words->fetched |= bits; /* the change contains the value found */
            words->values_found |= bits;
        }
    }
    return KEEL_OK;
}

/* Reports the own atomics of the front phase at @a rank. */
static void report_words(keel_recovery_t *rec, uint32_t rank, report_about_t *about)
{
    words_t words = {0};
    uint64_t count;

    if (rec->puts->targets[rank].atomics == keel_position(rec) + 1) {
        (void)keel_put_log_for_phase(rec->puts, rank, keel_position(rec), 0, words_add, &words, &count);
    }
    about->touched = words.touched;
    about->fetched = words.fetched;
    about->fetches_pending = words.fetches_pending;
    about->values_found = words.values_found;
    about->values_pending = keel_sync_records_values(rec->sync) ? words.values_pending : 0;
    about->serial = (words.values_pending == 1 && rec->lane->fetches.rank == rank) ? rec->lane->fetches.serial : 0;
}

/* The last value fetched by @a rank that was piggybacked to the process. */
static found_value_t report_carried(const keel_recovery_t *rec, uint32_t rank)
{
    const keel_piggybacked_t *of = keel_piggyback_of(rec->lane, rank);

    return (of == NULL) ? (found_value_t){0}
                        : (found_value_t){.old = of->old, .clock = of->clock, .serial = of->serial};
}

/* The first phase in which some rank did an access here that cannot be repeated alike;
 * KEEL_PHASE_NONE: none. */
static uint32_t report_first_unrepeatable(keel_lane_t *lane)
{
    const uint64_t revoked = __atomic_load_n(&keel_lane_locks(lane)->revoked, __ATOMIC_ACQUIRE);
    /* the rank may hold locks of windows */
    uint32_t first = (revoked > 0) ? (uint32_t)revoked - 1 : KEEL_PHASE_NONE;

    KEEL_EACH_MEMBER_WHILE(r, lane, !KEEL_PLANT(view_first_left_out)) {
        const uint64_t theirs = keel_board_get(&lane->board[r].first);
        const uint64_t lost = keel_board_get(&lane->board[r].lost_gets);

        if (keel_board_get(&lane->board[r].atomics) != 0 && theirs > 0 && theirs - 1 < first) {
            first = (uint32_t)theirs - 1;
        }
        if (lost > 0 && lost - 1 < first) {
            first = (uint32_t)lost - 1;
        }
    }
    return first;
}

/*
 * As keel_waits_find_front(), with the get log: in a program that waits, a record there may be the
 * only trace of a phase, because a determinant has no other effect at its holder. Results given to
 * the first rank that left a gsync cannot be repeated, and the rank may have acted on them.
 */
static void find_front(const keel_recovery_t *rec, uint32_t *reached_p, uint32_t *first_p)
{
    const uint32_t next = keel_position(rec) + 1;
    uint32_t recorded;

    keel_waits_find_front(rec->sync, reached_p, first_p);
    if (keel_sync_style(rec->sync) != KEEL_STYLE_WAITS) {
        return;
    }
    if (keel_get_log_has_phase(rec->gets, next) && !KEEL_PLANT(view_ahead_determinants)) {
        *reached_p = keel_larger(*reached_p, next);
    }
    recorded = KEEL_PLANT(view_record_unbegun) ? KEEL_PHASE_NONE : keel_get_log_first_phase(rec->gets);
    *first_p = (recorded < *first_p) ? recorded : *first_p;
}

/* The first phase in which any rank is known to have begun; KEEL_PHASE_NONE: none. */
static uint32_t report_first(const keel_recovery_t *rec, uint32_t first_locked, uint32_t first_waited)
{
    const uint32_t unrepeatable = report_first_unrepeatable(rec->lane);
    const uint32_t first = (first_waited < first_locked) ? first_waited : first_locked;

    return (unrepeatable < first) ? unrepeatable : first;
}

static void report_fill(keel_recovery_t *rec, keel_report_t *report)
{
    const int fetches = report_fetches(rec);
    keel_lane_t *lane = rec->lane;
    uint32_t first, first_wait, reached;

    /* If all arrivals announce it, the generation is complete, even if the gsync is not left
     * yet. */
    if (keel_commit_is_known(rec) && lane->peers[lane->leader].incarnation == 0) {
        keel_commit(rec, rec->ckpt->set.making.number);
    }
    keel_waits_take_announced(rec->sync);
    find_front(rec, &reached, &first_wait);
    *report = (keel_report_t){
        .state = keel_recovery_state(rec),
        .position = keel_position(rec),
        .front = KEEL_PLANT(view_front_left_out) ? 0 : keel_larger(rec->front, reached),
        .rollback = keel_larger(lane->rollback, rec->roll_target),
        .is_rolling = rec->roll != KEEL_ROLL_NONE && !KEEL_PLANT(view_rolling_left_out),
        .generation = rec->ckpt->set.used.number,
        .slot = rec->ckpt->set.used.share_slot,
        .window_calls_there = rec->ckpt->set.used.window_calls,
        .is_armed = (uint32_t)keel_image_set_is_armed(&rec->ckpt->set),
        .is_demand_armed = (uint32_t)keel_image_set_is_armed(&rec->demand->set),
        .unmade = rec->ckpt->is_retry_due ? UINT32_MAX : rec->ckpt->set.making.number,
        .restarted_at = rec->restarted_at,
        .is_prefix_closed = (uint32_t)rec->is_prefix_closed,
        .window_prefix = rec->window_prefix,
        .atomics_before = rec->sync->announced.before,
        .is_incomplete =
            (uint32_t)(keel_recovery_state(rec) != KEEL_RANK_FRONT || keel_position_is_incomplete(rec, lane->rank)),
        .front_reached = rec->front_reached,
        .stop = rec->stop,
        .request_number = rec->request_number,
        .rollback_reason = rec->rollback_reason,
        .reasons = rec->reasons,
    };
    keel_outcome_fill_report(rec, &report->outcome);
    keel_sync_fill_report(rec->sync, &report->sync, &first);
    first = report_first(rec, first, first_wait);
    if (first != KEEL_PHASE_NONE &&
        !report->is_prefix_closed) { /* another rank was the first with an access to this one */
        report->is_prefix_closed = 1;
        report->window_prefix = first - lane->counters.phase;
    }
    KEEL_EACH_RANK(r, lane) {
        const keel_put_target_t *target = &rec->puts->targets[r];

        report->about[r] = (report_about_t){
            .incarnation = lane->peers[r].incarnation,
            /* a log that is off may lose a put of this phase after the report */
            .lost_puts = (target->is_off && !KEEL_PLANT(view_off_log_complete) && !KEEL_PLANT(put_log_off_unphased))
                             ? keel_larger(target->lost, rec->phase + 1)
                             : target->lost,
            .lost_gets = (uint32_t)keel_board_get(&lane->board[r].lost_gets),
            .atomics = keel_atomics_any(keel_board_get(&lane->board[r].atomics)),
            .in_doubt = report_doubt(rec, r, fetches),
            .kinds = target->atomic_kinds,
            .classes = keel_announced_classes(rec->sync, r),
            .hand_over_lost = (uint32_t)keel_position_lost_hand_over(rec, r),
            .may_lack_found = lane->peers[r].missing > keel_position(rec) || lane->peers[r].was_stored,
            .carried = report_carried(rec, r),
            .printed = rec->outcome.printed[r],
            .start = rec->demand->starts[r],
            .pending = rec->demand->pending[r],
        };
        report_words(rec, r, &report->about[r]);
    }
    keel_shrink_fill_report(rec, report);
}

static void report_keep(keel_recovery_t *rec, uint32_t rank, const keel_report_t *report)
{
    if (rec->reports[rank] == NULL) {
        rec->reports[rank] = keel_alloc(rec->report_size, "report");
    }
    if (rec->reports[rank] != NULL) {
        memcpy(rec->reports[rank], report, rec->report_size);
        keel_outcome_take_report(rec, rank, rec->reports[rank]);
    }
}

void keel_view_receive_report(void *arg, const keel_control_in_t *in)
{
    keel_recovery_t *rec = arg;
    /* the news that the leader is gone may arrive here after the first report */
    if (in->length != rec->report_size ||
        (!keel_lane_is_leader(rec->lane) && (!keel_shrink_is_on(rec) || KEEL_PLANT(view_early_report_refused)))) {
        keel_error(rec->message, "malformed report from rank %u refused", in->source);
        return;
    }
    report_keep(rec, in->source, (const void *)in->payload);
    keel_rollback_request_compare(rec, in->source, ((const keel_report_t *)(const void *)in->payload)->request_number);
}

/* True if every rank has reported for the present view. */
static int reports_agree(const keel_recovery_t *rec)
{
    KEEL_EACH_MEMBER(r, rec->lane) {
        if (rec->reports[r] == NULL ||
            (rec->reports[r]->request_number != rec->request_number && !KEEL_PLANT(view_request_unnamed))) {
            return 0;
        }
        KEEL_EACH_RANK(q, rec->lane) {
            if (rec->reports[r]->about[q].incarnation != rec->lane->peers[q].incarnation &&
                !KEEL_PLANT(view_decides_on_any)) {
                return 0;
            }
        }
    }
    return 1;
}

static void report_send(keel_recovery_t *rec)
{
    const uint32_t leader = KEEL_PLANT(view_leader_fixed) ? 0 : rec->lane->leader;
    keel_report_t *report = keel_alloc(rec->report_size, "report");
    keel_status_t status;

    if (report == NULL) {
        return; /* the next step tries again */
    }
    report_fill(rec, report);
    if (keel_lane_is_leader(rec->lane)) {
        report_keep(rec, rec->lane->rank, report);
        status = KEEL_OK;
    } else {
        status = keel_lane_control_send(rec->lane, leader, KEEL_CONTROL_REPORT, report, rec->report_size);
    }
    if (status == KEEL_OK) {
        keel_recovery_view_event(rec, KEEL_VIEW_REPORTS);
    }
    keel_free(report);
}

static void decision_send(keel_recovery_t *rec)
{
    const size_t length = sizeof(decision_t) + rec->lane->size * sizeof(decision_rank_t);
    decision_t *d = keel_alloc(length, "decision");

    if (d == NULL) {
        return;
    }
    keel_view_decide(rec, d);
    keel_outcome_decide(rec, d);
    if (rec->lane->incarnation > 0) {
        KEEL_REACHED(decided_by_replacement);
    }
    /* before any rank knows, because it may end the job */
    if (d->mode == KEEL_DECISION_CATASTROPHE) {
        keel_error(rec->message, "catastrophic failure: %.*s", (int)sizeof(d->why), d->why);
    }
    (void)keel_lane_control_send_all(rec->lane, KEEL_CONTROL_DECISION, d, length);
    keel_view_adopt(rec, d);
    keel_free(d);
}

void keel_view_set_undecided(keel_recovery_t *rec, int is_undecided)
{
    rec->is_undecided = is_undecided;
}

void keel_view_step(keel_recovery_t *rec)
{
    if (!keel_recovery_is_frozen(rec) || rec->fatal != KEEL_OK || keel_recovery_is_finished(rec) ||
        !keel_view_is_complete(rec)) {
        return;
    }
    if (rec->is_undecided && !KEEL_PLANT(view_start_decided)) {
        return;
    }
    if (rec->view == KEEL_VIEW_CHANGED) {
        report_send(rec);
    }
    if (keel_lane_is_leader(rec->lane) && rec->view == KEEL_VIEW_REPORTED && reports_agree(rec)) {
        decision_send(rec);
    }
}
