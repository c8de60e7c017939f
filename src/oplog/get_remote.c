/* Gets by one-sided operations. */
#include "oplog/get_remote.h"

#include "check/reached.h"
#include "oplog/get_log_chunks.h"
#include "peer/issue.h"
#include "peer/read.h"
#include "peer/region.h"
#include "peer/remote_put.h"

#define SPENT_LONG_NS 1000000000ull

/* bytes for records in the granted chunk, 0: no chunk was granted */
static uint32_t get_remote_room(const keel_get_log_t *log, uint32_t target, uint32_t chunk_size)
{
    const keel_peer_t *peer = &log->lane->peers[target];
    const size_t size = keel_lane_region_size(log->lane, target, KEEL_REGION_GETLOG);

    if (peer->room_chunk == 0 || chunk_size == 0 || peer->room_chunk > size / chunk_size ||
        !keel_remote_is_possible(log->lane, target, KEEL_REGION_GETLOG)) {
        return 0;
    }
    return chunk_size - (uint32_t)sizeof(keel_get_chunk_t);
}

keel_status_t keel_get_log_fetch(keel_get_log_t *log, uint32_t target, keel_get_record_t *record,
                                 keel_lane_done_cb_t cb, void *arg)
{
    keel_get_target_t *t = &log->targets[target];
    const uint32_t chunk_size = keel_get_chunk_size(keel_lane_region_size(log->lane, target, KEEL_REGION_GETLOG));
    const uint32_t room = get_remote_room(log, target, chunk_size);
    const uint64_t need = keel_get_record_size(record);
    keel_status_t status;

    if (room == 0) {
        return KEEL_ERR_UNSUPPORTED;
    }
    if ((uint64_t)log->lane->peers[target].room_used + t->run_bytes + need > room) {
        KEEL_REACHED(get_room_spent);
        return KEEL_ERR_BUDGET;
    }
    if (t->run_bytes > 0 && t->run + t->run_bytes != (const uint8_t *)record) {
        keel_get_log_write_run(log, target);
    }
    record->completeness = KEEL_GET_COMPLETE; /* as the record will lie at the target */
    status = keel_lane_get(log->lane, target, record->where, record + 1, record->length, cb, arg);
    if (status != KEEL_OK && status != KEEL_INPROGRESS) {
        keel_get_log_cancel_fetch(record);
        return status;
    }
    if (t->run_bytes == 0) {
        t->run = (const uint8_t *)record;
    }
    t->run_bytes += (uint32_t)need;
    return status;
}

void keel_get_log_note_room_spent(keel_get_log_t *log, uint32_t target, uint64_t now_ns)
{
    if (log->spent_request == 0) {
        log->spent_request = log->lane->peers[target].sent;
        log->spent_since = now_ns;
        log->spent_rank = target;
    }
}

void keel_get_log_report_room_spent(keel_get_log_t *log, uint64_t now_ns)
{
    const keel_peer_t *peer = &log->lane->peers[log->spent_rank];

    if (!peer->is_up || peer->acked >= log->spent_request) {
        log->spent_request = 0;
    } else if (now_ns - log->spent_since >= SPENT_LONG_NS) {
        log->spent_request = 0;
        keel_info(
            log->lane->message,
            "a get waits for rank %u: the room that was granted there for records of gets is used up, and its process "
            "does not answer",
            log->spent_rank);
    }
}

void keel_get_log_cancel_fetch(keel_get_record_t *record)
{
    record->completeness = KEEL_GET_INCOMPLETE;
}

void keel_get_log_write_run(keel_get_log_t *log, uint32_t target)
{
    keel_get_target_t *t = &log->targets[target];
    const keel_peer_t *peer = &log->lane->peers[target];
    const uint32_t chunk_size = keel_get_chunk_size(keel_lane_region_size(log->lane, target, KEEL_REGION_GETLOG));
    const uint32_t bytes = t->run_bytes, chunk = peer->room_chunk - 1;

    if (bytes == 0) {
        return;
    }
    t->run_bytes = 0;
    if (peer->room_chunk == 0) {
        return; /* the target is down: refill gives the records to the replacement */
    }
    keel_remote_record(
        log->lane, target, keel_get_chunk_record_offset(chunk_size, chunk, peer->room_used), t->run, bytes,
        keel_get_chunk_word_offset(chunk_size, chunk),
        keel_get_chunk_word(peer->room_used + bytes, ((const keel_get_record_t *)(const void *)t->run)->phase));
    keel_lane_use_room(log->lane, target, bytes);
}
