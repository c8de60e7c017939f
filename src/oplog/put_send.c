/* Sends records of the put log. */
#include "oplog/put_send.h"

#include "base/crc.h"
#include "check/plant.h"
#include "oplog/get_remote.h"
#include "peer/issue.h"
#include "peer/remote_put.h"

enum { PUTS = 32 }; /* maximum number of puts issued together */

/* bytes and number of complete records within @a limit bytes */
static size_t records_run(const uint8_t *data, size_t length, size_t limit, uint32_t *count_p)
{
    keel_records_t remaining = keel_records_of(data, length);
    const keel_record_t *record;
    size_t run = 0;

    *count_p = 0;
    while ((record = keel_records_next(&remaining)) != NULL && run + keel_record_size(record) <= limit) {
        run += keel_record_size(record);
        (*count_p)++;
    }
    return run;
}

void keel_put_log_register_memory(keel_put_log_t *log)
{
    for (keel_segment_arena_t *arena = log->pool->arenas; arena != log->lent; arena = arena->next) {
        keel_remote_put_lend(log->lane, arena->data, arena->size);
    }
    log->lent = log->pool->arenas;
}

/* collects puts of one epoch to one region, from the first record on; returns the count */
static unsigned puts_of(const keel_put_log_t *log, const keel_put_target_t *t, const uint8_t *data, size_t length,
                        keel_transport_put_t *puts)
{
    const keel_record_t *record = (const keel_record_t *)data;
    const uint64_t numbers = log->number_end - t->sent_count;
    const uint64_t kind = record->where & ~KEEL_OFFSET_MAX;
    const uint32_t epoch = record->epoch;
    /* records that are only sent have no known epochs: each is ordered behind the previous
     * record */
    const unsigned most = t->is_off ? 1 : (numbers < PUTS) ? (unsigned)numbers : PUTS;
    unsigned count = 0;

    if (keel_where_op(kind) != KEEL_RECORD_PUT) {
        return 0;
    }
    for (; count < most && (const uint8_t *)record < data + length && record->epoch == epoch &&
           (record->where & ~KEEL_OFFSET_MAX) == kind;
         count++) {
        puts[count] = (keel_transport_put_t){keel_where_offset(record->where), record + 1, record->length};
        record = (const keel_record_t *)((const uint8_t *)record + keel_record_size(record));
    }
    return count;
}

/* puts the next records by one-sided operations; returns the count */
static unsigned put_log_put(keel_put_log_t *log, uint32_t target, const uint8_t *data, size_t length)
{
    keel_put_target_t *t = &log->targets[target];
    const keel_record_t *first = (const keel_record_t *)data;
    /* a fence or flush lies between */
    const int is_behind = first->epoch != t->put_epoch || t->is_off;
    keel_transport_put_t puts[PUTS];
    unsigned count;

    keel_put_log_register_memory(log);
    if (!keel_put_log_is_put(log)) {
        return 0;
    }
    count = puts_of(log, t, data, length, puts);
    count = (count == 0) ? 0
                         : keel_remote_put(log->lane, target, log->phase, keel_where_region(first->where), puts, count,
                                           is_behind);
    if (count > 0) {
        const keel_transport_put_t *last = &puts[count - 1];

        t->put_epoch = first->epoch;
        t->sent.offset += (uint32_t)((const uint8_t *)last->buffer + keel_pad8(last->length) - data);
        t->sent_count += count;
    }
    return count;
}

/* records earlier gets at the target */
static void write_run(keel_put_log_t *log, uint32_t target)
{
    if (log->gets != NULL) {
        keel_get_log_write_run(log->gets, target);
    }
}

static keel_status_t put_log_send(keel_put_log_t *log, uint32_t target, int is_followed)
{
    keel_put_target_t *t = &log->targets[target];
    keel_status_t status;
    const uint8_t *data;
    uint32_t count, sum;
    size_t length;

    keel_put_target_sync(t);
    if (keel_cursor_peek(&t->list, &t->sent, &length) != NULL && !KEEL_PLANT(put_send_before_record)) {
        write_run(log, target);
    }
    while ((data = keel_cursor_peek(&t->list, &t->sent, &length)) != NULL) {
        if (put_log_put(log, target, data, length) > 0) {
            continue;
        }
        length = records_run(data, length, log->lane->ops->max_data, &count);
        sum = (data == t->sum_from && data + length == t->sum_end) ? t->sum : keel_crc(0, data, length);
        status = keel_lane_send_summed(log->lane, target, log->phase, t->sent_count, data, length, sum, is_followed);
        if (status != KEEL_OK) {
            return status;
        }
        t->sent.offset += (uint32_t)length;
        t->sent_count = (count < log->number_end - t->sent_count) ? t->sent_count + count : log->number_end;
    }
    t->unsent = 0;
    t->sum_end = NULL;
    return KEEL_OK;
}

keel_status_t keel_put_log_send_puts(keel_put_log_t *log, uint32_t target)
{
    keel_status_t status = put_log_send(log, target, 0);

    return (status == KEEL_OK) ? keel_lane_end_run(log->lane, target) : status;
}

keel_status_t keel_put_log_send(keel_put_log_t *log, uint32_t target)
{
    if (!KEEL_PLANT(put_send_before_record)) {
        write_run(log, target);
    }
    return keel_put_log_send_puts(log, target);
}

keel_status_t keel_put_log_gather(keel_put_log_t *log, uint32_t target, size_t length, int is_due, size_t remaining)
{
    keel_put_target_t *t = &log->targets[target];

    t->unsent += (uint32_t)(sizeof(keel_record_t) + keel_pad8(length));
    /* if the remaining bytes fill another message, more follows */
    return (is_due || t->unsent >= log->send_at) ? put_log_send(log, target, remaining >= log->send_at) : KEEL_OK;
}
