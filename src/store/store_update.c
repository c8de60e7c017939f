/* Updates. */
#include "store/store_update.h"
#include "store/store_read.h"

#include "base/memory.h"
#include "check/plant.h"
#include "engine/refuse.h"
#include "peer/store.h"

#include <string.h>

/* ---- own ranges ---- */

/* Room for a range, with the bytes of the version before. */
static keel_status_t room_make(keel_store_push_t *push, uint64_t number)
{
    keel_store_h store = push->store;
    const uint64_t range = store->ctx->lane.rank * store->place.params.ranges + number;
    keel_store_part_t part = {.rank = store->ctx->lane.rank,
                              .first = number * store->range_bytes,
                              .count = keel_store_range_valid(store, range, push->total)};

    push->rooms[number] = keel_alloc(store->range_bytes, "range of an update");
    if (push->rooms[number] == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    part.buffer = push->rooms[number];
    if (push->ranges[number] != NULL) {
        memcpy(part.buffer, push->ranges[number], part.count);
        return KEEL_OK;
    }
    return keel_store_read(store, 1, &part, 1);
}

/* Takes the bytes of a part for one range. A range with lost blocks is kept. */
static keel_status_t range_change(keel_store_push_t *push, uint64_t number, uint64_t begin, uint64_t end,
                                  const uint8_t *bytes)
{
    const struct keel_store *store = push->store;
    const uint64_t start = number * store->range_bytes;
    const uint64_t range = store->ctx->lane.rank * store->place.params.ranges + number;
    const uint64_t valid = keel_store_range_valid(store, range, push->total);
    keel_status_t status = KEEL_OK;

    if (begin == start && end == start + valid) {
        push->ranges[number] = bytes;
        return KEEL_OK;
    }
    if (push->rooms[number] == NULL || push->ranges[number] != push->rooms[number]) {
        keel_free(push->rooms[number]);
        status = room_make(push, number);
    }
    if (status == KEEL_OK) {
        memcpy(push->rooms[number] + (begin - start), bytes, end - begin);
        push->ranges[number] = push->rooms[number];
    }
    return (status == KEEL_ERR_LOST) ? KEEL_OK : status;
}

static keel_status_t part_change(keel_store_push_t *push, const keel_store_part_t *part)
{
    const struct keel_store *store = push->store;
    const uint64_t first = part->first * store->block_bytes, end = first + part->count * store->block_bytes;
    const uint8_t *bytes = part->buffer;
    keel_status_t status = KEEL_OK;

    for (uint64_t at = first; at < end && status == KEEL_OK;) {
        const uint64_t number = at / store->range_bytes, next = (number + 1) * store->range_bytes;
        const uint64_t until = (next < end) ? next : end;

        status = range_change(push, number, at, until, bytes + (at - first));
        at = until;
    }
    return status;
}

keel_status_t keel_store_update_prepare(keel_store_push_t *push)
{
    const uint64_t ranges = push->store->place.params.ranges;
    keel_status_t status = KEEL_OK;

    if (!push->is_update || push->ranges != NULL) {
        return KEEL_OK;
    }
    push->ranges = keel_alloc(ranges * sizeof(*push->ranges), "ranges of an update");
    push->rooms = keel_alloc(ranges * sizeof(*push->rooms), "ranges of an update");
    status = (push->ranges == NULL || push->rooms == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
    for (uint64_t i = 0; i < push->count && status == KEEL_OK; i++) {
        status = part_change(push, &push->parts[i]);
    }
    return status;
}

void keel_store_update_release(keel_store_push_t *push)
{
    for (uint64_t i = 0; push->rooms != NULL && i < push->store->place.params.ranges; i++) {
        keel_free(push->rooms[i]);
    }
    keel_free(push->rooms);
    keel_free(push->ranges);
}

/* ---- cells that are kept ---- */

/* True if the rank of the range announced to keep the range, or is gone. */
static int is_kept(const struct keel_store *store, const keel_store_push_t *push, uint64_t cell)
{
    uint64_t range;
    uint32_t copy;

    if (__atomic_load_n(&keel_store_own_mark(store, push->slot, cell)->kept, __ATOMIC_ACQUIRE) == push->label) {
        return 1;
    }
    if (store->place.next.gone == 0) {
        return 0;
    }
    range = keel_store_place_range(&store->place, store->ctx->lane.rank, cell, &copy);
    return range != KEEL_STORE_NO_RANGE &&
           keel_store_place_is_gone(&store->place, (uint32_t)(range / store->place.params.ranges));
}

int keel_store_update_keep(const struct keel_store *store, const keel_store_push_t *push, uint64_t cell)
{
    const keel_store_head_t *head = keel_store_head(store);
    const uint32_t before = (head->newest > 0) ? head->newest - 1 : 0;
    const keel_store_mark_t *from = keel_store_own_mark(store, before, cell);
    keel_store_mark_t *mark = keel_store_own_mark(store, push->slot, cell);

    if (!push->is_update || !is_kept(store, push, cell)) {
        return 0;
    }
    if (from->label != head->label[before]) {
        return head->complete[before] == keel_store_complete_word(store, head->label[before]) ||
               KEEL_PLANT(store_update_unrefilled);
    }
    keel_store_word(&mark->label, 0);
    keel_store_barrier();
    keel_store_bytes((uint8_t *)mark + store->mark_bytes, (const uint8_t *)from + store->mark_bytes,
                     keel_store_range_valid(store, from->range, from->total));
    keel_store_bytes(keel_store_mark_rest(mark), (const uint8_t *)from + offsetof(keel_store_mark_t, total),
                     store->mark_bytes - offsetof(keel_store_mark_t, total));
    keel_store_word_release(&mark->label, push->label);
    return 1;
}

/* ---- the arguments ---- */

keel_status_t keel_store_update_check(keel_store_h store, const keel_store_part_t *parts, uint64_t count)
{
    const keel_store_head_t *head = keel_store_head(store);
    keel_status_t status = KEEL_OK;

    if (parts == NULL && count > 0) {
        return keel_refuse_null("keel_store_update: the parts");
    }
    if (head->newest == 0) {
        keel_error_ctx(store->ctx, "keel_store_update: nothing was submitted to the store");
        return KEEL_ERR_STATE;
    }
    for (uint64_t i = 0; i < count && status == KEEL_OK; i++) {
        const uint64_t blocks = head->total / store->block_bytes;

        status = keel_store_read_check(store, store->block_bytes, &parts[i]);
        if (status == KEEL_OK && parts[i].rank != store->ctx->lane.rank) {
            keel_error_ctx(store->ctx, "keel_store_update: blocks of rank %u, not the caller's own", parts[i].rank);
            status = KEEL_ERR_RANK;
        } else if (status == KEEL_OK && parts[i].first + parts[i].count > blocks) {
            status = keel_store_refuse_range(store, &parts[i], blocks);
        }
    }
    return status;
}
