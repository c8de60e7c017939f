/*
 * A load: reads of the newest version at the position of the caller. A version never changes, so a
 * replacement loads the same bytes again, and no log is needed.
 *
 * Lost blocks. A holder without the cell may be about to get it: as long as its word in the head
 * does not say that it is done with the version, or it is not back after a death, the load waits.
 * No refill waits for a load, so this ends. Then each holder is asked once more. A rank that
 * re-executes may find no copy because the version is overwritten: the generation in use is kept,
 * so the job rolls back there.
 */
#include "store/store_read.h"
#include "store/store_fetch.h"
#include "store/store_state.h"

#include "base/memory.h"
#include "check/plant.h"
#include "ckpt/gather.h"
#include "engine/refuse.h"
#include "recovery/recover.h"
#include "recovery/rollback_request.h"

#include <string.h>

/* ---- the wants of a load ---- */

keel_status_t keel_store_refuse_range(keel_store_h store, const keel_store_part_t *part, uint64_t submitted)
{
    keel_error_ctx(store->ctx, "keel_store_load: blocks %lu to %lu of rank %u, which has %lu at most",
                   (unsigned long)part->first, (unsigned long)(part->first + part->count), part->rank,
                   (unsigned long)submitted);
    return KEEL_ERR_RANGE;
}

/* @a unit: bytes of a block, here as below */
keel_status_t keel_store_read_check(keel_store_h store, uint64_t unit, const keel_store_part_t *part)
{
    const keel_store_head_t *head = keel_store_head(store);
    const uint64_t most = store->bytes / unit;

    if (part->buffer == NULL && part->count > 0) {
        return keel_refuse_null("keel_store_load: the buffer of a part");
    }
    if (part->rank >= store->place.params.ranks) {
        keel_error_ctx(store->ctx, "keel_store_load: there is no rank %u in a job of %u", part->rank,
                       store->place.params.ranks);
        return KEEL_ERR_RANK;
    }
    if (part->first > most || part->count > most - part->first) {
        return keel_store_refuse_range(store, part, most);
    }
    if (part->count > 0 && head->newest > 0 && keel_store_is_without(store, head->newest - 1, part->rank)) {
        return keel_store_refuse_range(store, part, 0);
    }
    return KEEL_OK;
}

/* Adds the reads of a part, one for each chunk; NULL: counts them alone. */
static size_t part_wants(const struct keel_store *store, uint64_t unit, const keel_store_part_t *part, uint32_t number,
                         keel_store_want_t *wants)
{
    const uint64_t end = (part->first + part->count) * unit;
    uint64_t at = part->first * unit;
    uint8_t *to = part->buffer;
    size_t count = 0;

    while (at < end) {
        const uint64_t inside = at % store->range_bytes, chunk = inside - inside % store->chunk + store->chunk;
        const uint64_t most = ((chunk < store->range_bytes) ? chunk : store->range_bytes) - inside;
        const uint64_t length = (end - at < most) ? end - at : most;

        if (wants != NULL) {
            wants[count] =
                (keel_store_want_t){.range = part->rank * store->place.params.ranges + at / store->range_bytes,
                                    .begin = (uint32_t)inside,
                                    .end = (uint32_t)(inside + length),
                                    .part = number,
                                    .to = to};
        }
        count++;
        at += length;
        to += length;
    }
    return count;
}

/* ---- no copy ---- */

keel_status_t keel_store_read_head(keel_store_h store, uint32_t rank, uint64_t offset, void *to, size_t length)
{
    const keel_gather_source_t words = {.rank = rank, .region = store->win->region, .offset = offset, .length = length};
    keel_status_t status = KEEL_OK;
    keel_gather_piece_t *piece;
    keel_gather_t *gather;
    unsigned rounds = 0;

    if (!keel_store_is_readable(store, rank) || keel_gather_create(&store->ctx->lane, 1, 1, &gather) != KEEL_OK) {
        return KEEL_ERR_UNREACHABLE;
    }
    piece = keel_gather_next(gather);
    piece->sources[0] = words;
    piece->source_count = 1;
    piece->length = length;
    keel_gather_begin(gather);
    while ((piece = keel_gather_ready(gather)) == NULL && keel_gather_status(gather) == KEEL_OK && status == KEEL_OK) {
        status = keel_context_wait(store->ctx, &rounds);
    }
    if (piece != NULL) {
        memcpy(to, piece->sources[0].data, length);
    } else if (status == KEEL_OK) {
        status = keel_gather_status(gather);
    }
    keel_gather_destroy(gather);
    return status;
}

/* Asks the holders of wants[done] for the words about the version of the slot that is complete
 * there. */
static void ask_begin(keel_store_reading_t *reading)
{
    const keel_store_fetch_t *fetch = reading->fetch;
    const struct keel_store *store = fetch->store;
    const uint64_t range = fetch->wants[fetch->done].range;
    const uint32_t copies = store->place.params.copies;
    keel_gather_piece_t *piece;

    if (keel_gather_create(&store->ctx->lane, copies, 1, &reading->asking) != KEEL_OK) {
        return;
    }
    piece = keel_gather_next(reading->asking);
    piece->length = sizeof(uint64_t);
    for (uint32_t copy = 0; copy < copies; copy++) {
        const uint32_t holder = keel_store_place_find(&store->place, range, copy).holder;

        if (holder == KEEL_STORE_NO_HOLDER) {
            continue;
        }
        piece->sources[piece->source_count++] =
            (keel_gather_source_t){.rank = holder,
                                   .region = store->win->region,
                                   .offset = offsetof(keel_store_head_t, complete) + fetch->slot * sizeof(uint64_t),
                                   .length = sizeof(uint64_t)};
    }
    keel_gather_begin(reading->asking);
}

static void ask_end(keel_store_reading_t *reading)
{
    keel_gather_destroy(reading->asking);
    reading->asking = NULL;
}

/* True if all holders have answered to be done. *over_p: no answer is outstanding. */
static int ask_is_done(const keel_store_reading_t *reading, int *over_p)
{
    keel_gather_piece_t *piece = (reading->asking != NULL) ? keel_gather_ready(reading->asking) : NULL;
    int is_done = piece != NULL;

    *over_p = piece != NULL || reading->asking == NULL || keel_gather_status(reading->asking) != KEEL_OK;
    for (unsigned i = 0; piece != NULL && i < piece->source_count; i++) {
        uint64_t word;

        memcpy(&word, piece->sources[i].data, sizeof(word));
        is_done = is_done && word == keel_store_complete_word(reading->fetch->store, reading->fetch->label);
    }
    return is_done;
}

static void report_lost(const keel_store_fetch_t *fetch)
{
    const struct keel_store *store = fetch->store;
    const keel_store_want_t *want = &fetch->wants[fetch->done];
    const uint64_t ranges = store->place.params.ranges;
    const uint64_t at = want->range % ranges * store->range_bytes + want->begin;

    keel_error_ctx(store->ctx,
                   "keel_store_load: %s %lu of rank %lu is lost: all ranks with a copy have died, and none was back "
                   "with its copies before the last one died",
                   (store->block_bytes > 0) ? "block" : "byte",
                   (unsigned long)((store->block_bytes > 0) ? at / store->block_bytes : at),
                   (unsigned long)(want->range / ranges));
}

/* No copy of wants[done] can be read now. KEEL_INPROGRESS: another step is needed, or the block is
 * lost. */
static keel_status_t step_without_copy(keel_store_reading_t *reading)
{
    keel_store_fetch_t *fetch = reading->fetch;
    keel_context_h ctx = fetch->store->ctx;
    const int is_nowhere = keel_store_fetch_is_nowhere(fetch);
    const int is_replay = keel_recovery_state(&ctx->rec) != KEEL_RANK_FRONT;
    int is_over = 1;

    if (is_nowhere && is_replay && !KEEL_PLANT(store_read_lost_in_replay)) {
        return keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_NO_ROOM);
    }
    if (is_nowhere && (reading->is_asked || is_replay)) {
        if (reading->result == KEEL_OK) {
            report_lost(fetch);
        }
        reading->result = reading->parts[fetch->wants[fetch->done].part].status = KEEL_ERR_LOST;
        keel_store_fetch_skip(fetch);
        ctx->stats.store_losses++;
        reading->is_asked = 0;
        return KEEL_INPROGRESS;
    }
    if (is_nowhere && reading->asking == NULL) {
        ask_begin(reading);
    }
    if (is_nowhere) {
        reading->is_asked = ask_is_done(reading, &is_over);
    }
    if (is_over) {
        ask_end(reading);
        keel_store_fetch_retry(fetch);
    }
    return KEEL_INPROGRESS;
}

/* ---- reads ---- */

keel_status_t keel_store_reading_step(keel_store_reading_t *reading)
{
    keel_store_fetch_t *fetch = reading->fetch;
    const size_t done = fetch->done;
    keel_status_t status = keel_store_fetch_step(fetch);

    if (fetch->done != done) {
        ask_end(reading);
        reading->is_asked = 0;
    }
    if (status == KEEL_ERR_UNREACHABLE) {
        return step_without_copy(reading);
    }
    if (status == KEEL_ERR_RANGE) {
        (void)keel_store_refuse_range(fetch->store, &reading->parts[fetch->wants[fetch->done].part],
                                      fetch->mark->total / reading->unit);
    }
    return (status == KEEL_OK) ? reading->result : status;
}

void keel_store_reading_end(keel_store_reading_t *reading)
{
    ask_end(reading);
    keel_store_fetch_free(reading->fetch);
    reading->fetch = NULL;
}

static keel_status_t reading_run(keel_store_reading_t *reading)
{
    keel_status_t status = keel_store_reading_step(reading);
    unsigned rounds = 0;

    while (status == KEEL_INPROGRESS) {
        status = keel_context_wait(reading->fetch->store->ctx, &rounds);
        status = (status == KEEL_OK) ? keel_store_reading_step(reading) : status;
    }
    return status;
}

static keel_status_t refuse_empty(keel_store_h store)
{
    keel_error_ctx(store->ctx, "keel_store_load: nothing was submitted to the store");
    return KEEL_ERR_STATE;
}

keel_status_t keel_store_reading_begin(keel_store_reading_t *reading, keel_store_h store, uint64_t unit,
                                       keel_store_part_t *parts, unsigned count)
{
    const keel_store_head_t *head = keel_store_head(store);
    keel_status_t status = KEEL_OK;
    size_t wants = 0, filled = 0;

    *reading = (keel_store_reading_t){.parts = parts, .unit = unit};
    if (head->newest == 0) {
        return refuse_empty(store);
    }
    for (unsigned i = 0; i < count && status == KEEL_OK; i++) {
        status = keel_store_read_check(store, unit, &parts[i]);
        wants += (status == KEEL_OK) ? part_wants(store, unit, &parts[i], i, NULL) : 0;
        store->ctx->stats.store_load_bytes += (status == KEEL_OK) ? parts[i].count * unit : 0;
        parts[i].status = KEEL_OK;
    }
    status = (status == KEEL_OK) ? keel_store_fetch_create(store, wants, &reading->fetch) : status;
    if (status != KEEL_OK) {
        return status;
    }
    for (unsigned i = 0; i < count; i++) {
        filled += part_wants(store, unit, &parts[i], i, reading->fetch->wants + filled);
    }
    keel_store_fetch_begin(reading->fetch, head->newest - 1, head->label[head->newest - 1], filled);
    return KEEL_OK;
}

keel_status_t keel_store_read(keel_store_h store, uint64_t unit, keel_store_part_t *parts, unsigned count)
{
    keel_store_reading_t reading;
    keel_status_t status = keel_store_reading_begin(&reading, store, unit, parts, count);

    status = (status == KEEL_OK) ? reading_run(&reading) : status;
    keel_store_reading_end(&reading);
    return status;
}

/* The mark of the first range has the number of bytes. */
keel_status_t keel_store_read_total(keel_store_h store, uint32_t rank, uint64_t *total_p)
{
    const keel_store_head_t *head = keel_store_head(store);
    keel_store_part_t part = {.rank = rank};
    keel_store_reading_t reading = {.parts = &part, .unit = 1};
    keel_status_t status;

    if (head->newest == 0) {
        return refuse_empty(store);
    }
    status = keel_store_fetch_create(store, 1, &reading.fetch);
    if (status != KEEL_OK) {
        return status;
    }
    reading.fetch->wants[0] = (keel_store_want_t){.range = rank * store->place.params.ranges};
    keel_store_fetch_begin(reading.fetch, head->newest - 1, head->label[head->newest - 1], 1);
    status = reading_run(&reading);
    *total_p = reading.fetch->mark->total;
    keel_store_reading_end(&reading);
    return status;
}
