/* The decision: how far the computation has come, where each rank begins, and whether a rollback
 * is necessary. */
#include "recovery/decide.h"
#include "peer/members.h"
#include "recovery/rollback_request.h"
#include "recovery/pending_fetch.h"
#include "recovery/shrink.h"
#include "recovery/view.h"

#include "check/plant.h"
#include "check/reached.h"

#include <stdio.h>
#include <string.h>

#define KEEL_WHY_ATOMICS  "it issued atomics and is not the only one lost"
#define KEEL_WHY_AWAITED  "the values that other ranks await from it are known to no rank"
#define KEEL_WHY_IN_DOUBT "nobody can tell which of its atomics since the newest gsync took effect"

/* True if the parity of the rank's newest demand image covers the loss. */
static int demand_is_covered(const keel_recovery_t *rec, const decision_t *d, uint32_t r)
{
    const keel_groups_t *groups = &rec->ckpt->groups;
    const uint32_t group = groups->of_rank[r];
    uint32_t missing = 0;

    for (uint32_t i = 0; i < groups->size[group]; i++) {
        missing += d->ranks[groups->members[group][i]].has_demand != KEEL_PARITY_HAS_ALL;
    }
    return missing <= rec->ckpt->group.parities;
}

/* True if lost ranks begin at different positions: the later one has no logs of the phases
 * between for the earlier one. */
static int starts_differ(const keel_recovery_t *rec, const decision_t *d)
{
    uint32_t first = KEEL_PHASE_NONE;

    KEEL_EACH_MEMBER_WHILE(r, rec->lane, r < rec->lane->programs) {
        const keel_report_t *report = rec->reports[r];
        const uint32_t start = (report->state == KEEL_RANK_FRESH) ? decision_start(d, r) : report->restarted_at;

        if (report_is_back(report)) {
            continue;
        }
        if (first != KEEL_PHASE_NONE && first != start && !KEEL_PLANT(decide_starts_differ)) {
            return 1;
        }
        first = start;
    }
    return 0;
}

/* True if rank r's atomics of the front phase may be missing: r is dead, or is re-executing the
 * phase. A predecessor that left the gsync first may have been one phase ahead of the front. */
static int is_unknown_at_front(const keel_recovery_t *rec, const decision_t *d, uint32_t r)
{
    const uint32_t front_reached = rec->reports[r]->front_reached;

    return !report_is_back(rec->reports[r]) || (front_reached != 0 && front_reached >= d->front);
}

/*
 * Values fetched from rank @a r in the front phase show which atomics had been applied. A fetch
 * from its replacement has to include all of them. Atomics in the logs of other ranks are handed
 * over before (keel_position_is_incomplete()). Two kinds are not: atomics of re-executing ranks,
 * which come later, and repeated fetches (recovery/pending_fetch). An atomic with a logged change
 * of a word has fetched the word, and its repetition may come earlier in the order.
 */
static const char *refuses_raced_fetches(const keel_recovery_t *rec, const decision_t *d, uint32_t r, uint32_t lost)
{
    uint64_t fetched = 0;
    uint32_t unknown = keel_classes_own(d->ranks[r].classes);
    int in_vain = 0;

    KEEL_EACH_MEMBER(x, rec->lane) {
        if (x == r) {
            continue;
        }
        if (is_unknown_at_front(rec, d, x)) {
            unknown |= keel_classes_others(d->ranks[x].classes);
            fetched |= (d->ranks[x].atomics > d->front && (d->ranks[x].classes & KEEL_CLASS_FETCHES)) ? UINT64_MAX : 0;
        }
        fetched |= report_is_back(rec->reports[x]) ? rec->reports[x]->about[r].fetched : 0;
        in_vain |= keel_pending_fetch_is_undecidable(rec, r, x, lost);
    }
    if ((in_vain || (fetched != 0 && unknown != 0)) && !KEEL_PLANT(decide_races_local)) {
        return KEEL_REACHED(refuses_races), "values that ranks raced for were fetched from it since the newest gsync";
    }
    return NULL;
}

/* Facts for the style of synchronisation, which decides if its replay can reproduce the order. */
static keel_sync_facts_t sync_facts(const keel_recovery_t *rec, const decision_t *d, uint32_t r, uint32_t lost,
                                    uint32_t kinds)
{
    const uint32_t at_it = kinds | keel_classes_own(d->ranks[r].classes);
    keel_sync_facts_t facts = {.lost = lost,
                               .front = d->front,
                               .start = decision_start(d, r),
                               .commutes = at_it == 0 || keel_classes_commute(at_it)};

    KEEL_EACH_MEMBER(x, rec->lane) {
        const report_about_t *about = &rec->reports[x]->about[r];

        facts.has_atomics |= x != r && (about->kinds != 0 || about->atomics > decision_start(d, r));
        facts.has_fetched |= (d->ranks[x].classes & KEEL_CLASS_FETCHES) != 0;
        facts.has_bare |= (d->ranks[x].classes & KEEL_CLASS_BARE) != 0;
    }
    return facts;
}

/*
 * A rank that died before its hand-over to a replacement repeats its atomics late. So no rank may
 * have fetched after them, or changed a word by a fetched value. Whether it did atomics at the
 * replacement is unknown; the classes of atomics used by live ranks are known.
 */
static int may_be_found(const keel_recovery_t *rec, const decision_t *d)
{
    int finds = 0;

    KEEL_EACH_MEMBER(x, rec->lane) {
        finds |= (d->ranks[x].classes & (KEEL_CLASS_FETCHES | KEEL_CLASSES_CHANGE)) != 0;
    }
    return finds && !KEEL_PLANT(decide_change_unhanded);
}

/* Rank @a x lacks records of the dead rank's reads or results: in its first life its log was
 * full. */
static const char *get_log_reason(const keel_recovery_t *rec, uint32_t x)
{
    const keel_lane_t *lane = rec->lane;

    return ((x == lane->rank) ? lane->incarnation : lane->peers[x].incarnation) == 0
               ? "the get log of what it read or was answered is incomplete: it was full (KEEL_GETLOG_SIZE)"
               : "the get log of what it read or was answered is incomplete: it was full (KEEL_GETLOG_SIZE), or with a "
                 "process that has died since its image";
}

/* Returns NULL if rank @a r can come back alone, else the reason for a rollback. */
static const char *refuses_local(const keel_recovery_t *rec, const decision_t *d, uint32_t r, uint32_t lost)
{
    const uint32_t base = decision_start(d, r);
    uint32_t kinds = 0;

    if (d->ranks[r].start.position != 0 && !demand_is_covered(rec, d, r)) {
        return KEEL_REACHED(refuses_demand_parity), "more of its group is lost than covers its newest image";
    }

    /* the rank that saw these atomics may be the other lost one */
    if (lost > 1 && rec->reports[r]->atomics_before > base) {
        return KEEL_REACHED(refuses_atomics_before), KEEL_WHY_ATOMICS;
    }
    KEEL_EACH_MEMBER(x, rec->lane) {
        const keel_report_t *report = rec->reports[x];

        if (x == r || report->state == KEEL_RANK_FRESH) {
            continue;
        }
        /* no log contains the place in the program where the rank passed that gsync */
        if (report->stop > base && report->stop <= d->front && !KEEL_PLANT(decide_stop_local)) {
            return KEEL_REACHED(refuses_stop), "a checkpoint at a safe point was not complete";
        }
        if (report->about[r].lost_puts > base && !KEEL_PLANT(decide_lost_log_local)) {
            return KEEL_REACHED(refuses_put_log), "the put log towards it is incomplete";
        }
        if (report->about[r].lost_gets > base) {
            return KEEL_REACHED(refuses_get_log), get_log_reason(rec, x);
        }
        /* A fetch from another lost rank has no record. And no live rank may know the source of
         * an atomic of this phase that the fetch found. */
        if (lost > 1 && (report->about[r].atomics > base || report->about[r].fetched != 0) &&
            !KEEL_PLANT(decide_fetched_from_lost)) {
            return KEEL_REACHED(refuses_atomics_of_several), KEEL_WHY_ATOMICS;
        }
        /* The dead rank has not handed over to the reporter, a replacement: values may be there
         * before the atomics behind them. */
        if (report->about[r].hand_over_lost && (d->ranks[r].atomics > base || may_be_found(rec, d)) &&
            !KEEL_PLANT(decide_unhanded_local)) {
            return KEEL_REACHED(refuses_unhanded), "a replacement had not received all of its atomics";
        }
        if (report->about[r].values_pending != 0 &&
            (report->about[r].values_pending > 1 || keel_pending_fetch_piggybacked(rec, r, x) == NULL) &&
            !KEEL_PLANT(decide_awaited_local)) {
            return KEEL_REACHED(refuses_awaited), KEEL_WHY_AWAITED;
        }
        if (report->about[r].in_doubt > d->front && !KEEL_PLANT(decide_front_atomics_local)) {
            return KEEL_REACHED(refuses_atomics_of_dead), KEEL_WHY_IN_DOUBT;
        }
        kinds |= report->about[r].kinds;
    }
    if (keel_sync_is_ordered(&d->sync)) {
        const keel_sync_facts_t facts = sync_facts(rec, d, r, lost, kinds);

        return keel_sync_refuses(&d->sync, &facts);
    }
    /* only the dead rank knew atomics of other lost ranks */
    KEEL_EACH_MEMBER(x, rec->lane) {
        kinds |= (x != r && !report_is_back(rec->reports[x])) ? keel_classes_others(d->ranks[x].classes) : 0;
    }
    if (kinds != 0 && !keel_classes_commute(kinds | keel_classes_own(d->ranks[r].classes)) &&
        !KEEL_PLANT(decide_swaps_local)) {
        return KEEL_REACHED(refuses_kinds), "atomics that do not commute were logged towards it";
    }
    return refuses_raced_fetches(rec, d, r, lost);
}

static void decide_rollback_reason(const keel_recovery_t *rec, decision_t *d)
{
    uint32_t rollback = 0, lost = 0;
    int is_known = 0;

    KEEL_EACH_MEMBER(r, rec->lane) {
        lost += !report_is_back(rec->reports[r]);
    }
    KEEL_EACH_MEMBER(r, rec->lane) {
        const keel_report_t *report = rec->reports[r];
        const char *why = keel_rollback_request_reason(report->rollback_reason), *any = NULL;
        int is_passing = 0;

        if (why == NULL) {
            why = any = keel_sync_refuses_any(&d->sync, &report->sync);
        }
        if (why != NULL) {
            /* the request is reason enough */
        } else if (report->is_rolling) {
            why = (KEEL_REACHED(refuses_rolling), "a rollback was under way");
            is_passing = 1;
        } else if (report->state != KEEL_RANK_FRESH && is_known && report->rollback != rollback) {
            /* never seen: a rollback ends for all ranks, or is under way (planted.md) */
            why = "rollback numbers differ";
        } else if (!report_is_back(report)) {
            why = starts_differ(rec, d)
                      ? (KEEL_REACHED(refuses_starts), "ranks with checkpoints of different gsyncs are lost")
                      : refuses_local(rec, d, r, lost);
        }
        if (report->state != KEEL_RANK_FRESH) {
            rollback = report->rollback;
            is_known = 1;
        }
        if (why != NULL) {
            d->mode = KEEL_DECISION_ROLLBACK;
            d->is_for_good = any != NULL;
            d->is_passing = is_passing;
            d->is_in_doubt = strcmp(why, KEEL_WHY_IN_DOUBT) == 0 || strcmp(why, KEEL_WHY_AWAITED) == 0;
            snprintf(d->why, sizeof(d->why), "rank %u: %s", r, why);
            return;
        }
    }
}

/* Pending fetches from ranks that come back alone. */
static void decide_pending_fetches(const keel_recovery_t *rec, decision_t *d)
{
    KEEL_EACH_MEMBER_WHILE(r, rec->lane, d->mode == KEEL_DECISION_LOCAL) {
        if (!report_is_back(rec->reports[r])) {
            keel_pending_fetch_decide(rec, d, r);
        }
    }
}

/* More deaths in a group than parity covers [F 5.1]. */
static void decide_catastrophe(const keel_recovery_t *rec, decision_t *d)
{
    const keel_groups_t *groups = &rec->ckpt->groups;
    const uint32_t parities = rec->ckpt->group.parities; /* 0: there are no groups */

    /* the program's start needs no parity; once a rank is gone every other rank has its image */
    if (d->generation == 0 || rec->lane->gone > 0 || KEEL_PLANT(decide_catastrophe_missed)) {
        return;
    }
    for (uint32_t g = 0; g < keel_larger(groups->count, 1); g++) {
        uint32_t missing = 0, length = 0;
        char names[64] = "";

        KEEL_EACH_MEMBER(r, rec->lane) {
            if (groups->count > 0 && groups->of_rank[r] != g) {
                continue;
            }
            if (d->ranks[r].has != KEEL_PARITY_HAS_ALL) {
                if (rec->reports[r]->state != KEEL_RANK_FRESH && missing > 0) {
                    KEEL_REACHED(catastrophe_unarmed);
                }
                missing++;
                length += (uint32_t)snprintf(names + length, length < sizeof(names) ? sizeof(names) - length : 0,
                                             "%s%u", missing > 1 ? ", " : "", r);
                length = length < sizeof(names) ? length : (uint32_t)sizeof(names) - 1;
            }
        }
        if (missing > parities) {
            KEEL_REACHED(catastrophe_group);
            d->mode = KEEL_DECISION_CATASTROPHE;
            snprintf(d->why, sizeof(d->why),
                     "ranks %s of group %u are lost together and its parity covers %u (KEEL_PARITIES)", names, g,
                     parities);
            return;
        }
    }
}

/* A rank that does not know yet that the generation is complete has its share nevertheless,
 * whatever became of the one before. An incomplete generation is given up. */
static void decide_shares(const keel_recovery_t *rec, decision_t *d)
{
    KEEL_EACH_MEMBER(r, rec->lane) {
        const keel_report_t *report = rec->reports[r];

        d->is_retry_due |= report->unmade > d->generation;
        if (report->state != KEEL_RANK_FRESH) {
            d->ranks[r].has =
                (report->is_armed || report->generation < d->generation) ? KEEL_PARITY_HAS_ALL : KEEL_PARITY_HAS_IMAGE;
        }
    }
}

/* The newest demand image known to be complete in its group; void if older than the generation. */
static void decide_starts(const keel_recovery_t *rec, decision_t *d)
{
    KEEL_EACH_MEMBER(r, rec->lane) {
        keel_demand_start_t *start = &d->ranks[r].start;

        KEEL_EACH_MEMBER(x, rec->lane) {
            const report_about_t *about = &rec->reports[x]->about[r];

            if (rec->reports[x]->state != KEEL_RANK_FRESH && about->start.position > d->generation) {
                start->position = keel_larger(start->position, about->start.position);
            }
        }
        KEEL_EACH_MEMBER(x, rec->lane) {
            const report_about_t *about = &rec->reports[x]->about[r];

            /* checksum ranks make no window calls, and may be the first to know */
            if (about->start.position == start->position) {
                start->window_calls = keel_larger(start->window_calls, about->start.window_calls);
            } else if (about->pending.position == start->position) {
                start->window_calls = keel_larger(start->window_calls, about->pending.window_calls);
            }
        }
    }
}

/* Numbers that wrap around would confuse a dead process with a live one, or an old computation
 * with the new one (peer/board.h). */
static void decide_ends(const keel_recovery_t *rec, decision_t *d)
{
    if (d->mode == KEEL_DECISION_ROLLBACK && d->rollback == 0) {
        d->mode = KEEL_DECISION_CATASTROPHE;
        snprintf(d->why, sizeof(d->why), "the job has rolled back %u times, which is as often as it can", UINT32_MAX);
    }
    KEEL_EACH_MEMBER(r, rec->lane) {
        if (d->ranks[r].incarnation > KEEL_ARRIVE_INCARNATION_MAX) {
            d->mode = KEEL_DECISION_CATASTROPHE;
            snprintf(d->why, sizeof(d->why), "rank %u was replaced %u times, which is as often as it can be", r,
                     KEEL_ARRIVE_INCARNATION_MAX);
        }
    }
}

/* The view, with the gone ranks, which report nothing. */
static void decide_begin(const keel_recovery_t *rec, decision_t *d)
{
    d->mode = KEEL_DECISION_LOCAL;
    d->request_number = rec->request_number;
    d->sync = KEEL_SYNC_NO_REPORT;
    KEEL_EACH_RANK(r, rec->lane) {
        d->ranks[r] = (decision_rank_t){.incarnation = rec->lane->peers[r].incarnation};
    }
}

void keel_view_decide(const keel_recovery_t *rec, decision_t *d)
{
    uint32_t survivors = 0, prefix = UINT32_MAX, highest = 0;

    decide_begin(rec, d);
    KEEL_EACH_MEMBER(r, rec->lane) {
        const keel_report_t *report = rec->reports[r];

        d->ranks[r] = (decision_rank_t){.incarnation = rec->lane->peers[r].incarnation,
                                        .state = report->state,
                                        .position = report->position,
                                        .is_incomplete = report->is_incomplete};
        d->rollback = keel_larger(d->rollback, report->rollback);
        d->is_begun |= report->is_prefix_closed || report->is_rolling;
        /* The first access of any rank ends the prefix. Ranks without accesses for a while close
         * theirs later, and a replacement may have learned of it last. */
        if (report->is_prefix_closed && report->window_prefix < prefix) {
            prefix = report->window_prefix;
        }
        keel_sync_join(&d->sync, &report->sync);
        keel_reasons_merge(&d->reasons, &report->reasons);
        if (report->state == KEEL_RANK_FRESH) {
            continue;
        }
        d->ranks[r].has_demand = report->is_demand_armed ? KEEL_PARITY_HAS_ALL : KEEL_PARITY_HAS_IMAGE;
        /* images of all ranks may exist without survivors of the program */
        survivors += r < rec->lane->programs || report->generation > 0;
        highest = keel_larger(highest, report->position);
        d->front = keel_larger(d->front, keel_larger(report->position, report->front));
        if (report->generation > d->generation) {
            d->generation = report->generation;
            d->slot = report->slot;
            d->window_calls = report->window_calls_there;
        }
    }
    decide_shares(rec, d);
    if (d->front > highest && keel_sync_reports_waits(&d->sync)) {
        KEEL_REACHED(front_of_dead);
    }
    KEEL_EACH_MEMBER(r, rec->lane) {
        KEEL_EACH_MEMBER(x, rec->lane) {
            if (rec->reports[x]->state != KEEL_RANK_FRESH) {
                d->ranks[r].atomics = keel_larger(d->ranks[r].atomics, rec->reports[x]->about[r].atomics);
                d->ranks[r].classes |= rec->reports[x]->about[r].classes;
            }
        }
        d->ranks[r].atomics = keel_larger(d->ranks[r].atomics, rec->reports[r]->atomics_before);
        keel_sync_join_mixing(&d->sync, (d->ranks[r].classes & KEEL_CLASS_MIXES) != 0);
    }
    decide_starts(rec, d);
    d->base = d->generation;
    if (d->generation == 0) {
        d->window_calls = (prefix == UINT32_MAX) ? 0 : prefix;
        d->base = rec->lane->counters.phase + d->window_calls;
    }
    /* any rank with an access had passed the windows' gsyncs, so all ranks had arrived there */
    if (!KEEL_PLANT(decide_front_below_base)) {
        d->front = keel_larger(d->front, d->base);
    }
    if (survivors == 0) {
        KEEL_REACHED(catastrophe_all);
        d->mode = KEEL_DECISION_CATASTROPHE;
        snprintf(d->why, sizeof(d->why), "no process of the program survived");
        return;
    }
    if (keel_shrink_is_due(rec)) {
        keel_shrink_decide(rec, d);
        decide_ends(rec, d);
        return;
    }
    if (d->is_begun || d->generation > 0) { /* before the first access nothing is lost */
        keel_sync_decide(&d->sync);
        decide_rollback_reason(rec, d);
        decide_pending_fetches(rec, d);
    }
    if (d->mode == KEEL_DECISION_ROLLBACK) {
        d->rollback++;
        d->front = d->base;
    }
    decide_catastrophe(rec, d);
    decide_ends(rec, d);
}
