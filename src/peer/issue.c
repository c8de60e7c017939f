/*
 * Requests of the own process to peers: reads, records, atomics, locks, probes. On the direct lane
 * the process does them at once, by loads and stores. On the served lane the target replies to
 * requests in order, so a value always belongs to the oldest read under way.
 */
#include "peer/access.h"
#include "peer/members.h"
#include "peer/piggyback.h"
#include "peer/issue.h"
#include "peer/control.h"
#include "peer/peer.h"
#include "peer/read.h"
#include "peer/region.h"
#include "peer/remote_put.h"

#include "base/crc.h"
#include "check/reached.h"

#include <assert.h>
#include <string.h>

/* every so many requests, one goes without MORE and is acknowledged at once, however long a put
 * is */
#define MORE_RUN 16

/* Marks a request with records: the puts before these records are complete. */
static void say_put(keel_peer_t *peer, keel_wire_t *wire)
{
    if (peer->is_put_unannounced) {
        wire->flags |= KEEL_PLANT(issue_put_unannounced) ? 0 : KEEL_WIRE_FLAG_PUT;
        peer->is_put_unannounced = 0;
    }
}

/* @a sum: of the data */
static keel_status_t lane_request_summed(keel_lane_t *lane, uint32_t rank, keel_wire_t *wire, const void *data,
                                         size_t length, uint32_t sum)
{
    keel_peer_t *peer = &lane->peers[rank];
    keel_status_t status;

    assert(length <= lane->ops->max_data);
    if (!peer->is_up) {
        return KEEL_ERR_UNREACHABLE;
    }
    wire->source = lane->rank;
    wire->source_incarnation = lane->incarnation;
    wire->target_incarnation = peer->incarnation;
    wire->rollback = lane->rollback;
    wire->answered = lane->fetches.answered;
    wire->sequence = peer->sent + 1;
    keel_wire_seal_summed(wire, sum, length);
    status = lane->ops->send(lane->transport, rank, wire, sizeof(*wire), data, length);
    /* A broken connection is only a suspicion. The request counts as sent and is never
     * acknowledged, so calls that need its effect wait for the launcher's report on the peer. */
    if (status == KEEL_OK || status == KEEL_ERR_UNREACHABLE) {
        lane->unanswered += (peer->acked == peer->sent);
        peer->sent++;
        peer->says_more = (wire->flags & KEEL_WIRE_FLAG_MORE) != 0;
        status = KEEL_OK;
    }
    return status;
}

keel_status_t keel_lane_request(keel_lane_t *lane, uint32_t rank, keel_wire_t *wire, const void *data, size_t length)
{
    return lane_request_summed(lane, rank, wire, data, length, keel_crc(0, data, length));
}

keel_status_t keel_lane_send_probe(keel_lane_t *lane, uint32_t rank)
{
    keel_wire_t wire = {.type = KEEL_WIRE_PROBE};

    return keel_lane_request(lane, rank, &wire, NULL, 0);
}

keel_status_t keel_lane_end_run(keel_lane_t *lane, uint32_t rank)
{
    return lane->peers[rank].says_more ? keel_lane_send_probe(lane, rank) : KEEL_OK;
}

/* Sends a request with a reply for the read's buffer. */
static keel_status_t read_send(keel_lane_t *lane, uint32_t rank, keel_read_t *read, keel_wire_t *wire, const void *data,
                               size_t length)
{
    keel_status_t status;

    wire->body.get.id = read->id; /* at the same place for all reads */
    status = keel_lane_request(lane, rank, wire, data, length);
    if (status != KEEL_OK) {
        ucs_list_add_head(&lane->reads_free, &read->list);
        return status;
    }
    /* the service side owns the end of the get log until it has replied */
    if (wire->flags & KEEL_WIRE_FLAG_LOGGED) {
        lane->peers[rank].recorded = lane->peers[rank].sent;
        lane->peers[rank].room_chunk = 0;
    }
    ucs_list_add_tail(&lane->peers[rank].reads, &read->list);
    return KEEL_INPROGRESS;
}

keel_status_t keel_lane_read(keel_lane_t *lane, uint32_t rank, unsigned region, uint64_t offset, void *buffer,
                             size_t length, keel_lane_done_cb_t cb, void *arg)
{
    const char *mapped = keel_access_at(lane, rank, region);
    keel_status_t status;
    keel_read_t *read;
    keel_wire_t wire = {.type = KEEL_WIRE_GET,
                        .body.get = {.where = keel_where(offset, KEEL_RECORD_PUT, region), .length = length}};

    if (offset + length > keel_lane_region_size(lane, rank, region)) {
        return KEEL_ERR_RANGE;
    }
    if (mapped != NULL) {
        memcpy(buffer, mapped + offset, length);
        return KEEL_OK;
    }
    read = keel_lane_read_obtain(lane, buffer, length, cb, arg);
    if (read == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_lane_read_get(lane, rank, region, offset, read);
    return (status != KEEL_ERR_UNSUPPORTED) ? status : read_send(lane, rank, read, &wire, NULL, 0);
}

/* @a length: bytes read */
static keel_status_t read_window(keel_lane_t *lane, uint32_t rank, const keel_get_record_t *record, uint32_t length,
                                 uint32_t flags, void *buffer, keel_lane_done_cb_t cb, void *arg)
{
    keel_read_t *read = keel_lane_read_obtain(lane, buffer, record->length, cb, arg);
    keel_wire_t wire = {.type = KEEL_WIRE_GET,
                        .flags = flags,
                        .body.get = {.where = record->where,
                                     .length = length,
                                     .access = {.index = record->index, .phase = record->phase}}};

    return (read == NULL) ? KEEL_ERR_NO_MEMORY : read_send(lane, rank, read, &wire, NULL, 0);
}

static uint32_t read_flags(int is_logged)
{
    return is_logged ? KEEL_WIRE_FLAG_LOGGED : KEEL_WIRE_FLAG_UNLOGGED;
}

keel_status_t keel_lane_read_window(keel_lane_t *lane, uint32_t rank, const keel_get_record_t *record, int is_logged,
                                    void *buffer, keel_lane_done_cb_t cb, void *arg)
{
    return read_window(lane, rank, record, record->length, read_flags(is_logged), buffer, cb, arg);
}

keel_status_t keel_lane_poll_window(keel_lane_t *lane, uint32_t rank, const keel_get_record_t *record, uint32_t length,
                                    int is_logged, void *buffer, keel_lane_done_cb_t cb, void *arg)
{
    return read_window(lane, rank, record, length, read_flags(is_logged) | KEEL_WIRE_FLAG_CLOCK, buffer, cb, arg);
}

keel_status_t keel_lane_read_blocks(keel_lane_t *lane, uint32_t rank, const keel_get_record_t *record, char *payload,
                                    size_t described, int is_logged, keel_lane_done_cb_t cb, void *arg)
{
    keel_read_t *read = keel_lane_read_obtain(lane, payload + described, record->length - described, cb, arg);
    keel_wire_t wire = {.type = KEEL_WIRE_GET,
                        .flags = read_flags(is_logged),
                        .body.get = {.where = record->where,
                                     .length = record->length,
                                     .access = {.index = record->index, .phase = record->phase}}};

    return (read == NULL) ? KEEL_ERR_NO_MEMORY : read_send(lane, rank, read, &wire, payload, described);
}

keel_status_t keel_lane_send_summed(keel_lane_t *lane, uint32_t rank, uint32_t phase, uint32_t number,
                                    const void *records, size_t length, uint32_t sum, int is_followed)
{
    keel_wire_t wire = {.type = KEEL_WIRE_RECORDS, .body.records = {phase, number}};

    if (is_followed && lane->peers[rank].sent % MORE_RUN != 0) {
        wire.flags = KEEL_WIRE_FLAG_MORE;
    }
    say_put(&lane->peers[rank], &wire);
    return lane_request_summed(lane, rank, &wire, records, length, sum);
}

keel_status_t keel_lane_send_records(keel_lane_t *lane, uint32_t rank, uint32_t phase, uint32_t number,
                                     const void *records, size_t length)
{
    return keel_lane_send_summed(lane, rank, phase, number, records, length, keel_crc(0, records, length), 0);
}

keel_status_t keel_lane_send_atomic(keel_lane_t *lane, uint32_t rank, const keel_fetch_t *fetch, void *result,
                                    keel_lane_done_cb_t cb, void *arg)
{
    const keel_record_atomic_t *atomic = (const void *)(fetch->record + 1);
    const size_t length = fetch->is_clocked ? sizeof(keel_fetched_t) : atomic->size;
    keel_read_t *read = keel_lane_read_obtain(lane, result, length, cb, arg);
    keel_wire_t wire = {
        .type = KEEL_WIRE_ATOMIC,
        .flags = fetch->is_logged ? KEEL_WIRE_FLAG_LOGGED : KEEL_WIRE_FLAG_UNLOGGED,
        .body.atomic = {.number = fetch->number, .access = {.index = fetch->index, .phase = fetch->phase}}};
    keel_status_t status;

    wire.flags |= fetch->is_clocked ? KEEL_WIRE_FLAG_CLOCK : 0;
    say_put(&lane->peers[rank], &wire);
    if (read == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    read->fetches = 1;
    wire.body.atomic.serial = keel_piggyback_fetch_begin(lane, rank);
    status = read_send(lane, rank, read, &wire, fetch->record, sizeof(*fetch->record) + sizeof(*atomic));
    if (status != KEEL_INPROGRESS) {
        keel_piggyback_fetch_end(lane);
    }
    return status;
}

keel_status_t keel_lane_send_accumulate(keel_lane_t *lane, uint32_t rank, const keel_fetch_t *fetch, size_t length,
                                        void *result, keel_lane_done_cb_t cb, void *arg)
{
    keel_read_t *read = keel_lane_read_obtain(lane, result, length, cb, arg);
    keel_wire_t wire = {.type = fetch->is_unnumbered ? KEEL_WIRE_UNNUMBERED : KEEL_WIRE_ACCUMULATE,
                        .body.atomic = {.number = fetch->number, .access = {.phase = fetch->phase}}};

    if (!fetch->is_unnumbered) {
        say_put(&lane->peers[rank], &wire);
    }
    return (read == NULL) ? KEEL_ERR_NO_MEMORY
                          : read_send(lane, rank, read, &wire, fetch->record, keel_record_size(fetch->record));
}

keel_status_t keel_lane_send_unnumbered(keel_lane_t *lane, uint32_t rank, const keel_record_t *record)
{
    keel_wire_t wire = {.type = KEEL_WIRE_UNNUMBERED};

    return keel_lane_request(lane, rank, &wire, record, keel_record_size(record));
}

void keel_lane_wake_next(keel_lane_t *lane, uint32_t rank, uint32_t lock)
{
    keel_lock_area_t *area = keel_access_at(lane, rank, KEEL_REGION_LOCKS);
    const keel_locker_t who = keel_lane_locker(lane);
    const uint32_t next = keel_lock_next(area, &who, lock);

    if (next < lane->size && next != lane->rank) {
        keel_lane_ring(lane, next);
    }
}

keel_status_t keel_lane_lock(keel_lane_t *lane, uint32_t rank, const keel_lock_request_t *request, uint64_t *answer,
                             keel_lane_done_cb_t cb, void *arg)
{
    keel_lock_area_t *area = keel_access_at(lane, rank, KEEL_REGION_LOCKS);
    const keel_locker_t who = keel_lane_locker(lane);
    keel_wire_t wire = {.type = KEEL_WIRE_LOCK,
                        .flags = request->is_logged ? KEEL_WIRE_FLAG_LOGGED : KEEL_WIRE_FLAG_UNLOGGED,
                        .body.lock = {.ask = request->ask,
                                      .number = request->number,
                                      .access = {.index = request->index, .phase = request->phase}}};
    keel_read_t *read;

    if (area != NULL && (request->ask != KEEL_LOCK_REVOKE || rank == lane->rank)) {
        *answer = keel_lock_answer(area, &who, request->ask, request->number);
        if (request->ask == KEEL_LOCK_RELEASE) {
            keel_lane_wake_next(lane, rank, 0);
        } else if (request->ask == KEEL_LOCK_WINDOW_RELEASE || request->ask == KEEL_LOCK_WINDOW_RELEASE_SHARED) {
            keel_lane_wake_next(lane, rank, 1 + (uint32_t)request->number);
        }
        return KEEL_OK;
    }
    if (cb == NULL) {
        return keel_lane_request(lane, rank, &wire, NULL, 0);
    }
    /* REVOKE goes to the process even if its memory is mapped, because the process has to notice
     * the revocation. */
    read = keel_lane_read_obtain(lane, answer, sizeof(*answer), cb, arg);
    return (read == NULL) ? KEEL_ERR_NO_MEMORY : read_send(lane, rank, read, &wire, NULL, 0);
}

/* Called before the callback of the read. */
static void read_end(keel_lane_t *lane, const keel_read_t *read)
{
    if (read->fetches) {
        keel_piggyback_fetch_end(lane);
    }
}

void keel_lane_issue_drop(keel_lane_t *lane, keel_peer_t *peer, keel_status_t status)
{
    ucs_list_link_t gone;
    keel_read_t *read;

    keel_lane_controls_acknowledged(peer, UINT64_MAX);
    lane->unanswered -= (peer->acked != peer->sent);
    peer->acked = peer->sent;
    peer->says_more = 0;
    ucs_list_head_init(&gone);
    ucs_list_splice_tail(&gone, &peer->reads);
    ucs_list_head_init(&peer->reads);
    while (!ucs_list_is_empty(&gone)) {
        read = ucs_list_extract_head(&gone, keel_read_t, list);
        ucs_list_add_head(&lane->reads_free, &read->list);
        read_end(lane, read);
        read->cb(read->arg, status);
    }
}

void keel_lane_mute(keel_lane_t *lane, keel_lane_done_cb_t cb)
{
    keel_read_t *read;

    KEEL_EACH_TOUCHED(r, lane) {
        ucs_list_for_each(read, &lane->peers[r].reads, list)
        {
            if (read->cb == cb) {
                read->buffer = NULL;
            }
        }
    }
    ucs_list_for_each(read, &lane->gets, list)
    {
        if (read->cb == cb) {
            read->buffer = NULL;
        }
    }
}

static void on_value(keel_lane_t *lane, keel_peer_t *peer, const keel_wire_t *wire, const void *data)
{
    keel_read_t *read;

    if (ucs_list_is_empty(&peer->reads)) {
        return;
    }
    read = ucs_list_head(&peer->reads, keel_read_t, list);
    if (read->id != wire->body.reply.id ||
        (wire->type == KEEL_WIRE_VALUE && !keel_piggyback_fits(wire, read->length))) {
        keel_error(lane->message, "value from rank %u does not belong to the oldest read: refused", peer->rank);
        keel_lane_fail(lane, KEEL_ERR_CORRUPT);
        return;
    }
    ucs_list_del(&read->list);
    ucs_list_add_head(&lane->reads_free, &read->list);
    read_end(lane, read);
    if (read->buffer == NULL) {
        read->cb(read->arg, KEEL_ERR_ROLLED_BACK);
        return;
    }
    if (wire->type == KEEL_WIRE_VALUE) {
        keel_access_found(peer, wire->classes);
        memcpy(read->buffer, data, read->length);
        keel_piggyback_take(lane, peer, wire, data, read->length);
    }
    if (wire->body.reply.sequence == peer->recorded) {
        peer->room_chunk = wire->body.reply.chunk;
        peer->room_used = wire->body.reply.used;
    }
    read->cb(read->arg, wire->type == KEEL_WIRE_VALUE ? KEEL_OK : KEEL_ERR_RANGE);
}

void keel_lane_on_reply(void *arg, const void *header, size_t header_len, const void *data, size_t data_len)
{
    keel_lane_t *lane = arg;
    keel_peer_t *peer;
    keel_wire_t wire;

    if (!keel_lane_open_message(lane, "reply", header, header_len, data, data_len, &wire)) {
        return;
    }
    peer = &lane->peers[wire.source];
    if (!peer->is_up || wire.source_incarnation != peer->incarnation || wire.target_incarnation != lane->incarnation) {
        return; /* late message of a dead incarnation */
    }
    if (wire.type == KEEL_WIRE_VALUE || wire.type == KEEL_WIRE_REFUSAL) {
        on_value(lane, peer, &wire, data);
    }
    if (wire.body.reply.sequence > peer->acked && wire.body.reply.sequence <= peer->sent) {
        peer->acked = wire.body.reply.sequence;
        lane->unanswered -= (peer->acked == peer->sent);
        keel_lane_controls_acknowledged(peer, peer->acked);
    }
}
