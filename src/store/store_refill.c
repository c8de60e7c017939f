/* Refill of the own cells. */
#include "store/store_refill.h"
#include "store/store_fetch.h"

#include "check/plant.h"
#include "ckpt/gather.h"
#include "peer/store.h"
#include "recovery/recover.h"

#include <string.h>

enum { REFILL_LOOKS = 256 }; /* cells looked at in a step, at most */

void keel_store_refill_begin(keel_store_h store, uint32_t slot, uint64_t label)
{
    keel_store_fetch_t *fetch = store->refill.fetch;

    store->refill = (keel_store_refill_t){.is_active = 1, .slot = slot, .label = label, .fetch = fetch};
}

void keel_store_refill_stop(keel_store_h store)
{
    store->refill.is_active = 0;
}

void keel_store_refill_end_reads(keel_store_h store)
{
    const keel_store_fetch_t *fetch = store->refill.fetch;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    keel_store_refill_stop(store);
    while (fetch != NULL && keel_gather_outstanding(fetch->gather) > 0 && status == KEEL_OK) {
        status = keel_context_wait(store->ctx, &rounds);
    }
}

static keel_status_t refill_cell_begin(keel_store_h store)
{
    keel_store_refill_t *refill = &store->refill;
    keel_store_mark_t *mark = keel_store_own_mark(store, refill->slot, refill->cell);
    const size_t count = (store->range_bytes + store->chunk - 1) / store->chunk;
    uint8_t *bytes = (uint8_t *)mark + store->mark_bytes;
    keel_status_t status = KEEL_OK;
    uint32_t copy;
    const uint64_t range = keel_store_place_range(&store->place, store->ctx->lane.rank, refill->cell, &copy);

    if (refill->fetch == NULL) {
        status = keel_store_fetch_create(store, count, &refill->fetch);
    }
    if (status != KEEL_OK) {
        return status;
    }
    refill->fetch->is_refill = 1;
    for (size_t i = 0; i < count; i++) {
        const uint64_t begin = i * store->chunk, end = begin + store->chunk;

        refill->fetch->wants[i] =
            (keel_store_want_t){.range = range,
                                .begin = (uint32_t)begin,
                                .end = (uint32_t)((end < store->range_bytes) ? end : store->range_bytes),
                                .to = bytes + begin};
    }
    keel_store_word(&mark->label, 0);
    keel_store_barrier();
    keel_store_fetch_begin(refill->fetch, refill->slot, refill->label, count);
    refill->is_fetching = 1;
    return KEEL_OK;
}

/* True if the cell has its range, or if the version has no range for the cell. */
static int is_had(const struct keel_store *store, uint64_t cell)
{
    const keel_store_refill_t *refill = &store->refill;
    uint64_t range;
    uint32_t copy;

    if (keel_store_own_mark(store, refill->slot, cell)->label == refill->label) {
        return 1;
    }
    if (store->place.next.gone == 0) {
        return cell >= keel_store_cells(store);
    }
    range = keel_store_place_range(&store->place, store->ctx->lane.rank, cell, &copy);
    return range == KEEL_STORE_NO_RANGE ||
           keel_store_is_without(store, refill->slot, (uint32_t)(range / store->place.params.ranges));
}

/* Sets the mark of the cell after its bytes. */
static void refill_cell_end(keel_store_h store)
{
    keel_store_refill_t *refill = &store->refill;
    keel_store_mark_t *mark = keel_store_own_mark(store, refill->slot, refill->cell);

    keel_store_bytes(keel_store_mark_rest(mark), keel_store_mark_rest(refill->fetch->mark),
                     store->mark_bytes - offsetof(keel_store_mark_t, total));
    keel_store_word_release(&mark->label, refill->label);
    refill->is_fetching = 0;
    refill->cell++;
    store->ctx->stats.store_refills++;
}

keel_status_t keel_store_refill_step(keel_store_h store)
{
    keel_store_refill_t *refill = &store->refill;
    keel_store_head_t *head = keel_store_head(store);
    keel_status_t status;
    unsigned looks = 0;

    while (!refill->is_fetching && refill->cell < keel_store_slot_cells(store) && is_had(store, refill->cell)) {
        refill->cell++;
        if (++looks == REFILL_LOOKS) {
            return KEEL_INPROGRESS;
        }
    }
    if (refill->cell == keel_store_slot_cells(store)) {
        keel_store_word_release(&head->complete[refill->slot], keel_store_complete_word(store, refill->label));
        refill->is_active = 0;
        return KEEL_OK;
    }
    status = refill->is_fetching ? KEEL_OK : refill_cell_begin(store);
    status = (status == KEEL_OK) ? keel_store_fetch_step(refill->fetch) : status;
    if (status == KEEL_OK) {
        refill_cell_end(store);
        return KEEL_INPROGRESS;
    }
    if (status == KEEL_ERR_UNREACHABLE && keel_store_fetch_is_nowhere(refill->fetch)) {
        refill->is_fetching = 0;
        refill->lacking++;
        refill->cell++;
        return KEEL_INPROGRESS;
    }
    if (status == KEEL_ERR_UNREACHABLE) { /* a holder is not back yet, or a read failed */
        keel_store_fetch_retry(refill->fetch);
        return KEEL_INPROGRESS;
    }
    return status;
}

uint32_t keel_store_kept(const struct keel_store *store)
{
    const keel_store_head_t *head = keel_store_head(store);
    const uint32_t generation = store->ctx->ckpt.set.used.number;
    uint32_t kept = store->slots;

    for (uint32_t slot = 0; slot < store->slots; slot++) {
        if (head->label[slot] != 0 && head->at[slot] <= generation &&
            (kept == store->slots || head->at[slot] > head->at[kept])) {
            kept = slot;
        }
    }
    return kept;
}

static int is_due(const struct keel_store *store, uint32_t slot)
{
    const keel_store_head_t *head = keel_store_head(store);

    return slot < store->slots && head->label[slot] != 0 &&
           head->complete[slot] != keel_store_complete_word(store, head->label[slot]);
}

/* Before the front a rank has the head of an earlier position, and other ranks may be past its
 * versions. */
void keel_store_refill_progress(keel_store_h store)
{
    const keel_recovery_t *rec = &store->ctx->rec;
    const keel_store_head_t *head = keel_store_head(store);
    const uint32_t newest = (head->newest > 0) ? head->newest - 1 : store->slots, kept = keel_store_kept(store);
    const uint32_t slot = is_due(store, newest) ? newest : kept;

    if (keel_recovery_is_frozen(rec) || rec->roll != KEEL_ROLL_NONE || keel_recovery_state(rec) != KEEL_RANK_FRONT ||
        !is_due(store, slot) || KEEL_PLANT(store_refill_never)) {
        keel_store_refill_stop(store);
        return;
    }
    if (!store->refill.is_active || store->refill.slot != slot || store->refill.label != head->label[slot]) {
        keel_store_refill_begin(store, slot, head->label[slot]);
    }
    (void)keel_store_refill_step(store);
}
