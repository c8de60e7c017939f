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
#include "check/plant.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "peer/region.h"
#include "peer/store.h"

#include <string.h>

/* True if the holder is live and its memory known. A push needs no announcement of usage, as an
 * access does: no rank acts on pushed bytes before the commit. */
static int is_ready(const struct keel_store *store, uint32_t rank)
{
    const keel_lane_t *lane = &store->ctx->lane;

    return rank == lane->rank ||
           (lane->peers[rank].mode == KEEL_PEER_LIVE && keel_store_is_readable(store, rank) &&
            !(keel_access_is_stored(lane, rank) && keel_access_is_unmapped(lane, rank, store->win->region)));
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

static int is_pipe_empty(const struct keel_store *store)
{
    for (unsigned i = 0; store->pipe != NULL && i < KEEL_STORE_PUSHES; i++) {
        if (is_outstanding(&store->ctx->lane, &store->pipe->messages[i])) {
            return 0;
        }
    }
    return 1;
}

/* A message: bytes for a place in the cell. */
typedef struct push_part {
    uint64_t offset;
    const void *from;
    size_t length;
} push_part_t;

static push_part_t part_of(const void *from, uint64_t length, uint64_t offset, uint64_t number, uint64_t payload)
{
    const uint64_t at = number * payload;

    return (push_part_t){.offset = offset + at,
                         .from = (const char *)from + at,
                         .length = (length - at < payload) ? length - at : payload};
}

/* The message of a stage: the label is cleared, the bytes, the rest of the mark, the label; or that
 * the range is kept. Returns 0 after the last. */
static int push_part(const keel_store_push_t *push, const uint8_t *bytes, uint64_t valid, push_part_t *part_p)
{
    static const uint64_t none = 0;
    const struct keel_store *store = push->store;
    const uint64_t payload = store->pipe->payload, rest_at = offsetof(keel_store_mark_t, total);
    const uint64_t rest = store->mark_bytes - rest_at;
    const uint64_t data = (valid + payload - 1) / payload, marks = (rest + payload - 1) / payload;
    const uint64_t stage = push->stage;

    if (bytes == NULL) {
        *part_p = part_of(&push->label, sizeof(push->label), offsetof(keel_store_mark_t, kept), 0, payload);
        return stage == 0;
    }
    if (stage == 0) {
        *part_p = part_of(&none, sizeof(none), 0, 0, payload);
    } else if (stage <= data) {
        *part_p = part_of(bytes, valid, store->mark_bytes, stage - 1, payload);
    } else if (stage <= data + marks) {
        *part_p = part_of(keel_store_mark_rest(store->mark), rest, rest_at, stage - 1 - data, payload);
    } else {
        *part_p = part_of(&store->mark->label, sizeof(none), 0, 0, payload);
    }
    return stage <= data + marks + 1;
}

static keel_status_t send_part(keel_store_h store, push_message_t *message, uint32_t rank, uint64_t cell,
                               const push_part_t *part)
{
    keel_record_t *record = (keel_record_t *)(void *)message->record;
    keel_lane_t *lane = &store->ctx->lane;
    keel_status_t status;

    *record = (keel_record_t){.where = keel_where(cell + part->offset, KEEL_RECORD_PUT, store->win->region),
                              .length = (uint32_t)part->length};
    memset(message->record + sizeof(*record) + part->length, 0, keel_pad8(part->length) - part->length);
    memcpy(record + 1, part->from, part->length);
    status = keel_lane_send_unnumbered(lane, rank, record);
    message->rank = rank;
    message->incarnation = lane->peers[rank].incarnation;
    message->sequence = lane->peers[rank].sent;
    /* unreachable: the death is about to be noticed */
    return (status == KEEL_ERR_UNREACHABLE) ? KEEL_OK : status;
}

/* KEEL_OK: all messages of the copy are sent. */
static keel_status_t push_by_messages(keel_store_push_t *push, uint32_t holder, uint64_t cell, const uint8_t *bytes,
                                      uint64_t valid)
{
    keel_store_h store = push->store;
    keel_status_t status = (store->pipe == NULL) ? pipe_make(store) : KEEL_OK;
    push_part_t part;

    keel_context_touch(store->ctx, holder);
    while (status == KEEL_OK && push_part(push, bytes, valid, &part)) {
        push_message_t *message = &store->pipe->messages[store->pipe->next % KEEL_STORE_PUSHES];

        if (is_outstanding(&store->ctx->lane, message)) {
            return KEEL_INPROGRESS;
        }
        store->pipe->next++;
        status = send_part(store, message, holder, cell, &part);
        push->stage++;
        push->moves++;
    }
    return status;
}

/* ---- stores ---- */

static void push_by_stores(const keel_store_push_t *push, char *cell, const uint8_t *bytes, uint64_t valid)
{
    const struct keel_store *store = push->store;
    keel_store_mark_t *mark = (keel_store_mark_t *)(void *)cell;

    if (bytes == NULL) {
        keel_store_word_release(&mark->kept, push->label);
        return;
    }
    keel_store_word(&mark->label, 0);
    keel_store_barrier();
    if (valid > 0) {
        keel_store_bytes(cell + store->mark_bytes, bytes, valid);
    }
    keel_store_bytes(keel_store_mark_rest(mark), keel_store_mark_rest(store->mark),
                     store->mark_bytes - offsetof(keel_store_mark_t, total));
    keel_store_word_release(&mark->label, push->label);
}

/* ---- ranges ---- */

/* The bytes of the own range @a number; fills in its mark, for all copies. NULL: the range is
 * kept. */
static const uint8_t *push_range(keel_store_push_t *push, uint64_t number, uint64_t range, uint64_t valid)
{
    const struct keel_store *store = push->store;
    const uint8_t *bytes = store->scratch;
    keel_store_mark_t *mark = store->mark;

    if (push->is_update) {
        bytes = push->ranges[number];
        if (bytes == NULL) {
            return NULL;
        }
    } else if (bytes == NULL) {
        bytes = (valid > 0) ? push->data + number * store->range_bytes : (const uint8_t *)"";
    }
    if (push->summed == number + 1) {
        return bytes;
    }
    if (store->scratch != NULL) {
        keel_store_emit_t emit = {.blocks = push->blocks, .count = push->count};

        keel_store_emit_skip(&emit, number * store->range_bytes);
        keel_store_emit(&emit, store->scratch, valid);
    }
    memset(mark, 0, store->mark_bytes);
    mark->label = push->label;
    mark->total = push->total;
    mark->range = range;
    for (uint64_t at = 0; at < valid; at += KEEL_STORE_LEAF) {
        mark->sums[at / KEEL_STORE_LEAF] =
            keel_crc(0, bytes + at, (valid - at < KEEL_STORE_LEAF) ? valid - at : KEEL_STORE_LEAF);
    }
    mark->sum = keel_store_mark_sum(store, mark);
    push->summed = number + 1;
    return bytes;
}

/* 1 + incarnation of the present process of the holder. */
static uint32_t life_of(const keel_lane_t *lane, uint32_t holder)
{
    return 1 + ((holder == lane->rank) ? lane->incarnation : lane->peers[holder].incarnation);
}

/* Pushes the copy of push->entry. KEEL_OK: done, or the holder has it. */
static keel_status_t push_entry(keel_store_push_t *push)
{
    keel_store_h store = push->store;
    keel_lane_t *lane = &store->ctx->lane;
    const uint32_t copies = store->place.params.copies;
    const uint64_t number = push->entry / copies, range = lane->rank * store->place.params.ranges + number;
    const uint64_t valid = keel_store_range_valid(store, range, push->total);
    const keel_store_cell_t cell = keel_store_place_find(&store->place, range, (uint32_t)(push->entry % copies));
    const uint64_t offset = keel_store_cell_offset(store, push->slot, cell.index);
    keel_status_t status = KEEL_OK;
    uint32_t life;
    uint8_t *base;

    if (cell.holder == KEEL_STORE_NO_HOLDER) {
        return KEEL_OK;
    }
    life = life_of(lane, cell.holder);
    if (push->life != life && !KEEL_PLANT(store_push_life_kept)) {
        push->stage = 0;
        push->life = life;
    }
    if (!is_ready(store, cell.holder)) {
        push->stage = KEEL_PLANT(store_push_life_kept) ? push->stage : 0;
        return KEEL_INPROGRESS;
    }
    if (store->pushed[push->entry] == life) {
        return KEEL_OK;
    }
    if (keel_lane_region_size(lane, cell.holder, store->win->region) != store->win->size) {
        keel_error_ctx(store->ctx, "keel_store_submit: the store of rank %u has other parameters", cell.holder);
        return KEEL_ERR_INVALID_PARAM;
    }
    base = keel_access_at(lane, cell.holder, store->win->region);
    if (base != NULL) {
        push_by_stores(push, (char *)base + offset, push_range(push, number, range, valid), valid);
        push->moves++;
    } else {
        status = push_by_messages(push, cell.holder, offset, push_range(push, number, range, valid), valid);
    }
    if (status == KEEL_OK) {
        store->pushed[push->entry] = life;
        store->ctx->stats.store_push_bytes += (push->is_update && push->ranges[number] == NULL) ? 0 : valid;
        push->stage = 0;
    }
    return status;
}

void keel_store_push_begin(keel_store_push_t *push)
{
    const struct keel_store *store = push->store;

    memset(store->pushed, 0, keel_store_cells(store) * sizeof(*store->pushed));
    push->entry = push->stage = push->summed = push->moves = 0;
    push->life = 0;
    push->changes = store->ctx->lane.changes;
}

keel_status_t keel_store_push_step(keel_store_push_t *push)
{
    const struct keel_store *store = push->store;
    const uint64_t entries = keel_store_cells(store), moves = push->moves;
    keel_status_t status = KEEL_OK;

    if (push->entry == entries && push->changes != store->ctx->lane.changes) {
        push->entry = 0;
        push->changes = store->ctx->lane.changes;
    }
    while (status == KEEL_OK && push->entry < entries && push->moves == moves) {
        status = push_entry(push);
        push->entry += status == KEEL_OK;
    }
    if (status != KEEL_OK || push->entry < entries || push->changes != store->ctx->lane.changes) {
        return (status == KEEL_OK) ? KEEL_INPROGRESS : status;
    }
    keel_store_fence();
    return is_pipe_empty(store) ? KEEL_OK : KEEL_INPROGRESS;
}

keel_status_t keel_store_push_all(keel_store_push_t *push)
{
    keel_context_h ctx = push->store->ctx;
    keel_status_t status = KEEL_INPROGRESS;
    unsigned rounds = 0;

    while (status == KEEL_INPROGRESS) {
        const uint64_t moves = push->moves;

        status = keel_store_push_step(push);
        if (status == KEEL_INPROGRESS && push->moves == moves) {
            const keel_status_t waited = keel_context_wait(ctx, &rounds);

            status = (waited == KEEL_OK) ? status : waited;
        } else {
            rounds = 0;
            keel_context_poll(ctx); /* other ranks may have died */
        }
    }
    return status;
}
