/* Put log. */
#include "oplog/put_log.h"

#include "base/crc.h"
#include "base/memory.h"
#include "check/plant.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "peer/members.h"
#include "peer/remote_put.h"
#include "trace/trace_area.h"

#include <assert.h>
#include <string.h>

#define SUM_AT 1024u /* served lane: longer records are summed when they are written */

keel_status_t keel_put_log_init(keel_put_log_t *log, keel_lane_t *lane, keel_segment_pool_t *pool)
{
    const size_t head = KEEL_PLANT(put_log_record_alone) ? 0 : KEEL_PUT_MESSAGE_HEAD;
    keel_status_t status;

    memset(log, 0, sizeof(*log));
    log->lane = lane;
    log->pool = pool;
    log->phase = lane->counters.phase;
    log->number_end = keel_counters_records(&lane->counters);
    keel_remote_put_from(lane, (lane->incarnation > 0) ? KEEL_PHASE_NONE : 0);
    log->is_enabled = lane->config->protect >= KEEL_PROTECT_PUTS;
    log->record_max = pool->segment_size;
    /* a record must also fit in a message that forwards it to a replacement */
    if (log->record_max > ((lane->ops->max_data - head) & ~(size_t)7)) {
        log->record_max = (lane->ops->max_data - head) & ~(size_t)7;
    }
    log->record_max -= sizeof(keel_record_t);
    log->short_max = (log->record_max < SUM_AT - 1) ? log->record_max : SUM_AT - 1;
    log->send_at = lane->ops->max_data / 4 * 3;
    /* a target takes a cache line or two: the arena's alignment avoids sharing */
    log->targets = keel_arena_alloc(lane->size * sizeof(*log->targets), SIZE_MAX, "put log");
    if (log->targets == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_epochs_init(&log->epochs, KEEL_PUT_LOG_PHASES, lane->counters.epoch);
    if (status != KEEL_OK) {
        keel_arena_free(log->targets, lane->size * sizeof(*log->targets));
        log->targets = NULL;
        return status;
    }
    KEEL_EACH_RANK(t, lane) {
        log->targets[t].is_off = !log->is_enabled;
    }
    return KEEL_OK;
}

void keel_put_log_release(keel_put_log_t *log)
{
    keel_epochs_release(&log->epochs);
    if (log->targets != NULL) {
        keel_arena_free(log->targets, log->lane->size * sizeof(*log->targets));
    }
}

static void put_target_drop(keel_put_log_t *log, keel_put_target_t *t)
{
    keel_segment_list_clear(&t->list, log->pool);
    t->tail = NULL;
    t->limit = NULL;
    t->sent = (keel_cursor_t){0};
    t->unsent = 0;
    t->sum_end = NULL;
    t->atomic_kinds = 0;
}

/* the record is lost, and the rest of the log is useless without it */
static void put_target_overflow(keel_put_log_t *log, uint32_t target, const char *why)
{
    keel_put_target_t *t = &log->targets[target];

    if (!t->is_off) {
        t->is_off = 1;
        t->resume_at = KEEL_PHASE_NONE;
        keel_message(log->lane->message, (log->overflows == 0) ? KEEL_MSG_WARN : KEEL_MSG_INFO,
                     "put log towards rank %u is full (%s): should that rank die, the job rolls back (warned of once, "
                     "counted in keel_stats_t.log_overflows)",
                     target, why);
        log->overflows++;
    }
    t->lost = log->phase + 1;
    t->limit = NULL;
    if (!keel_access_is_served(log->lane, target)) {
        put_target_drop(log, t);
    }
}

keel_record_t *keel_put_log_reserve_slow(keel_put_log_t *log, uint32_t target, size_t length)
{
    keel_put_target_t *t = &log->targets[target];
    const size_t need = sizeof(keel_record_t) + keel_pad8(length);
    /* A put to a target that is behind exists only in the log and must not be lost, so the
     * caller waits. Hand-over goes by phases, so the phase is entered even if the log is off and
     * serves as send queue only. */
    const int is_behind = log->lane->peers[target].mode == KEEL_PEER_BEHIND;
    const int is_awaited = is_behind && !t->is_off,
              has_phase = !t->is_off || (is_behind && !KEEL_PLANT(put_log_off_unphased));
    keel_record_t *record;

    assert(length <= log->record_max);
    log->is_epoch_used |= KEEL_PLANT(put_log_epoch_wasted);
    if (t->is_off) {
        t->lost = log->phase + 1;
        if (!keel_access_is_served(log->lane, target)) {
            return NULL; /* the log remains the send queue on the served lane */
        }
    }
    keel_put_target_sync(t);
    if (has_phase && keel_epochs_enter(&log->epochs, log->phase) != KEEL_OK) {
        if (is_behind) {
            return NULL;
        }
        put_target_overflow(log, target, "too many phases or flushes since the last image");
    }
    if (t->list.last == NULL || t->tail + need > t->list.last->data + log->pool->segment_size) {
        if (!keel_segment_list_grow(&t->list, log->pool)) {
            if (is_awaited) {
                return NULL;
            }
            put_target_overflow(log, target, "KEEL_OPLOG_SIZE is used up");
            return NULL;
        }
        t->tail = t->list.last->data;
    }
    if ((t->is_off && !keel_access_is_served(log->lane, target)) ||
        (KEEL_PLANT(put_log_record_lost) && t->list.first != t->list.last && t->tail == t->list.last->data)) {
        return NULL;
    }
    if (!t->is_off) { /* a log that is off takes the slow path for each record */
        t->limit = t->list.last->data + log->pool->segment_size;
    }
    log->is_epoch_used |= has_phase; /* records that are only sent need no epochs */
    t->list.last->last_phase = log->phase;
    record = (keel_record_t *)t->tail;
    t->tail += need;
    return record;
}

void keel_put_log_mark_sent(keel_put_log_t *log, uint32_t target)
{
    keel_put_target_t *t = &log->targets[target];

    keel_put_target_sync(t);
    keel_cursor_to_end(&t->list, &t->sent);
    t->unsent = 0;
    t->sum_end = NULL;
    t->sent_count = t->count;
}

void keel_put_log_fill(keel_put_log_t *log, uint32_t target, keel_record_t *record, uint64_t where, const void *from,
                       size_t length)
{
    keel_put_target_t *t = &log->targets[target];
    const size_t words = length & ~(size_t)7;
    uint8_t *to = (uint8_t *)(record + 1);

    if (length < SUM_AT) {
        keel_record_fill(log, record, where, from, length);
        return;
    }
    keel_put_log_head(log, record, where, length);
    if (t->sum_end != (const uint8_t *)record) {
        t->sum_from = (const uint8_t *)record;
        t->sum = 0;
    }
    t->sum = keel_crc(t->sum, record, sizeof(*record));
    t->sum = keel_crc_copy_kept(t->sum, to, from, words);
    memcpy(to + words, (const uint8_t *)from + words, length - words);
    t->sum = keel_crc(t->sum, to + words, keel_pad8(length) - words);
    t->sum_end = to + keel_pad8(length);
}

size_t keel_put_log_record_length(const keel_put_log_t *log, uint32_t target, size_t length)
{
    const size_t taken = log->targets[target].filled + sizeof(keel_record_t), max = log->lane->ops->max_data;
    const size_t room = (taken < max) ? (max - taken) & ~(size_t)7 : 0;

    if (length <= log->record_max) {
        return length;
    }
    return (room > 0 && room < log->record_max) ? room : log->record_max;
}

int keel_put_log_cut(keel_put_log_t *log, uint32_t target, size_t length)
{
    keel_put_target_t *t = &log->targets[target];

    t->filled += (uint32_t)(sizeof(keel_record_t) + keel_pad8(length));
    if (t->filled < log->send_at) {
        return 0;
    }
    t->filled = 0;
    return 1;
}

void keel_put_log_recycle(keel_put_log_t *log, uint32_t target)
{
    keel_put_target_t *t = &log->targets[target];

    if (t->is_off) {
        put_target_drop(log, t);
    }
}

typedef struct record_walk {
    uint32_t first, end; /* epochs of the walk: from first to before end */
    uint32_t before;     /* epoch of the previous record */
    size_t limit;        /* maximum bytes of a run, 0: no limit */
} record_walk_t;

/* Finds the next run of matching records from *at_p on and moves *at_p to its start. Returns its
 * bytes, 0: no further run here. */
static size_t records_next_run(record_walk_t *walk, const uint8_t *data, size_t length, size_t *at_p, uint64_t *count_p)
{
    keel_records_t left = keel_records_of(data + *at_p, length - *at_p);
    const keel_record_t *record;
    size_t run = 0;

    while ((record = keel_records_next(&left)) != NULL) {
        const int is_wanted =
            !keel_epoch_is_before(record->epoch, walk->first) && keel_epoch_is_before(record->epoch, walk->end);

        assert(!keel_epoch_is_before(record->epoch, walk->before)); /* protocol.md, invariant 3 */
        if (run > 0 && (!is_wanted || (walk->limit > 0 && run + keel_record_size(record) > walk->limit))) {
            break;
        }
        if (is_wanted) {
            *at_p = (run == 0) ? (size_t)((const uint8_t *)record - data) : *at_p;
            run += keel_record_size(record);
            (*count_p)++;
        }
        walk->before = record->epoch;
    }
    return run;
}

keel_status_t keel_put_log_for_phase(keel_put_log_t *log, uint32_t target, uint32_t phase, size_t limit,
                                     keel_put_log_cb_t apply, void *arg, uint64_t *count_p)
{
    keel_put_target_t *t = &log->targets[target];
    record_walk_t walk = {.first = keel_epochs_find(&log->epochs, phase),
                          .end = keel_epochs_find(&log->epochs, phase + 1),
                          .before = log->epochs.open - INT32_MAX,
                          .limit = limit};
    keel_cursor_t cursor = {0};
    keel_status_t status;
    const uint8_t *data;
    size_t length, run;

    keel_put_target_sync(t);
    while ((data = keel_cursor_peek(&t->list, &cursor, &length)) != NULL &&
           keel_epoch_is_before(((const keel_record_t *)data)->epoch, walk.end)) {
        if (cursor.segment->last_phase >= phase) { /* a run ends with its segment */
            for (size_t at = 0; (run = records_next_run(&walk, data, length, &at, count_p)) > 0; at += run) {
                status = apply(arg, (const keel_record_t *)(data + at), run);
                if (status != KEEL_OK) {
                    return status;
                }
            }
        }
        cursor.offset = cursor.segment->used;
    }
    return KEEL_OK;
}

uint32_t keel_put_log_unnumbered(keel_put_log_t *log, uint32_t target)
{
    keel_put_target_t *t = &log->targets[target];
    keel_board_slot_t *slot = keel_access_slot(log->lane, target);

    if (t->lost <= log->phase && !KEEL_PLANT(put_log_unnumbered_to)) {
        t->lost = log->phase + 1;
        keel_warn(log->lane->message,
                  "more than %u records went to rank %u in one phase: should one of the two die, the job rolls back",
                  log->number_end, target);
    }
    keel_lane_announce_lost_get(log->lane, log->phase);
    if (slot != NULL && !KEEL_PLANT(put_log_unnumbered_from)) {
        keel_board_lose_get(slot, log->phase);
    }
    return KEEL_PLANT(put_log_numbers_again) ? 0 : log->number_end;
}

void keel_put_log_number_all(keel_put_log_t *log)
{
    KEEL_EACH_TOUCHED(i, log->lane) {
        keel_put_log_raise_count(log, i, log->targets[i].counted);
    }
}

void keel_put_log_announce_done(keel_put_log_t *log, uint32_t target)
{
    keel_board_slot_t *slot = keel_access_slot(log->lane, target);

    if (slot != NULL) {
        keel_board_set(&slot->done, keel_phase_word(log->phase, log->targets[target].count));
    }
}

static void put_target_trim(keel_put_log_t *log, keel_put_target_t *t, uint32_t phase)
{
    /* first epoch to keep */
    const uint32_t first = keel_epochs_find(&log->epochs, phase + KEEL_PLANT(put_log_trim_too_far));

    keel_put_target_sync(t);
    while (t->list.first != t->list.last && t->list.first->last_phase < phase) {
        if (t->sent.segment == t->list.first) {
            /* the cursor was at the end of the segment: continue at the new first segment */
            t->sent = (keel_cursor_t){0};
        }
        keel_segment_list_drop_first(&t->list, log->pool);
    }
    while (t->list.first != NULL && t->list.start < t->list.first->used) {
        const keel_record_t *record = (const void *)(t->list.first->data + t->list.start);

        if (!keel_epoch_is_before(record->epoch, first)) {
            break;
        }
        t->list.start += (uint32_t)keel_record_size(record);
    }
    if (t->list.first != NULL && t->list.first == t->list.last && t->list.start == t->list.first->used &&
        t->limit == NULL) {
        put_target_drop(log, t);
    }
}

static void put_log_trim_target(keel_put_log_t *log, uint32_t target, uint32_t phase, uint32_t now)
{
    keel_put_target_t *t = &log->targets[target];

    if (t->is_off) {
        if (log->is_enabled && t->resume_at == KEEL_PHASE_NONE) {
            t->resume_at = now + 1;
        }
    } else {
        put_target_trim(log, t, phase);
    }
    if (t->lost <= phase) {
        t->lost = 0;
    }
    if (t->trimmed < phase) {
        t->trimmed = phase;
    }
    if (t->atomics <= phase) {
        t->atomic_kinds = 0;
    }
}

void keel_put_log_trim(keel_put_log_t *log, uint32_t phase, uint32_t now)
{
    KEEL_EACH_TOUCHED(i, log->lane) {
        put_log_trim_target(log, i, phase, now);
    }
    keel_epochs_trim(&log->epochs, phase);
}

uint32_t keel_put_log_oldest(keel_put_log_t *log, uint32_t target)
{
    const keel_segment_list_t *list = &log->targets[target].list;

    keel_put_target_sync(&log->targets[target]);
    return (list->first != NULL && list->start < list->first->used)
               ? ((const keel_record_t *)(list->first->data + list->start))->epoch
               : log->epochs.open;
}

/* drops phases from the table that are older than every record */
static void put_log_trim_epochs(keel_put_log_t *log)
{
    uint32_t oldest = log->epochs.open;

    KEEL_EACH_TOUCHED(i, log->lane) {
        const uint32_t epoch = keel_put_log_oldest(log, i);

        oldest = keel_epoch_is_before(epoch, oldest) ? epoch : oldest;
    }
    keel_epochs_trim_before(&log->epochs, oldest);
}

void keel_put_log_trim_image(keel_put_log_t *log, uint32_t target, uint32_t phase, uint32_t now)
{
    put_log_trim_target(log, target, phase, now);
    put_log_trim_epochs(log);
}

void keel_put_log_resume(keel_put_log_t *log, uint32_t target)
{
    keel_put_target_t *t = &log->targets[target];

    if (t->is_off && log->is_enabled) {
        put_target_drop(log, t);
        t->is_off = 0;
    }
}

uint64_t keel_put_log_target_bytes(keel_put_log_t *log, uint32_t target)
{
    keel_put_target_sync(&log->targets[target]);
    return keel_segment_list_bytes(&log->targets[target].list);
}

/* A log only grows within a phase, and is trimmed after its end. */
static void put_log_note_peaks(keel_put_log_t *log)
{
    KEEL_EACH_TOUCHED_WHILE(i, log->lane, keel_trace_is_on(log->lane->trace)) {
        keel_trace_write_peak(log->lane->trace, i, keel_put_log_target_bytes(log, i));
    }
}

void keel_put_log_set_phase(keel_put_log_t *log, uint32_t phase)
{
    put_log_note_peaks(log);
    log->phase = phase;
    KEEL_EACH_TOUCHED(i, log->lane) {
        keel_put_target_t *t = &log->targets[i];

        t->limit = NULL;
        t->count = t->sent_count = t->clock = t->filled = t->counted = 0;
        if (t->is_off && log->is_enabled && phase >= t->resume_at) {
            put_target_drop(log, t);
            t->is_off = 0;
        }
    }
}

void keel_put_log_clear(keel_put_log_t *log, uint32_t phase)
{
    KEEL_EACH_RANK(i, log->lane) {
        keel_put_target_t *t = &log->targets[i];

        put_target_drop(log, t);
        t->lost = t->atomics = t->trimmed = 0;
        t->is_off = !log->is_enabled;
        t->count = t->sent_count = t->clock = t->filled = t->counted = 0;
    }
    keel_epochs_clear(&log->epochs);
    log->phase = phase;
    keel_remote_put_from(log->lane, 0);
}

uint64_t keel_put_log_bytes(keel_put_log_t *log)
{
    uint64_t bytes = 0;

    KEEL_EACH_TOUCHED(i, log->lane) {
        keel_put_target_sync(&log->targets[i]);
        bytes += keel_segment_list_bytes(&log->targets[i].list);
    }
    return bytes;
}
