/*
 * Pending fetches from a lost rank.
 *
 * Safety. No live rank knows whether r had applied p's fetch. If a live rank has a later value of
 * the word, its reply piggybacked p's value (peer/piggyback): p gets the value, as if its own reply
 * had come just before the death. Otherwise r's replacement applies the fetch for the first time as
 * far as any rank can tell. A program without waits has no other order, but the fetch has to come
 * after everything found at the word, and everything contained in these values, whichever rank did
 * it. These records precede all pending records in the logs, because replies come in order. So each
 * rank with a pending fetch hands over the records before the fetch first, and the rest after all
 * other ranks.
 */
#include "recovery/pending_fetch.h"

#include "check/plant.h"
#include "check/reached.h"
#include "peer/members.h"

const found_value_t *keel_pending_fetch_piggybacked(const keel_recovery_t *rec, uint32_t r, uint32_t p)
{
    const uint32_t serial = rec->reports[p]->about[r].serial;

    KEEL_EACH_MEMBER_WHILE(x, rec->lane, serial != 0) {
        const found_value_t *carried = &rec->reports[x]->about[p].carried;

        if (x != r && x != p && carried->serial == serial) {
            return carried;
        }
    }
    return NULL;
}

/* Words with fetches that rank @a p repeats. */
static uint64_t pending_reissued(const keel_recovery_t *rec, uint32_t r, uint32_t p)
{
    const uint64_t fetches_pending = rec->reports[p]->about[r].fetches_pending;

    return (fetches_pending == 0 || p == r || !report_is_back(rec->reports[p]) ||
            keel_pending_fetch_piggybacked(rec, r, p) != NULL)
               ? 0
               : fetches_pending;
}

/* Words of @a again with a value known to rank @a x, or found by rank @a p and possibly with an
 * effect of @a x. */
static uint64_t pending_conflicts(const keel_recovery_t *rec, uint32_t r, uint32_t p, uint64_t again, uint32_t x)
{
    const report_about_t *about = &rec->reports[x]->about[r];

    if (x == r || x == p || !report_is_back(rec->reports[x])) {
        return 0;
    }
    return again & (about->values_found | (about->fetches_pending & ~pending_reissued(rec, r, x)) |
                    (rec->reports[p]->about[r].values_found & about->touched));
}

int keel_pending_fetch_is_undecidable(const keel_recovery_t *rec, uint32_t r, uint32_t p, uint32_t lost)
{
    const uint64_t again = pending_reissued(rec, r, p);
    const uint32_t serial = rec->reports[p]->about[r].serial;

    KEEL_EACH_MEMBER_WHILE(x, rec->lane, again != 0) {
        const report_about_t *about = &rec->reports[x]->about[r];
        const uint64_t behind = pending_conflicts(rec, r, p, again, x);
        const int is_unreported =
            (about->may_lack_found || serial == 0) && !KEEL_PLANT(pending_fetch_without_piggyback);

        if (behind != 0 && (lost > 1 || (is_unreported && (behind & about->values_found) != 0))) {
            return 1;
        }
    }
    return 0;
}

/* A program without waits: true if a repeated fetch of rank @a p has to find effects that other
 * ranks found. */
static int pending_must_wait(const keel_recovery_t *rec, uint32_t r, uint32_t p)
{
    const uint64_t again = pending_reissued(rec, r, p);

    KEEL_EACH_MEMBER_WHILE(x, rec->lane, again != 0) {
        if (pending_conflicts(rec, r, p, again, x) != 0) {
            return !KEEL_PLANT(pending_fetch_first);
        }
    }
    return 0;
}

void keel_pending_fetch_decide(const keel_recovery_t *rec, decision_t *d, uint32_t r)
{
    KEEL_EACH_MEMBER(p, rec->lane) {
        const found_value_t *carried = (p == r) ? NULL : keel_pending_fetch_piggybacked(rec, r, p);

        if (carried != NULL && !KEEL_PLANT(pending_fetch_piggyback_unused)) {
            d->ranks[p].carried = *carried;
        }
        if (!keel_sync_is_ordered(&d->sync) && pending_must_wait(rec, r, p)) {
            KEEL_REACHED(awaited_again);
            d->ranks[p].hold_back_from = r + 1;
        }
    }
}
