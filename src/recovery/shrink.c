/*
 * Going on without gone ranks.
 *
 * Safety: the entry of a gone rank in the vector of incarnations is KEEL_INCARNATION_GONE, in
 * reports and decisions, and no event changes the entry. So all ranks that adopt a decision know
 * the same gone ranks, members and leader. Without checkpoints the front is the highest position:
 * a rank below is in the gsync up to the front, at which all ranks had arrived, and completes the
 * gsync. So all go on from one position, with the same windows. The order of the gone is that of
 * the longest list in a report: a rank with a decision has the order of every decision before.
 *
 * With checkpoints a survivor goes back to its own image. A replacement that died with a gone rank
 * rebuilds its image from the old groups: these change behind the last barrier, when every rank has
 * its image. Once a rank is gone, the launcher starts no replacement, so nothing is rebuilt until
 * the next generation has shares of the new groups.
 */
#include "recovery/shrink.h"

#include "base/memory.h"
#include "check/plant.h"
#include "ckpt/group_loss.h"
#include "peer/members.h"
#include "recovery/position.h"
#include "recovery/recovery_status.h"
#include "recovery/rollback_request.h"
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
    const uint32_t leader = lane->leader;

    if (keel_rank_is_gone(lane, rank) || !keel_shrink_is_on(rec)) {
        return;
    }
    keel_lane_peer_gone(lane, rank);
    if (leader != lane->leader && keel_lane_is_leader(lane)) {
        keel_rollback_request_pass_on(rec);
    }
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

/* True if the order of the gone grows, or if some rank has not completed the shrink before. */
int keel_shrink_is_due(const keel_recovery_t *rec)
{
    int is_rolling = 0;

    if (!keel_shrink_is_on(rec) || rec->lane->config->protect == KEEL_PROTECT_NONE) {
        return keel_shrink_is_on(rec);
    }
    KEEL_EACH_MEMBER(r, rec->lane) {
        is_rolling |= rec->reports[r]->is_rolling != 0;
    }
    KEEL_EACH_RANK(r, rec->lane) {
        if (keel_rank_is_gone(rec->lane, r) && (is_rolling || rec->shrink.place[r] == 0)) {
            return 1;
        }
    }
    return 0;
}

/* Without checkpoints: the highest position of any rank, with the windows made up to there. */
static void decide_front(const keel_recovery_t *rec, decision_t *d)
{
    uint32_t front = 0;
    int is_known = 0;

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
    d->base = front;
}

/* With checkpoints: replacements of ranks that died with the gone rebuild their images from the
 * old groups. */
static void decide_images(const keel_recovery_t *rec, decision_t *d)
{
    const keel_ckpt_t *ckpt = rec->ckpt;

    keel_sync_decide(&d->sync);
    if (d->generation == 0 && !d->is_begun) {
        d->mode = KEEL_DECISION_CATASTROPHE;
        snprintf(d->why, sizeof(d->why), "a rank is gone before the program has begun");
        return;
    }
    for (uint32_t g = 0; d->generation > 0 && g < keel_larger(ckpt->groups.count, 1); g++) {
        uint32_t missing = 0, fresh = 0;

        KEEL_EACH_RANK(r, rec->lane) {
            if (ckpt->groups.count == 0 || ckpt->groups.of_rank[r] == g) {
                missing += d->ranks[r].has != KEEL_PARITY_HAS_ALL;
                fresh += !keel_rank_is_gone(rec->lane, r) && rec->reports[r]->state == KEEL_RANK_FRESH;
            }
        }
        if (fresh > 0 && missing > ckpt->group.parities) {
            d->mode = KEEL_DECISION_CATASTROPHE;
            snprintf(d->why, sizeof(d->why), "%u ranks of group %u are lost and its parity covers %u (KEEL_PARITIES)",
                     missing, g, ckpt->group.parities);
        }
    }
}

void keel_shrink_decide(const keel_recovery_t *rec, decision_t *d)
{
    uint32_t names = 0;
    int length = 0;

    d->mode = KEEL_DECISION_ROLLBACK;
    if (rec->lane->config->protect == KEEL_PROTECT_NONE) {
        decide_front(rec, d);
    } else {
        decide_images(rec, d);
    }
    if (d->mode == KEEL_DECISION_CATASTROPHE) {
        return;
    }
    d->is_shrink = 1;
    d->front = d->base;
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

    /* a process with KEEL_SHRINK=no has no places */
    shrink->is_under_way = d->is_shrink != 0 && shrink->place != NULL;
    if (!shrink->is_under_way) {
        return;
    }
    shrink->count = 0;
    KEEL_EACH_RANK(r, rec->lane) {
        shrink->place[r] = d->ranks[r].place;
        shrink->count += d->ranks[r].place != 0;
    }
}

keel_status_t keel_shrink_complete(keel_recovery_t *rec)
{
    keel_shrink_t *shrink = &rec->shrink;
    const uint32_t before = shrink->completed;
    uint32_t count = 0;

    if (!shrink->is_under_way) {
        return KEEL_OK;
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
    if (rec->lane->config->protect == KEEL_PROTECT_NONE) {
        return KEEL_OK; /* there are no images */
    }
    if (rec->generation.number > 0) { /* the groups to come have no share of it */
        keel_ckpt_request_retry(rec->ckpt);
    }
    return keel_group_loss_apply(rec->ckpt, rec->demand, &shrink->members[count], before, shrink->completed);
}
