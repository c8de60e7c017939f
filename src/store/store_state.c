/* Questions that all calls of a store ask. */
#include "store/store_state.h"
#include "store/store_world.h"

#include "base/crc.h"
#include "check/plant.h"
#include "engine/refuse.h"

#include <stddef.h>

uint32_t keel_store_mark_sum(const struct keel_store *store, const keel_store_mark_t *mark)
{
    const uint32_t sum =
        keel_crc(0, &mark->total, offsetof(keel_store_mark_t, sum) - offsetof(keel_store_mark_t, total));

    return keel_crc(sum, mark->sums, store->range_bytes / KEEL_STORE_LEAF * sizeof(*mark->sums));
}

keel_status_t keel_store_check(keel_store_h store, const char *call)
{
    const keel_status_t status = keel_context_begin_outside(store->ctx, call);

    if (status == KEEL_OK && store->win->freed_call > 0) {
        return keel_win_refuse_freed(store->win);
    }
    return status;
}

keel_status_t keel_store_begin_load(keel_store_h store, const char *call)
{
    keel_status_t status = keel_store_check(store, call);

    status = (status == KEEL_OK) ? keel_store_world(store) : status;
    if (status == KEEL_OK && store->is_submit_called && !KEEL_PLANT(store_state_load_beside)) {
        keel_error_ctx(store->ctx, "%s: another thread is in a submit of the store", call);
        return KEEL_ERR_STATE;
    }
    store->loads += status == KEEL_OK;
    store->ctx->stats.store_loads += status == KEEL_OK;
    return status;
}

void keel_store_end_load(keel_store_h store)
{
    store->loads--;
}

/* They read the newest version, which a later submit overwrites. */
keel_status_t keel_store_await_loads(const struct keel_store *store)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && store->loads > 0) {
        status = keel_context_wait(store->ctx, &rounds);
    }
    return status;
}

keel_status_t keel_store_refuse_size(keel_store_h store, const char *call)
{
    keel_error_ctx(store->ctx, "%s: the blocks of this store have %s (keel_store_params_t.block_bytes)", call,
                   (store->block_bytes > 0) ? "one size" : "different sizes");
    return KEEL_ERR_UNSUPPORTED;
}
