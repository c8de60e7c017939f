/* References to get records at their targets. */
#include "oplog/get_reference.h"

#include "check/plant.h"
#include "check/reached.h"
#include "oplog/get_log_chunks.h"
#include "oplog/get_log_replay.h"
#include "peer/access.h"
#include "peer/region.h"

/* A source reuses its first chunks first. With frequent checkpoints these chunks are in cache, and
 * plain stores write the records. Streaming stores write to the other chunks. */
#define REFERENCE_CACHED ((size_t)4 << 20) /* bytes */
/* shorter records, in bytes, are always written by plain stores */
#define REFERENCE_SHORT 8192u

/* True if the target has all records here. */
static int reference_is_possible(keel_get_log_t *log, uint32_t target)
{
    const keel_get_target_t *t = &log->targets[target];

    if (log->is_off || t->has_replay || t->index >= UINT32_MAX - log->pool->segment_size ||
        log->lane->peers[target].mode != KEEL_PEER_LIVE || !keel_access_records_gets(log->lane, target) ||
        keel_access_mapped(log->lane, target, KEEL_REGION_GETLOG) == NULL) {
        return 0;
    }
    if (!keel_get_log_is_pushed(log, target)) {
        keel_get_log_push(log, target);
    }
    return keel_get_log_is_pushed(log, target) && !log->is_off;
}

int keel_get_reference_read(keel_get_log_t *log, uint32_t target, uint64_t where, void *buffer, const void *from,
                            size_t length)
{
    keel_get_target_t *t = &log->targets[target];
    keel_get_record_t *own, record;
    keel_get_chunk_place_t place;
    keel_get_reference_t reference;
    void *arena = keel_access_mapped(log->lane, target, KEEL_REGION_GETLOG);
    size_t size;

    if (!reference_is_possible(log, target)) {
        return 0;
    }
    size = keel_lane_region_size(log->lane, target, KEEL_REGION_GETLOG);
    if (!keel_get_chunks_open(arena, size, keel_get_chunk_size(size), &t->writer, log->lane->rank,
                              sizeof(record) + keel_pad8((uint32_t)length), &place)) {
        return 0;
    }
    own = keel_get_log_append(log, t, log->phase, sizeof(reference));
    if (own == NULL) {
        return 0;
    }
    KEEL_REACHED(get_reference);
    keel_get_record_begin(&record, log->phase, t->index++, where, (uint32_t)length);
    keel_get_record_end(&record);
    keel_store_bytes(place.at, &record, sizeof(record));
    keel_store_got(place.at + sizeof(record), buffer, from, length,
                   length >= REFERENCE_SHORT && t->writer.passed * (size_t)t->writer.bytes > REFERENCE_CACHED);
    keel_get_chunks_publish(&place, (uint32_t)keel_get_record_size(&record), log->phase);
    reference = (keel_get_reference_t){
        .length = (uint32_t)length, .chunk = t->writer.chunk - 1, .number = place.chunk->number, .used = place.used};
    *own = record;
    own->length = sizeof(reference);
    own->completeness = KEEL_GET_REFERRED;
    memcpy(own + 1, &reference, sizeof(reference));
    keel_cursor_to_end(&t->list, &t->pushed);
    t->has_references = 1;
    return 1;
}

/* Copies the record of a reference @a own. Returns 0 if the target reused the chunk. */
static int reference_copy(const keel_get_log_t *log, uint32_t target, const keel_get_record_t *own,
                          const keel_get_reference_t *reference, keel_get_record_t *copy)
{
    const uint32_t bytes = log->targets[target].writer.bytes;
    const char *arena = keel_access_mapped(log->lane, target, KEEL_REGION_GETLOG);
    const keel_get_chunk_t *chunk = (const void *)(arena + (size_t)reference->chunk * bytes);
    const char *at = (const char *)(chunk + 1) + reference->used;
    const uint32_t owner = log->lane->rank + 1;

    *copy = *own;
    copy->length = reference->length;
    copy->completeness = KEEL_GET_COMPLETE;
    if (arena == NULL || memcmp(at, copy, sizeof(*copy)) != 0) {
        return 0;
    }
    memcpy(copy + 1, at + sizeof(*copy), reference->length);
    keel_load_fence();
    return __atomic_load_n(&chunk->owner, __ATOMIC_RELAXED) == owner && chunk->number == reference->number;
}

/* Appends a frame, a record without a get, around the record of the reference @a own. */
static void reference_resolve(keel_get_log_t *log, uint32_t target, keel_get_record_t *own)
{
    keel_get_target_t *t = &log->targets[target];
    keel_get_reference_t reference;
    keel_get_record_t *frame;

    memcpy(&reference, own + 1, sizeof(reference));
    if (reference.chunk == KEEL_GET_REFERENCE_HERE || KEEL_PLANT(get_reference_unresolved)) {
        return;
    }
    KEEL_REACHED(get_resolved);
    frame = keel_get_log_append_grown(log, t, log->phase, (uint32_t)sizeof(*own) + reference.length);
    if (frame == NULL) {
        keel_get_log_overflow(log, "KEEL_OPLOG_SIZE is used up");
    } else {
        *frame = *own;
        frame->length = (uint32_t)sizeof(*own) + reference.length;
        frame->completeness = KEEL_GET_FRAME;
        if (!reference_copy(log, target, own, &reference, frame + 1)) {
            t->list.last->used -= (uint32_t)keel_get_record_size(frame);
            frame = NULL;
            if (log->lane->slot.lost_gets <= own->phase) {
                keel_lane_announce_lost_get(log->lane, own->phase);
                log->overflows++;
            }
        }
    }
    reference.chunk = KEEL_GET_REFERENCE_HERE;
    reference.data = (frame != NULL) ? frame + 1 : NULL;
    memcpy(own + 1, &reference, sizeof(reference));
}

void keel_get_references_resolve(keel_get_log_t *log, uint32_t target)
{
    keel_get_target_t *t = &log->targets[target];
    keel_cursor_t cursor = {0}, end;
    const keel_get_record_t *own;

    if (!t->has_references) {
        return;
    }
    t->has_references = 0;
    keel_cursor_to_end(&t->list, &end); /* frames follow */
    while ((own = keel_get_log_peek(t, &cursor)) != NULL &&
           (cursor.segment != end.segment || cursor.offset < end.offset)) {
        if (own->completeness == KEEL_GET_REFERRED) {
            reference_resolve(log, target, (keel_get_record_t *)(void *)(cursor.segment->data + cursor.offset));
        }
        keel_get_log_advance(&cursor, own);
    }
}
