/* Making and freeing of stores, and their hooks. */
#include "store/store_create.h"
#include "store/store_agree.h"
#include "store/store_fetch.h"
#include "store/store_next.h"
#include "store/store_push.h"
#include "store/store_refill.h"
#include "store/store_request.h"
#include "store/store_state.h"
#include "store/store_world.h"

#include "base/memory.h"
#include "engine/refuse.h"
#include "engine/threads.h"
#include "epoch/win_calls.h"
#include "check/plant.h"
#include "recovery/recovery_status.h"
#include "window/win_memory.h"
#include "window/window.h"

enum {
    STORE_COPIES = 4,         /* default */
    STORE_RANGE = 256 << 10,  /* default, bytes */
    STORE_RANGES_WANTED = 16, /* ranges of a rank in a small store, at least */
    STORE_MARK_ALIGN = 64
};

_Static_assert(KEEL_STORE_HEAD_SAVED == 64, "whole words, in each image");
_Static_assert(sizeof(keel_store_head_t) <= KEEL_STORE_HEAD_BYTES, "the cells follow");

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* ---- parameters ---- */

#define PARAM_FIELDS (((uint64_t)KEEL_STORE_PARAM_FIELD_FLAGS << 1) - 1)
#define PARAM_FLAGS  (KEEL_STORE_FLAG_STATIC | KEEL_STORE_FLAG_CONSECUTIVE)

static uint64_t range_default(uint64_t bytes)
{
    const uint64_t small = round_up((bytes + STORE_RANGES_WANTED - 1) / STORE_RANGES_WANTED, KEEL_STORE_LEAF);

    return (small < STORE_RANGE) ? small : STORE_RANGE;
}

/* Fills in the defaults. */
static keel_store_params_t params_complete(const keel_context_h ctx, const keel_store_params_t *given)
{
    const uint64_t fields = given->field_mask;
    keel_store_params_t params = {.field_mask = fields, .copies = STORE_COPIES, .block_bytes = 1};

    params.bytes = (fields & KEEL_STORE_PARAM_FIELD_BYTES) ? given->bytes : 0;
    params.name = (fields & KEEL_STORE_PARAM_FIELD_NAME) ? given->name : NULL;
    params.copies = (fields & KEEL_STORE_PARAM_FIELD_COPIES) ? given->copies : params.copies;
    params.block_bytes = (fields & KEEL_STORE_PARAM_FIELD_BLOCK_BYTES) ? given->block_bytes : params.block_bytes;
    params.range_bytes =
        (fields & KEEL_STORE_PARAM_FIELD_RANGE_BYTES) ? given->range_bytes : range_default(params.bytes);
    params.seed = (fields & KEEL_STORE_PARAM_FIELD_SEED) ? given->seed : 0;
    params.flags = (fields & KEEL_STORE_PARAM_FIELD_FLAGS) ? given->flags : 0;
    if (params.copies <= KEEL_STORE_COPIES_MAX && params.copies > ctx->lane.programs) {
        params.copies = ctx->lane.programs;
    }
    return params;
}

static size_t mark_bytes(uint64_t range_bytes)
{
    return round_up(sizeof(keel_store_mark_t) + range_bytes / KEEL_STORE_LEAF * sizeof(uint32_t), STORE_MARK_ALIGN);
}

/* Longest read that cannot be divided: a mark, or a leaf. */
static size_t least_message(uint64_t range_bytes)
{
    const size_t mark = mark_bytes(range_bytes);

    return (mark > KEEL_STORE_LEAF && !KEEL_PLANT(store_create_marks_cut)) ? mark : KEEL_STORE_LEAF;
}

static keel_status_t message_check(keel_context_h ctx, size_t least)
{
    if (ctx->lane.ops->max_data >= least) {
        return KEEL_OK;
    }
    keel_error_ctx(ctx, "no store: messages of this network have at most %zu bytes", ctx->lane.ops->max_data);
    return KEEL_ERR_UNSUPPORTED;
}

/* Whether the job can have stores. All ranks get the same status, and need no gsync for that. */
static keel_status_t job_check(keel_context_h ctx)
{
    if (ctx->config.shrink != KEEL_SHRINK_NO && ctx->config.protect != KEEL_PROTECT_NONE) {
        keel_error_ctx(ctx, "keel_store_create: stores of a job with checkpoints that goes on with fewer ranks "
                            "(KEEL_SHRINK, KEEL_PROTECT) are not built yet");
        return KEEL_ERR_UNSUPPORTED;
    }
    return message_check(ctx, KEEL_STORE_LEAF);
}

static keel_status_t params_check(keel_context_h ctx, const keel_store_params_t *params)
{
    const char *why = (params->field_mask & ~PARAM_FIELDS)                                 ? "unknown field"
                      : (params->bytes == 0 || params->bytes > KEEL_OFFSET_MAX)            ? "bytes"
                      : (params->copies == 0 || params->copies > KEEL_STORE_COPIES_MAX)    ? "copies"
                      : (params->block_bytes == 0 && params->bytes < 2 * sizeof(uint64_t)) ? "block_bytes"
                      : (params->range_bytes == 0 || params->range_bytes > KEEL_STORE_RANGE_MAX ||
                         params->range_bytes % KEEL_STORE_LEAF != 0)
                          ? "range_bytes"
                      : (params->flags & ~(uint64_t)PARAM_FLAGS) ? "flags"
                                                                 : NULL;

    if (why != NULL) {
        keel_error_ctx(ctx, "keel_store_params_t: %s is missing, or not possible", why);
        return KEEL_ERR_INVALID_PARAM;
    }
    return message_check(ctx, least_message(params->range_bytes));
}

/* ---- making ---- */

static void store_measure(struct keel_store *store, const keel_context_h ctx, const keel_store_params_t *params)
{
    const size_t most = ctx->lane.ops->max_data / KEEL_STORE_LEAF * KEEL_STORE_LEAF;

    store->bytes = params->bytes;
    store->block_bytes = params->block_bytes;
    store->range_bytes = params->range_bytes;
    store->slots = (params->flags & KEEL_STORE_FLAG_STATIC)     ? 1
                   : (ctx->config.protect == KEEL_PROTECT_NONE) ? 2
                                                                : KEEL_STORE_SLOTS_MAX;
    store->mark_bytes = mark_bytes(params->range_bytes);
    store->chunk = (most < KEEL_STORE_READ_MAX) ? most : KEEL_STORE_READ_MAX;
    store->chunk = (store->chunk < params->range_bytes) ? store->chunk : params->range_bytes;
    store->place.params =
        (keel_store_place_params_t){.ranks = ctx->lane.programs,
                                    .copies = params->copies,
                                    .ranges = round_up(params->bytes, params->range_bytes) / params->range_bytes,
                                    .seed = params->seed,
                                    .is_consecutive = (params->flags & KEEL_STORE_FLAG_CONSECUTIVE) != 0,
                                    .own = ctx->lane.rank};
    store->place.params.spare = (ctx->config.shrink != KEEL_SHRINK_NO) ? keel_store_cells(store) : 0;
}

static uint64_t store_window_bytes(const struct keel_store *store)
{
    return KEEL_STORE_HEAD_BYTES + store->slots * keel_store_slot_cells(store) * keel_store_cell_bytes(store);
}

/* All memory but the window. */
static keel_status_t store_make(keel_context_h ctx, struct keel_store *store)
{
    const keel_store_place_params_t params = store->place.params;
    keel_status_t status = keel_store_place_init(&store->place, &ctx->site.domains, &params);

    if (status == KEEL_OK && params.spare > 0) {
        status = keel_store_next_init(&store->place, &ctx->site.domains);
    }
    store->mark = (status == KEEL_OK) ? keel_alloc(store->mark_bytes, "mark of a store") : NULL;
    store->pushed =
        (status == KEEL_OK) ? keel_alloc(keel_store_cells(store) * sizeof(*store->pushed), "pushes of a store") : NULL;
    if (status == KEEL_OK && (store->mark == NULL || store->pushed == NULL)) {
        status = KEEL_ERR_NO_MEMORY;
    }
    if (status == KEEL_OK && store->block_bytes == 0) {
        store->scratch = keel_alloc(store->range_bytes, "range of a store");
        status = (store->scratch == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
    }
    return status;
}

static void store_release(struct keel_store *store)
{
    keel_store_requests_release(store);
    keel_store_fetch_free(store->refill.fetch);
    keel_store_pipe_free(store->pipe);
    keel_store_next_release(&store->place);
    keel_store_place_release(&store->place);
    keel_free(store->pushed);
    keel_free(store->scratch);
    keel_free(store->mark);
    keel_free(store);
}

/* Parameters that are wrong at one rank end the call at all ranks. */
static keel_status_t create_refuse(keel_context_h ctx, keel_status_t refused)
{
    KEEL_COLLECTIVE(ctx, "keel_store_create");

    return (keel_collective.status == KEEL_OK) ? keel_gsync_refuse(ctx, KEEL_GSYNC_ALLOC, refused, "keel_store_create")
                                               : keel_collective.status;
}

static keel_status_t create(keel_context_h ctx, const keel_store_params_t *params, keel_store_h *store_p)
{
    /* no image has the data */
    static const keel_extent_t saved = {.length = KEEL_STORE_HEAD_SAVED};
    const keel_win_params_t named = {.field_mask = KEEL_WIN_PARAM_FIELD_NAME,
                                     .name = (params->name != NULL) ? params->name : "store"};
    struct keel_store *store = keel_alloc(sizeof(*store), "store");
    keel_status_t status;

    if (store == NULL) {
        return create_refuse(ctx, KEEL_ERR_NO_MEMORY);
    }
    store->ctx = ctx;
    ucs_list_head_init(&store->pending);
    store_measure(store, ctx, params);
    ucs_list_add_tail(&ctx->stores, &store->list);
    status = KEEL_PLANT(store_create_window_first) ? keel_win_make(ctx, 0, NULL, &named, NULL, &store->win) : KEEL_OK;
    if (status == KEEL_OK) {
        status = keel_win_params_check(ctx, store_window_bytes(store), &named, KEEL_WIN_PARAM_FIELD_NAME);
    }
    status = (status == KEEL_OK) ? store_make(ctx, store) : status;
    status = (status == KEEL_OK) ? keel_win_alloc_saved(ctx, store_window_bytes(store), &named, &saved, &store->win)
                                 : create_refuse(ctx, status);
    if (status != KEEL_OK) {
        ucs_list_del(&store->list);
        store_release(store);
        return status;
    }
    keel_store_agree_announce(store);
    *store_p = store;
    return KEEL_OK;
}

keel_status_t keel_store_create(keel_context_h ctx, const keel_store_params_t *given, keel_store_h *store_p)
{
    KEEL_INSIDE(ctx);
    keel_store_params_t params;
    keel_status_t status;

    if (ctx == NULL) {
        return keel_refuse_null("the context");
    }
    status = job_check(ctx);
    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    if (given == NULL || store_p == NULL) {
        status = keel_refuse_null("keel_store_create: params, or where the store is to go");
    } else {
        params = params_complete(ctx, given);
        status = params_check(ctx, &params);
    }
    if (status == KEEL_OK) {
        status = create(ctx, &params, store_p);
    } else {
        status = create_refuse(ctx, status);
    }
    return keel_context_end(ctx, status);
}

/* The object stays until the context ends, as a window's does: a rollback may bring the store
 * back. */
keel_status_t keel_store_free(keel_store_h store)
{
    KEEL_INSIDE((store != NULL) ? store->ctx : NULL);
    keel_status_t status;

    if (store == NULL) {
        return keel_refuse_null("the store");
    }
    store->freeing = 1 + (uint64_t)store->ctx->lane.rollback;
    (void)keel_store_await_loads(store);
    keel_store_refill_end_reads(store);
    status = keel_win_free(store->win);
    store->freeing = 0;
    return status;
}

void keel_stores_release(keel_context_h ctx)
{
    while (!ucs_list_is_empty(&ctx->stores)) {
        struct keel_store *store = ucs_list_head(&ctx->stores, struct keel_store, list);

        ucs_list_del(&store->list);
        store_release(store);
    }
}

/* ---- the hook ---- */

static int is_pushing_possible(const keel_context_h ctx)
{
    return keel_recovery_state(&ctx->rec) == KEEL_RANK_FRONT && !keel_recovery_is_frozen(&ctx->rec) &&
           ctx->rec.roll == KEEL_ROLL_NONE;
}

/* A lack of memory may pass. After another error the holder never gets its ranges: the waiting
 * call returns the error. */
static void push_in_background(struct keel_store *store)
{
    const keel_status_t status = keel_store_push_step(store->pushing);

    if (status != KEEL_OK && status != KEEL_INPROGRESS && status != KEEL_ERR_NO_MEMORY) {
        store->pushing = NULL;
        keel_recovery_fail(&store->ctx->rec, status);
    }
}

void keel_stores_progress(keel_context_h ctx)
{
    struct keel_store *store;

    ucs_list_for_each(store, &ctx->stores, list)
    {
        if (store->win != NULL && store->win->freed_call == 0 && keel_store_world(store) == KEEL_OK) {
            keel_store_requests_progress(store);
            if (store->pushing != NULL && is_pushing_possible(ctx)) {
                push_in_background(store);
            }
            if (!store->is_submitting &&
                (store->freeing != 1 + (uint64_t)ctx->lane.rollback || KEEL_PLANT(store_create_refill_in_free))) {
                keel_store_refill_progress(store);
            }
        }
    }
}

void keel_stores_mute(keel_context_h ctx)
{
    struct keel_store *store;

    ucs_list_for_each(store, &ctx->stores, list)
    {
        keel_store_requests_mute(store);
    }
}
