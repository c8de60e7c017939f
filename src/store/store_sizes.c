/* Blocks of different sizes: directory and loads. */
#include "store/store_sizes.h"
#include "store/store_read.h"

#include "base/memory.h"
#include "engine/refuse.h"
#include "engine/threads.h"

#include <limits.h>
#include <string.h>

enum { WORD = sizeof(uint64_t) };

/* ---- a submit ---- */

/* @a to NULL: passes over the bytes. */
static void emit_to(keel_store_emit_t *emit, uint8_t *to, uint64_t length)
{
    while (length > 0 && emit->word <= emit->count) {
        const uint64_t size = (emit->word > 0) ? emit->blocks[emit->word - 1].bytes : 0;
        const uint64_t word = (emit->word > 0) ? emit->end + size : emit->count;

        if (to != NULL) {
            memcpy(to, &word, WORD);
            to += WORD;
        }
        emit->end += size;
        emit->word++;
        length -= WORD;
    }
    while (length > 0 && emit->block < emit->count) {
        const keel_store_block_t *block = &emit->blocks[emit->block];
        const uint64_t rest = block->bytes - emit->at, part = (rest < length) ? rest : length;

        if (part > 0 && to != NULL) {
            memcpy(to, (const uint8_t *)block->buffer + emit->at, part);
            to += part;
        }
        emit->at += part;
        length -= part;
        if (emit->at == block->bytes) {
            emit->block++;
            emit->at = 0;
        }
    }
}

void keel_store_emit(keel_store_emit_t *state, uint8_t *to, uint64_t length)
{
    emit_to(state, to, length);
}

void keel_store_emit_skip(keel_store_emit_t *state, uint64_t length)
{
    emit_to(state, NULL, length);
}

uint64_t keel_store_emit_total(const keel_store_block_t *blocks, uint64_t count, uint64_t most)
{
    uint64_t total = WORD;

    for (uint64_t i = 0; i < count && total <= most; i++) {
        total += WORD;
        total = (total > most || blocks[i].bytes > most - total) ? UINT64_MAX : total + blocks[i].bytes;
    }
    return (total <= most) ? total : UINT64_MAX;
}

/* ---- loads ---- */

static keel_status_t sizes_check(keel_store_h store, const keel_store_part_t *part)
{
    const uint64_t most = store->bytes / WORD;

    if (part->first <= most && part->count <= most - part->first) {
        return KEEL_OK;
    }
    return keel_store_refuse_range(store, part, most);
}

/* Three words of the directory of each part: the number of blocks, the end of the blocks before the
 * part, the end of its last block. */
static keel_status_t words_load(keel_store_h store, keel_store_part_t *parts, unsigned count, uint64_t *words,
                                keel_store_part_t *reads)
{
    keel_status_t status = KEEL_OK;

    for (unsigned i = 0; i < count && status == KEEL_OK; i++) {
        const uint64_t at[3] = {0, parts[i].first, parts[i].first + parts[i].count};

        status = sizes_check(store, &parts[i]);
        for (unsigned k = 0; k < 3; k++) {
            reads[3 * i + k] = (keel_store_part_t){
                .rank = parts[i].rank, .first = WORD * at[k], .count = WORD, .buffer = &words[3 * i + k]};
        }
    }
    status = (status == KEEL_OK) ? keel_store_read(store, 1, reads, 3 * count) : status;
    for (unsigned i = 0; i < count && (status == KEEL_OK || status == KEEL_ERR_LOST); i++) {
        const int is_lost =
            reads[3 * i].status != KEEL_OK || reads[3 * i + 1].status != KEEL_OK || reads[3 * i + 2].status != KEEL_OK;

        parts[i].status = is_lost ? KEEL_ERR_LOST : KEEL_OK;
        if (!is_lost && parts[i].first + parts[i].count > words[3 * i]) {
            return keel_store_refuse_range(store, &parts[i], words[3 * i]);
        }
        words[3 * i + 1] = (parts[i].first > 0) ? words[3 * i + 1] : 0;
        words[3 * i + 2] = (parts[i].first + parts[i].count > 0) ? words[3 * i + 2] : 0;
    }
    return status;
}

/* The bytes of the parts, by the directories. */
static void blocks_find(const keel_store_part_t *parts, unsigned count, const uint64_t *words, keel_store_part_t *reads)
{
    for (unsigned i = 0; i < count; i++) {
        const uint64_t *word = &words[3 * i];
        const int is_read = parts[i].status == KEEL_OK && word[2] >= word[1];

        reads[i] = (keel_store_part_t){.rank = parts[i].rank,
                                       .first = WORD * (1 + word[0]) + word[1],
                                       .count = is_read ? word[2] - word[1] : 0,
                                       .buffer = parts[i].buffer};
        reads[i].first = is_read ? reads[i].first : 0;
    }
}

keel_status_t keel_store_sized_begin(keel_store_h store, keel_store_part_t *parts, unsigned count,
                                     keel_store_part_t **reads_p)
{
    uint64_t *words;
    keel_status_t status;

    if (count > UINT_MAX / 3) {
        keel_error_ctx(store->ctx, "keel_store_load: %u parts are more than one call takes", count);
        return KEEL_ERR_LIMIT;
    }
    words = keel_alloc(3 * (size_t)count * sizeof(*words) + 1, "directory of a store");
    *reads_p = keel_alloc(3 * (size_t)count * sizeof(**reads_p) + 1, "reads of a directory");
    status = (words == NULL || *reads_p == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
    status = (status == KEEL_OK) ? words_load(store, parts, count, words, *reads_p) : status;
    if (status == KEEL_OK || status == KEEL_ERR_LOST) {
        blocks_find(parts, count, words, *reads_p);
    }
    keel_free(words);
    return status;
}

void keel_store_sized_end(keel_store_part_t *parts, const keel_store_part_t *reads, unsigned count,
                          keel_status_t status)
{
    for (unsigned i = 0; i < count && status == KEEL_ERR_LOST; i++) {
        parts[i].status = (reads[i].status != KEEL_OK) ? reads[i].status : parts[i].status;
    }
}

keel_status_t keel_store_load_sized(keel_store_h store, keel_store_part_t *parts, unsigned count)
{
    keel_store_part_t *reads = NULL;
    keel_status_t status = keel_store_sized_begin(store, parts, count, &reads);

    if (status == KEEL_OK || status == KEEL_ERR_LOST) {
        const keel_status_t loaded = keel_store_read(store, 1, reads, count);

        keel_store_sized_end(parts, reads, count, loaded);
        status = (loaded == KEEL_OK) ? status : loaded;
    }
    keel_free(reads);
    return status;
}

keel_status_t keel_store_sizes(keel_store_h store, uint32_t rank, uint64_t first, uint64_t count, uint64_t *bytes)
{
    KEEL_INSIDE((store != NULL) ? store->ctx : NULL);
    keel_store_part_t part = {.rank = rank, .first = first, .count = count};
    keel_store_part_t read = {.rank = rank, .first = WORD * (1 + first), .count = WORD * count, .buffer = bytes};
    keel_store_part_t words[3];
    uint64_t word[3], end;
    keel_status_t status;

    if (store == NULL || (bytes == NULL && count > 0)) {
        return keel_refuse_null(store == NULL ? "the store" : "keel_store_sizes: where the sizes are to go");
    }
    status = (store->block_bytes > 0) ? keel_store_refuse_size(store, "keel_store_sizes")
                                      : keel_store_begin_load(store, "keel_store_sizes");
    if (status == KEEL_OK) {
        status = words_load(store, &part, 1, word, words);
        status = (status == KEEL_OK) ? keel_store_read(store, 1, &read, 1) : status;
        keel_store_end_load(store);
    }
    end = (status == KEEL_OK) ? word[1] : 0;
    for (uint64_t i = 0; status == KEEL_OK && i < count; i++) {
        const uint64_t next = bytes[i];

        bytes[i] = next - end;
        end = next;
    }
    return keel_context_end(store->ctx, status);
}
