/* Chunks of the effects of others on a replacement's memory. */
#include "sync/replay.h"

#include "base/memory.h"
#include "check/plant.h"
#include "peer/served.h"
#include "wire/blocks.h"

#include <stdlib.h>
#include <string.h>

struct keel_replay_chunk {
    keel_replay_chunk_t *next;
    uint64_t bytes[];
};

keel_status_t keel_replay_init(keel_replay_t *replay, uint32_t ranks)
{
    memset(replay, 0, sizeof(*replay));
    replay->current = keel_alloc(ranks * sizeof(*replay->current), "numbers of replayed pieces");
    replay->records = keel_alloc(ranks * sizeof(*replay->records), "counts of replayed records");
    if (replay->current == NULL || replay->records == NULL) {
        keel_replay_release(replay);
        return KEEL_ERR_NO_MEMORY;
    }
    return KEEL_OK;
}

void keel_replay_forget(keel_replay_t *replay)
{
    keel_replay_chunk_t *chunk;

    while ((chunk = replay->chunks) != NULL) {
        replay->chunks = chunk->next;
        keel_free(chunk);
    }
    keel_free(replay->pieces);
    replay->pieces = NULL;
    replay->count = replay->capacity = replay->next = 0;
    replay->has_changes = 0;
}

void keel_replay_release(keel_replay_t *replay)
{
    keel_replay_forget(replay);
    keel_free(replay->current);
    keel_free(replay->records);
    replay->current = NULL;
    replay->records = NULL;
}

void keel_replay_end_source(keel_replay_t *replay, uint32_t source)
{
    replay->current[source] = 0;
    replay->records[source] = 0;
}

static keel_status_t replay_part(keel_replay_t *replay, uint64_t number, const uint8_t *records, size_t length)
{
    if (replay->count == replay->capacity) {
        const uint32_t capacity = 2 * replay->capacity + 64;
        keel_replay_part_t *grown =
            (capacity > replay->capacity) ? keel_alloc(capacity * sizeof(*grown), "replayed pieces") : NULL;

        if (grown == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
        if (replay->count > 0) {
            memcpy(grown, replay->pieces, replay->count * sizeof(*grown));
        }
        keel_free(replay->pieces);
        replay->pieces = grown;
        replay->capacity = capacity;
    }
    replay->pieces[replay->count] =
        (keel_replay_part_t){.number = number, .order = replay->count, .records = records, .length = length};
    replay->count++;
    return KEEL_OK;
}

/* Cuts a message into chunks. */
static keel_status_t replay_cut(keel_replay_t *replay, uint32_t source, keel_record_op_t op, const uint8_t *records,
                                size_t length)
{
    keel_records_t run = keel_records_of(records, length);
    const uint8_t *from = records, *at = records;
    keel_status_t status = KEEL_OK;
    keel_record_t record;
    const void *payload;
    uint64_t number;

    for (; status == KEEL_OK && keel_records_read(&run, &record, &payload); at = run.at) {
        replay->records[source]++;
        replay->has_changes |= keel_record_changed(&record, payload) > 0;
        if (keel_where_op(record.where) != op) {
            continue;
        }
        if (record.length != sizeof(number)) {
            return KEEL_ERR_CORRUPT;
        }
        if (at > from) {
            status = replay_part(replay, replay->current[source], from, (size_t)(at - from));
        }
        memcpy(&number, payload, sizeof(number));
        replay->current[source] = number;
        /* The record with the number belongs to the chunk: a number without a put counts, too. */
        from = at;
    }
    if (status == KEEL_OK && !keel_records_at_end(&run)) {
        return KEEL_ERR_CORRUPT;
    }
    return (status == KEEL_OK && run.at > from)
               ? replay_part(replay, replay->current[source], from, (size_t)(run.at - from))
               : status;
}

keel_status_t keel_replay_add(keel_replay_t *replay, uint32_t source, keel_record_op_t op, const void *records,
                              size_t length)
{
    keel_replay_chunk_t *chunk = keel_alloc(sizeof(*chunk) + length, "replayed records");

    if (chunk == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(chunk->bytes, records, length);
    chunk->next = replay->chunks;
    replay->chunks = chunk;
    return replay_cut(replay, source, op, (const uint8_t *)chunk->bytes, length);
}

static int part_compare(const void *left, const void *right)
{
    const keel_replay_part_t *a = left, *b = right;

    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

void keel_replay_sort(keel_replay_t *replay)
{
    if (replay->count > replay->next + 1) {
        qsort(replay->pieces + replay->next, replay->count - replay->next, sizeof(*replay->pieces), part_compare);
    }
}

/* bytes of own memory */
typedef struct own_bytes {
    uintptr_t from, to;
} own_bytes_t;

static int are_among(keel_lane_t *lane, uint64_t where, size_t length, const own_bytes_t *bytes)
{
    const uintptr_t at = (uintptr_t)(length > 0 ? keel_served_target(lane, where, length, 0) : NULL);

    return at != 0 && at < bytes->to && bytes->from < at + length;
}

static int are_changed(keel_lane_t *lane, const keel_record_t *record, const own_bytes_t *bytes)
{
    return are_among(lane, record->where, keel_record_changed(record, record + 1), bytes);
}

static int are_written(keel_lane_t *lane, const keel_record_t *record, const own_bytes_t *bytes)
{
    keel_parts_t parts = keel_parts_of(record, record + 1);
    keel_blocks_part_t part;
    int are = 0;

    if (!keel_where_has_parts(record->where)) {
        return are_among(lane, record->where, keel_record_written(record, record + 1), bytes);
    }
    while (!are && keel_parts_next(&parts, &part)) {
        for (uint32_t i = 0; i < part.count && !KEEL_PLANT(replay_parts_unlooked); i++) {
            are |= are_among(lane, part.where + i * part.stride, part.length, bytes);
        }
    }
    return are;
}

typedef int (*record_touches_t)(keel_lane_t *lane, const keel_record_t *record, const own_bytes_t *bytes);

/* True if a record of chunk @a first or a later one touches these bytes. */
static int replay_has(const keel_replay_t *replay, uint32_t first, record_touches_t touches, keel_lane_t *lane,
                      const void *bytes, size_t size)
{
    const own_bytes_t of = {(uintptr_t)bytes, (uintptr_t)bytes + size};
    int has = 0;

    pthread_mutex_lock(&lane->lock);
    for (uint32_t i = first; i < replay->count; i++) {
        keel_records_t run = keel_records_of(replay->pieces[i].records, replay->pieces[i].length);
        const keel_record_t *record;

        while ((record = keel_records_next(&run)) != NULL) {
            has |= touches(lane, record, &of);
        }
    }
    pthread_mutex_unlock(&lane->lock);
    return has;
}

int keel_replay_changes(const keel_replay_t *replay, keel_lane_t *lane, const void *bytes, size_t size)
{
    return replay->has_changes && replay_has(replay, 0, are_changed, lane, bytes, size);
}

int keel_replay_is_to_write(const keel_replay_t *replay, keel_lane_t *lane, const void *bytes, size_t size)
{
    return replay_has(replay, replay->next, are_written, lane, bytes, size);
}

keel_status_t keel_replay_next(keel_replay_t *replay, keel_lane_t *lane)
{
    const keel_replay_part_t *piece = &replay->pieces[replay->next++];
    keel_records_t run = keel_records_of(piece->records, piece->length);
    const keel_record_t *record;
    const char *why = NULL;

    pthread_mutex_lock(&lane->lock);
    while (why == NULL && (record = keel_records_next(&run)) != NULL &&
           !(KEEL_PLANT(replay_first_dropped) && replay->next == 1)) {
        why = keel_lane_apply_record(lane, record, record + 1);
        replay->replayed++;
    }
    KEEL_PLANT_CALL(replay_section_reordered, lane, piece);
    pthread_mutex_unlock(&lane->lock);
    if (why != NULL) {
        keel_error(lane->message, "what others did, piece %lu, cannot be replayed: %s", (unsigned long)piece->number,
                   why);
        return KEEL_ERR_CORRUPT;
    }
    return KEEL_OK;
}
