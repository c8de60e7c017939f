/* Stores of small programs. */
#ifndef KEEL_SIM_FEW_STORE_H_
#define KEEL_SIM_FEW_STORE_H_

#include "few_ranks.h"

#include "store/store_state.h"

#include <keel/store.h>

/* Makes the store of a rank; an error is a flaw. */
static inline void few_store_make(const few_t *few, uint32_t rank, const keel_store_params_t *params,
                                  keel_store_h *store_p)
{
    const keel_status_t status = keel_store_create(few->ctx[rank], params, store_p);

    if (status != KEEL_OK) {
        keel_sim_flaw(few->sim, "rank %u makes no store: %s", rank, keel_status_string(status));
    }
}

/* Parameters of a small store. */
static inline keel_store_params_t few_store_params(uint64_t bytes, uint64_t block_bytes, uint64_t range_bytes,
                                                   uint32_t copies)
{
    return (keel_store_params_t){.field_mask = KEEL_STORE_PARAM_FIELD_BYTES | KEEL_STORE_PARAM_FIELD_COPIES |
                                               KEEL_STORE_PARAM_FIELD_BLOCK_BYTES | KEEL_STORE_PARAM_FIELD_RANGE_BYTES,
                                 .bytes = bytes,
                                 .copies = copies,
                                 .block_bytes = block_bytes,
                                 .range_bytes = range_bytes};
}

/* At the front a rank has all own copies of the newest version. */
static inline keel_status_t few_store_check_copies(const few_t *few, uint32_t rank, keel_store_h store)
{
    const keel_store_head_t *head = keel_store_head(store);
    const uint32_t newest = head->newest - 1;

    for (uint64_t i = 0; keel_recovery_state(&store->ctx->rec) == KEEL_RANK_FRONT && i < keel_store_cells(store); i++) {
        if (keel_store_own_mark(store, newest, i)->label != head->label[newest]) {
            keel_sim_flaw(few->sim, "rank %u lacks copy %lu", rank, (unsigned long)i);
            return KEEL_ERR_CORRUPT;
        }
    }
    return KEEL_OK;
}

#endif
