/*
 * The get log [F 4.1]: the values that this process read. Each record exists twice: locally, in a
 * list for each target, so that a replaced target can be given its part back; and at the target, in
 * LG_q[p], so that a replaced reader finds it.
 *
 * LG is one region for each process, cut into chunks. A source claims a chunk by compare-and-swap
 * on its owner word and is then the only writer of its records: by itself on the direct lane,
 * through the target's service thread on the served lane.
 *
 * Safety. `used` is stored (release) after the bytes it covers, so a source that dies leaves
 * complete records. Only the owner of the region frees chunks, and only closed chunks, which their
 * source does not touch any more.
 *
 * Hot path of the direct lane: keel_get_log_reserve() and keel_get_log_read() write the local copy
 * with each access. The copy at the target is made from the local copy in runs, when the epoch
 * closes or before a put that may overwrite the bytes read.
 */
#ifndef KEEL_OPLOG_GET_LOG_H_
#define KEEL_OPLOG_GET_LOG_H_

#include "base/copy.h"
#include "peer/access.h"
#include "peer/peer.h"
#include "peer/store.h"
#include "oplog/segment.h"

#include <stddef.h>
#include <string.h>

typedef struct keel_get_chunk {
    uint32_t owner;  /* rank of the source + 1; 0: free */
    uint32_t number; /* order among the chunks of a source; wraps around */
    uint32_t used;   /* bytes of records behind this header */
    uint32_t last_phase;
    uint32_t is_closed;
    uint32_t reserved[3];
} keel_get_chunk_t;
_Static_assert(sizeof(keel_get_chunk_t) == 32, "log format");
_Static_assert(offsetof(keel_get_chunk_t, last_phase) == offsetof(keel_get_chunk_t, used) + 4, "one word");

/* position of a source as writer in one target's LG */
typedef struct keel_get_chunks_writer {
    uint32_t chunk;  /* index + 1, 0: no chunk claimed */
    uint32_t number; /* number of the next chunk */
    uint32_t bytes;  /* of a chunk, once a chunk was claimed */
    uint32_t passed; /* number of chunks that the search for the next one leaves out */
} keel_get_chunks_writer_t;

/* room for the next records of a source */
typedef struct keel_get_chunk_place {
    keel_get_chunk_t *chunk;
    char *at;
    uint32_t used; /* bytes of records before at */
    uint32_t room; /* bytes from at on */
} keel_get_chunk_place_t;

typedef struct keel_get_target {
    keel_segment_list_t list; /* local copy, in the order of issue */
    keel_cursor_t pushed;     /* direct lane: end of the records present in LG_q */
    keel_cursor_t replay;     /* replacement: next record to replay */
    uint32_t index;           /* index in this phase of the next get */
    uint8_t has_replay;
    /* all records that the predecessor left at this target have arrived */
    uint8_t is_replay_complete;
    uint8_t has_references; /* the list may contain references (oplog/get_reference) */
    keel_get_chunks_writer_t writer;
    /* gets by one-sided operations: first of the contiguous records that the target lacks */
    const uint8_t *run;
    uint32_t run_bytes; /* bytes of the run */
} keel_get_target_t;

typedef struct keel_get_log {
    keel_lane_t *lane;
    keel_segment_pool_t *pool;
    keel_get_target_t *targets;
    keel_get_chunks_writer_t *served; /* service side, under lane->lock: a writer for each source */
    keel_get_chunk_place_t place;     /* service side: place of the record being written */
    uint32_t *counts;                 /* scratch, by rank */
    /* first chunk of the next sample, see keel_get_log_largest_source() */
    uint32_t sample;
    uint32_t chunk_size;
    uint32_t phase;
    uint32_t record_max; /* maximum payload of a record, bytes */
    uint32_t long_from;  /* bytes from which on a get is long (oplog/get_reference) */
    uint32_t resume_at;  /* first phase to log again if is_off */
    int is_off;
    int is_enabled;
    /* replacement: no room for all records of its predecessor, so it cannot re-execute */
    int has_overflowed;
    uint64_t overflows;
    /* A get that was requested by message because the granted room was used up, and that has no
     * reply yet: number of the request, time (ns) and rank. 0: none, or reported. */
    uint64_t spent_request, spent_since;
    uint32_t spent_rank;
} keel_get_log_t;

keel_status_t keel_get_log_init(keel_get_log_t *log, keel_lane_t *lane, keel_segment_pool_t *pool);
void keel_get_log_release(keel_get_log_t *log);

/* values of keel_get_record_t.completeness; REFERRED: the payload is a keel_get_reference_t; FRAME:
 * the payload is the record of a reference */
enum { KEEL_GET_INCOMPLETE = 0, KEEL_GET_COMPLETE = 1, KEEL_GET_REFERRED = 2, KEEL_GET_FRAME = 3 };

/* Writes the head of a record, incomplete, and completes a record. */
static inline __attribute__((always_inline)) void keel_get_record_begin(keel_get_record_t *record, uint32_t phase,
                                                                        uint32_t index, uint64_t where, uint32_t length)
{
    record->phase = phase;
    record->index = index;
    record->where = where;
    record->length = length;
    record->completeness = KEEL_GET_INCOMPLETE;
}
static inline __attribute__((always_inline)) void keel_get_record_end(keel_get_record_t *record)
{
    record->completeness = KEEL_GET_COMPLETE;
}

/* appends room for a record to the local copy; NULL: no room */
keel_get_record_t *keel_get_log_append(keel_get_log_t *log, keel_get_target_t *t, uint32_t phase, uint32_t length);
/* Slow part of reserve: takes another segment. If the log is off or full, announces the loss to
 * the target. */
keel_get_record_t *keel_get_log_reserve_slow(keel_get_log_t *log, uint32_t target, uint32_t length);

/* Reserves a record for the get issued now, incomplete; keel_get_log_complete() or
 * keel_get_log_read() writes its payload. NULL: not logged. *index_p is set in any case. */
static inline __attribute__((always_inline)) keel_get_record_t *
keel_get_log_reserve(keel_get_log_t *log, uint32_t target, uint64_t where, uint32_t length, uint32_t *index_p)
{
    keel_get_target_t *t = &log->targets[target];
    keel_segment_t *last = t->list.last;
    const size_t need = sizeof(keel_get_record_t) + keel_pad8(length);
    keel_get_record_t *record;

    *index_p = t->index++;
    if (__builtin_expect(last != NULL && !log->is_off && last->used + need <= log->pool->segment_size, 1)) {
        record = (keel_get_record_t *)(void *)(last->data + last->used);
        last->used += (uint32_t)need;
        last->last_phase = log->phase;
        keel_prefetch_write((const uint8_t *)(record + 1) + KEEL_COPY_AHEAD);
    } else {
        record = keel_get_log_reserve_slow(log, target, length);
        if (record == NULL) {
            return NULL;
        }
    }
    keel_get_record_begin(record, log->phase, *index_p, where, length);
    return record;
}

static inline void keel_get_log_complete(keel_get_record_t *record, const void *data)
{
    memcpy(record + 1, data, record->length);
    keel_get_record_end(record);
}

/*
 * Direct lane: executes the get, @a length bytes from @a from to the caller and to the record, if
 * any. The source is read once, so both copies are equal. The record is read again soon and does
 * not stream past the cache.
 */
static inline __attribute__((always_inline)) void keel_get_log_read(keel_get_record_t *record, void *buffer,
                                                                    const void *from, size_t length)
{
    if (__builtin_expect(record == NULL || length >= KEEL_COPY_STREAM, 0)) {
        memcpy(buffer, from, length);
        if (record != NULL) {
            keel_get_log_complete(record, buffer);
        }
        return;
    }
    keel_copy_two(record + 1, buffer, from, length);
    keel_get_record_end(record);
}

/* direct lane: does the target have all records, or is there no record? */
static inline int keel_get_log_is_pushed(const keel_get_log_t *log, uint32_t target)
{
    const keel_get_target_t *t = &log->targets[target];
    const keel_segment_t *last = t->list.last;

    return last == NULL || (t->pushed.segment == last && t->pushed.offset >= last->used);
}

/*
 * Direct lane: room for a copy of the last record at a live target, if the target has all records
 * before it and its chunk has room. NULL: the record is left to keel_get_log_push(). *used_p: bytes
 * in use before, for keel_get_log_push_end().
 */
static inline __attribute__((always_inline)) keel_get_chunk_t *keel_get_log_push_begin(const keel_get_log_t *log,
                                                                                       uint32_t target,
                                                                                       const keel_get_record_t *record,
                                                                                       uint32_t bytes, uint32_t *used_p)
{
    const keel_get_target_t *t = &log->targets[target];
    char *arena = (char *)keel_access_mapped(log->lane, target, KEEL_REGION_GETLOG);
    keel_get_chunk_t *chunk;

    if (__builtin_expect(t->pushed.segment != t->list.last ||
                             (const uint8_t *)record != t->list.last->data + t->pushed.offset || t->writer.chunk == 0 ||
                             arena == NULL || log->lane->peers[target].mode != KEEL_PEER_LIVE,
                         0)) {
        return NULL;
    }
    chunk = (keel_get_chunk_t *)(void *)(arena + (size_t)(t->writer.chunk - 1) * t->writer.bytes);
    *used_p = chunk->used; /* read once, since other processes can write there */
    return __builtin_expect(*used_p > t->writer.bytes - sizeof(*chunk) - bytes, 0) ? NULL : chunk;
}

static inline __attribute__((always_inline)) void
keel_get_log_push_end(keel_get_log_t *log, uint32_t target, keel_get_chunk_t *chunk, uint32_t used, uint32_t bytes)
{
    keel_store_half(&chunk->last_phase, log->phase);
    keel_store_half_release(&chunk->used, used + bytes);
    log->targets[target].pushed.offset += bytes;
}

/*
 * Direct lane: pushes the last record, complete and with a payload of the one word @a value, or of
 * that and @a second_p. The words come from registers, because loads from the record would wait
 * for the stores of the caller. Precondition: the board has the phase of the record if this is one
 * of an atomic (keel_get_log_note_atomic()).
 */
static inline __attribute__((always_inline)) void
keel_get_log_push_words(keel_get_log_t *log, uint32_t target, const keel_get_record_t *record, uint64_t where,
                        uint32_t index, uint32_t length, uint64_t value, const uint64_t *second_p)
{
    const uint32_t bytes = (uint32_t)(sizeof(*record) + (second_p != NULL ? 2 : 1) * sizeof(value));
    uint32_t used;
    keel_get_chunk_t *chunk = keel_get_log_push_begin(log, target, record, bytes, &used);
    uint64_t *to;

    if (chunk == NULL) {
        return;
    }
    to = (uint64_t *)(void *)((char *)(chunk + 1) + used);
    keel_store_four(to, (uint64_t)index << 32 | log->phase, where, (uint64_t)KEEL_GET_COMPLETE << 32 | length, value);
    if (second_p != NULL) {
        keel_store_word(&to[4], *second_p);
    }
    keel_get_log_push_end(log, target, chunk, used, bytes);
}
static inline __attribute__((always_inline)) void keel_get_log_push_word(keel_get_log_t *log, uint32_t target,
                                                                         const keel_get_record_t *record,
                                                                         uint64_t where, uint32_t index,
                                                                         uint32_t length, uint64_t value)
{
    keel_get_log_push_words(log, target, record, where, index, length, value, NULL);
}

/* Replays the next get from its record. KEEL_OK; KEEL_INPROGRESS: no record; KEEL_ERR_CORRUPT:
 * the record is of another access. */
keel_status_t keel_get_log_replay(keel_get_log_t *log, uint32_t target, uint64_t where, uint32_t length, void *buffer);
/* the same, with the address of the record, valid until the log is trimmed */
keel_status_t keel_get_log_next(keel_get_log_t *log, uint32_t target, uint64_t where, size_t length,
                                const keel_get_record_t **record_p);
/* Replays a determinant other than a get: finds the next record named @a where at any rank and
 * advances past it. KEEL_OK; KEEL_INPROGRESS: no record; KEEL_ERR_CORRUPT: another access
 * precedes it there. */
keel_status_t keel_get_log_take_determinant(keel_get_log_t *log, uint64_t where, const keel_get_record_t **record_p);
/* finds the next record named @a where at any rank without advancing; NULL: none */
const keel_get_record_t *keel_get_log_find_determinant(keel_get_log_t *log, uint64_t where);
/* Ends the replay towards @a target if all its records are used. Call before a record is
 * appended without a search for a replay. */
void keel_get_log_end_replay(keel_get_log_t *log, uint32_t target);
/* are there records to replay towards @a target? */
static inline int keel_get_log_has_replay(const keel_get_log_t *log, uint32_t target)
{
    return log->targets[target].has_replay;
}
/* replacement: are all records of its predecessor used, except those of later phases? */
int keel_get_log_is_replayed(keel_get_log_t *log);
/* the record at the cursor, or NULL at the end */
const keel_get_record_t *keel_get_log_peek(const keel_get_target_t *t, keel_cursor_t *cursor);
static inline void keel_get_log_advance(keel_cursor_t *cursor, const keel_get_record_t *record)
{
    cursor->offset += (uint32_t)(keel_get_record_size(record));
}
/* the epoch closes: copies complete records to the target (direct lane) */
void keel_get_log_push(keel_get_log_t *log, uint32_t target);
/* the same to a replacement that is not live yet */
void keel_get_log_push_early(keel_get_log_t *log, uint32_t target);
/* notes an access of this phase without a record, for an expected reason */
void keel_get_log_note_missing(keel_get_log_t *log);
/* notes an access without a record for lack of room: warns, and turns the log off */
void keel_get_log_overflow(keel_get_log_t *log, const char *why);

/* service side: keel_lane_params_t.on_served_get and on_served_got; arg is the log */
void *keel_get_log_serve(void *arg, uint32_t source, const keel_get_record_t *record);
void keel_get_log_served(void *arg, const keel_get_record_t *record);

/* keel_lane_params_t.on_served_room */
uint64_t keel_get_log_serve_room(void *arg, uint32_t source);

/* the source's process died: closes its chunks */
void keel_get_log_source_down(keel_get_log_t *log, uint32_t source);
/* a target's process died: its copies of the local records are gone */
void keel_get_log_target_down(keel_get_log_t *log, uint32_t target);

/* ---- refilling lost parts (get_log_replay.c) ---- */

#define KEEL_GET_MESSAGE_HEAD 8u /* bytes of a message before its records */
/* Marks in a board slot that the source issued an atomic in @a phase. A holder of a fetched
 * value's record then knows that the source issued atomics, even if the source only repeated the
 * record. */
static inline void keel_get_log_note_atomic(keel_board_slot_t *slot, uint32_t phase)
{
    keel_board_set(&slot->atomics, keel_atomics_word(keel_board_get(&slot->atomics), phase, 0));
}

/* ---- phases and images ---- */

void keel_get_log_set_phase(keel_get_log_t *log, uint32_t phase);
void keel_get_log_trim(keel_get_log_t *log, uint32_t phase, uint32_t now);
/* an image of this process alone is in use */
void keel_get_log_trim_own(keel_get_log_t *log, uint32_t phase, uint32_t now);
void keel_get_log_trim_source(keel_get_log_t *log, uint32_t source, uint32_t phase);
/*
 * Source with most chunks here if at least @a percent of the room is taken, else the number of
 * ranks. One of KEEL_GET_CHUNKS_SAMPLES successive calls is sure to notice.
 */
uint32_t keel_get_log_largest_source(keel_get_log_t *log, unsigned percent);
/* Are at least @a percent of the chunks here taken, by a sample that differs from call to call? */
int keel_get_log_may_be_filled(keel_get_log_t *log, unsigned percent);
/* This process copies an image at the start of this phase: its log is complete again from here
 * on. */
void keel_get_log_resume(keel_get_log_t *log);
void keel_get_log_clear(keel_get_log_t *log, uint32_t phase);
uint64_t keel_get_log_bytes(keel_get_log_t *log);

#endif
