/* Get log after a death: a replacement receives the predecessor's records, and its LG is
 * refilled. */
#include "oplog/get_log_replay.h"
#include "oplog/get_log.h"

#include "base/memory.h"
#include "check/plant.h"
#include "oplog/get_remote.h"
#include "oplog/get_log_chunks.h"
#include "oplog/get_reference.h"
#include "peer/access.h"
#include "peer/control.h"
#include "peer/issue.h"
#include "peer/arrival.h"
#include "peer/region.h"

#define LOG_GROWTH ((size_t)16 << 20) /* bytes */

/* Head of a control message with records. The message may be unaligned, like the records. */
typedef struct replay_head {
    uint32_t is_last;
    uint32_t next_number; /* of the writer's next chunk */
} replay_head_t;
_Static_assert(sizeof(replay_head_t) == KEEL_GET_MESSAGE_HEAD, "message format");

static keel_status_t records_send(keel_get_log_t *log, uint32_t rank, keel_control_type_t type, int is_last,
                                  uint32_t next_number, const void *records, size_t length)
{
    const replay_head_t head = {.is_last = (uint32_t)is_last, .next_number = next_number};
    char *message = keel_alloc(sizeof(head) + length, "get records");
    keel_status_t status;

    if (message == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(message, &head, sizeof(head));
    if (length > 0) {
        memcpy(message + sizeof(head), records, length);
    }
    status = keel_lane_control_send(log->lane, rank, type, message, sizeof(head) + length);
    keel_free(message);
    return status;
}

/* bytes of complete records at @a records that fit in one message; 0: the bytes are no record,
 * since other processes wrote here */
static size_t replay_run(const char *records, size_t length, size_t max)
{
    keel_records_t left = keel_records_of(records, length);
    keel_get_record_t record;
    const void *payload;
    size_t run = 0;

    while (keel_get_records_read(&left, &record, &payload)) {
        if (length - keel_records_remaining(&left) > max) {
            return run;
        }
        run = length - keel_records_remaining(&left);
    }
    return keel_records_at_end(&left) ? run : 0;
}

keel_status_t keel_get_log_send_replay(keel_get_log_t *log, uint32_t source)
{
    const void *arena = keel_lane_region_base(log->lane, KEEL_REGION_GETLOG);
    const size_t max = log->lane->ops->max_data - sizeof(replay_head_t);
    const size_t size = log->lane->config->getlog_size;
    const keel_get_chunk_t *chunk;
    keel_status_t status;
    size_t at, run, used;
    keel_get_chunks_walk_t walk = {0};

    while ((chunk = keel_get_chunks_next(arena, size, log->chunk_size, source, &walk)) != NULL) {
        const char *records = (const char *)(chunk + 1);

        used = chunk->used;
        for (at = 0; at < used; at += run) {
            run = (used > log->chunk_size - sizeof(*chunk)) ? 0 : replay_run(records + at, used - at, max);
            if (run == 0) {
                keel_error(log->lane->message, "what rank %u left in the get log here is corrupt", source);
                keel_lane_fail(log->lane, KEEL_ERR_CORRUPT);
                return KEEL_ERR_CORRUPT;
            }
            status = records_send(log, source, KEEL_CONTROL_GETLOG, 0, walk.next, records + at, run);
            if (status != KEEL_OK) {
                return status;
            }
        }
    }
    return records_send(log, source, KEEL_CONTROL_GETLOG, 1, walk.next, NULL, 0);
}

/* fails the job: another process waits for the records, or will need them */
static void records_refused(keel_get_log_t *log, uint32_t source)
{
    keel_error(log->lane->message, "malformed get records from rank %u refused", source);
    keel_lane_fail(log->lane, KEEL_ERR_CORRUPT);
}

keel_get_record_t *keel_get_log_append_grown(keel_get_log_t *log, keel_get_target_t *t, uint32_t phase, uint32_t length)
{
    keel_get_record_t *record = keel_get_log_append(log, t, phase, length);

    if (record == NULL && log->lane->config->is_oplog_auto &&
        keel_segment_pool_grow(log->pool, log->pool->bytes + LOG_GROWTH) == KEEL_OK) {
        record = keel_get_log_append(log, t, phase, length);
    }
    return record;
}

void keel_get_log_receive_replay(keel_get_log_t *log, const keel_control_in_t *in, uint32_t from_phase)
{
    keel_get_target_t *t = &log->targets[in->source];
    keel_get_record_t record, *own;
    keel_records_t records;
    replay_head_t head;
    const void *data;

    if (in->length < sizeof(head)) {
        records_refused(log, in->source);
        return;
    }
    memcpy(&head, in->payload, sizeof(head));
    records = keel_records_of((const char *)in->payload + sizeof(head), in->length - sizeof(head));
    t->writer.number = head.next_number;
    while (keel_get_records_read(&records, &record, &data) && record.length <= log->record_max) {
        if (record.phase < from_phase) {
            continue;
        }
        own = keel_get_log_append_grown(log, t, record.phase, record.length);
        if (own == NULL || KEEL_PLANT(get_log_replay_no_room)) {
            /* a re-execution without all records would be a different computation */
            log->has_overflowed = 1;
            records.at = records.end;
            break;
        }
        *own = record;
        keel_get_log_complete(own, data);
        t->has_replay = 1;
    }
    if (!keel_records_at_end(&records)) {
        records_refused(log, in->source);
        return;
    }
    keel_cursor_to_end(&t->list, &t->pushed); /* the target has the records already */
    if (head.is_last) {
        t->is_replay_complete = 1;
        t->replay = (keel_cursor_t){0};
    }
}

void keel_get_log_drop_replay(keel_get_log_t *log, uint32_t target)
{
    keel_segment_list_clear(&log->targets[target].list, log->pool);
    log->targets[target] = (keel_get_target_t){0};
}

keel_status_t keel_get_log_refill(keel_get_log_t *log, uint32_t target)
{
    keel_get_target_t *t = &log->targets[target];
    keel_cursor_t cursor = {0};
    const keel_get_record_t *record, *data;
    keel_status_t status;

    if (log->lane->slot.lost_gets != 0 && !KEEL_PLANT(get_log_replay_loss_last)) {
        /* announce the loss before puts overwrite the bytes that were read */
        status = keel_arrival_send(log->lane, target, 0);
        if (status != KEEL_OK) {
            return status;
        }
    }
    if (log->is_off) {
        return KEEL_OK;
    }
    if (keel_access_records_gets(log->lane, target)) {
        /* keel_get_log_target_down() has reset pushed to the start */
        keel_get_log_push_early(log, target);
        return KEEL_OK;
    }
    while ((record = keel_get_log_peek(t, &cursor)) != NULL && record->completeness != KEEL_GET_INCOMPLETE) {
        data = keel_get_reference_data(record);
        status = (data != NULL) ? records_send(log, target, KEEL_CONTROL_REFILL, 0, 0, data, keel_get_record_size(data))
                                : KEEL_OK;
        if (status != KEEL_OK) {
            return status;
        }
        keel_get_log_advance(&cursor, record);
    }
    return KEEL_OK;
}

keel_status_t keel_get_log_send_record(keel_get_log_t *log, uint32_t target, const keel_get_record_t *record)
{
    if (keel_access_records_gets(log->lane, target) || log->is_off) {
        keel_get_log_push(log, target);
        return KEEL_OK;
    }
    /* The target's service side continues behind the records written by this process, and this
     * process requests new room. */
    keel_get_log_write_run(log, target);
    keel_lane_leave_room(log->lane, target);
    return records_send(log, target, KEEL_CONTROL_REFILL, 0, 0, record, keel_get_record_size(record));
}

void keel_get_log_serve_refill(void *arg, uint32_t source, const void *data, size_t length)
{
    keel_get_log_t *log = arg;
    keel_get_record_t record;
    keel_records_t records;
    void *to;

    if (length < sizeof(replay_head_t)) {
        records_refused(log, source);
        return;
    }
    records = keel_records_of((const char *)data + sizeof(replay_head_t), length - sizeof(replay_head_t));
    while (keel_get_records_read(&records, &record, &data)) {
        to = keel_get_log_serve(log, source, &record);
        if (to != NULL) {
            memcpy(to, data, record.length);
            keel_get_log_served(log, &record);
        }
        if (keel_where_op(record.where) == KEEL_RECORD_ATOMIC) {
            keel_get_log_note_atomic(&log->lane->board[source], record.phase);
        }
    }
    if (!keel_records_at_end(&records)) {
        records_refused(log, source);
    }
}
