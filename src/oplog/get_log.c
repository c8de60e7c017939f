/* The get log: own copies, and LG at the targets (getlog_chunk.c). */
#include "oplog/get_log.h"

#include "base/memory.h"
#include "oplog/getlog_chunk.h"

#include <assert.h>
#include <string.h>

enum { RECORD_INCOMPLETE = 0, RECORD_COMPLETE = 1 }; /* keel_get_record_t.reserved */

/* one control message's worth of records */
typedef struct replay_message {
    uint32_t is_last;
    uint32_t next_number; /* of the writer's next chunk */
    uint8_t records[];
} replay_message_t;

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
    log->resume_at = UINT32_MAX;
    log->chunk_size = keel_getlog_chunk_size(lane->config->getlog_size);
    if (log->chunk_size == 0) {
        return KEEL_ERR_BUDGET;
    }
    room = log->chunk_size - sizeof(keel_getlog_chunk_t);
    if (room > pool->segment_size) {
        room = pool->segment_size;
    }
    if (room > lane->ops->max_data) {
        room = lane->ops->max_data;
    }
    /* a record also has to fit in a message that sends it on */
    log->piece_max = (uint32_t)((room - sizeof(keel_get_record_t) - sizeof(replay_message_t)) & ~(size_t)7);
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

void keel_get_log_lose(keel_get_log_t *log, const char *why)
{
    if (!log->is_off) {
        log->is_off = 1;
        log->resume_at = UINT32_MAX;
        log->overflows++;
        keel_warn(log->lane->message, "get log is full (%s): should this rank die, the job rolls back", why);
    }
    log->lane->slot.lost_gets = (uint64_t)log->phase + 1;
}

/* room for a record at the end of the own copy */
static keel_get_record_t *get_target_append(keel_get_log_t *log, keel_get_target_t *t, uint32_t phase, uint32_t length)
{
    const size_t need = sizeof(keel_get_record_t) + keel_pad8(length);
    keel_segment_t *last = t->list.last;
    keel_get_record_t *record;

    if (need > log->pool->segment_size) {
        return NULL; /* a remote length */
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

/* the target has to know at once: a put to it in this phase may overwrite what was read without a record */
static void get_target_mark_lost(keel_get_log_t *log, uint32_t target)
{
    keel_board_slot_t *board = keel_lane_region_ptr(log->lane, target, KEEL_REGION_BOARD);

    if (board != NULL && target != log->lane->rank) {
        keel_board_set(&board[log->lane->rank].lost_gets, (uint64_t)log->phase + 1);
    }
}

keel_get_record_t *keel_get_log_reserve(keel_get_log_t *log, uint32_t target, uint64_t where, uint32_t length,
                                        uint32_t *index_p)
{
    keel_get_target_t *t = &log->targets[target];
    keel_get_record_t *record;

    *index_p = t->index++;
    record = log->is_off ? NULL : get_target_append(log, t, log->phase, length);
    if (record == NULL) {
        if (log->is_off) {
            log->lane->slot.lost_gets = (uint64_t)log->phase + 1;
        } else {
            keel_get_log_lose(log, "KEEL_OPLOG_SIZE is used up");
        }
        get_target_mark_lost(log, target);
        return NULL;
    }
    *record = (keel_get_record_t){.phase = log->phase, .index = *index_p, .where = where, .length = length};
    return record;
}

void keel_get_log_complete(keel_get_record_t *record, const void *data)
{
    memcpy(record + 1, data, record->length);
    record->reserved = RECORD_COMPLETE;
}

static const keel_get_record_t *cursor_record(const keel_get_target_t *t, keel_cursor_t *cursor)
{
    size_t length;

    return (const keel_get_record_t *)keel_cursor_peek(&t->list, cursor, &length);
}

static void cursor_advance(keel_cursor_t *cursor, const keel_get_record_t *record)
{
    cursor->offset += (uint32_t)(sizeof(*record) + keel_pad8(record->length));
}

keel_status_t keel_get_log_replay(keel_get_log_t *log, uint32_t target, uint64_t where, uint32_t length, void *buffer)
{
    keel_get_target_t *t = &log->targets[target];
    const keel_get_record_t *record;

    if (!t->has_replay) {
        return KEEL_INPROGRESS;
    }
    record = cursor_record(t, &t->replay);
    if (record == NULL || record->phase > log->phase) {
        if (record == NULL) {
            t->has_replay = 0;
        }
        return KEEL_INPROGRESS;
    }
    if (record->phase != log->phase || record->index != t->index || record->where != where ||
        record->length != length) {
        keel_error(log->lane->message,
                   "re-execution differs from the first life: get %u of phase %u at rank %u is not the one recorded "
                   "(get %u of phase %u); is the program deterministic?",
                   t->index, log->phase, target, record->index, record->phase);
        return KEEL_ERR_CORRUPT;
    }
    memcpy(buffer, record + 1, length);
    cursor_advance(&t->replay, record);
    t->index++;
    return KEEL_OK;
}

int keel_get_log_is_replayed(keel_get_log_t *log)
{
    for (uint32_t i = 0; i < log->lane->size; i++) {
        keel_get_target_t *t = &log->targets[i];

        if (t->has_replay && cursor_record(t, &t->replay) != NULL) {
            return 0;
        }
    }
    return 1;
}

/* whoever holds the record of a fetched value knows that its source issued atomics, also when the source has only told it again */
static void note_atomic(keel_board_slot_t *slot, const keel_get_record_t *record)
{
    if (keel_where_op(record->where) == KEEL_RECORD_ATOMIC) {
        keel_board_set(&slot->atomics, keel_atomics_word(keel_board_get(&slot->atomics), record->phase, 0));
    }
}

static void get_target_push(keel_get_log_t *log, uint32_t target)
{
    keel_get_target_t *t = &log->targets[target];
    const size_t size = keel_lane_region_size(log->lane, target, KEEL_REGION_GETLOG); /* its own KEEL_GETLOG_SIZE */
    keel_board_slot_t *board = keel_lane_region_ptr(log->lane, target, KEEL_REGION_BOARD);
    const keel_get_record_t *record;
    void *arena;

    arena = keel_lane_region_ptr(log->lane, target, KEEL_REGION_GETLOG);
    while ((record = cursor_record(t, &t->pushed)) != NULL && record->reserved == RECORD_COMPLETE) {
        if (arena == NULL || !keel_getlog_write(arena, size, keel_getlog_chunk_size(size), &t->writer, log->lane->rank,
                                                record, record + 1)) {
            keel_get_log_lose(log, "KEEL_GETLOG_SIZE of the target is used up");
            get_target_mark_lost(log, target);
            return;
        }
        if (board != NULL) {
            note_atomic(&board[log->lane->rank], record);
        }
        cursor_advance(&t->pushed, record);
    }
}

void keel_get_log_push(keel_get_log_t *log, uint32_t target)
{
    if (!log->is_off && keel_lane_has_direct(log->lane, target) && log->lane->peers[target].mode == KEEL_PEER_LIVE) {
        get_target_push(log, target);
    }
}

void keel_get_log_serve(void *arg, uint32_t source, const keel_get_record_t *record, const void *data)
{
    keel_get_log_t *log = arg;

    if (!keel_getlog_write(keel_lane_region_base(log->lane, KEEL_REGION_GETLOG), log->lane->config->getlog_size,
                           log->chunk_size, &log->served[source], source, record, data)) {
        /* the source cannot know: say it in its own board slot, which it is told of by nobody else */
        keel_board_set(&log->lane->board[source].lost_gets, (uint64_t)record->phase + 1);
        log->overflows++;
    }
}

void keel_get_log_source_down(keel_get_log_t *log, uint32_t source)
{
    pthread_mutex_lock(&log->lane->lock);
    keel_getlog_close(keel_lane_region_base(log->lane, KEEL_REGION_GETLOG), log->lane->config->getlog_size,
                      log->chunk_size, source, &log->served[source]);
    pthread_mutex_unlock(&log->lane->lock);
}

void keel_get_log_target_down(keel_get_log_t *log, uint32_t target)
{
    keel_get_target_t *t = &log->targets[target];

    t->pushed = (keel_cursor_t){0};
    t->writer = (keel_getlog_writer_t){0};
}

static keel_status_t records_send(keel_get_log_t *log, uint32_t rank, keel_control_type_t type, int is_last,
                                  uint32_t next_number, const void *records, size_t length)
{
    replay_message_t *message = keel_alloc(sizeof(*message) + length, "get records");
    keel_status_t status;

    if (message == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    message->is_last = (uint32_t)is_last;
    message->next_number = next_number;
    if (length > 0) {
        memcpy(message->records, records, length);
    }
    status = keel_lane_control_send(log->lane, rank, type, message, sizeof(*message) + length);
    keel_free(message);
    return status;
}

/* bytes of whole records at @a records that fit one message, 0 when what lies there is none: others wrote it */
static size_t replay_run(const char *records, size_t length, size_t max)
{
    size_t run = 0;

    while (length - run >= sizeof(keel_get_record_t)) {
        const keel_get_record_t *record = (const void *)(records + run);
        const size_t need = sizeof(*record) + keel_pad8(record->length);

        if (need > length - run) {
            return 0;
        }
        if (run + need > max) {
            return run;
        }
        run += need;
    }
    return (run == length) ? run : 0;
}

keel_status_t keel_get_log_send_replay(keel_get_log_t *log, uint32_t source)
{
    const void *arena = keel_lane_region_base(log->lane, KEEL_REGION_GETLOG);
    const size_t max = log->lane->ops->max_data - sizeof(replay_message_t);
    const size_t size = log->lane->config->getlog_size;
    const keel_getlog_chunk_t *chunk;
    keel_status_t status;
    size_t at, run, used;
    uint32_t next = 0;

    while ((chunk = keel_getlog_next(arena, size, log->chunk_size, source, &next)) != NULL) {
        const char *records = (const char *)(chunk + 1);

        used = chunk->used;
        for (at = 0; at < used; at += run) {
            /* the number after the largest would be the first one again */
            run = (next == 0 || used > log->chunk_size - sizeof(*chunk)) ? 0 : replay_run(records + at, used - at, max);
            if (run == 0) {
                keel_error(log->lane->message, "what rank %u left in the get log here is corrupt", source);
                keel_lane_fail(log->lane, KEEL_ERR_CORRUPT);
                return KEEL_ERR_CORRUPT;
            }
            status = records_send(log, source, KEEL_CONTROL_GETLOG, 0, next, records + at, run);
            if (status != KEEL_OK) {
                return status;
            }
        }
    }
    return records_send(log, source, KEEL_CONTROL_GETLOG, 1, next, NULL, 0);
}

/* calls for each whole record of a message; 0 when the message is malformed */
static int records_next(const uint8_t **at, const uint8_t *end, keel_get_record_t *record, const uint8_t **data_p)
{
    if ((size_t)(end - *at) < sizeof(*record)) {
        return 0;
    }
    memcpy(record, *at, sizeof(*record));
    if ((size_t)(end - *at) - sizeof(*record) < keel_pad8(record->length)) {
        return 0;
    }
    *data_p = *at + sizeof(*record);
    *at = *data_p + keel_pad8(record->length);
    return 1;
}

/* somebody waits for these records, or will need them */
static void records_refused(keel_get_log_t *log, uint32_t source)
{
    keel_error(log->lane->message, "malformed get records from rank %u refused", source);
    keel_lane_fail(log->lane, KEEL_ERR_CORRUPT);
}

void keel_get_log_receive_replay(keel_get_log_t *log, const keel_control_in_t *in, uint32_t from_phase)
{
    const replay_message_t *message = (const void *)in->payload;
    const uint8_t *end = in->payload + in->length;
    keel_get_target_t *t = &log->targets[in->source];
    const uint8_t *at, *data;
    keel_get_record_t record, *own;

    if (in->length < sizeof(*message)) {
        records_refused(log, in->source);
        return;
    }
    t->writer.number = message->next_number;
    for (at = message->records; at < end;) {
        if (!records_next(&at, end, &record, &data) || record.length > log->piece_max) {
            records_refused(log, in->source);
            return;
        }
        if (record.phase < from_phase) {
            continue;
        }
        own = get_target_append(log, t, record.phase, record.length);
        if (own == NULL || KEEL_PLANT(records_no_room)) {
            log->is_short = 1; /* without them a re-execution would be another computation */
            break;
        }
        *own = record;
        keel_get_log_complete(own, data);
        t->has_replay = 1;
    }
    keel_cursor_to_end(&t->list, &t->pushed); /* they lie at the target already */
    if (message->is_last) {
        t->is_replay_whole = 1;
        t->replay = (keel_cursor_t){0};
    }
}

keel_status_t keel_get_log_refill(keel_get_log_t *log, uint32_t target)
{
    keel_get_target_t *t = &log->targets[target];
    keel_cursor_t cursor = {0};
    const keel_get_record_t *record;
    keel_status_t status;

    if (log->is_off) {
        return KEEL_OK;
    }
    if (keel_lane_has_direct(log->lane, target)) {
        get_target_push(log, target); /* target_down() set it back to the start */
        return KEEL_OK;
    }
    while ((record = cursor_record(t, &cursor)) != NULL && record->reserved == RECORD_COMPLETE) {
        status =
            records_send(log, target, KEEL_CONTROL_REFILL, 0, 0, record, sizeof(*record) + keel_pad8(record->length));
        if (status != KEEL_OK) {
            return status;
        }
        cursor_advance(&cursor, record);
    }
    return KEEL_OK;
}

void keel_get_log_serve_refill(void *arg, uint32_t source, const void *message, size_t length)
{
    keel_get_log_t *log = arg;
    const uint8_t *end = (const uint8_t *)message + length;
    const uint8_t *at = end - (length < sizeof(replay_message_t) ? length : length - sizeof(replay_message_t));
    const uint8_t *data;
    keel_get_record_t record;

    while (at < end && records_next(&at, end, &record, &data)) {
        keel_get_log_serve(log, source, &record, data);
        note_atomic(&log->lane->board[source], &record);
    }
    if (at != end) {
        records_refused(log, source);
    }
}

void keel_get_log_set_phase(keel_get_log_t *log, uint32_t phase)
{
    log->phase = phase;
    for (uint32_t i = 0; i < log->lane->size; i++) {
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
        t->list.start += (uint32_t)(sizeof(*record) + keel_pad8(record->length));
    }
}

void keel_get_log_trim_own(keel_get_log_t *log, uint32_t phase, uint32_t now)
{
    for (uint32_t i = 0; i < log->lane->size; i++) {
        get_target_trim(log, &log->targets[i], phase);
    }
    if (log->is_off && log->is_enabled && log->resume_at == UINT32_MAX) {
        log->resume_at = now + 1;
    }
    /* lost_gets stays: who dies before others know of the image was not to tell them that nothing is lost */
}

void keel_get_log_trim_source(keel_get_log_t *log, uint32_t source, uint32_t phase)
{
    pthread_mutex_lock(&log->lane->lock);
    keel_getlog_trim(keel_lane_region_base(log->lane, KEEL_REGION_GETLOG), log->lane->config->getlog_size,
                     log->chunk_size, source, phase);
    pthread_mutex_unlock(&log->lane->lock);
}

void keel_get_log_trim(keel_get_log_t *log, uint32_t phase, uint32_t now)
{
    keel_get_log_trim_own(log, phase, now);
    keel_get_log_trim_source(log, KEEL_GETLOG_ANY, phase);
}

uint32_t keel_get_log_largest_source(keel_get_log_t *log, unsigned percent)
{
    const uint32_t count = (uint32_t)(log->lane->config->getlog_size / log->chunk_size);
    uint32_t largest = log->lane->size;

    if ((uint64_t)keel_getlog_largest(keel_lane_region_base(log->lane, KEEL_REGION_GETLOG),
                                      log->lane->config->getlog_size, log->chunk_size, log->counts, log->lane->size,
                                      &largest) *
            100 <
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
    for (uint32_t i = 0; i < log->lane->size; i++) {
        keel_segment_list_clear(&log->targets[i].list, log->pool);
        log->targets[i] = (keel_get_target_t){.is_replay_whole = 1};
    }
    log->phase = phase;
    log->is_short = 0;
    log->is_off = !log->is_enabled;
    log->resume_at = UINT32_MAX;
    log->lane->slot.lost_gets = 0;
    pthread_mutex_lock(&log->lane->lock);
    memset(log->served, 0, log->lane->size * sizeof(*log->served));
    keel_getlog_reset(keel_lane_region_base(log->lane, KEEL_REGION_GETLOG), log->lane->config->getlog_size,
                      log->chunk_size);
    pthread_mutex_unlock(&log->lane->lock);
}

uint64_t keel_get_log_bytes(keel_get_log_t *log)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < log->lane->size; i++) {
        bytes += keel_segment_list_bytes(&log->targets[i].list);
    }
    return bytes;
}
