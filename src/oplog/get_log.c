/* Get log: local copies, and LG at the targets (get_log_chunks.c, get_log_replay.c). */
#include "oplog/get_log.h"

#include "base/memory.h"
#include "check/plant.h"
#include "oplog/get_log_chunks.h"
#include "oplog/get_reference.h"
#include "peer/access.h"
#include "peer/members.h"
#include "peer/region.h"

static void writers_reset(keel_get_log_t *log)
{
    KEEL_EACH_RANK(i, log->lane) {
        log->served[i] = (keel_get_chunks_writer_t){.number = log->lane->counters.chunk};
    }
}

keel_status_t keel_get_log_init(keel_get_log_t *log, keel_lane_t *lane, keel_segment_pool_t *pool)
{
    keel_status_t status;
    size_t room;
    void *base;

    memset(log, 0, sizeof(*log));
    log->lane = lane;
    log->pool = pool;
    log->is_enabled = lane->config->protect == KEEL_PROTECT_GETS || lane->config->protect == KEEL_PROTECT_ALL;
    log->is_off = !log->is_enabled;
    log->resume_at = KEEL_PHASE_NONE;
    log->phase = lane->counters.phase;
    log->chunk_size = keel_get_chunk_size(lane->config->getlog_size);
    if (log->chunk_size == 0) {
        return KEEL_ERR_BUDGET;
    }
    log->long_from = keel_get_reference_least(log->chunk_size);
    room = log->chunk_size - sizeof(keel_get_chunk_t);
    if (room > pool->segment_size - sizeof(keel_get_record_t)) {
        room = pool->segment_size - sizeof(keel_get_record_t);
    }
    if (room > lane->ops->max_data) {
        room = lane->ops->max_data;
    }
    /* a record must also fit in a forwarding message, and in a frame (oplog/get_reference) */
    log->record_max = (uint32_t)((room - sizeof(keel_get_record_t) - KEEL_GET_MESSAGE_HEAD) & ~(size_t)7);
    log->targets = keel_alloc(lane->size * sizeof(*log->targets), "get log");
    log->served = keel_alloc(lane->size * sizeof(*log->served), "get log");
    log->counts = keel_alloc(lane->size * sizeof(*log->counts), "get log");
    if (log->targets == NULL || log->served == NULL || log->counts == NULL) {
        status = KEEL_ERR_NO_MEMORY;
        goto err_free;
    }
    status = keel_lane_region_make(lane, KEEL_REGION_GETLOG, lane->config->getlog_size, NULL, &base);
    if (status != KEEL_OK) {
        goto err_free;
    }
    KEEL_EACH_RANK(i, lane) {
        log->targets[i].writer.number = lane->counters.chunk;
    }
    writers_reset(log);
    return KEEL_OK;

err_free:
    keel_free(log->targets);
    keel_free(log->served);
    keel_free(log->counts);
    log->targets = NULL;
    return status;
}

void keel_get_log_release(keel_get_log_t *log)
{
    keel_free(log->targets);
    keel_free(log->served);
    keel_free(log->counts);
}

void keel_get_log_note_missing(keel_get_log_t *log)
{
    keel_lane_announce_lost_get(log->lane, log->phase);
}

void keel_get_log_overflow(keel_get_log_t *log, const char *why)
{
    if (!log->is_off) {
        log->is_off = 1;
        log->resume_at = KEEL_PHASE_NONE;
        keel_message(log->lane->message, (log->overflows == 0) ? KEEL_MSG_WARN : KEEL_MSG_INFO,
                     "get log is full (%s): should this rank die, the job rolls back (warned of once, counted in "
                     "keel_stats_t.log_overflows)",
                     why);
        log->overflows++;
    }
    keel_get_log_note_missing(log);
}

keel_get_record_t *keel_get_log_append(keel_get_log_t *log, keel_get_target_t *t, uint32_t phase, uint32_t length)
{
    const size_t need = sizeof(keel_get_record_t) + keel_pad8(length);
    keel_segment_t *last = t->list.last;
    keel_get_record_t *record;

    if (need > log->pool->segment_size) {
        return NULL; /* the length came from another rank */
    }
    if (last == NULL || last->used + need > log->pool->segment_size) {
        if (!keel_segment_list_grow(&t->list, log->pool)) {
            return NULL;
        }
        last = t->list.last;
    }
    record = (keel_get_record_t *)(last->data + last->used);
    last->used += (uint32_t)need;
    last->last_phase = phase;
    return record;
}

/* announces the loss: a put in this phase may overwrite bytes read without a record */
static void get_target_mark_lost(keel_get_log_t *log, uint32_t target)
{
    keel_board_slot_t *slot = keel_access_slot(log->lane, target);

    if (slot != NULL) {
        keel_board_set(&slot->lost_gets, log->lane->slot.lost_gets);
    }
}

keel_get_record_t *keel_get_log_reserve_slow(keel_get_log_t *log, uint32_t target, uint32_t length)
{
    /* records are named by index and phase: the index must not wrap within one more segment */
    const int has_index = log->targets[target].index < UINT32_MAX - log->pool->segment_size;
    keel_get_record_t *record =
        (log->is_off || !has_index) ? NULL : keel_get_log_append(log, &log->targets[target], log->phase, length);

    if (record != NULL) {
        return record;
    }
    if (log->is_off) {
        keel_get_log_note_missing(log);
    } else {
        keel_get_log_overflow(log, has_index ? "KEEL_OPLOG_SIZE is used up" : "too many gets from a rank in one phase");
    }
    get_target_mark_lost(log, target);
    return NULL;
}

const keel_get_record_t *keel_get_log_peek(const keel_get_target_t *t, keel_cursor_t *cursor)
{
    size_t length;

    return (const keel_get_record_t *)keel_cursor_peek(&t->list, cursor, &length);
}

keel_status_t keel_get_log_next(keel_get_log_t *log, uint32_t target, uint64_t where, size_t length,
                                const keel_get_record_t **record_p)
{
    keel_get_target_t *t = &log->targets[target];
    const keel_get_record_t *record;

    if (!t->has_replay) {
        return KEEL_INPROGRESS;
    }
    record = keel_get_log_peek(t, &t->replay);
    if (record == NULL || record->phase > log->phase) {
        if (record == NULL) {
            t->has_replay = 0;
        }
        return KEEL_INPROGRESS;
    }
    if (record->phase != log->phase || record->index != t->index || record->where != where ||
        record->length != length || KEEL_PLANT(get_log_record_differs)) {
        keel_error(log->lane->message,
                   "re-execution differs from the first life: get %u of phase %u at rank %u is not the one recorded "
                   "(get %u of phase %u); is the program deterministic, and all memory protected that it goes on from?",
                   t->index, log->phase, target, record->index, record->phase);
        return KEEL_ERR_CORRUPT;
    }
    *record_p = record;
    keel_get_log_advance(&t->replay, record);
    t->index++;
    return KEEL_OK;
}

keel_status_t keel_get_log_replay(keel_get_log_t *log, uint32_t target, uint64_t where, uint32_t length, void *buffer)
{
    const keel_get_record_t *record;
    const keel_status_t status = keel_get_log_next(log, target, where, length, &record);

    if (status == KEEL_OK) {
        memcpy(buffer, record + 1, length);
    }
    return status;
}

/* target with a next record named @a where; NULL: none */
static keel_get_target_t *get_log_find_target(keel_get_log_t *log, uint64_t where, const keel_get_record_t **record_p)
{
    KEEL_EACH_TOUCHED(i, log->lane) {
        keel_get_target_t *t = &log->targets[i];

        *record_p = t->has_replay ? keel_get_log_peek(t, &t->replay) : NULL;
        if (*record_p != NULL && (*record_p)->phase == log->phase && (*record_p)->where == where) {
            return t;
        }
    }
    *record_p = NULL;
    return NULL;
}

const keel_get_record_t *keel_get_log_find_determinant(keel_get_log_t *log, uint64_t where)
{
    const keel_get_record_t *record;

    (void)get_log_find_target(log, where, &record);
    return record;
}

keel_status_t keel_get_log_take_determinant(keel_get_log_t *log, uint64_t where, const keel_get_record_t **record_p)
{
    keel_get_target_t *t = get_log_find_target(log, where, record_p);

    if (t == NULL) {
        return KEEL_INPROGRESS;
    }
    if ((*record_p)->index != t->index) {
        return KEEL_ERR_CORRUPT;
    }
    keel_get_log_advance(&t->replay, *record_p);
    t->index++;
    return KEEL_OK;
}

void keel_get_log_end_replay(keel_get_log_t *log, uint32_t target)
{
    keel_get_target_t *t = &log->targets[target];

    if (t->has_replay && keel_get_log_peek(t, &t->replay) == NULL) {
        t->has_replay = 0;
    }
}

int keel_get_log_is_replayed(keel_get_log_t *log)
{
    KEEL_EACH_TOUCHED(i, log->lane) {
        keel_get_target_t *t = &log->targets[i];

        if (t->has_replay && keel_get_log_peek(t, &t->replay) != NULL) {
            return 0;
        }
    }
    return 1;
}

/* bytes of the complete records in @a records, of @a length bytes, that fit in @a room */
static size_t get_run(const uint8_t *records, size_t length, size_t room, uint32_t *phase_p, uint32_t *atomics_p)
{
    size_t run = 0, need;

    for (*phase_p = *atomics_p = 0; run < length; run += need) {
        const keel_get_record_t *record = (const void *)(records + run);

        need = keel_get_record_size(record);
        if (record->completeness != KEEL_GET_COMPLETE || run + need > room) {
            break;
        }
        *phase_p = record->phase;
        if (keel_where_op(record->where) == KEEL_RECORD_ATOMIC) {
            *atomics_p = record->phase + 1;
        }
    }
    return run;
}

/* Records have the same layout here and at the target, so a run is one copy. */
void keel_get_log_push_early(keel_get_log_t *log, uint32_t target)
{
    keel_get_target_t *t = &log->targets[target];
    /* KEEL_GETLOG_SIZE of the target */
    const size_t size = keel_lane_region_size(log->lane, target, KEEL_REGION_GETLOG);
    keel_board_slot_t *slot = keel_access_slot(log->lane, target);
    void *arena = keel_access_at(log->lane, target, KEEL_REGION_GETLOG);
    keel_get_chunk_place_t place;
    uint32_t phase, atomics;
    const uint8_t *records;
    size_t length;

    if (keel_access_is_unmapped(log->lane, target, KEEL_REGION_GETLOG)) {
        return; /* the target has just died: the launcher will report the death */
    }
    while ((records = keel_cursor_peek(&t->list, &t->pushed, &length)) != NULL) {
        const keel_get_record_t *record = keel_get_reference_data((const void *)records);
        const size_t size_here = keel_get_record_size((const keel_get_record_t *)(const void *)records);
        const int is_here = (const void *)record == (const void *)records;

        if (record == NULL) { /* lost */
            t->pushed.offset += (uint32_t)size_here;
            continue;
        }
        if (record->completeness == KEEL_GET_INCOMPLETE) {
            return;
        }
        if (arena == NULL || !keel_get_chunks_open(arena, size, keel_get_chunk_size(size), &t->writer, log->lane->rank,
                                                   keel_get_record_size(record), &place)) {
            keel_get_log_overflow(log, "KEEL_GETLOG_SIZE of the target is used up");
            get_target_mark_lost(log, target);
            return;
        }
        length = get_run((const uint8_t *)record, is_here ? length : keel_get_record_size(record), place.room, &phase,
                         &atomics);
        keel_store_bytes(place.at, record, length);
        if (atomics > 0 && slot != NULL) {
            keel_get_log_note_atomic(slot, atomics - 1);
        }
        keel_get_chunks_publish(&place, (uint32_t)length, phase);
        t->pushed.offset += (uint32_t)(is_here ? length : size_here);
    }
}

void keel_get_log_push(keel_get_log_t *log, uint32_t target)
{
    if (keel_get_log_is_pushed(log, target) || !keel_access_records_gets(log->lane, target) ||
        log->lane->peers[target].mode != KEEL_PEER_LIVE) {
        return;
    }
    if (!log->is_off) {
        keel_get_log_push_early(log, target);
    } else if (!KEEL_PLANT(get_log_loss_unannounced)) {
        /* these records exist only here, and ranks that know of the loss may die, too */
        get_target_mark_lost(log, target);
    }
}

void *keel_get_log_serve(void *arg, uint32_t source, const keel_get_record_t *record)
{
    keel_get_log_t *log = arg;
    void *at =
        keel_get_chunks_begin(keel_lane_region_base(log->lane, KEEL_REGION_GETLOG), log->lane->config->getlog_size,
                              log->chunk_size, &log->served[source], source, record, &log->place);

    if (at == NULL) {
        /* the source cannot know of the loss: note it in the source's own board slot */
        keel_board_lose_get(&log->lane->board[source], record->phase);
        log->overflows++;
    }
    return at;
}

void keel_get_log_served(void *arg, const keel_get_record_t *record)
{
    const keel_get_log_t *log = arg;

    keel_get_chunks_end(&log->place, record);
}

uint64_t keel_get_log_serve_room(void *arg, uint32_t source)
{
    const keel_get_log_t *log = arg;
    const char *arena = keel_lane_region_base(log->lane, KEEL_REGION_GETLOG);
    const uint32_t chunk = log->served[source].chunk;

    if (chunk == 0) {
        return 0;
    }
    return (uint64_t)chunk << 32 |
           ((const keel_get_chunk_t *)(const void *)(arena + (size_t)(chunk - 1) * log->chunk_size))->used;
}

void keel_get_log_source_down(keel_get_log_t *log, uint32_t source)
{
    pthread_mutex_lock(&log->lane->lock);
    keel_get_chunks_close(keel_lane_region_base(log->lane, KEEL_REGION_GETLOG), log->lane->config->getlog_size,
                          log->chunk_size, source, &log->served[source]);
    pthread_mutex_unlock(&log->lane->lock);
}

void keel_get_log_target_down(keel_get_log_t *log, uint32_t target)
{
    keel_get_target_t *t = &log->targets[target];

    t->pushed = (keel_cursor_t){0};
    t->writer = (keel_get_chunks_writer_t){.number = log->lane->counters.chunk};
    t->run_bytes = 0;
}

void keel_get_log_set_phase(keel_get_log_t *log, uint32_t phase)
{
    log->phase = phase;
    KEEL_EACH_TOUCHED(i, log->lane) {
        log->targets[i].index = 0;
    }
    if (log->is_off && log->is_enabled && phase >= log->resume_at) {
        log->is_off = 0;
    }
}

static void get_target_trim(keel_get_log_t *log, keel_get_target_t *t, uint32_t phase)
{
    while (t->list.first != t->list.last && t->list.first->last_phase < phase) {
        if (t->pushed.segment == t->list.first) {
            t->pushed = (keel_cursor_t){0};
        }
        if (t->replay.segment == t->list.first) {
            t->replay = (keel_cursor_t){0};
        }
        keel_segment_list_drop_first(&t->list, log->pool);
    }
    while (t->list.first != NULL && t->list.start < t->list.first->used) {
        const keel_get_record_t *record = (const void *)(t->list.first->data + t->list.start);

        if (record->phase >= phase) {
            break;
        }
        t->list.start += (uint32_t)(keel_get_record_size(record));
    }
}

void keel_get_log_trim_own(keel_get_log_t *log, uint32_t phase, uint32_t now)
{
    KEEL_EACH_TOUCHED(i, log->lane) {
        get_target_trim(log, &log->targets[i], phase);
        log->targets[i].writer.passed = 0;
    }
    if (log->is_off && log->is_enabled && log->resume_at == KEEL_PHASE_NONE) {
        log->resume_at = now + 1;
    }
    /* lost_gets stays: the loss must be known if the process dies before the image is known */
}

void keel_get_log_trim_source(keel_get_log_t *log, uint32_t source, uint32_t phase)
{
    pthread_mutex_lock(&log->lane->lock);
    keel_get_chunks_trim(keel_lane_region_base(log->lane, KEEL_REGION_GETLOG), log->lane->config->getlog_size,
                         log->chunk_size, source, phase);
    pthread_mutex_unlock(&log->lane->lock);
}

void keel_get_log_trim(keel_get_log_t *log, uint32_t phase, uint32_t now)
{
    keel_get_log_trim_own(log, phase, now);
    keel_get_log_trim_source(log, KEEL_GET_CHUNKS_ANY_SOURCE, phase);
}

int keel_get_log_may_be_filled(keel_get_log_t *log, unsigned percent)
{
    return keel_get_chunks_may_be_filled(keel_lane_region_base(log->lane, KEEL_REGION_GETLOG),
                                         log->lane->config->getlog_size, log->chunk_size, log->sample++, percent);
}

uint32_t keel_get_log_largest_source(keel_get_log_t *log, unsigned percent)
{
    const void *arena = keel_lane_region_base(log->lane, KEEL_REGION_GETLOG);
    const size_t size = log->lane->config->getlog_size;
    const uint32_t count = (uint32_t)(size / log->chunk_size);
    uint32_t largest = log->lane->size;

    if (!keel_get_log_may_be_filled(log, percent)) {
        return log->lane->size;
    }
    if ((uint64_t)keel_get_chunks_largest(arena, size, log->chunk_size, log->counts, log->lane->size, &largest) * 100 <
        (uint64_t)count * percent) {
        return log->lane->size;
    }
    return largest;
}

void keel_get_log_resume(keel_get_log_t *log)
{
    if (log->is_off && log->is_enabled) {
        log->is_off = 0;
    }
}

void keel_get_log_clear(keel_get_log_t *log, uint32_t phase)
{
    KEEL_EACH_RANK(i, log->lane) {
        keel_segment_list_clear(&log->targets[i].list, log->pool);
        log->targets[i] = (keel_get_target_t){.is_replay_complete = 1, .writer.number = log->lane->counters.chunk};
        keel_lane_leave_room(log->lane, i);
    }
    log->phase = phase;
    log->has_overflowed = 0;
    log->is_off = !log->is_enabled;
    log->resume_at = KEEL_PHASE_NONE;
    keel_lane_announce_no_lost_gets(log->lane);
    pthread_mutex_lock(&log->lane->lock);
    writers_reset(log);
    keel_get_chunks_reset(keel_lane_region_base(log->lane, KEEL_REGION_GETLOG), log->lane->config->getlog_size,
                          log->chunk_size);
    pthread_mutex_unlock(&log->lane->lock);
}

uint64_t keel_get_log_bytes(keel_get_log_t *log)
{
    uint64_t bytes = 0;

    KEEL_EACH_TOUCHED(i, log->lane) {
        bytes += keel_segment_list_bytes(&log->targets[i].list);
    }
    return bytes;
}
