/* Reads of a version's bytes, and their check. */
#include "store/store_fetch.h"

#include "base/crc.h"
#include "base/memory.h"
#include "check/plant.h"
#include "ckpt/gather.h"
#include "peer/region.h"
#include "peer/store.h"

#include <string.h>

enum { FETCH_AHEAD = 8, SOURCE_MARK = 0, SOURCE_BYTES = 1, SOURCE_LABEL = 2, SOURCES = 3 };

keel_status_t keel_store_fetch_create(keel_store_h store, size_t room, keel_store_fetch_t **fetch_p)
{
    keel_store_fetch_t *fetch = keel_alloc(sizeof(*fetch) + room * sizeof(*fetch->wants), "reads of a store");
    keel_status_t status;

    if (fetch == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    fetch->store = store;
    fetch->room = room;
    fetch->mark = keel_alloc(store->mark_bytes, "mark of a store");
    status = (fetch->mark == NULL) ? KEEL_ERR_NO_MEMORY
                                   : keel_gather_create(&store->ctx->lane, SOURCES, FETCH_AHEAD, &fetch->gather);
    if (status != KEEL_OK) {
        keel_store_fetch_free(fetch);
        return status;
    }
    *fetch_p = fetch;
    return KEEL_OK;
}

void keel_store_fetch_free(keel_store_fetch_t *fetch)
{
    if (fetch != NULL) {
        keel_gather_destroy(fetch->gather);
        keel_free(fetch->mark);
        keel_free(fetch);
    }
}

void keel_store_fetch_begin(keel_store_fetch_t *fetch, uint32_t slot, uint64_t label, size_t count)
{
    keel_gather_reset(fetch->gather);
    fetch->slot = slot;
    fetch->label = label;
    fetch->count = count;
    fetch->begun = fetch->done = 0;
}

/* Gives up the reads under way: they begin again from the oldest one. */
static void fetch_restart(keel_store_fetch_t *fetch)
{
    keel_gather_reset(fetch->gather);
    fetch->begun = fetch->done;
}

void keel_store_fetch_skip(keel_store_fetch_t *fetch)
{
    fetch->done++;
    fetch_restart(fetch);
}

void keel_store_fetch_retry(keel_store_fetch_t *fetch)
{
    fetch->wants[fetch->done].tried = fetch->wants[fetch->done].unread = 0;
    fetch_restart(fetch);
}

int keel_store_fetch_is_nowhere(const keel_store_fetch_t *fetch)
{
    const struct keel_store *store = fetch->store;
    const keel_store_want_t *want = &fetch->wants[fetch->done];

    for (uint32_t copy = 0; copy < store->place.params.copies; copy++) {
        const uint32_t holder = keel_store_place_find(&store->place, want->range, copy).holder;

        if (holder != KEEL_STORE_NO_HOLDER && !(want->tried & (1u << copy)) &&
            !(fetch->is_refill && holder == store->ctx->lane.rank)) {
            return 0;
        }
    }
    return want->unread == 0;
}

int keel_store_is_readable(const struct keel_store *store, uint32_t holder)
{
    keel_lane_t *lane = &store->ctx->lane;

    return holder == lane->rank ||
           (lane->peers[holder].is_up && keel_lane_region_is_known(lane, holder, store->win->region));
}

/* ---- the choice of a copy ---- */

/* Own memory first, then another holder for each reader. Returns the number of copies: none. */
static uint32_t pick_copy(const keel_store_fetch_t *fetch, const keel_store_want_t *want, keel_store_cell_t *cell_p)
{
    const struct keel_store *store = fetch->store;
    const uint32_t copies = store->place.params.copies, own = store->ctx->lane.rank;
    const uint32_t first = (uint32_t)((own * 2654435761u ^ want->range * 40503u) % copies);
    uint32_t picked = copies;

    for (uint32_t i = 0; i < copies; i++) {
        const uint32_t copy = (first + i) % copies;
        const keel_store_cell_t cell = keel_store_place_find(&store->place, want->range, copy);

        if (cell.holder == KEEL_STORE_NO_HOLDER || (want->tried & (1u << copy)) ||
            !keel_store_is_readable(store, cell.holder) || (cell.holder == own && fetch->is_refill)) {
            continue;
        }
        if (cell.holder == own) {
            *cell_p = cell;
            return copy;
        }
        if (picked == copies) {
            *cell_p = cell;
            picked = copy;
        }
    }
    return picked;
}

/* First byte of the first leaf, and the end of the last leaf. */
static uint32_t want_from(const keel_store_want_t *want)
{
    return want->begin / KEEL_STORE_LEAF * KEEL_STORE_LEAF;
}
static uint32_t want_length(const keel_store_want_t *want)
{
    const uint32_t end = (want->end > want->begin) ? want->end : want->begin + 1;

    return (end + KEEL_STORE_LEAF - 1) / KEEL_STORE_LEAF * KEEL_STORE_LEAF - want_from(want);
}

/* Begins the next read. KEEL_INPROGRESS: not possible now. */
static keel_status_t fetch_begin(keel_store_fetch_t *fetch)
{
    const struct keel_store *store = fetch->store;
    keel_store_want_t *want = &fetch->wants[fetch->begun];
    const uint64_t work = keel_gather_work(fetch->gather);
    keel_gather_source_t *sources;
    keel_gather_piece_t *piece;
    keel_store_cell_t cell = {0};
    const uint32_t copy = pick_copy(fetch, want, &cell);
    uint64_t offset;

    if (copy == store->place.params.copies) {
        return (fetch->begun == fetch->done) ? KEEL_ERR_UNREACHABLE : KEEL_INPROGRESS;
    }
    piece = keel_gather_next(fetch->gather);
    if (piece == NULL) {
        return KEEL_INPROGRESS;
    }
    offset = keel_store_cell_offset(store, fetch->slot, cell.index);
    sources = piece->sources;
    for (unsigned i = 0; i < SOURCES; i++) {
        sources[i] =
            (keel_gather_source_t){.rank = cell.holder, .region = store->win->region, .offset = offset, .member = copy};
    }
    sources[SOURCE_MARK].length = store->mark_bytes;
    sources[SOURCE_BYTES].offset = offset + store->mark_bytes + want_from(want);
    sources[SOURCE_BYTES].length = want_length(want);
    sources[SOURCE_LABEL].length = sizeof(uint64_t);
    piece->source_count = SOURCES;
    piece->length = (store->mark_bytes > want_length(want)) ? store->mark_bytes : want_length(want);
    keel_gather_begin(fetch->gather);
    if (keel_gather_work(fetch->gather) != work) {
        const keel_status_t status = keel_gather_status(fetch->gather);

        fetch_restart(fetch);
        if (status == KEEL_ERR_NO_MEMORY) {
            return status;
        }
        want->tried |= 1u << copy;
        /* KEEL_ERR_CORRUPT: the holder has no such cell */
        want->unread |= (status == KEEL_ERR_CORRUPT) ? 0 : 1u << copy;
        return KEEL_OK;
    }
    fetch->begun++;
    return KEEL_OK;
}

/* ---- the check ---- */

static uint64_t label_at(const void *label)
{
    return __atomic_load_n((const uint64_t *)label, __ATOMIC_ACQUIRE);
}

static int mark_fits(const keel_store_fetch_t *fetch, const keel_store_want_t *want)
{
    const keel_store_mark_t *mark = fetch->mark;

    return mark->label == fetch->label && mark->range == want->range &&
           mark->sum == keel_store_mark_sum(fetch->store, mark);
}

/* Sums a leaf, and copies its wanted bytes: in one pass where all of it is wanted. */
static uint32_t leaf_take(const keel_store_fetch_t *fetch, const keel_store_want_t *want, const uint8_t *leaf,
                          uint64_t at, uint64_t end)
{
    const uint64_t from = (want->begin > at) ? want->begin : at, until = (want->end < end) ? want->end : end;
    uint8_t *to = want->to + (from - want->begin);

    if (from >= until) {
        return keel_crc(0, leaf, end - at);
    }
    if (fetch->is_refill) {
        keel_store_bytes(to, leaf + (from - at), until - from);
    } else if (from == at && until == end) {
        return keel_crc_copy_kept(0, to, leaf, end - at);
    } else {
        memcpy(to, leaf + (from - at), until - from);
    }
    return keel_crc(0, leaf, end - at);
}

/* Copies the wanted bytes that the range has. Returns 0 if a leaf does not fit its sum. */
static int leaves_take(const keel_store_fetch_t *fetch, const keel_store_want_t *want, const uint8_t *bytes)
{
    const uint64_t valid = keel_store_range_valid(fetch->store, want->range, fetch->mark->total);
    const uint64_t first = want_from(want);
    const uint64_t end = (first + want_length(want) < valid) ? first + want_length(want) : valid;
    int fits = 1;

    for (uint64_t at = first; at < end && fits; at += KEEL_STORE_LEAF) {
        const uint64_t next = (end - at < KEEL_STORE_LEAF) ? end : at + KEEL_STORE_LEAF;

        fits = leaf_take(fetch, want, bytes + (at - first), at, next) == fetch->mark->sums[at / KEEL_STORE_LEAF] ||
               KEEL_PLANT(store_fetch_unsummed);
    }
    return fits;
}

/* Takes the bytes of the oldest read, or notes that the copy cannot be used. */
static keel_status_t fetch_take(keel_store_fetch_t *fetch, const keel_gather_piece_t *piece)
{
    keel_store_want_t *want = &fetch->wants[fetch->done];
    const uint32_t copy = piece->sources[SOURCE_MARK].member;
    const uint8_t *bytes = piece->sources[SOURCE_BYTES].data, *label = piece->sources[SOURCE_LABEL].data;
    int fits = KEEL_PLANT(store_fetch_any_label) || label_at(piece->sources[SOURCE_MARK].data) == fetch->label;
    int is_beyond;

    /* memory that is mapped here may change until the label is looked at again */
    memcpy(fetch->mark, piece->sources[SOURCE_MARK].data, fetch->store->mark_bytes);
    fetch->mark->label = KEEL_PLANT(store_fetch_any_label) ? fetch->label : fetch->mark->label;
    fits = fits && mark_fits(fetch, want);
    is_beyond =
        fits && !fetch->is_refill && want->end > keel_store_range_valid(fetch->store, want->range, fetch->mark->total);
    fits = fits && (is_beyond || leaves_take(fetch, want, bytes));
    keel_load_fence();
    fits = fits && (KEEL_PLANT(store_fetch_any_label) || label_at(label) == fetch->label);
    fits = fits || (fetch->is_refill && KEEL_PLANT(store_fetch_refill_unchecked));
    keel_gather_done(fetch->gather);
    if (fits && is_beyond) {
        return KEEL_ERR_RANGE;
    }
    if (fits) {
        fetch->done++;
    } else {
        want->tried |= 1u << copy;
        fetch_restart(fetch);
    }
    return KEEL_OK;
}

keel_status_t keel_store_fetch_step(keel_store_fetch_t *fetch)
{
    keel_status_t status;

    while (fetch->done < fetch->count) {
        const keel_gather_piece_t *piece;

        status = KEEL_OK;
        while (status == KEEL_OK && fetch->begun < fetch->count) {
            status = fetch_begin(fetch);
        }
        if (status != KEEL_OK && status != KEEL_INPROGRESS) {
            return status;
        }
        piece = keel_gather_ready(fetch->gather);
        if (piece == NULL && keel_gather_status(fetch->gather) != KEEL_OK) {
            fetch_restart(fetch); /* a holder has died: another copy is picked */
            return KEEL_INPROGRESS;
        }
        if (piece == NULL) {
            return KEEL_INPROGRESS;
        }
        status = fetch_take(fetch, piece);
        if (status != KEEL_OK) {
            return status;
        }
    }
    return KEEL_OK;
}
