/*
 * Pushes to holders.
 *
 * Safety. Stores and messages to one cell keep their order: the label is cleared, the bytes
 * change, the label is set. A message and its buffer belong to the pipeline until the holder has
 * acknowledged it, or has died: a dead holder's cells are pushed again by the caller.
 */
#include "store/store_fetch.h"
#include "store/store_push.h"
#include "store/store_sizes.h"

#include "base/crc.h"
#include "base/memory.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "peer/region.h"
#include "peer/store.h"

#include <string.h>

/* Waits until the holder is live and its memory known. A push needs no announcement of usage, as an
 * access does: no rank acts on pushed bytes before the commit. */
static keel_status_t holder_await(keel_store_h store, uint32_t rank)
{
    keel_context_h ctx = store->ctx;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (
        status == KEEL_OK && rank != ctx->lane.rank &&
        (ctx->lane.peers[rank].mode != KEEL_PEER_LIVE || !keel_store_is_readable(store, rank) ||
         (keel_access_is_stored(&ctx->lane, rank) && keel_access_is_unmapped(&ctx->lane, rank, store->win->region)))) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

/* ---- messages ---- */

typedef struct push_message {
    uint32_t rank, incarnation;
    uint64_t sequence; /* of the request; 0: free */
    char *record;
} push_message_t;

struct keel_store_pipe {
    size_t payload; /* bytes of a message, at most */
    unsigned next;
    push_message_t messages[KEEL_STORE_PUSHES];
};

void keel_store_pipe_free(struct keel_store_pipe *pipe)
{
    for (unsigned i = 0; pipe != NULL && i < KEEL_STORE_PUSHES; i++) {
        keel_free(pipe->messages[i].record);
    }
    keel_free(pipe);
}

static keel_status_t pipe_make(keel_store_h store)
{
    struct keel_store_pipe *pipe = keel_alloc(sizeof(*pipe), "pushes of a store");

    if (pipe == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    store->pipe = pipe;
    pipe->payload = store->ctx->puts.record_max;
    for (unsigned i = 0; i < KEEL_STORE_PUSHES; i++) {
        pipe->messages[i].record = keel_alloc(store->ctx->lane.ops->max_data, "push of a store");
        if (pipe->messages[i].record == NULL) {
            keel_store_pipe_free(pipe);
            store->pipe = NULL;
            return KEEL_ERR_NO_MEMORY;
        }
    }
    return KEEL_OK;
}

static int is_outstanding(const keel_lane_t *lane, const push_message_t *message)
{
    const keel_peer_t *peer = &lane->peers[message->rank];

    return message->sequence != 0 && peer->is_up && peer->incarnation == message->incarnation &&
           peer->acked < message->sequence;
}

/* Waits until the message is acknowledged, or its target is dead. */
static keel_status_t message_await(keel_context_h ctx, const push_message_t *message)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && is_outstanding(&ctx->lane, message)) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

static keel_status_t send_part(keel_store_h store, uint32_t rank, uint64_t offset, const void *from, size_t length)
{
    push_message_t *message = &store->pipe->messages[store->pipe->next++ % KEEL_STORE_PUSHES];
    keel_record_t *record = (keel_record_t *)(void *)message->record;
    keel_lane_t *lane = &store->ctx->lane;
    keel_status_t status = message_await(store->ctx, message);

    status = (status == KEEL_OK) ? holder_await(store, rank) : status;
    if (status != KEEL_OK) {
        return status;
    }
    *record =
        (keel_record_t){.where = keel_where(offset, KEEL_RECORD_PUT, store->win->region), .length = (uint32_t)length};
    memset(message->record + sizeof(*record) + length, 0, keel_pad8(length) - length);
    memcpy(record + 1, from, length);
    status = keel_lane_send_unnumbered(lane, rank, record);
    message->rank = rank;
    message->incarnation = lane->peers[rank].incarnation;
    message->sequence = lane->peers[rank].sent;
    return (status == KEEL_ERR_UNREACHABLE) ? KEEL_OK : status; /* the death is about to be noticed */
}

static keel_status_t send_bytes(keel_store_h store, uint32_t rank, uint64_t offset, const void *from, size_t length)
{
    keel_status_t status = KEEL_OK;

    for (size_t at = 0, part; at < length && status == KEEL_OK; at += part) {
        part = (length - at < store->pipe->payload) ? length - at : store->pipe->payload;
        status = send_part(store, rank, offset + at, (const char *)from + at, part);
    }
    return status;
}

/* The mark comes in one message if it can, else its label last. */
static keel_status_t push_by_messages(const keel_store_push_t *push, uint32_t holder, uint64_t offset,
                                      const uint8_t *bytes, uint64_t valid)
{
    keel_store_h store = push->store;
    const keel_store_mark_t *mark = store->mark;
    const uint64_t none = 0;
    keel_status_t status = (store->pipe == NULL) ? pipe_make(store) : KEEL_OK;

    keel_context_touch(store->ctx, holder);
    status = (status == KEEL_OK) ? send_part(store, holder, offset, &none, sizeof(none)) : status;
    status = (status == KEEL_OK) ? send_bytes(store, holder, offset + store->mark_bytes, bytes, valid) : status;
    if (status == KEEL_OK && store->mark_bytes > store->pipe->payload) {
        status = send_bytes(store, holder, offset + sizeof(none), &mark->total, store->mark_bytes - sizeof(none));
        return (status == KEEL_OK) ? send_part(store, holder, offset, &mark->label, sizeof(none)) : status;
    }
    return (status == KEEL_OK) ? send_part(store, holder, offset, mark, store->mark_bytes) : status;
}

static keel_status_t pipe_drain(keel_store_h store)
{
    keel_status_t status = KEEL_OK;

    for (unsigned i = 0; store->pipe != NULL && i < KEEL_STORE_PUSHES && status == KEEL_OK; i++) {
        status = message_await(store->ctx, &store->pipe->messages[i]);
    }
    return status;
}

/* ---- stores ---- */

static void push_by_stores(const keel_store_push_t *push, char *cell, const uint8_t *bytes, uint64_t valid)
{
    const struct keel_store *store = push->store;
    keel_store_mark_t *mark = (keel_store_mark_t *)(void *)cell;

    keel_store_word(&mark->label, 0);
    keel_store_barrier();
    if (valid > 0) {
        keel_store_bytes(cell + store->mark_bytes, bytes, valid);
    }
    keel_store_bytes(&mark->total, &store->mark->total, store->mark_bytes - offsetof(keel_store_mark_t, total));
    keel_store_word_release(&mark->label, push->label);
}

/* ---- ranges ---- */

/* Fills in the mark of a range, for all of its copies. */
static void push_sum(const keel_store_push_t *push, uint64_t range, const uint8_t *bytes, uint64_t valid)
{
    const struct keel_store *store = push->store;
    keel_store_mark_t *mark = store->mark;

    memset(mark, 0, store->mark_bytes);
    mark->label = push->label;
    mark->total = push->total;
    mark->range = range;
    for (uint64_t at = 0; at < valid; at += KEEL_STORE_LEAF) {
        mark->sums[at / KEEL_STORE_LEAF] =
            keel_crc(0, bytes + at, (valid - at < KEEL_STORE_LEAF) ? valid - at : KEEL_STORE_LEAF);
    }
    mark->sum = keel_store_mark_sum(store, mark);
}

static keel_status_t push_cell(const keel_store_push_t *push, keel_store_cell_t cell, const uint8_t *bytes,
                               uint64_t valid)
{
    const struct keel_store *store = push->store;
    keel_lane_t *lane = &store->ctx->lane;
    const uint64_t offset = keel_store_cell_offset(store, push->slot, cell.index);
    char *base;

    if (keel_lane_region_size(lane, cell.holder, store->win->region) != store->win->size) {
        keel_error_ctx(store->ctx, "keel_store_submit: the store of rank %u has other parameters", cell.holder);
        return KEEL_ERR_INVALID_PARAM;
    }
    base = keel_access_at(lane, cell.holder, store->win->region);
    if (base == NULL) {
        return push_by_messages(push, cell.holder, offset, bytes, valid);
    }
    push_by_stores(push, base + offset, bytes, valid);
    return KEEL_OK;
}

/* The entry of a copy of the own range @a number: the process that the copy was pushed to. */
static uint32_t *pushed_to(const keel_store_push_t *push, uint64_t number, uint32_t copy)
{
    return &push->store->pushed[number * push->store->place.params.copies + copy];
}

static uint32_t push_life(const keel_lane_t *lane, uint32_t holder)
{
    return 1 + ((holder == lane->rank) ? lane->incarnation : lane->peers[holder].incarnation);
}

/* The bytes of the own range @a number. */
static const uint8_t *push_bytes(const keel_store_push_t *push, uint64_t number, uint64_t valid)
{
    const struct keel_store *store = push->store;
    keel_store_emit_t emit = {.blocks = push->blocks, .count = push->count};

    if (store->scratch == NULL) {
        return (valid > 0) ? push->data + number * store->range_bytes : (const uint8_t *)"";
    }
    keel_store_emit_skip(&emit, number * store->range_bytes);
    keel_store_emit(&emit, store->scratch, valid);
    return store->scratch;
}

static keel_status_t push_range(const keel_store_push_t *push, uint64_t number)
{
    keel_store_h store = push->store;
    const uint64_t range = store->ctx->lane.rank * store->place.params.ranges + number;
    const uint64_t valid = keel_store_range_valid(store, range, push->total);
    const uint8_t *bytes = NULL;
    keel_status_t status = KEEL_OK;

    for (uint32_t copy = 0; copy < store->place.params.copies && status == KEEL_OK; copy++) {
        const keel_store_cell_t cell = keel_store_place_find(&store->place, range, copy);
        uint32_t life;

        status = holder_await(store, cell.holder);
        life = push_life(&store->ctx->lane, cell.holder);
        if (status != KEEL_OK || *pushed_to(push, number, copy) == life) {
            continue;
        }
        if (bytes == NULL) {
            bytes = push_bytes(push, number, valid);
            push_sum(push, range, bytes, valid);
        }
        status = push_cell(push, cell, bytes, valid);
        *pushed_to(push, number, copy) = (status == KEEL_OK) ? life : 0;
    }
    return status;
}

keel_status_t keel_store_push_all(const keel_store_push_t *push)
{
    keel_store_h store = push->store;
    keel_status_t status = KEEL_OK;

    for (uint64_t i = 0; i < store->place.params.ranges && status == KEEL_OK; i++) {
        status = push_range(push, i);
        keel_context_poll(store->ctx); /* other ranks may have died */
    }
    keel_store_fence();
    return (status == KEEL_OK) ? pipe_drain(store) : status;
}
