/*
 * LP_p[q], the put log at the source [F 3.2.2, 4.2]: the accesses of this process to each target,
 * in order, since the image in use. On the served lane the log is also the send queue: a record is
 * copied once, into the log, and sent from there.
 *
 * Hot path: keel_put_log_reserve() makes one comparison if the phase is entered, logging is on and
 * the segment has room. limit is NULL if one of the first two fails, so the same comparison covers
 * all. An epoch without records is not closed: epochs are compared by their numbers, which wrap
 * around (oplog/epochs.h).
 *
 * A log that has lost a record is useless for its target until the next image. The whole log is
 * dropped, `lost` keeps the phase, and logging resumes in a later phase after an image was
 * committed (resume_at).
 */
#ifndef KEEL_OPLOG_PUT_LOG_H_
#define KEEL_OPLOG_PUT_LOG_H_

#include "base/copy.h"
#include "peer/peer.h"
#include "oplog/segment.h"
#include "oplog/epochs.h"

/* maximum bytes of the head of messages that send records to a replaying rank (sync/waits,
 * sync/sections) */
#define KEEL_PUT_MESSAGE_HEAD 40

#define KEEL_PUT_LOG_PHASES 65536u /* capacity of the table of phases */

typedef struct keel_put_target {
    /* hot */
    uint8_t *tail;  /* address of the next record */
    uint8_t *limit; /* end of the segment; NULL: every record takes the slow path */
    /* records of this phase, logged or not; complete on the direct lane only in programs that
     * wait */
    uint32_t count;
    /* cold */
    keel_segment_list_t list;
    keel_cursor_t sent; /* served lane: end of the records sent */
    uint32_t unsent;    /* approximate bytes put and not yet sent */
    /* bytes of the message being filled by this phase's puts of several records */
    uint32_t filled;
    /* sum of the records from sum_from to sum_end: all were summed when written, and none is
     * sent yet */
    const uint8_t *sum_from, *sum_end;
    uint32_t sum;
    uint32_t put_epoch;  /* epoch of the newest record put by a one-sided operation */
    uint32_t sent_count; /* records of this phase that were sent or need not be sent */
    /* newest clock announced in this phase by a record of its own (sync/waits) */
    uint32_t clock;
    uint32_t lost; /* 1 + the last phase with a put missing from the log, 0: none */
    /* first phase with its records kept; an image covers the earlier phases */
    uint32_t trimmed;
    uint32_t resume_at;    /* first phase to log again if is_off */
    uint32_t atomics;      /* 1 + the last phase with an atomic */
    uint32_t counted;      /* atomics of this phase, at most number_end */
    uint8_t is_off;        /* logging is off */
    uint16_t atomic_kinds; /* classes of atomics in the log, one bit each */
} __attribute__((aligned(64))) keel_put_target_t;

/* stores the fill level of the last segment, which the hot path keeps in tail */
static inline void keel_put_target_sync(keel_put_target_t *t)
{
    if (t->list.last != NULL) {
        t->list.last->used = (uint32_t)(t->tail - t->list.last->data);
    }
}

typedef struct keel_put_log {
    /* hot */
    keel_put_target_t *targets;
    keel_epochs_t epochs;
    int is_epoch_used; /* the open epoch has records */
    /* cold */
    uint32_t phase; /* GNC: number of gsyncs passed */
    keel_lane_t *lane;
    keel_segment_pool_t *pool;
    int is_enabled; /* KEEL_PROTECT includes puts */
    /* newest memory of the pool that was registered with the lane */
    const keel_segment_arena_t *lent;
    /* get log with records that must reach a target before later puts, or NULL */
    struct keel_get_log *gets;
    /* puts go by messages only: locks and waits rely on the target's service side to apply
     * records */
    int is_sent_only;
    /* end of the record numbers of a phase: keel_counters_records() */
    uint32_t number_end;
    size_t record_max; /* maximum payload of a record, bytes */
    /* served lane: maximum payload of a record that the hot path writes, bytes */
    size_t short_max;
    size_t send_at; /* served lane: unsent bytes at which records are sent */
    uint64_t overflows;
} keel_put_log_t;

keel_status_t keel_put_log_init(keel_put_log_t *log, keel_lane_t *lane, keel_segment_pool_t *pool);
void keel_put_log_release(keel_put_log_t *log);

/* Slow part of reserve: enters the phase, takes a segment. NULL if there is no room: the record
 * is lost for recovery. If the target is behind and its log is on, the caller must instead wait
 * until the target has received the log. */
keel_record_t *keel_put_log_reserve_slow(keel_put_log_t *log, uint32_t target, size_t length);

/* does a record of @a length payload bytes fit without a call? */
static inline __attribute__((always_inline)) int keel_put_log_has_room(const keel_put_log_t *log, uint32_t target,
                                                                       size_t length)
{
    const keel_put_target_t *t = &log->targets[target];

    return (uintptr_t)t->tail + sizeof(keel_record_t) + keel_pad8(length) <= (uintptr_t)t->limit;
}

/* Reserves room for a record of @a length <= record_max payload bytes and writes nothing. NULL:
 * not logged. */
static inline __attribute__((always_inline)) keel_record_t *keel_put_log_reserve(keel_put_log_t *log, uint32_t target,
                                                                                 size_t length)
{
    keel_put_target_t *t = &log->targets[target];
    const size_t need = sizeof(keel_record_t) + keel_pad8(length);
    uint8_t *tail = t->tail;

    if (__builtin_expect(keel_put_log_has_room(log, target, length), 1)) {
        log->is_epoch_used = 1;
        t->tail = tail + need;
        return (keel_record_t *)tail;
    }
    return keel_put_log_reserve_slow(log, target, length);
}

/* Direct lane, programs that wait: reserves room for a numbered record. Returns 0 and changes
 * nothing if there is no room or no number. */
static inline __attribute__((always_inline)) int keel_put_log_take(keel_put_log_t *log, keel_put_target_t *t,
                                                                   size_t length, keel_record_t **record_p)
{
    const size_t need = sizeof(keel_record_t) + keel_pad8(length);
    const uintptr_t end = (uintptr_t)t->tail + need;

    if (end > (uintptr_t)t->limit || t->count == log->number_end) {
        return 0;
    }
    t->tail = (uint8_t *)end;
    t->count++;
    log->is_epoch_used = 1;
    *record_p = (keel_record_t *)(end - need);
    if (*record_p == NULL) {
        /* a NULL tail has no room: saves the test in the code that writes the record */
        __builtin_unreachable();
    }
    return 1;
}

/*
 * Served lane: reserves room for a numbered record that is sent later together with others. Returns
 * NULL and changes nothing if the record is not short, if room or a number is missing, or if the
 * record makes sending due.
 */
static inline __attribute__((always_inline)) keel_record_t *keel_put_log_take_short(keel_put_log_t *log,
                                                                                    uint32_t target, size_t length)
{
    keel_put_target_t *t = &log->targets[target];
    const size_t need = sizeof(keel_record_t) + keel_pad8(length);
    uint8_t *tail = t->tail;

    if (length - 1 >= log->short_max || (uintptr_t)tail + need > (uintptr_t)t->limit ||
        t->unsent + need >= log->send_at || t->count == log->number_end) {
        return NULL;
    }
    t->tail = tail + need;
    t->count++;
    t->unsent += (uint32_t)need;
    log->is_epoch_used = 1;
    return (keel_record_t *)tail;
}

static inline __attribute__((always_inline)) void keel_put_log_head(const keel_put_log_t *log, keel_record_t *record,
                                                                    uint64_t where, size_t length)
{
    record->where = where;
    record->length = (uint32_t)length;
    record->epoch = log->epochs.open;
}

/*
 * Direct lane: writes the record, if any, and stores the same @a length bytes at @a target_ptr; the
 * source is read once. The cache line of future records is prefetched meanwhile. A long record
 * streams past the cache.
 */
static inline __attribute__((always_inline)) void keel_put_log_store(const keel_put_log_t *log, keel_record_t *record,
                                                                     uint64_t where, void *target_ptr, const void *from,
                                                                     size_t length)
{
    if (__builtin_expect(record == NULL, 0)) {
        keel_store_bytes(target_ptr, from, length);
        return;
    }
    if (length < KEEL_COPY_STREAM) {
        keel_prefetch_write((const uint8_t *)(record + 1) + length + KEEL_COPY_AHEAD);
    }
    keel_put_log_head(log, record, where, length);
    keel_store_two(record + 1, target_ptr, from, length);
}

/* writes the record only; a short record prefetches the lines of the records behind it */
static inline void keel_record_fill(const keel_put_log_t *log, keel_record_t *record, uint64_t where,
                                    const void *buffer, size_t length)
{
    keel_put_log_head(log, record, where, length);
    memcpy(record + 1, buffer, length);
    if (length < KEEL_COPY_FETCHED) {
        keel_prefetch_write_all((const uint8_t *)(record + 1) + length + KEEL_COPY_AHEAD, length);
    }
}

/* flush: later records belong to another epoch */
static inline void keel_put_log_close_epoch(keel_put_log_t *log)
{
    if (log->is_epoch_used) {
        log->is_epoch_used = 0;
        keel_epochs_close(&log->epochs);
    }
}
/*
 * Payload of the next record of a put with @a length > 0 remaining bytes. If a put takes several
 * records, its first one fills the message begun by earlier such puts. Otherwise a put slightly
 * longer than a message would cost two messages, and a message costs as much as copying its data
 * twice. Records are numbered, and a re-execution must cut the same records on either lane. So the
 * size depends only on the long puts of the phase, not on the records sent.
 */
size_t keel_put_log_record_length(const keel_put_log_t *log, uint32_t target, size_t length);
/* Accounts for the next record, of @a length bytes, of a put that takes several. Returns 1 if
 * the record fills the message. */
int keel_put_log_cut(keel_put_log_t *log, uint32_t target, size_t length);
/* Served lane: writes a record. The copy of a long record also computes the sum for its message,
 * while the data is in cache. */
void keel_put_log_fill(keel_put_log_t *log, uint32_t target, keel_record_t *record, uint64_t where, const void *from,
                       size_t length);
/* marks all records as sent: they arrive by another way, or were sent already */
void keel_put_log_mark_sent(keel_put_log_t *log, uint32_t target);
/* Served lane: all records were acknowledged. Drops them if the log is off. */
void keel_put_log_recycle(keel_put_log_t *log, uint32_t target);
/* notes an atomic of this phase, of class @a kind (keel_classes_kind()) */
static inline void keel_put_log_note_atomic(keel_put_log_t *log, uint32_t target, uint32_t kind)
{
    keel_put_target_t *t = &log->targets[target];

    t->atomics = log->phase + 1;
    t->atomic_kinds |= (uint16_t)kind;
    t->counted += t->counted != log->number_end;
}
/* number of atomics in this phase */
static inline uint32_t keel_put_log_counted(const keel_put_log_t *log, uint32_t target)
{
    return log->targets[target].counted;
}
/* direct lane: all records are numbered from here on, after the atomics */
void keel_put_log_number_all(keel_put_log_t *log);

/* Are all records of @a phase in the log? Precondition: the phase began in this process's life,
 * or the process was restored at it. */
static inline int keel_put_log_is_complete(const keel_put_log_t *log, uint32_t target, uint32_t phase)
{
    return phase >= log->targets[target].lost && phase >= log->targets[target].trimmed;
}
/* Calls @a apply for each run of records of @a phase, in order. A run has at most @a limit bytes
 * (0: no limit). Adds the number of records to *count_p. */
typedef keel_status_t (*keel_put_log_cb_t)(void *arg, const keel_record_t *records, size_t length);
keel_status_t keel_put_log_for_phase(keel_put_log_t *log, uint32_t target, uint32_t phase, size_t limit,
                                     keel_put_log_cb_t apply, void *arg, uint64_t *count_p);

/* All numbers of the phase are used. Further accesses are executed without a number, so no rank
 * can tell which of them took effect: the job rolls back if the source or the target dies.
 * Returns the value for "no number". */
uint32_t keel_put_log_unnumbered(keel_put_log_t *log, uint32_t target);
/* Takes the number of the next record within the phase. If all are used:
 * keel_put_log_unnumbered(). */
static inline uint32_t keel_put_log_number(keel_put_log_t *log, uint32_t target)
{
    keel_put_target_t *t = &log->targets[target];

    if (__builtin_expect(t->count == log->number_end, 0)) {
        return keel_put_log_unnumbered(log, target);
    }
    return t->count++;
}
/* numbers a record that is sent another way than by the log, behind all records of the log */
static inline uint32_t keel_put_log_number_sent(keel_put_log_t *log, uint32_t target)
{
    const uint32_t number = keel_put_log_number(log, target);

    log->targets[target].sent_count = log->targets[target].count;
    return number;
}
/* notes that the caller proceeds without a record for lack of room */
static inline void keel_put_log_note_missing(keel_put_log_t *log, uint32_t target)
{
    log->targets[target].lost = log->phase + 1;
}
/* Replacement that begins at @a position: its log lacks the predecessor's earlier puts to the
 * target. */
static inline void keel_put_log_begin_at(keel_put_log_t *log, uint32_t target, uint32_t position)
{
    log->targets[target].lost = keel_larger(log->targets[target].lost, position);
}
/* the target counts @a count records of this phase as done: later numbers follow them */
static inline void keel_put_log_raise_count(keel_put_log_t *log, uint32_t target, uint64_t count)
{
    if (log->targets[target].count < count) {
        log->targets[target].count = (count < log->number_end) ? (uint32_t)count : log->number_end;
    }
}
/* Direct lane, programs that lock: announces that all numbered records of this phase are in
 * place. A replacement on another node continues behind them. */
void keel_put_log_announce_done(keel_put_log_t *log, uint32_t target);
/* sets the clock announced for the records that follow */
static inline void keel_put_log_set_clock(keel_put_log_t *log, uint32_t target, uint32_t clock)
{
    log->targets[target].clock = clock;
}
/* number of numbered records in this phase */
static inline uint32_t keel_put_log_count(const keel_put_log_t *log, uint32_t target)
{
    return log->targets[target].count;
}

/* An image of @a phase is in use: drops older records [F 6.2]. @a now is the current phase. */
void keel_put_log_trim(keel_put_log_t *log, uint32_t phase, uint32_t now);
/* drops older records towards @a target, of which an image of @a phase is in use */
void keel_put_log_trim_image(keel_put_log_t *log, uint32_t target, uint32_t phase, uint32_t now);
/* The target copies an image at the start of this phase: a log that is off is complete again
 * from here on. */
void keel_put_log_resume(keel_put_log_t *log, uint32_t target);
uint64_t keel_put_log_target_bytes(keel_put_log_t *log, uint32_t target);
/* epoch of the oldest record; the open epoch if there are no records */
uint32_t keel_put_log_oldest(keel_put_log_t *log, uint32_t target);
/* phases with records, from the oldest record on */
static inline uint32_t keel_put_log_phases(const keel_put_log_t *log)
{
    return log->epochs.next - log->epochs.oldest;
}
void keel_put_log_set_phase(keel_put_log_t *log, uint32_t phase);
/* rollback: drops all records */
void keel_put_log_clear(keel_put_log_t *log, uint32_t phase);
uint64_t keel_put_log_bytes(keel_put_log_t *log);

#endif
