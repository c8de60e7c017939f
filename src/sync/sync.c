/* The mechanisms used by a program: reported, decided, taken up. */
#include "sync/sync.h"

#include "check/plant.h"
#include "check/reached.h"
#include "peer/control.h"

#include <string.h>

keel_status_t keel_sync_init(keel_sync_t *sync, keel_lane_t *lane, keel_put_log_t *puts, int is_deterministic)
{
    keel_status_t status;

    memset(sync, 0, sizeof(*sync));
    sync->lane = lane;
    sync->puts = puts;
    sync->is_deterministic = is_deterministic;
    status = keel_sections_init(&sync->sections, lane->size);
    if (status != KEEL_OK) {
        return status;
    }
    status = keel_waits_init(&sync->waits, lane->size);
    if (status != KEEL_OK) {
        goto err_sections;
    }
    status = keel_announced_init(&sync->announced, lane->size);
    if (status != KEEL_OK) {
        goto err_waits;
    }
    keel_lane_control_handle(lane, KEEL_CONTROL_SECTIONS, keel_sections_receive, sync);
    keel_lane_control_handle(lane, KEEL_CONTROL_WAITS, keel_waits_receive, sync);
    return KEEL_OK;

err_waits:
    keel_waits_release(&sync->waits);
err_sections:
    keel_sections_release(&sync->sections);
    return status;
}

void keel_sync_release(keel_sync_t *sync)
{
    keel_sections_release(&sync->sections);
    keel_waits_release(&sync->waits);
    keel_announced_release(&sync->announced);
}

void keel_sync_set_position(keel_sync_t *sync, uint32_t phase, uint32_t front)
{
    sync->phase = phase;
    sync->front = front;
}

const char *keel_sync_mixes_by(const keel_sync_t *sync, keel_way_t way, int has_accessed)
{
    const int locks = sync->sections.is_used;

    if (!keel_sync_may_be_local(sync)) {
        return NULL;
    }
    switch (way) {
    case KEEL_WAY_BARE:
        return sync->sections.is_all ? "for writing, in a reading epoch" : "without a lock, in a program that locks";
    case KEEL_WAY_ANSWER:
        return "goes on by what is not logged";
    case KEEL_WAY_UNLOGGED:
        return KEEL_PLANT(sync_unlogged_left_out) ? NULL : "does what is not logged";
    case KEEL_WAY_GSYNC:
        return (sync->sections.open > 0) ? "while something is locked" : NULL;
    case KEEL_WAY_WAIT:
        return locks ? "in a program that locks" : NULL;
    case KEEL_WAY_LOCK:
        break;
    }
    return (sync->waits.since != KEEL_PHASE_NONE) ? "in a program that waits"
           : (!locks && has_accessed)             ? "after accesses without a lock"
                                                  : NULL;
}

void keel_sync_lock(keel_sync_t *sync)
{
    sync->sections.is_used = 1;
}

keel_status_t keel_sync_send(keel_sync_t *sync, uint32_t rank, uint32_t phase, uint32_t limit, uint32_t *count_p)
{
    return (keel_sync_style(sync) == KEEL_STYLE_WAITS) ? keel_waits_send(sync, rank, phase, limit, count_p)
                                                       : keel_sections_send(sync, rank, phase, count_p);
}

void keel_sync_fill_report(const keel_sync_t *sync, keel_sync_report_t *report, uint32_t *first_p)
{
    *report = (keel_sync_report_t){.is_deterministic = (uint32_t)sync->is_deterministic,
                                   .has_locks = (uint32_t)keel_sections_are_used(sync, first_p),
                                   .waits_since = sync->waits.since,
                                   .is_replaying = keel_sync_replays(sync) != KEEL_STYLE_GSYNCS};
}

void keel_sync_join(keel_sync_decided_t *all, const keel_sync_report_t *report)
{
    all->waits_since = (report->waits_since < all->waits_since) ? report->waits_since : all->waits_since;
    /* a replacement may await critical sections that only a dead rank had reported */
    all->has_locks |= report->has_locks;
}

void keel_sync_decide(keel_sync_decided_t *all)
{
    all->has_waits = all->waits_since != KEEL_PHASE_NONE && !all->has_locks;
}

const char *keel_sync_refuses_any(const keel_sync_decided_t *all, const keel_sync_report_t *report)
{
    if (!report->is_deterministic) {
        return KEEL_REACHED(refuses_nondeterministic), "the program is not deterministic";
    }
    if (all->mixes && !KEEL_PLANT(sync_mixed_local)) {
        return KEEL_REACHED(refuses_mixed),
               "the program mixes ways to synchronise, or does what no log has (KEEL_LOG_LEVEL=info names the call)";
    }
    return NULL;
}

const char *keel_sync_refuses(const keel_sync_decided_t *all, const keel_sync_facts_t *facts)
{
    if (facts->lost > 1) {
        return all->has_waits ? (KEEL_REACHED(refuses_waits_several), "several ranks are lost in a program that waits")
                              : (KEEL_REACHED(refuses_locks_several), "several ranks are lost in a program that locks");
    }
    if (!all->has_waits) {
        /*
         * critical sections order only the accesses inside, so every access has to be in a critical
         * section
         */
        return (facts->has_bare && !KEEL_PLANT(sync_bare_local))
                   ? (KEEL_REACHED(refuses_bare), "some ranks lock, and others access what they have not locked")
                   : NULL;
    }
    if (facts->front < all->waits_since && !KEEL_PLANT(sync_first_wait_local)) {
        return KEEL_REACHED(refuses_waits_first), "ranks have just begun to wait for each other";
    }
    if (!facts->has_atomics) {
        return NULL;
    }
    if (facts->has_fetched && facts->start < all->waits_since) {
        return KEEL_REACHED(refuses_waits_fetched),
               "values of words were asked for before all knew that the program waits";
    }
    return (facts->commutes || KEEL_PLANT(sync_swaps_in_waits))
               ? NULL
               : (KEEL_REACHED(refuses_waits_atomics),
                  "atomics that do not commute, towards it, in a program that waits");
}

void keel_sync_adopt(keel_sync_t *sync, const keel_sync_decided_t *all, int is_rollback)
{
    if (all->waits_since < sync->waits.since) {
        sync->waits.since = all->waits_since;
    }
    if (is_rollback && sync->waits.since != KEEL_PHASE_NONE) {
        sync->waits.since = 0; /* every rank knows from here on */
    }
    /* the rank that locked may be dead at the next report */
    sync->sections.is_used |= (int)all->has_locks;
    sync->mixes |= (int)all->mixes;
}

void keel_sync_begin_replay(keel_sync_t *sync, const keel_sync_decided_t *all)
{
    sync->sections.is_replaying |= (int)all->has_locks;
    sync->waits.is_replaying |= (int)all->has_waits;
}
