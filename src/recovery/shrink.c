/*
 * Going on without gone ranks.
 *
 * Safety: the entry of a gone rank in the vector of incarnations is KEEL_INCARNATION_GONE, in
 * reports and decisions, and no event changes the entry. So all ranks that adopt a decision know
 * the same gone ranks, members and leader. The front is the highest position: a rank below is in
 * the gsync up to the front, at which all ranks had arrived, and completes the gsync. So all go on
 * from one position, with the same windows. The order of the gone is that of the longest list in a
 * report: a rank with a decision has the order of every decision before.
 */
#include "recovery/shrink.h"

#include "base/memory.h"
#include "check/plant.h"
#include "peer/members.h"
#include "recovery/position.h"
#include "recovery/recovery_status.h"
#include "trace/trace_area.h"

#include <stdio.h>
#include <string.h>

keel_status_t keel_shrink_init(keel_recovery_t *rec)
{
    keel_shrink_t *shrink = &rec->shrink;

    if (rec->lane->config->shrink == KEEL_SHRINK_NO) {
        return KEEL_OK;
    }
    shrink->place = keel_alloc(rec->lane->size * sizeof(*shrink->place), "gone ranks");
    if (shrink->place == NULL || keel_shrink_members(rec) == NULL) {
        keel_shrink_release(rec);
        return KEEL_ERR_NO_MEMORY;
    }
    return KEEL_OK;
}

const uint32_t *keel_shrink_members(keel_recovery_t *rec)
{
    keel_shrink_t *shrink = &rec->shrink;

    if (shrink->members == NULL) {
        shrink->members = keel_alloc(rec->lane->size * sizeof(*shrink->members), "ranks that go on");
        KEEL_EACH_RANK_WHILE(r, rec->lane, shrink->members != NULL) {
            shrink->members[r] = r;
        }
    }
    return shrink->members;
}

void keel_shrink_release(keel_recovery_t *rec)
{
    keel_free(rec->shrink.place);
    keel_free(rec->shrink.members);
    rec->shrink.place = rec->shrink.members = NULL;
}

void keel_shrink_gone(keel_recovery_t *rec, uint32_t rank)
{
    keel_lane_t *lane = rec->lane;

    if (keel_rank_is_gone(lane, rank) || !keel_shrink_is_on(rec)) {
        return;
    }
    keel_lane_peer_gone(lane, rank);
    if (rec->missing_arrival == rank) {
        rec->missing_arrival = keel_member_after(lane, rank);
    }
    keel_outcome_view_changes(rec);
    if (!keel_recovery_is_frozen(rec)) {
        keel_trace_begin(lane->trace, KEEL_TRACE_VIEW, 0);
    }
    keel_recovery_view_event(rec, KEEL_VIEW_CHANGES);
    keel_recovery_info(rec, "rank %u is gone: %u ranks remain", rank, keel_member_count(lane));
}

void keel_shrink_fill_report(const keel_recovery_t *rec, keel_report_t *report)
{
    const keel_shrink_t *shrink = &rec->shrink;

    if (!keel_shrink_is_on(rec)) {
        return;
    }
    report->window_calls = (keel_position(rec) > rec->phase) ? shrink->window_calls_next : shrink->window_calls;
    report->window_calls_next = shrink->window_calls_next;
    KEEL_EACH_RANK(r, rec->lane) {
        report->about[r].place = shrink->place[r];
    }
}

/* The order of the decisions before, then the ranks that are gone since. */
static void decide_order(const keel_recovery_t *rec, decision_t *d)
{
    uint32_t count = 0;

    KEEL_EACH_MEMBER(x, rec->lane) {
        KEEL_EACH_RANK(r, rec->lane) {
            d->ranks[r].place =
                KEEL_PLANT(shrink_order_anew) ? 0 : keel_larger(d->ranks[r].place, rec->reports[x]->about[r].place);
            count = keel_larger(count, d->ranks[r].place);
        }
    }
    KEEL_EACH_RANK(r, rec->lane) {
        if (keel_rank_is_gone(rec->lane, r) && d->ranks[r].place == 0) {
            d->ranks[r].place = ++count;
        }
    }
}

void keel_shrink_decide(const keel_recovery_t *rec, decision_t *d)
{
    uint32_t front = 0, names = 0;
    int is_known = 0, length = 0;

    KEEL_EACH_MEMBER(r, rec->lane) {
        const keel_report_t *report = rec->reports[r];

        front = keel_larger(front, keel_larger(report->position, report->front));
    }
    KEEL_EACH_MEMBER(r, rec->lane) {
        const keel_report_t *report = rec->reports[r];

        if (report->position == front || !is_known) {
            d->window_calls = (report->position == front) ? report->window_calls : report->window_calls_next;
        }
        is_known |= report->position == front;
    }
    d->mode = KEEL_DECISION_ROLLBACK;
    d->is_shrink = 1;
    d->base = d->front = front;
    d->rollback++;
    decide_order(rec, d);
    KEEL_EACH_RANK(r, rec->lane) {
        if (d->ranks[r].place > rec->shrink.completed && length + 12 < KEEL_OUTCOME_WHY_MAX) {
            length += snprintf(d->why + length, sizeof(d->why) - (size_t)length, "%s%u", (names++ > 0) ? ", " : "", r);
        }
    }
}

void keel_shrink_adopt(keel_recovery_t *rec, const decision_t *d)
{
    keel_shrink_t *shrink = &rec->shrink;

    shrink->is_under_way = d->is_shrink != 0;
    if (!shrink->is_under_way) {
        return;
    }
    shrink->count = 0;
    KEEL_EACH_RANK(r, rec->lane) {
        shrink->place[r] = d->ranks[r].place;
        shrink->count += d->ranks[r].place != 0;
    }
}

void keel_shrink_complete(keel_recovery_t *rec)
{
    keel_shrink_t *shrink = &rec->shrink;
    uint32_t count = 0;

    if (!shrink->is_under_way) {
        return;
    }
    shrink->is_under_way = 0;
    shrink->epoch = rec->roll_target;
    shrink->completed = shrink->count;
    KEEL_EACH_MEMBER(r, rec->lane) {
        shrink->members[count++] = r;
    }
    KEEL_EACH_RANK(r, rec->lane) {
        if (shrink->place[r] != 0) {
            shrink->members[count + shrink->place[r] - 1] = r;
        }
    }
    /* every window call that is left counts from here */
    shrink->window_calls = shrink->window_calls_next = rec->restored.window_calls;
    keel_recovery_info(rec, "goes on with %u ranks from gsync %u", count, rec->phase);
}
