/*
 * A submit: each rank pushes its ranges to all holders, one-sided, and two gsyncs commit them.
 *
 * Safety. (1) A rank arrives at the first gsync when all holders are live and have its ranges. So
 * after the gsync only a replacement of a holder lacks ranges. The ranks push again to the
 * replacement, and the second gsync waits. No rank loads the version before the second gsync ends.
 * (2) The pushes go to a slot without the newest version and without the version of the generation
 * in use. A rank arrives at the first gsync when its part of a generation in the making is
 * complete, so all ranks leave the gsync with the same generation in use. The ranks choose the
 * slot of the next submit after the second gsync. By then every rank is known to have put the
 * generation into use, so no death brings an older one back. A later generation covers the newest
 * version.
 * (3) A rank in the re-execution of an earlier phase pushes nothing, since the others have its
 * ranges. At the front the rank pushes all of its ranges again: the same bytes if the predecessor
 * pushed any, unless no rank knows of the predecessor's phase.
 */
#include "store/store_agree.h"
#include "store/store_push.h"
#include "store/store_refill.h"
#include "store/store_sizes.h"
#include "store/store_state.h"
#include "store/store_update.h"
#include "store/store_world.h"

#include "check/plant.h"
#include "engine/refuse.h"
#include "engine/threads.h"
#include "epoch/gsync.h"
#include "epoch/win_calls.h"
#include "epoch/stop.h"
#include "peer/store.h"
#include "recovery/recover.h"
#include "recovery/recovery_status.h"

/* ---- pushes ---- */

/* Pushes again if a rank has died meanwhile: the replacement gets its ranges, too. After the call
 * the pushes go on in the waits of the rank. */
static keel_status_t push_until_live(keel_store_push_t *push)
{
    const keel_context_h ctx = push->store->ctx;
    keel_status_t status;

    push->store->pushing = NULL;
    status = keel_store_update_prepare(push);
    if (status != KEEL_OK) {
        return status;
    }
    do {
        status = keel_store_push_all(push);
        status = (status == KEEL_OK) ? keel_gsync_complete_phase(ctx) : status;
    } while (status == KEEL_OK && push->changes != ctx->lane.changes && !KEEL_PLANT(store_submit_once));
    push->store->pushing = KEEL_PLANT(store_submit_once) ? NULL : push;
    return status;
}

/* ---- the commit ---- */

/* True if no rank submits a range for the cell. */
static int is_unused(const struct keel_store *store, const keel_store_push_t *push, uint64_t cell)
{
    uint32_t copy;
    uint64_t range;

    if (store->place.next.gone == 0) {
        return cell >= keel_store_cells(store);
    }
    range = keel_store_place_range(&store->place, store->ctx->lane.rank, cell, &copy);
    return range == KEEL_STORE_NO_RANGE ||
           (!push->is_update &&
            keel_store_place_is_gone(&store->place, (uint32_t)(range / store->place.params.ranges)));
}

static int is_filled(const struct keel_store *store, const keel_store_push_t *push, uint64_t *cell)
{
    while (*cell < keel_store_slot_cells(store) &&
           (keel_store_own_mark(store, push->slot, *cell)->label == push->label ||
            keel_store_update_keep(store, push, *cell) || is_unused(store, push, *cell))) {
        ++*cell;
    }
    return *cell == keel_store_slot_cells(store);
}

/*
 * Between the gsyncs: the replacement of a dead holder waits for its ranges. All ranks are in the
 * submit and have their bytes. Live ranks push again from inside their waits, replacements push
 * here, to all holders.
 */
static keel_status_t submit_fill(keel_store_h store, keel_store_push_t *push)
{
    keel_status_t status;
    unsigned rounds = 0;
    uint64_t cell = 0;

    if (keel_recovery_state(&store->ctx->rec) != KEEL_RANK_FRONT) {
        return KEEL_OK;
    }
    status = push_until_live(push);
    while (status == KEEL_OK && !is_filled(store, push, &cell) && !KEEL_PLANT(store_submit_unfilled)) {
        status = keel_context_wait(store->ctx, &rounds);
    }
    if (status == KEEL_OK) {
        keel_store_word_release(&keel_store_head(store)->complete[push->slot],
                                keel_store_complete_word(store, push->label));
    }
    return status;
}

/* Waits for the own part of a generation in the making. */
static keel_status_t submit_await_image(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && keel_image_set_is_making(&ctx->ckpt.set)) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

/* The first slot without the newest version and without the version of the generation in use. */
static uint32_t slot_after(const struct keel_store *store, uint32_t newest)
{
    const uint32_t kept = KEEL_PLANT(store_submit_over_kept) ? newest : keel_store_kept(store);
    uint32_t slot = 0;

    while (slot == newest || slot == kept) {
        slot++;
    }
    return slot;
}

static void submit_commit(keel_store_h store, const keel_store_push_t *push)
{
    keel_store_head_t *head = keel_store_head(store);

    store->without[push->slot] =
        (push->is_update && head->newest > 0) ? store->without[head->newest - 1] : store->place.next.gone;
    head->label[push->slot] = push->label;
    head->at[push->slot] = store->ctx->rec.phase;
    head->newest = 1 + push->slot;
    head->submits++;
    store->ctx->stats.store_submits++;
    head->total = push->total;
    head->next = (store->slots > 1) ? 1 + slot_after(store, push->slot) : 0;
}

/* Until the arrival at the first gsync: other errors than a rollback concern this rank alone. */
static keel_status_t submit_prepare(keel_store_h store, keel_store_push_t *push)
{
    keel_context_h ctx = store->ctx;
    keel_status_t status = KEEL_PLANT(store_submit_beside_loads) ? KEEL_OK : keel_store_await_loads(store);

    status = (status == KEEL_OK) ? keel_gsync_complete_phase(ctx) : status;
    keel_store_push_begin(push);
    status = (status == KEEL_OK) ? submit_await_image(ctx) : status;
    if (status == KEEL_OK && (keel_recovery_state(&ctx->rec) == KEEL_RANK_FRONT || KEEL_PLANT(store_submit_behind))) {
        status = KEEL_PLANT(store_submit_unagreed) ? KEEL_OK : keel_store_agree(store);
        status = (status == KEEL_OK) ? push_until_live(push) : status;
    }
    return status;
}

/* Between the gsyncs no refusal reaches the other ranks, which wait for this rank: the job ends. */
static keel_status_t submit_fill_or_fail(keel_store_h store, keel_store_push_t *push, const char *call)
{
    const keel_status_t status = submit_fill(store, push);

    if (status != KEEL_OK && keel_recovery_status(&store->ctx->rec) == KEEL_OK) {
        keel_error_ctx(store->ctx, "%s: %s amid the call: the job cannot go on", call, keel_status_string(status));
        keel_recovery_fail(&store->ctx->rec, status);
    }
    return status;
}

static unsigned number_of(const struct keel_store *store)
{
    return store->win->region - KEEL_REGION_WINDOW0;
}

/* Flags of the gsyncs of a submit: the low digit of the store's number, or the high one. */
static unsigned low_flags(const struct keel_store *store)
{
    return keel_gsync_of_store(number_of(store) % KEEL_GSYNC_STORES);
}
static unsigned high_flags(const struct keel_store *store)
{
    return keel_gsync_of_store(number_of(store) / KEEL_GSYNC_STORES);
}

/* True if another store has the same low digit: the same answer at all ranks and in each life, as
 * stores are made and freed at the same positions. */
static int has_namesake(const struct keel_store *store)
{
    const struct keel_store *other;

    ucs_list_for_each(other, &store->ctx->stores, list)
    {
        if (other != store && other->win != NULL && other->win->freed_call == 0 &&
            low_flags(other) == low_flags(store) && !KEEL_PLANT(store_submit_namesake_unasked)) {
            return 1;
        }
    }
    return 0;
}

/* Ranks that are in submits of different stores learn of that before they wait for ranges. */
static keel_status_t submit_gsyncs(keel_store_h store, keel_store_push_t *push, const char *call)
{
    const unsigned flags = low_flags(store);
    keel_status_t status = keel_gsync_run(store->ctx, flags);

    status = (status == KEEL_OK && has_namesake(store)) ? keel_gsync_run(store->ctx, high_flags(store)) : status;
    status = (status == KEEL_OK) ? submit_fill_or_fail(store, push, call) : status;
    /* until a rank leaves the second gsync, pushes go to push->slot only, which no refill fills */
    store->is_submitting = 1;
    keel_store_refill_stop(store);
    status = (status == KEEL_OK) ? keel_gsync_run(store->ctx, flags) : status;
    store->is_submitting = 0;
    return status;
}

/* @a refused: KEEL_OK, or why the rank takes part without data. All ranks learn of that in the
 * first gsync. */
static keel_status_t submit_run(keel_store_h store, keel_store_push_t *push, keel_status_t refused, const char *call)
{
    keel_status_t status;

    store->is_submit_called = 1;
    status = (refused == KEEL_OK) ? submit_prepare(store, push) : refused;
    if (status == KEEL_OK) {
        status = submit_gsyncs(store, push, call);
    } else if (keel_recovery_status(&store->ctx->rec) == KEEL_OK) {
        store->pushing = NULL;
        status = keel_gsync_refuse(store->ctx, low_flags(store), status, call);
    }
    if (status == KEEL_OK) {
        submit_commit(store, push);
    }
    store->is_submit_called = 0;
    store->pushing = NULL;
    return status;
}

/* KEEL_OK if the arguments of the rank are possible. */
static keel_status_t submit_check(keel_store_h store, const keel_store_push_t *push, const char *call)
{
    if (push->is_update && store->block_bytes == 0) {
        return keel_store_refuse_size(store, call);
    }
    if (store->slots == 1 && keel_store_head(store)->newest > 0) {
        keel_error_ctx(store->ctx, "%s: the store is static and has its data", call);
        return KEEL_ERR_STATE;
    }
    if (push->total > store->bytes) {
        keel_error_ctx(store->ctx, "%s: %lu blocks do not fit in %lu bytes of the store", call,
                       (unsigned long)push->count, (unsigned long)store->bytes);
        return KEEL_ERR_RANGE;
    }
    return push->is_update ? keel_store_update_check(store, push->parts, push->count) : KEEL_OK;
}

/* @a push has the data. @a refused: KEEL_OK, or the fault of the arguments. Ends the call. */
static keel_status_t submit(keel_store_push_t *push, keel_status_t refused, const char *call)
{
    keel_store_h store = push->store;
    KEEL_COLLECTIVE(store->ctx, call);
    keel_status_t status = keel_collective.status;

    status = (status == KEEL_OK) ? keel_store_check(store, call) : status;
    status = (status == KEEL_OK) ? keel_gsync_admit(store->ctx, call) : status;
    if (status == KEEL_OK) {
        const keel_store_head_t *head = keel_store_head(store);

        keel_store_agree_announce(store);
        push->label = (uint64_t)store->ctx->lane.rollback << 32 | (head->submits + 1);
        push->slot = (head->next > 0) ? head->next - 1 : 0;
        push->total = push->is_update ? head->total : push->total;
        refused = (refused == KEEL_OK) ? keel_store_world(store) : refused;
        refused = (refused == KEEL_OK) ? submit_check(store, push, call) : refused;
        status = submit_run(store, push, refused, call);
    }
    keel_store_update_release(push);
    return keel_context_end(store->ctx, status);
}

keel_status_t keel_store_submit(keel_store_h store, const void *buffer, uint64_t count)
{
    KEEL_INSIDE((store != NULL) ? store->ctx : NULL);
    keel_store_push_t push = {.store = store, .data = buffer, .count = count};
    keel_status_t refused = KEEL_OK;

    if (store == NULL) {
        return keel_refuse_null("the store");
    }
    if (store->block_bytes == 0) {
        refused = keel_store_refuse_size(store, "keel_store_submit");
    } else {
        push.total = (count <= store->bytes / store->block_bytes) ? count * store->block_bytes : UINT64_MAX;
        refused = (buffer == NULL && count > 0) ? keel_refuse_null("keel_store_submit: the blocks") : KEEL_OK;
    }
    return submit(&push, refused, "keel_store_submit");
}

static keel_status_t blocks_check(keel_store_h store, const keel_store_block_t *blocks, uint64_t count)
{
    if (store->block_bytes > 0) {
        return keel_store_refuse_size(store, "keel_store_submitv");
    }
    if (blocks == NULL && count > 0) {
        return keel_refuse_null("keel_store_submitv: the blocks");
    }
    for (uint64_t i = 0; i < count; i++) {
        if (blocks[i].buffer == NULL && blocks[i].bytes > 0) {
            return keel_refuse_null("keel_store_submitv: the buffer of a block");
        }
    }
    return KEEL_OK;
}

keel_status_t keel_store_submitv(keel_store_h store, const keel_store_block_t *blocks, uint64_t count)
{
    KEEL_INSIDE((store != NULL) ? store->ctx : NULL);
    keel_store_push_t push = {.store = store, .blocks = blocks, .count = count};
    keel_status_t refused;

    if (store == NULL) {
        return keel_refuse_null("the store");
    }
    refused = blocks_check(store, blocks, count);
    if (refused == KEEL_OK) {
        push.total = keel_store_emit_total(blocks, count, store->bytes);
    }
    return submit(&push, refused, "keel_store_submitv");
}

keel_status_t keel_store_update(keel_store_h store, const keel_store_part_t *parts, unsigned count)
{
    KEEL_INSIDE((store != NULL) ? store->ctx : NULL);
    keel_store_push_t push = {.store = store, .parts = parts, .count = count, .is_update = 1};

    if (store == NULL) {
        return keel_refuse_null("the store");
    }
    return submit(&push, KEEL_OK, "keel_store_update");
}
