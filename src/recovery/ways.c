/* The ways in which a program synchronises. */
#include "recovery/ways.h"

#include "base/plant.h"
#include "base/reached.h"
#include "recovery/recovery.h"

/* a decision may still lean on ways that were not mixed */
static int ways_are_late(const keel_recovery_t *rec)
{
    return !keel_recovery_is_settled(rec) || (rec->returned != 0 && rec->returned > rec->phase);
}

uint32_t keel_ways_known(const keel_recovery_t *rec)
{
    uint32_t first;

    return rec->ways | (keel_sections_are_used(rec, &first) ? KEEL_WAY_SECTIONS : 0) |
           ((rec->waits.since != UINT32_MAX) ? KEEL_WAY_WAITS : 0);
}

keel_status_t keel_ways_use(keel_recovery_t *rec, uint32_t way)
{
    const uint32_t before = rec->ways;

    if ((before & way) != 0) {
        return KEEL_OK;
    }
    rec->ways |= way;
    if (!keel_ways_are_mixed(keel_ways_known(rec)) || keel_ways_are_mixed(before) || !ways_are_late(rec) ||
        KEEL_PLANT(ways_late)) {
        return KEEL_OK;
    }
    KEEL_REACHED(request_mixes);
    return keel_recovery_ask(rec, KEEL_ERR_MIXED_SYNC);
}
