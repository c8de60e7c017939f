/* Loads. */
#include "store/store_read.h"
#include "store/store_sizes.h"

#include "engine/refuse.h"
#include "engine/threads.h"

keel_status_t keel_store_load(keel_store_h store, keel_store_part_t *parts, unsigned count)
{
    KEEL_INSIDE((store != NULL) ? store->ctx : NULL);
    keel_status_t status;

    if (store == NULL || (parts == NULL && count > 0)) {
        return keel_refuse_null(store == NULL ? "the store" : "keel_store_load: the parts");
    }
    status = keel_store_begin_load(store, "keel_store_load");
    if (status == KEEL_OK) {
        status = (store->block_bytes > 0) ? keel_store_read(store, store->block_bytes, parts, count)
                                          : keel_store_load_sized(store, parts, count);
        keel_store_end_load(store);
    }
    return keel_context_end(store->ctx, status);
}

keel_status_t keel_store_count(keel_store_h store, uint32_t rank, uint64_t *count_p)
{
    KEEL_INSIDE((store != NULL) ? store->ctx : NULL);
    keel_store_part_t word = {.rank = rank, .count = sizeof(uint64_t), .buffer = count_p};
    uint64_t total = 0;
    keel_status_t status;

    if (store == NULL || count_p == NULL) {
        return keel_refuse_null(store == NULL ? "the store" : "keel_store_count: where the count is to go");
    }
    status = keel_store_begin_load(store, "keel_store_count");
    if (status == KEEL_OK) {
        const keel_store_head_t *head = keel_store_head(store);

        if (rank < store->place.params.ranks && head->newest > 0 &&
            keel_store_is_without(store, head->newest - 1, rank)) {
            word.count = 0;
        }
        status = keel_store_read_check(store, 1, &word);
        if (status == KEEL_OK && word.count == 0) {
            *count_p = 0;
        } else if (status == KEEL_OK && store->block_bytes == 0) {
            status = keel_store_read(store, 1, &word, 1);
        } else if (status == KEEL_OK) {
            status = keel_store_read_total(store, rank, &total);
            *count_p = total / store->block_bytes;
        }
        keel_store_end_load(store);
    }
    return keel_context_end(store->ctx, status);
}
