/* Ranks of a store that are gone. */
#include "store/store_world.h"
#include "store/store_next.h"
#include "store/store_refill.h"

#include "peer/members.h"
#include "recovery/shrink.h"

keel_status_t keel_store_world(keel_store_h store)
{
    keel_recovery_t *rec = &store->ctx->rec;
    keel_status_t status = KEEL_OK;

    while (store->place.next.gone < rec->shrink.completed && status == KEEL_OK) {
        const uint32_t *order = keel_shrink_members(rec) + (store->ctx->lane.size - rec->shrink.completed);

        status = keel_store_next_gone(&store->place, order[store->place.next.gone]);
        keel_store_refill_stop(store);
    }
    return status;
}

int keel_store_is_without(const struct keel_store *store, uint32_t slot, uint32_t rank)
{
    return keel_store_place_is_gone(&store->place, rank) && store->place.next.turn[rank] <= store->without[slot];
}

uint64_t keel_store_complete_word(const struct keel_store *store, uint64_t label)
{
    return (store->place.next.gone == 0) ? label : label ^ keel_permute_mix(store->place.next.gone);
}
