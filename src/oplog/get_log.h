/*
 * The get log [F 4.1]: what this process read. Each record exists twice: here, in a list a target (so that a replaced
 * target can be given its part back), and at the target, in LG_q[p] (so that a replaced reader finds it).
 *
 * LG is one region a process, cut into chunks. A source claims a chunk by compare-and-swap on its owner word and then
 * writes records into it alone: by itself on the direct lane, by the target's service thread on the served one.
 * Safety: `used` is stored (release) after the bytes it covers, so a source that dies leaves complete records. Only the
 * owner of the region frees chunks, and only closed ones, which their source does not touch any more.
 *
 * Hot path of the direct lane: keel_get_log_reserve() and keel_get_log_read() write the own copy with each access; the
 * target's is a copy of that, made in runs when the epoch closes or a put may overwrite what was read.
 */
#ifndef KEEL_OPLOG_GET_LOG_H_
#define KEEL_OPLOG_GET_LOG_H_

#include "base/copy.h"
#include "peer/peer.h"
#include "oplog/segment.h"

#include <stddef.h>
#include <string.h>

typedef struct keel_getlog_chunk {
    uint32_t owner;  /* source's rank + 1, 0: free */
    uint32_t number; /* order among the chunks of one source; comes round */
    uint32_t used;   /* bytes of records after this header */
    uint32_t last_phase;
    uint32_t is_closed;
    uint32_t reserved[3];
} keel_getlog_chunk_t;
_Static_assert(sizeof(keel_getlog_chunk_t) == 32, "log format");
_Static_assert(offsetof(keel_getlog_chunk_t, last_phase) == offsetof(keel_getlog_chunk_t, used) + 4, "one word");

/* where a source writes in one target's LG */
typedef struct keel_getlog_writer {
    uint32_t chunk;  /* index + 1, 0: none claimed */
    uint32_t number; /* of the next chunk */
} keel_getlog_writer_t;

/* where a source's next records go */
typedef struct keel_getlog_place {
    keel_getlog_chunk_t *chunk;
    char *at;
    uint32_t used; /* bytes before it */
    uint32_t room; /* and from there on */
} keel_getlog_place_t;

typedef struct keel_get_target {
    keel_segment_list_t list; /* own copy, in the order issued */
    keel_cursor_t pushed;     /* direct lane: what LG_q has */
    keel_cursor_t replay;     /* replacement: the next record to answer from */
    uint32_t index;           /* of the next get in this phase */
    uint8_t has_replay;
    uint8_t is_replay_complete; /* all records the predecessor left at this target have come */
    keel_getlog_writer_t writer;
    const uint8_t *run; /* by operations: records that the target does not have yet, */
    uint32_t run_bytes; /* one behind the other */
} keel_get_target_t;

typedef struct keel_get_log {
    keel_lane_t *lane;
    keel_segment_pool_t *pool;
    keel_get_target_t *targets;
    keel_getlog_writer_t *served; /* service side, under lane->lock: a writer for each source */
    keel_getlog_place_t place;    /* and the record that is being written */
    uint32_t *counts;             /* scratch, by rank */
    uint32_t sample;              /* of the chunks here that are looked at next (keel_get_log_largest_source) */
    uint32_t chunk_size;
    uint32_t phase;
    uint32_t piece_max; /* bytes one record can hold */
    uint32_t resume_at; /* first phase to log again, when is_off */
    int is_off;
    int is_enabled;
    int has_overflowed; /* replacement: no room for all that its predecessor left, so it cannot re-execute */
    uint64_t overflows;
    /* a get that had to be asked for, because the room granted for records was used up, and is not answered yet: of this rank, as its
     * request of that number; ns. 0: there is none, or it was said */
    uint64_t spent_request, spent_since;
    uint32_t spent_rank;
} keel_get_log_t;

keel_status_t keel_get_log_init(keel_get_log_t *log, keel_lane_t *lane, keel_segment_pool_t *pool);
void keel_get_log_release(keel_get_log_t *log);

enum { KEEL_GET_INCOMPLETE = 0, KEEL_GET_COMPLETE = 1 }; /* keel_get_record_t.reserved */

/* room for a record at the end of the own copy; NULL: there is none */
keel_get_record_t *keel_get_log_append(keel_get_log_t *log, keel_get_target_t *t, uint32_t phase, uint32_t length);
/* slow part of reserve: another segment, or the log is off or full, which the target is told */
keel_get_record_t *keel_get_log_reserve_slow(keel_get_log_t *log, uint32_t target, uint32_t length);

/* a record for the get issued now, incomplete; its payload is written by keel_get_log_complete() or keel_get_log_read().
 * NULL: not logged. @a index_p is set in any case. */
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
    record->phase = log->phase;
    record->index = *index_p;
    record->where = where;
    record->length = length;
    record->reserved = KEEL_GET_INCOMPLETE;
    return record;
}

static inline void keel_get_log_complete(keel_get_record_t *record, const void *data)
{
    memcpy(record + 1, data, record->length);
    record->reserved = KEEL_GET_COMPLETE;
}

/*
 * Direct lane: the get itself, @a length bytes from @a from to the caller and to the record, if there is one; they are read
 * once, so both have the same. The record is read again soon: it does not stream past the cache.
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
    record->reserved = KEEL_GET_COMPLETE;
}

/* direct lane: the target has all records, or no log has any */
static inline int keel_get_log_is_pushed(const keel_get_log_t *log, uint32_t target)
{
    const keel_get_target_t *t = &log->targets[target];
    const keel_segment_t *last = t->list.last;

    return last == NULL || (t->pushed.segment == last && t->pushed.offset >= last->used);
}

/* answers the next get from a record: KEEL_OK; KEEL_INPROGRESS: there is none; KEEL_ERR_CORRUPT: it is another access */
keel_status_t keel_get_log_replay(keel_get_log_t *log, uint32_t target, uint64_t where, uint32_t length, void *buffer);
/* the same, and where it lies, until the log is trimmed */
keel_status_t keel_get_log_next(keel_get_log_t *log, uint32_t target, uint64_t where, size_t length,
                                const keel_get_record_t **record_p);
/* Determinants of other kinds: the record of the one that is named by @a where, with whatever rank it is, and past it: KEEL_OK; KEEL_INPROGRESS: there
 * is none; KEEL_ERR_CORRUPT: another access comes first there. */
keel_status_t keel_get_log_answer(keel_get_log_t *log, uint64_t where, const keel_get_record_t **record_p);
/* the same one, which stays the next; NULL: there is none */
const keel_get_record_t *keel_get_log_look(keel_get_log_t *log, uint64_t where);
/* before a record towards @a target that no replay was looked for: what was replayed ends here */
void keel_get_log_end_replay(keel_get_log_t *log, uint32_t target);
/* whether anything at all may be answered from a record */
static inline int keel_get_log_has_replay(const keel_get_log_t *log, uint32_t target)
{
    return log->targets[target].has_replay;
}
/* replacement: every record that its predecessor left has been used, but for those of later phases */
int keel_get_log_is_replayed(keel_get_log_t *log);
/* a record, or NULL at the end; and past it */
const keel_get_record_t *keel_get_log_peek(const keel_get_target_t *t, keel_cursor_t *cursor);
static inline void keel_get_log_advance(keel_cursor_t *cursor, const keel_get_record_t *record)
{
    cursor->offset += (uint32_t)(keel_get_record_size(record));
}
/* the epoch closes: complete records go to the target (direct lane) */
void keel_get_log_push(keel_get_log_t *log, uint32_t target);
/* the same to a replacement, before it is live */
void keel_get_log_push_early(keel_get_log_t *log, uint32_t target);
/* something of this phase has no record, as was to be expected */
void keel_get_log_miss(keel_get_log_t *log);
/* the same, because there is no room: said, and none of this phase has one from here on */
void keel_get_log_lose(keel_get_log_t *log, const char *why);

/* service side: keel_lane_params_t.on_served_get and on_served_got; arg is the log */
void *keel_get_log_serve(void *arg, uint32_t source, const keel_get_record_t *record);
void keel_get_log_served(void *arg, const keel_get_record_t *record);

/* keel_lane_params_t.on_served_room */
uint64_t keel_get_log_serve_room(void *arg, uint32_t source);

/* the source's process is dead: its chunks are closed */
void keel_get_log_source_down(keel_get_log_t *log, uint32_t source);
/* a target's process is dead: what it held of this process is gone */
void keel_get_log_target_down(keel_get_log_t *log, uint32_t target);

/* ---- giving back what somebody lost (getlog_replay.c) ---- */

#define KEEL_GET_MESSAGE_HEAD 8u /* bytes of a message before its records */
/* whoever holds the record of a fetched value knows that its source issued atomics, also when the source has only told it
 * again */
static inline void keel_get_log_note_atomic(keel_board_slot_t *slot, uint32_t phase)
{
    keel_board_set(&slot->atomics, keel_atomics_word(keel_board_get(&slot->atomics), phase, 0));
}

/* ---- phases and images ---- */

void keel_get_log_set_phase(keel_get_log_t *log, uint32_t phase);
void keel_get_log_trim(keel_get_log_t *log, uint32_t phase, uint32_t now);
/* an image of this process alone is in use; of @a source alone */
void keel_get_log_trim_own(keel_get_log_t *log, uint32_t phase, uint32_t now);
void keel_get_log_trim_source(keel_get_log_t *log, uint32_t source, uint32_t phase);
/*
 * The source that has logged most here when more than @a percent of the room is taken, else the number of ranks; one call in
 * KEEL_GETLOG_SAMPLES is sure to find that out
 */
uint32_t keel_get_log_largest_source(keel_get_log_t *log, unsigned percent);
/* Whether more than @a percent of the chunks here are taken, by a sample that differs from call to call. */
int keel_get_log_may_be_filled(keel_get_log_t *log, unsigned percent);
/* this process copies an image at the begin of this phase: its log is complete again from here on */
void keel_get_log_resume(keel_get_log_t *log);
void keel_get_log_clear(keel_get_log_t *log, uint32_t phase);
uint64_t keel_get_log_bytes(keel_get_log_t *log);

#endif
