/* Chunks of LG. */
#include "oplog/get_log_chunks.h"

#include "peer/region.h"
#include "peer/store.h"

#include <string.h>

#define CHUNK_SIZE_MAX (64u * 1024)
#define CHUNK_SIZE_MIN 1024u
/* Room for heads. Without the room, two gets of 32 KiB would take two chunks. */
#define CHUNK_HEADS   1024u
#define CHUNKS_WANTED 256

uint32_t keel_get_chunk_size(size_t size)
{
    uint32_t chunk = CHUNK_SIZE_MAX;

    while (chunk > CHUNK_SIZE_MIN && size < (size_t)chunk * CHUNKS_WANTED) {
        chunk /= 2;
    }
    if (size < CHUNK_SIZE_MIN) {
        return 0;
    }
    return (chunk == CHUNK_SIZE_MAX) ? chunk + CHUNK_HEADS : chunk;
}

static keel_get_chunk_t *chunk_at(const void *arena, uint32_t chunk_size, uint32_t index)
{
    return (keel_get_chunk_t *)((char *)arena + (size_t)index * chunk_size);
}

/* Sources begin at chunks apart: a prime that does not divide the usual 252 chunks. */
#define SPREAD 11u

static keel_get_chunk_t *chunk_claim(void *arena, size_t size, uint32_t chunk_size, keel_get_chunks_writer_t *writer,
                                     uint32_t source)
{
    const uint32_t count = (uint32_t)(size / chunk_size);

    for (uint32_t i = 0; i < count; i++) {
        /* Sources start at different chunks. After a trim the search starts again: with frequent
         * trims a source writes few chunks, which stay in cache. */
        const uint32_t passed = (writer->passed + i) % count, index = (source * SPREAD + passed) % count;
        keel_get_chunk_t *chunk = chunk_at(arena, chunk_size, index);
        uint32_t free = 0;

        if (chunk->owner == 0 && keel_store_half_exchange(&chunk->owner, &free, source + 1)) {
            keel_store_half(&chunk->number, writer->number++);
            writer->chunk = index + 1;
            writer->bytes = chunk_size;
            writer->passed = passed + 1;
            return chunk;
        }
    }
    return NULL;
}

int keel_get_chunks_open(void *arena, size_t size, uint32_t chunk_size, keel_get_chunks_writer_t *writer,
                         uint32_t source, size_t need, keel_get_chunk_place_t *place)
{
    const uint32_t room = chunk_size - (uint32_t)sizeof(keel_get_chunk_t);
    keel_get_chunk_t *chunk = (writer->chunk > 0) ? chunk_at(arena, chunk_size, writer->chunk - 1) : NULL;
    /* read once, since other processes can write there */
    uint32_t used = (chunk != NULL) ? chunk->used : 0;

    if (need > room) {
        return 0;
    }
    if (chunk == NULL || used > room || need > room - used) {
        if (chunk != NULL) {
            keel_store_half_release(&chunk->is_closed, 1);
        }
        chunk = chunk_claim(arena, size, chunk_size, writer, source);
        if (chunk == NULL) {
            writer->chunk = 0;
            return 0;
        }
        used = 0; /* chunks are freed with used = 0 */
    }
    *place =
        (keel_get_chunk_place_t){.chunk = chunk, .at = (char *)(chunk + 1) + used, .used = used, .room = room - used};
    return 1;
}

void keel_get_chunks_publish(const keel_get_chunk_place_t *place, uint32_t length, uint32_t last_phase)
{
    keel_store_half(&place->chunk->last_phase, last_phase);
    keel_store_half_release(&place->chunk->used, place->used + length);
}

static uint32_t record_bytes(const keel_get_record_t *record)
{
    return (uint32_t)(keel_get_record_size(record));
}

void *keel_get_chunks_begin(void *arena, size_t size, uint32_t chunk_size, keel_get_chunks_writer_t *writer,
                            uint32_t source, const keel_get_record_t *record, keel_get_chunk_place_t *place)
{
    if (!keel_get_chunks_open(arena, size, chunk_size, writer, source, record_bytes(record), place)) {
        return NULL;
    }
    keel_store_bytes(place->at, record, sizeof(*record));
    return place->at + sizeof(*record);
}

void keel_get_chunks_end(const keel_get_chunk_place_t *place, const keel_get_record_t *record)
{
    keel_get_chunks_publish(place, record_bytes(record), record->phase);
}

int keel_get_chunks_write(void *arena, size_t size, uint32_t chunk_size, keel_get_chunks_writer_t *writer,
                          uint32_t source, const keel_get_record_t *record, const void *data)
{
    keel_get_chunk_place_t place;
    void *at = keel_get_chunks_begin(arena, size, chunk_size, writer, source, record, &place);

    if (at == NULL) {
        return 0;
    }
    keel_store_bytes(at, data, record->length);
    keel_get_chunks_end(&place, record);
    return 1;
}

static int chunk_is_before(uint32_t a, uint32_t b)
{
    return KEEL_PLANT(get_log_chunks_by_number) ? a < b : (int32_t)(a - b) < 0;
}

const keel_get_chunk_t *keel_get_chunks_next(const void *arena, size_t size, uint32_t chunk_size, uint32_t source,
                                             keel_get_chunks_walk_t *walk)
{
    const keel_get_chunk_t *best = NULL;
    uint32_t number = 0; /* read once, since other processes can write there */

    for (uint32_t i = 0; walk->count < size / chunk_size && i < size / chunk_size; i++) {
        const keel_get_chunk_t *chunk = chunk_at(arena, chunk_size, i);
        const uint32_t its = chunk->number;

        /* an old number is possible if the source died between claim and number: the chunk is
         * empty then */
        if (chunk->owner == source + 1 && chunk->used > 0 && (walk->count == 0 || !chunk_is_before(its, walk->next)) &&
            (best == NULL || chunk_is_before(its, number))) {
            best = chunk;
            number = its;
        }
    }
    if (best != NULL) {
        walk->count++;
        walk->next = number + 1;
    }
    return best;
}

void keel_get_chunks_close(void *arena, size_t size, uint32_t chunk_size, uint32_t source,
                           keel_get_chunks_writer_t *writer)
{
    int has_any = 0;

    for (uint32_t i = 0; i < size / chunk_size; i++) {
        keel_get_chunk_t *chunk = chunk_at(arena, chunk_size, i);

        if (chunk->owner != source + 1) {
            continue;
        }
        keel_store_half(&chunk->is_closed, 1);
        if (chunk->used > 0 && (!has_any || !chunk_is_before(chunk->number, writer->number))) {
            has_any = 1;
            writer->number = chunk->number + 1;
        }
    }
    writer->chunk = 0;
}

void keel_get_chunks_trim(void *arena, size_t size, uint32_t chunk_size, uint32_t source, uint32_t phase)
{
    for (uint32_t i = 0; i < size / chunk_size; i++) {
        keel_get_chunk_t *chunk = chunk_at(arena, chunk_size, i);

        if (chunk->owner != 0 && (source == KEEL_GET_CHUNKS_ANY_SOURCE || chunk->owner == source + 1) &&
            __atomic_load_n(&chunk->is_closed, __ATOMIC_ACQUIRE) && chunk->last_phase < phase) {
            keel_store_half(&chunk->used, 0);
            keel_store_half(&chunk->is_closed, 0);
            keel_store_half_release(&chunk->owner, 0);
        }
    }
}

int keel_get_chunks_may_be_filled(const void *arena, size_t size, uint32_t chunk_size, uint32_t first, unsigned percent)
{
    const uint32_t count = (uint32_t)(size / chunk_size);
    uint32_t taken = 0, seen = 0;

    for (uint32_t i = first % KEEL_GET_CHUNKS_SAMPLES; i < count; i += KEEL_GET_CHUNKS_SAMPLES) {
        taken += (__atomic_load_n(&chunk_at(arena, chunk_size, i)->owner, __ATOMIC_RELAXED) != 0);
        seen++;
    }
    return (uint64_t)taken * 100 >= (uint64_t)seen * percent;
}

uint32_t keel_get_chunks_largest(const void *arena, size_t size, uint32_t chunk_size, uint32_t *counts,
                                 uint32_t sources, uint32_t *largest_p)
{
    uint32_t taken = 0, most = 0;

    memset(counts, 0, sources * sizeof(*counts));
    for (uint32_t i = 0; i < size / chunk_size; i++) {
        /* written concurrently by other processes: any value is possible */
        const uint32_t owner = __atomic_load_n(&chunk_at(arena, chunk_size, i)->owner, __ATOMIC_RELAXED);

        if (owner == 0 || owner > sources) {
            continue;
        }
        taken++;
        if (++counts[owner - 1] > most) {
            most = counts[owner - 1];
            *largest_p = owner - 1;
        }
    }
    return taken;
}

int keel_get_chunks_has_phase(const void *arena, size_t size, uint32_t chunk_size, uint32_t phase)
{
    for (uint32_t i = 0; i < size / chunk_size; i++) {
        const keel_get_chunk_t *chunk = chunk_at(arena, chunk_size, i);

        if (__atomic_load_n(&chunk->owner, __ATOMIC_RELAXED) != 0 &&
            __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE) > 0 &&
            __atomic_load_n(&chunk->last_phase, __ATOMIC_RELAXED) == phase) {
            return 1;
        }
    }
    return 0;
}

uint32_t keel_get_chunks_first_phase(const void *arena, size_t size, uint32_t chunk_size)
{
    uint32_t first = KEEL_PHASE_NONE;

    for (uint32_t i = 0; i < size / chunk_size; i++) {
        const keel_get_chunk_t *chunk = chunk_at(arena, chunk_size, i);

        if (__atomic_load_n(&chunk->owner, __ATOMIC_RELAXED) != 0 &&
            __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE) > 0) {
            const keel_get_record_t *record = (const void *)(chunk + 1);

            first = (record->phase < first) ? record->phase : first;
        }
    }
    return first;
}

int keel_get_log_has_phase(const keel_get_log_t *log, uint32_t phase)
{
    return log->is_enabled && keel_get_chunks_has_phase(keel_lane_region_base(log->lane, KEEL_REGION_GETLOG),
                                                        log->lane->config->getlog_size, log->chunk_size, phase);
}

uint32_t keel_get_log_first_phase(const keel_get_log_t *log)
{
    return log->is_enabled ? keel_get_chunks_first_phase(keel_lane_region_base(log->lane, KEEL_REGION_GETLOG),
                                                         log->lane->config->getlog_size, log->chunk_size)
                           : KEEL_PHASE_NONE;
}

void keel_get_chunks_reset(void *arena, size_t size, uint32_t chunk_size)
{
    for (uint32_t i = 0; i < size / chunk_size; i++) {
        keel_store_zero(chunk_at(arena, chunk_size, i), sizeof(keel_get_chunk_t));
    }
}
