/*
 * The service side of the served lane: applies and answers requests of peers while the process's
 * own thread computes. Runs on the transport's service thread.
 *
 * Safety: every handler holds lane->lock. So the thread inside Keel can cut a peer off, change the
 * rollback number or drop a region between two messages, but not within one. Requests of a pair
 * arrive in the order of sending; after a gap in the sequence all are refused. A handler does not
 * wait, and sends only to the source. Idle, the service side acknowledges all requests at once.
 *
 * Exactly once (protocol/rma.md): the records of a phase from one rank to another are numbered,
 * and a re-execution numbers them alike. Records arrive in order, so the applied records are a
 * prefix that ends at peer->done. Applying and counting are one step under the lock. A record
 * below the end, sent again by a replacement, is skipped; its fetched value, if any, is in the get
 * log since that step. The source compares digests of skipped records (recovery/hand_over_check).
 * Records after the last number (base/counters.h) are applied as they come, and the job rolls back
 * if their source dies.
 */
#include "peer/served.h"
#include "peer/piggyback.h"
#include "peer/control.h"
#include "peer/remote_put.h"

#include "base/copy.h"
#include "check/plant.h"
#include "check/reached.h"
#include "peer/access.h"
#include "peer/apply.h"
#include "peer/arrival_receive.h"
#include "peer/served_blocks.h"
#include "peer/served_gets.h"
#include "peer/served_combine.h"
#include "wire/get_parts.h"

#include <string.h>

void keel_served_not_sent(keel_lane_t *lane, uint32_t asker, keel_status_t status)
{
    if (status == KEEL_ERR_NO_MEMORY) {
        keel_error(lane->message, "no memory for an answer to rank %u", asker);
        keel_lane_fail(lane, status);
    } else {
        keel_info(lane->message, "reply to rank %u failed: the asker is presumably dead", asker);
    }
}

void keel_served_send(keel_lane_t *lane, const keel_wire_t *request, keel_wire_type_t type,
                      const keel_wire_body_t *body, const void *data, size_t length)
{
    keel_wire_t wire = {.type = type,
                        .source = lane->rank,
                        .source_incarnation = lane->incarnation,
                        .target_incarnation = request->source_incarnation,
                        .classes = (uint32_t)keel_board_get(&lane->board[lane->rank].classes),
                        .body = *body};
    keel_status_t status;

    keel_wire_seal(&wire, data, length);
    lane->peers[request->source].acknowledged = request->sequence;
    keel_rank_set_add(&lane->unacknowledged, request->source); /* in case of a late reply */
    status = lane->ops->reply(lane->transport, request->source, &wire, sizeof(wire), data, length);
    if (status != KEEL_OK) {
        keel_served_not_sent(lane, request->source, status);
    }
}

void keel_served_reply(keel_lane_t *lane, const keel_wire_t *request, keel_wire_type_t type, const void *data,
                       size_t length)
{
    const keel_wire_body_t body = keel_remote_answer(lane, request, type);

    keel_served_send(lane, request, type, &body, data, length);
}

void keel_served_refuse(keel_lane_t *lane, const keel_wire_t *request)
{
    keel_served_reply(lane, request, KEEL_WIRE_REFUSAL, NULL, 0);
}

/* Loads once, because other ranks may write there meanwhile: the get log (NULL: no place) and the
 * source get the same bytes. Long data bypasses the caches, which the reply is sent from. */
static void served_load(void *room, void *log, const void *from, size_t length)
{
    if (log == NULL) {
        memcpy(room, from, length);
        return;
    }
    keel_copy_two(log, room, from, length);
    if (length >= KEEL_COPY_STREAM) {
        keel_copy_lines_done();
    }
}

/* @a payload lies unaligned in a receive buffer. */
static const char *served_atomic(keel_lane_t *lane, const keel_record_t *record, const void *payload, uint64_t *old_p)
{
    keel_record_atomic_t copy, *atomic = &copy;
    void *target;

    if (record->length != sizeof(copy)) {
        return "malformed atomic";
    }
    memcpy(&copy, payload, sizeof(copy));
    if ((atomic->size != 4 && atomic->size != 8) || !keel_atomic_is_logged(atomic->op)) {
        return "malformed atomic";
    }
    target = keel_served_target(lane, record->where, atomic->size, 0);
    if (target == NULL || (uintptr_t)target % atomic->size != 0) {
        return "atomic outside its window";
    }
    *old_p = keel_apply_logged(target, atomic);
    return NULL;
}

/* Stores to the program's memory only; tests/proc/sanitizers names this function. */
static void served_store(void *target, const void *payload, size_t length)
{
    keel_copy_one(target, payload, length);
}

const char *keel_lane_apply_record(keel_lane_t *lane, const keel_record_t *record, const void *payload)
{
    uint64_t old;
    void *target;

    switch (keel_where_op(record->where)) {
    case KEEL_RECORD_ATOMIC:
        return served_atomic(lane, record, payload, &old);
    case KEEL_RECORD_ACCUMULATE:
    case KEEL_RECORD_ATOMICS:
        return keel_served_combine(lane, record, payload);
    case KEEL_RECORD_LOCK:
    case KEEL_RECORD_CLOCK:
        return NULL; /* these are only logged */
    case KEEL_RECORD_PUT:
        target = keel_served_target(lane, record->where, record->length, 0);
        if (target == NULL) {
            return "put outside its window";
        }
        served_store(target, payload, record->length);
        return NULL;
    case KEEL_RECORD_BLOCKS:
    case KEEL_RECORD_SIGNAL:
        return keel_served_blocks(lane, record, payload, keel_served_target);
    default:
        return "unknown operation";
    }
}

int keel_served_is_next(const keel_lane_t *lane, uint32_t source, uint32_t phase, uint32_t number)
{
    const uint64_t served = lane->peers[source].done, direct = keel_board_get(&lane->board[source].done);
    const uint64_t word = (served > direct) ? served : direct;
    const uint32_t done = (word >> 32 == phase) ? (uint32_t)word : 0;

    if (word >> 32 > phase || number < done) {
        return KEEL_PLANT(served_applied_twice);
    }
    return (number == done) ? 1 : -1;
}

void keel_served_count(keel_lane_t *lane, uint32_t source, uint32_t phase, uint32_t number)
{
    const uint32_t end = keel_counters_records(&lane->counters), records = (number < end) ? number + 1 : end;

    lane->peers[source].done = keel_phase_word(phase, records);
    keel_board_done(&lane->board[source], phase, records);
    /* a replacement could not tell which of the remaining records are done */
    if (records == end && !KEEL_PLANT(put_log_unnumbered_from)) {
        keel_board_lose_get(&lane->board[source], phase);
    }
}

static const char *served_record(keel_lane_t *lane, uint32_t source, uint32_t phase, const keel_record_t *record,
                                 const void *payload)
{
    uint64_t clock;

    if (keel_where_is_atomic(record->where)) {
        keel_lane_note_atomics(lane, source, phase);
    }
    if (keel_where_op(record->where) == KEEL_RECORD_CLOCK) {
        if (record->length != sizeof(clock)) {
            return "malformed clock";
        }
        memcpy(&clock, payload, sizeof(clock));
        keel_board_raise(keel_access_clock(lane, lane->rank), keel_phase_word(phase, (uint32_t)clock));
    }
    return keel_lane_apply_record(lane, record, payload);
}

static const char *served_records(keel_lane_t *lane, const keel_wire_t *wire, const char *data)
{
    const uint32_t phase = wire->body.records.phase;
    keel_records_t records = keel_records_of(data, wire->length);
    keel_digest_t *digest = &lane->peers[wire->source].digest;
    uint32_t number = wire->body.records.number;
    keel_record_t record;
    const void *payload;

    keel_remote_put_count(lane, wire, phase, number);
    while (keel_records_read(&records, &record, &payload)) {
        const int is_next = keel_served_is_next(lane, wire->source, phase, number);
        const char *why = NULL;

        if (is_next < 0) {
            return "records before it are missing";
        }
        if (is_next) {
            why = served_record(lane, wire->source, phase, &record, payload);
            keel_served_count(lane, wire->source, phase, number);
            keel_digest_add(digest, phase, number, &record, payload);
        }
        number += (number < keel_counters_records(&lane->counters));
        if (why != NULL) {
            return why;
        }
    }
    return keel_records_at_end(&records) ? NULL : "short record";
}

static keel_get_record_t served_get_record(const keel_wire_access_t *access, uint64_t where, uint32_t length)
{
    return (keel_get_record_t){.phase = access->phase, .index = access->index, .where = where, .length = length};
}

/* Place for the value in the get log, or NULL. */
static void *served_note_get(keel_lane_t *lane, const keel_wire_t *wire, const keel_get_record_t *record)
{
    if (wire->flags & KEEL_WIRE_FLAG_UNLOGGED) {
        keel_board_lose_get(&lane->board[wire->source], record->phase);
    }
    return (wire->flags & KEEL_WIRE_FLAG_LOGGED) ? lane->on_served_get(lane->arg, wire->source, record) : NULL;
}

/* Logs the value of a lock or an atomic: one word, or two with a clock. */
static void served_note_value(keel_lane_t *lane, const keel_wire_t *wire, const keel_wire_access_t *access,
                              uint64_t where, uint32_t length, const void *value)
{
    const keel_get_record_t record = served_get_record(access, where, length);
    void *log = served_note_get(lane, wire, &record);

    if (log != NULL) {
        memcpy(log, value, length);
        lane->on_served_got(lane->arg, &record);
    }
}

static const char *served_get(keel_lane_t *lane, const keel_wire_t *wire, const void *asked)
{
    const uint64_t where = wire->body.get.where, length = wire->body.get.length;
    const int is_polled = (wire->flags & KEEL_WIRE_FLAG_CLOCK) != 0, are_blocks = keel_where_are_blocks(where);
    uint64_t all = is_polled ? keel_polled_length(length) : length;
    const char *why = are_blocks ? keel_served_got_check(lane, wire, asked, &all) : NULL;
    const void *data = NULL;
    keel_get_record_t record;
    keel_status_t status;
    void *room, *log;

    if (!are_blocks) {
        data = keel_served_target(lane, where, length, !(wire->flags & KEEL_WIRE_FLAG_LOGGED));
        why = (length > lane->ops->max_data || all > lane->ops->max_data) ? "get too long"
              : (data == NULL)                                            ? "get outside its region"
                                                                          : NULL;
    }
    if (why != NULL) {
        keel_served_refuse(lane, wire);
        return why;
    }
    status = lane->ops->reply_room(lane->transport, wire->source, all, &room);
    if (status != KEEL_OK) {
        keel_served_not_sent(lane, wire->source, status);
        return NULL;
    }
    record = served_get_record(&wire->body.get.access, where, (uint32_t)(are_blocks ? length : all));
    log = served_note_get(lane, wire, &record);
    if (are_blocks) {
        keel_served_got_load(lane, asked, wire->length, room, log);
    } else {
        served_load(room, log, data, length);
    }
    if (is_polled) {
        keel_load_fence(); /* a rank that put the data has raised the clock before */
        keel_polled_fill(room, length, keel_access_clock_of(lane, lane->rank, wire->body.get.access.phase));
        if (log != NULL) {
            memcpy((char *)log + length, (const char *)room + length, all - length);
        }
    }
    if (log != NULL) {
        lane->on_served_got(lane->arg, &record);
    }
    keel_served_reply(lane, wire, KEEL_WIRE_VALUE, room, all);
    return NULL;
}

static const char *served_fetch(keel_lane_t *lane, const keel_wire_t *wire, const void *data)
{
    const char *payload = (const char *)data + sizeof(keel_record_t);
    const uint32_t phase = wire->body.atomic.access.phase, number = (uint32_t)wire->body.atomic.number;
    keel_record_atomic_t atomic;
    char answer[sizeof(keel_fetched_t) + KEEL_PIGGYBACK_MAX * sizeof(keel_wire_piggyback_t)];
    keel_fetched_t fetched = {0};
    keel_wire_body_t body;
    keel_record_t record;
    const char *why;
    size_t length;

    if (wire->length != sizeof(record) + sizeof(atomic)) {
        keel_served_refuse(lane, wire);
        return "short atomic";
    }
    memcpy(&record, data, sizeof(record));
    memcpy(&atomic, payload, sizeof(atomic));
    length = (wire->flags & KEEL_WIRE_FLAG_CLOCK) ? sizeof(fetched) : atomic.size;
    keel_remote_put_count(lane, wire, phase, number);
    if (keel_served_is_next(lane, wire->source, phase, number) != 1) {
        keel_served_refuse(lane, wire);
        return "fetching atomic out of its order";
    }
    keel_lane_note_atomics(lane, wire->source, phase);
    why = served_atomic(lane, &record, payload, &fetched.old);
    fetched.clock = keel_access_clock_of(lane, lane->rank, phase);
    keel_served_count(lane, wire->source, phase, number);
    if (why != NULL) {
        keel_served_refuse(lane, wire);
        return why;
    }
    keel_digest_add(&lane->peers[wire->source].digest, phase, number, &record, payload);
    served_note_value(lane, wire, &wire->body.atomic.access, record.where, (uint32_t)length, &fetched);
    body = keel_remote_answer(lane, wire, KEEL_WIRE_VALUE); /* after the record in the log */
    memcpy(answer, &fetched, length);
    length += keel_piggyback_add(lane, wire, record.where, &fetched, &body, answer + length);
    keel_served_send(lane, wire, KEEL_WIRE_VALUE, &body, answer, length);
    return NULL;
}

static const char *served_lock(keel_lane_t *lane, const keel_wire_t *wire)
{
    const keel_locker_t who = {.rank = wire->source, .ranks = lane->size};
    const keel_lock_ask_t ask = (keel_lock_ask_t)wire->body.lock.ask;
    uint64_t answer = keel_lock_answer(keel_lane_locks(lane), &who, ask, wire->body.lock.number);

    if ((ask == KEEL_LOCK_TRY || ask == KEEL_LOCK_TRY_READ) && answer != 0 && answer != KEEL_LOCK_SPENT) {
        served_note_value(lane, wire, &wire->body.lock.access, keel_where_lock(ask == KEEL_LOCK_TRY_READ),
                          sizeof(answer), &answer);
    }
    if (ask == KEEL_LOCK_REVOKE && lane->news != NULL) {
        __atomic_store_n(lane->news, 1, __ATOMIC_RELEASE);
    }
    if (wire->body.lock.id != 0) {
        keel_served_reply(lane, wire, KEEL_WIRE_VALUE, &answer, sizeof(answer));
    }
    return NULL;
}

/* True if the sender is the accepted incarnation. Accepts a new incarnation by its greeting. */
static int served_is_accepted(const keel_lane_t *lane, keel_peer_t *peer, const keel_wire_t *wire)
{
    if (wire->target_incarnation != lane->incarnation) {
        return 0;
    }
    /* A greeting of a later incarnation also reports the death of the one before. */
    if (wire->type == KEEL_WIRE_CONTROL && wire->body.control.type == KEEL_CONTROL_HELLO) {
        keel_lane_accept(peer, wire->source_incarnation);
    }
    return (peer->is_accepted && wire->source_incarnation == peer->accepted) ||
           (KEEL_PLANT(served_late) && wire->type == KEEL_WIRE_RECORDS &&
            wire->source_incarnation + 1 == peer->accepted);
}

static const char *served_dispatch(keel_lane_t *lane, const keel_wire_t *wire, const void *data)
{
    if (wire->type == KEEL_WIRE_CONTROL) {
        return keel_lane_control_serve(lane, wire, data);
    }
    if (wire->type == KEEL_WIRE_PROBE) {
        return NULL; /* the acknowledgement is the reply */
    }
    if (keel_lane_failure(lane) != KEEL_OK) {
        /* The process is about to end. A reply after a lost one would be taken for the lost one.
         * Requests are acknowledged so that peers can leave: their logs hold them after a death. */
        return NULL;
    }
    if (wire->rollback != lane->rollback && wire->type != KEEL_WIRE_GET && !KEEL_PLANT(served_old_rollback_number)) {
        return NULL; /* belongs to an abandoned computation */
    }
    switch (wire->type) {
    case KEEL_WIRE_RECORDS:
        return served_records(lane, wire, data);
    case KEEL_WIRE_GET:
        return served_get(lane, wire, data);
    case KEEL_WIRE_ATOMIC:
        return served_fetch(lane, wire, data);
    case KEEL_WIRE_ACCUMULATE:
        return keel_served_exchange(lane, wire, data);
    case KEEL_WIRE_UNNUMBERED:
        return keel_served_unnumbered(lane, wire, data);
    case KEEL_WIRE_LOCK:
        return served_lock(lane, wire);
    case KEEL_WIRE_ARRIVE:
        keel_arrival_receive(lane, wire);
        return NULL;
    case KEEL_WIRE_MARK:
        keel_arrival_receive_mark(lane, wire);
        return NULL;
    case KEEL_WIRE_USAGE:
        keel_usage_receive(lane, wire);
        return NULL;
    default:
        return "unknown type";
    }
}

/* A thread that wakes for every message takes the core from the service thread. Most programs
 * wait for a gsync or a flush, which records and reads of other ranks do not affect. Control
 * messages also concern a program that does not wait. */
static int served_concerns(const keel_lane_t *lane, const keel_wire_t *wire)
{
    switch (wire->type) {
    case KEEL_WIRE_GET:
    case KEEL_WIRE_PROBE:
        return 0;
    case KEEL_WIRE_RECORDS:
        return __atomic_load_n(&lane->awaits_records, __ATOMIC_ACQUIRE) ? KEEL_SERVED_AWAITED : 0;
    case KEEL_WIRE_CONTROL:
        return KEEL_SERVED_AWAITED | KEEL_SERVED_NOTIFY;
    default:
        return KEEL_SERVED_AWAITED;
    }
}

int keel_lane_on_request(void *arg, const void *header, size_t header_len, const void *data, size_t data_len)
{
    keel_lane_t *lane = arg;
    int concerns = KEEL_SERVED_AWAITED | KEEL_SERVED_NOTIFY;
    keel_peer_t *peer;
    keel_wire_t wire;
    const char *why;

    if (!keel_lane_open_message(lane, "request", header, header_len, data, data_len, &wire)) {
        return concerns;
    }
    pthread_mutex_lock(&lane->lock);
    peer = &lane->peers[wire.source];
    if (!served_is_accepted(lane, peer, &wire)) {
        KEEL_REACHED(late_request);
        goto out; /* late message of a dead incarnation */
    }
    if (wire.sequence != peer->applied + 1 && !KEEL_PLANT(served_late)) {
        keel_error(lane->message, "request %lu of rank %u refused: %lu was expected", wire.sequence, wire.source,
                   peer->applied + 1);
        keel_lane_fail(lane, KEEL_ERR_CORRUPT);
        goto out;
    }
    peer->answered = wire.answered;
    why = served_dispatch(lane, &wire, data);
    if (why == NULL && keel_lane_failure(lane) == KEEL_OK) {
        concerns = served_concerns(lane, &wire);
    }
    if (why != NULL) { /* reads are answered by a refusal */
        keel_error(lane->message, "request of rank %u incarnation %u refused: %s", wire.source, wire.source_incarnation,
                   why);
        /* a refusal has answered these */
        if (wire.type != KEEL_WIRE_GET && wire.type != KEEL_WIRE_ATOMIC && wire.type != KEEL_WIRE_ACCUMULATE &&
            (wire.type != KEEL_WIRE_UNNUMBERED || wire.body.atomic.id == 0)) {
            keel_lane_fail(lane, KEEL_ERR_CORRUPT);
        }
    }
    peer->applied++;
    keel_rank_set_add(&lane->unacknowledged, wire.source);
    peer->is_followed = (wire.flags & KEEL_WIRE_FLAG_MORE) != 0;
out:
    pthread_mutex_unlock(&lane->lock);
    return concerns;
}

int keel_lane_on_idle(void *arg, int is_late)
{
    keel_lane_t *lane = arg;
    int is_held = 0;
    uint32_t r;

    pthread_mutex_lock(&lane->lock);
    for (r = 0; (r = keel_rank_set_next(&lane->unacknowledged, r)) != KEEL_RANK_SET_END; ++r) {
        keel_peer_t *peer = &lane->peers[r];
        const int is_pending = peer->is_accepted && peer->acknowledged != peer->applied;

        if (is_pending && peer->is_followed && !is_late) {
            is_held = 1;
            continue;
        }
        if (is_pending) {
            const keel_wire_t to = {.source = r, .source_incarnation = peer->accepted, .sequence = peer->applied};

            keel_served_reply(lane, &to, KEEL_WIRE_ACK, NULL, 0);
        }
        keel_rank_set_remove(&lane->unacknowledged, r);
    }
    pthread_mutex_unlock(&lane->lock);
    return is_held;
}
