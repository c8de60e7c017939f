/* Ranks of a store that are gone. */
#include "store/store_world.h"
#include "store/store_next.h"

#include "peer/members.h"
#include "recovery/shrink.h"

keel_status_t keel_store_world(keel_store_h store)
{
    keel_recovery_t *rec = &store->ctx->rec;
    keel_status_t status = KEEL_OK;

    while (store->place.next.gone < rec->shrink.completed && status == KEEL_OK) {
        const uint32_t *order = keel_shrink_members(rec) + (store->ctx->lane.size - rec->shrink.completed);

        status = keel_store_next_gone(&store->place, order[store->place.next.gone]);
        store->refill.is_active = 0;
    }
    return status;
}
