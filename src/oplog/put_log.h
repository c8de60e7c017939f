/*
 * LP_p[q], the put log at the sender [F 3.2.3, 4.2]: what this process did to each target, in order, since the image in
 * use. On the served lane it is the send queue too: a record is copied once, into the log, and sent from there.
 *
 * Hot path: keel_put_log_reserve(), one comparison when the phase is entered, logging is on and the segment has room. limit
 * is NULL when one of the first two does not hold, so the same comparison covers all. An epoch in which nothing was logged is
 * not closed: epochs are compared by their numbers, which come round (oplog/epochs.h).
 *
 * A log that lost a record is of no use for its target until the next image: it is dropped as a whole, `lost` remembers
 * the phase, and logging goes on with a later phase once an image was committed (resume_at).
 */
#ifndef KEEL_OPLOG_PUT_LOG_H_
#define KEEL_OPLOG_PUT_LOG_H_

#include "base/copy.h"
#include "peer/peer.h"
#include "oplog/segment.h"
#include "oplog/epochs.h"

/* of the messages in which records are sent to whoever replays them (sync/waits, sync/sections), bytes at most */
#define KEEL_PUT_MESSAGE_HEAD 40

#define KEEL_PUT_LOG_PHASES 65536u /* that the log may speak of */

typedef struct keel_put_target {
    /* hot */
    uint8_t *tail;  /* where the next record goes */
    uint8_t *limit; /* end of the segment, NULL when a record needs more than room */
    uint32_t count; /* records of this phase, logged or not; on the direct lane of all only in programs that wait */
    /* cold */
    keel_segment_list_t list;
    keel_cursor_t sent; /* served lane: what was sent */
    uint32_t unsent;    /* and about how much of what was put was not, bytes */
    uint32_t filled;    /* of a message, by puts of this phase that took several records */
    /* the sum of the records from sum_from to sum_end, where all of them were summed when they were written, and not sent yet */
    const uint8_t *sum_from, *sum_end;
    uint32_t sum;
    uint32_t put_epoch;    /* of the last record that was put by an operation */
    uint32_t sent_count;   /* and how many of them were sent, or need not be */
    uint32_t clock;        /* the last one said in this phase by a record of its own (sync/waits) */
    uint32_t lost;         /* 1 + the last phase with a put that is not in the log, 0: none */
    uint32_t trimmed;      /* the first phase whose records were not dropped because an image covers them */
    uint32_t resume_at;    /* first phase to log again, when is_off */
    uint32_t atomics;      /* 1 + the last phase with an atomic */
    uint32_t counted;      /* atomics of this phase, at most number_end */
    uint8_t is_off;        /* not logging */
    uint16_t atomic_kinds; /* classes of atomics in the log, one bit each */
} __attribute__((aligned(64))) keel_put_target_t;

/* writes back what the hot path keeps in registers: how far the last segment is filled */
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
    uint32_t phase; /* GNC: gsyncs passed */
    keel_lane_t *lane;
    keel_segment_pool_t *pool;
    int is_enabled;                   /* by KEEL_PROTECT */
    const keel_segment_arena_t *lent; /* the newest memory of the pool that the lane was told of */
    struct keel_get_log *gets;        /* whose records go to a target before what was put after, or NULL */
    int is_sent_only;                 /* locks and waits rely on who applies a record */
    uint32_t number_end;              /* of the records of a phase: keel_counters_records() */
    size_t record_max;                /* payload of one record, bytes */
    size_t short_max;                 /* served lane: of a record that the hot path writes, bytes */
    size_t send_at;                   /* served lane: records are sent when this much has gathered, bytes */
    uint64_t overflows;
} keel_put_log_t;

keel_status_t keel_put_log_init(keel_put_log_t *log, keel_lane_t *lane, keel_segment_pool_t *pool);
void keel_put_log_release(keel_put_log_t *log);

/* slow part of reserve: enters the phase, takes a segment. NULL when it cannot: the record is lost for recovery, unless
 * the target is behind and its log on: then the caller has to wait until the target was given what is there */
keel_record_t *keel_put_log_reserve_slow(keel_put_log_t *log, uint32_t target, size_t length);

/* a record of so many payload bytes is reserved without a call */
static inline __attribute__((always_inline)) int keel_put_log_has_room(const keel_put_log_t *log, uint32_t target,
                                                                       size_t length)
{
    const keel_put_target_t *t = &log->targets[target];

    return (uintptr_t)t->tail + sizeof(keel_record_t) + keel_pad8(length) <= (uintptr_t)t->limit;
}

/* room for a record of @a length <= record_max payload bytes, nothing written; NULL: not logged */
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

/* Direct lane, programs that wait: room for a record that is numbered. 0, and nothing is changed: there is none, or it has no number. */
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
        __builtin_unreachable(); /* it has no room, then: who writes the record need not ask */
    }
    return 1;
}

/*
 * Served lane: room for a record that is numbered, and sent with others later. NULL, and nothing is changed: it is not short, there is no
 * room for it, it has no number, or sending is due with it.
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
 * Writes what was reserved, if anything was, and stores the same @a length bytes at @a target_ptr on the direct lane; they
 * are read once. A line that records to come lie in is fetched meanwhile; a long record streams past the cache.
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

/* writes a record alone; a short one's lines to come are fetched */
static inline void keel_record_fill(const keel_put_log_t *log, keel_record_t *record, uint64_t where,
                                    const void *buffer, size_t length)
{
    keel_put_log_head(log, record, where, length);
    memcpy(record + 1, buffer, length);
    if (length < KEEL_COPY_FETCHED) {
        keel_prefetch_write_all((const uint8_t *)(record + 1) + length + KEEL_COPY_AHEAD, length);
    }
}

/* a flush: records after it are of another epoch */
static inline void keel_put_log_close_epoch(keel_put_log_t *log)
{
    if (log->is_epoch_used) {
        log->is_epoch_used = 0;
        keel_epochs_close(&log->epochs);
    }
}
/*
 * Bytes of the next record of a put of which @a length > 0 are left. Of one that takes several, the first fills the message that
 * puts like it began: else a put that is a little longer than a message costs two, and a message as much as copying its data
 * twice. Records are numbered, and a re-execution has to cut the same ones, on either lane: so this depends on the phase's long
 * puts alone, not on what was sent.
 */
size_t keel_put_log_piece(const keel_put_log_t *log, uint32_t target, size_t length);
/* the next record of a put that takes several is one of @a length; whether the message is full with it */
int keel_put_log_cut(keel_put_log_t *log, uint32_t target, size_t length);
/* served lane: writes a record. A long one is summed with its copy, while it is near, for the message that sends it. */
void keel_put_log_fill(keel_put_log_t *log, uint32_t target, keel_record_t *record, uint64_t where, const void *from,
                       size_t length);
/* what is in the log need not be sent any more: another way brings it, or it was sent already */
void keel_put_log_mark_sent(keel_put_log_t *log, uint32_t target);
/* served lane: everything was acknowledged; forgets it when the log is off. */
void keel_put_log_recycle(keel_put_log_t *log, uint32_t target);
/* notes an atomic of this phase, of that kind (keel_classes_kind()) */
static inline void keel_put_log_note_atomic(keel_put_log_t *log, uint32_t target, uint32_t kind)
{
    keel_put_target_t *t = &log->targets[target];

    t->atomics = log->phase + 1;
    t->atomic_kinds |= (uint16_t)kind;
    t->counted += t->counted != log->number_end;
}
/* how many there were in this phase */
static inline uint32_t keel_put_log_counted(const keel_put_log_t *log, uint32_t target)
{
    return log->targets[target].counted;
}
/* direct lane: from here on all records have numbers, after those of the atomics */
void keel_put_log_number_all(keel_put_log_t *log);

/* all records of @a phase, which began in this process's life or is the one that it was restored at, are there */
static inline int keel_put_log_is_complete(const keel_put_log_t *log, uint32_t target, uint32_t phase)
{
    return phase >= log->targets[target].lost && phase >= log->targets[target].trimmed;
}
/* calls @a apply for each run of records of @a phase, in order, at most @a limit bytes a run (0: any); returns records */
typedef keel_status_t (*keel_put_log_cb_t)(void *arg, const keel_record_t *records, size_t length);
keel_status_t keel_put_log_for_phase(keel_put_log_t *log, uint32_t target, uint32_t phase, size_t limit,
                                     keel_put_log_cb_t apply, void *arg, uint64_t *count_p);

/* All numbers of the phase are taken: what comes of it is done all the same, and has no number, so nobody can tell what of it was
 * done. Should one of the two die, the job rolls back. Returns what says "none". */
uint32_t keel_put_log_unnumbered(keel_put_log_t *log, uint32_t target);
/* the number of the record that is issued now, among those of the phase (lane.h); number_end: it has none */
static inline uint32_t keel_put_log_number(keel_put_log_t *log, uint32_t target)
{
    keel_put_target_t *t = &log->targets[target];

    if (__builtin_expect(t->count == log->number_end, 0)) {
        return keel_put_log_unnumbered(log, target);
    }
    return t->count++;
}
/* the same for one that goes by another way than the log, behind all that is in the log */
static inline uint32_t keel_put_log_number_sent(keel_put_log_t *log, uint32_t target)
{
    const uint32_t number = keel_put_log_number(log, target);

    log->targets[target].sent_count = log->targets[target].count;
    return number;
}
/* the caller goes on without the record that it should have waited for room for */
static inline void keel_put_log_miss(keel_put_log_t *log, uint32_t target)
{
    log->targets[target].lost = log->phase + 1;
}
/* a replacement that begins at @a position: what its predecessor put to that target before is in no log of its own */
static inline void keel_put_log_begin_at(keel_put_log_t *log, uint32_t target, uint32_t position)
{
    log->targets[target].lost = keel_larger(log->targets[target].lost, position);
}
/* the target counts @a count records of this phase as done */
static inline void keel_put_log_has_numbers(keel_put_log_t *log, uint32_t target, uint64_t count)
{
    if (log->targets[target].count < count) {
        log->targets[target].count = (count < log->number_end) ? (uint32_t)count : log->number_end;
    }
}
/* direct lane, programs that lock: all that has a number in this phase is in place. A replacement elsewhere goes on after it. */
void keel_put_log_tell_done(keel_put_log_t *log, uint32_t target);
/* the clock that the records which follow were made under */
static inline void keel_put_log_say_clock(keel_put_log_t *log, uint32_t target, uint32_t clock)
{
    log->targets[target].clock = clock;
}
/* how many had a number in this phase */
static inline uint32_t keel_put_log_count(const keel_put_log_t *log, uint32_t target)
{
    return log->targets[target].count;
}

/* an image of @a phase is in use: older records are dropped [F 6.2]; @a now is the current phase */
void keel_put_log_trim(keel_put_log_t *log, uint32_t phase, uint32_t now);
/* an image of @a phase of that target alone is in use */
void keel_put_log_trim_image(keel_put_log_t *log, uint32_t target, uint32_t phase, uint32_t now);
/* the target copies an image at the begin of this phase: a log that is off is complete again from here on */
void keel_put_log_resume(keel_put_log_t *log, uint32_t target);
uint64_t keel_put_log_target_bytes(keel_put_log_t *log, uint32_t target);
/* epoch of its oldest record; the open one: it has none */
uint32_t keel_put_log_oldest(keel_put_log_t *log, uint32_t target);
/* phases from the oldest record's on that have records */
static inline uint32_t keel_put_log_phases(const keel_put_log_t *log)
{
    return log->epochs.next - log->epochs.oldest;
}
void keel_put_log_set_phase(keel_put_log_t *log, uint32_t phase);
/* rollback: forgets everything */
void keel_put_log_clear(keel_put_log_t *log, uint32_t phase);
uint64_t keel_put_log_bytes(keel_put_log_t *log);

#endif
