/* Announces usage to one rank. */
#include "peer/usage_announce.h"
#include "peer/access.h"
#include "peer/issue.h"

keel_status_t keel_usage_announce(keel_lane_t *lane, uint32_t rank, const keel_usage_t *usage)
{
    keel_board_slot_t *slot = keel_access_slot(lane, rank);
    keel_wire_t wire = {.type = KEEL_WIRE_USAGE,
                        .body.usage = {usage->classes, usage->fetched, usage->in_doubt, usage->begun, usage->waits}};

    if (slot == NULL) {
        return keel_lane_request(lane, rank, &wire, NULL, 0);
    }
    keel_usage_store(slot, usage);
    return KEEL_OK;
}
