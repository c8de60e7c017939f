/*
 * Replay into waits.
 *
 * The programs. Inside a phase processes synchronise by keel_wait_until() alone: a put that makes the condition true happens
 * before the wait returns, and what its source completed before it (flush, or a fence towards the same target) with it. Two
 * accesses of the same bytes, one of them a put, are ordered by that, by program order and by gsyncs; but for the word waited on.
 *
 * Clocks. C(x), the clock of the source when it did x, is Lamport's, moved by returning waits and by values that were fetched: if x
 * happens before y through one of these, C(x) < C(y), else, of one source, C(x) <= C(y). The source raises the clock on the target's
 * board before the put, and its own at home, so whoever sees what it did sees the clock.
 *
 * Safety, of what others put to the replacement p' in phase k. All of it is replayed in the order of clocks and, of one source, of
 * its log, and each wait of p' replays no further than until its condition holds.
 *   - Of two puts to the same bytes the one that happens before the other is replayed first.
 *   - What happens before the return of a wait does so through the put w that made it return in the first life, so it has
 *     a lower clock than w, or is of the same source and before w: it is replayed when the condition holds. If the condition
 *     holds earlier, by a put before w, then that put is one that the wait might have returned by.
 *   - A put y that happens after something p did after that wait is not replayed before: the clock of p was beyond that of w,
 *     and C(y) is higher still. Clocks of p' are not those of p, for p may have seen more when its waits returned, but never
 *     higher, by induction: so what p' logs again is ordered with what others logged, as before.
 * In a phase that all have passed, what others put is all there. In the front phase others go on while p' re-executes: they only
 * log what they put to p'. What they had put when the recovery was decided suffices for all waits that returned in the first
 * life, and it is a cut: between its own report and the decision nobody puts anything to p, and the decision needs all reports, so
 * nothing in the cut happens after something that was put later. What was put later is sent with the rest alone: what one source
 * put might come, what it follows, by another, not. So the first wait that the cut does not suffice for, or the gsync, is beyond
 * p's death; then what there is happens after nothing that p' has still to do. p' asks for the rest; who has sent it puts nothing to p' until p' has taken all rests, for these are
 * replayed together, in order, and a put of one who has heard of another's must come after both.
 *
 * The dead rank may have been the first to leave a gsync that nobody else has left. If it did something to others after it,
 * they know, and that is the front (keel_waits_look()): or they would go on by what it signalled while p' is not there yet. So it is
 * where nobody waits: what it put over the served lane is counted and not put again, so nobody may do again what lies below it.
 *
 * Safety, of what is put to a dead rank. Who does not know of the death reads its memory by the direct lane; somebody who knows
 * does not put anything there, and what was under way on the served lane is lost. So neither is complete before the death is
 * decided, when all know (keel_flush_one()): a rank that waited for a flag put after such a flush gets what was put.
 *
 * That holds also where nobody is known to wait yet or to have begun, so nothing is replayed into waits. A replacement waits for the first
 * time when all have handed over to it, and the job rolls back where somebody else does and that one is not known to be beyond its
 * predecessor's death (epoch/wait). Where several were lost before anybody had begun, each is held until it is at the front: one that is
 * there already does not merely log what it puts to another, and tell a third.
 *
 * Safety, of what p' does to others: see rma/put. Of p nothing was seen that came after a get in the front phase without a
 * record (keel_wait_settle_reads()); so nobody overwrote what it would have read. Where the program of p' learns that such a get is
 * complete, it is beyond p's death as in a wait that the cut does not suffice for, and takes the rest: it may poll, and others that wait to
 * read from it would not get on.
 * Not when the get is issued: p may have done so, and waited for something else before it died.
 *
 * The last clock of a phase is that of all waits after it, so it tells no order: what is put under it counts as not logged
 * (keel_put_clock()), and is put to nobody who is being brought back. A death is a rollback then.
 *
 * Atomics that nobody fetches, all of one class that commutes, are like puts here. What several ranks do at a word has one sum in
 * whatever order; so a wait that several of them together make return (a counter) is over in the replay when it is so by those of
 * the lowest clocks, and what happens before each of these is replayed then, too: it is a wait that might have returned by them. A
 * program that relies on all that have ever come waits for all. What their source p did and closed is in place, served or by
 * stores, and p' only logs it; the one that it died in may be done or not (keel_board_half_done()), and then the job rolls back.
 *
 * Values that are fetched. What p finds at q was done by those that raised q's clock before, and p goes beyond that clock, which is part of
 * the record (rma/fetch). So the argument above holds with "the return of a wait or of a fetch": what happens before it has a lower clock
 * than what p does next. p' is answered from the record. What p learned by it may lie in p's own memory: all that others put under
 * that clock or a lower one is replayed first. It holds all that happens before the fetch; and nothing that happens after what p did
 * next, for that has a higher clock. Up to there each wait of p' replays no more than it would else, for what is replayed at a fetch
 * is below all that p's later waits returned by, or has been in memory when p went on. Without a record the atomic was not applied,
 * for both are one step; in doubt by stores, as above. p' is beyond the death then, as by a get.
 *   - q died: those towards it have one sum, and what was found says one order of it that nobody else contradicts: who awaits a value
 *     might (recovery/decide), so that is refused. What was fetched from own memory is an answer (sync/answers).
 *
 * Refused (sync.c): several ranks lost at once, unless nobody had begun; atomics, when those towards the dead rank do not commute,
 * or when anybody has fetched and not all knew from the image on that the program waits: those records have no clock; the front
 * phase is the one in which the program waits for the first time, so some did not know that they had to number what they did.
 */
#include "sync/waits.h"

#include "base/memory.h"
#include "check/plant.h"
#include "check/reached.h"
#include "sync/sync.h"
#include "peer/access.h"
#include "peer/control.h"

#include <string.h>

typedef enum { WAITS_MORE, WAITS_SO_FAR, WAITS_REST } waits_stage_t;

typedef struct waits_message {
    uint32_t phase;
    uint32_t stage; /* waits_stage_t: what this message is the last of */
    uint8_t records[];
} waits_message_t;
_Static_assert(sizeof(waits_message_t) <= KEEL_PUT_MESSAGE_HEAD, "a record of any size fits after it");

keel_status_t keel_waits_init(keel_waits_t *w, uint32_t ranks)
{
    memset(w, 0, sizeof(*w));
    w->since = KEEL_PHASE_NONE;
    w->heard = keel_alloc(ranks * sizeof(*w->heard), "waits heard");
    w->has_rest = keel_alloc(ranks, "waits heard");
    w->has_new = keel_alloc(ranks, "waits heard");
    if (w->heard == NULL || w->has_rest == NULL || w->has_new == NULL ||
        keel_replay_init(&w->replay, ranks) != KEEL_OK) {
        keel_waits_release(w);
        return KEEL_ERR_NO_MEMORY;
    }
    return KEEL_OK;
}

void keel_waits_release(keel_waits_t *w)
{
    keel_replay_release(&w->replay);
    keel_free(w->heard);
    keel_free(w->has_rest);
    keel_free(w->has_new);
    w->heard = NULL;
    w->has_rest = w->has_new = NULL;
}

void keel_waits_begin_phase(keel_sync_t *sync)
{
    keel_waits_t *w = &sync->waits;

    if (w->since == KEEL_PHASE_NONE) {
        keel_waits_hear(sync);
    }
    w->clock = w->seen = 0;
    keel_replay_forget(&w->replay);
    for (uint32_t r = 0; w->is_replaying && r < sync->lane->size; r++) {
        keel_replay_end_source(&w->replay, r);
    }
}

void keel_waits_reset(keel_sync_t *sync)
{
    keel_waits_t *w = &sync->waits;

    keel_waits_begin_phase(sync);
    w->is_replaying = w->is_asking = 0;
    w->begun = w->waited = 0;
    memset(w->heard, 0, sync->lane->size * sizeof(*w->heard));
    memset(w->has_rest, 0, sync->lane->size);
    memset(w->has_new, 0, sync->lane->size);
}

void keel_waits_hear(keel_sync_t *sync)
{
    for (uint32_t r = 0; r < sync->lane->size; r++) {
        const uint64_t word = keel_board_get(&sync->lane->board[r].waits);

        if (word > 0 && word - 1 < sync->waits.since) {
            sync->waits.since = (uint32_t)(word - 1);
        }
    }
}

void keel_waits_look(const keel_sync_t *sync, uint32_t *reached_p, uint32_t *first_p)
{
    *reached_p = 0;
    *first_p = KEEL_PHASE_NONE;
    for (uint32_t r = 0; !sync->sections.is_used && r < sync->lane->size && !KEEL_PLANT(ahead_not_told); r++) {
        const keel_board_slot_t *slot = &sync->lane->board[r];
        const uint64_t first = keel_board_get(&slot->first), told = keel_board_get(&slot->waits);

        *reached_p = keel_larger(*reached_p, (uint32_t)(keel_board_get(&slot->done) >> 32));
        if (!keel_sync_has_rest(sync)) {
            continue;
        }
        if (told > 1) { /* it waits for the first time, in the phase before the one that everybody begins knowing it */
            *reached_p = keel_larger(*reached_p, (uint32_t)told - 2);
            *first_p = (told - 2 < *first_p) ? (uint32_t)told - 2 : *first_p;
        }
        *reached_p = keel_larger(*reached_p, (uint32_t)(keel_board_get(&slot->opened) >> 32));
        if (first > 0 && first - 1 < *first_p) {
            *first_p = (uint32_t)first - 1;
        }
    }
}

/* Who fetches what this process does to its own memory finds its clock there, too. */
static void waits_say_clock(const keel_sync_t *sync, uint32_t clock)
{
    if (!KEEL_PLANT(own_clock_untold)) {
        keel_board_raise(keel_access_clock(sync->lane, sync->lane->rank), keel_phase_word(sync->phase, clock));
    }
}

uint32_t keel_waits_after(const keel_sync_t *sync, uint32_t clock)
{
    return clock + (clock < keel_counters_clocks(&sync->lane->counters));
}

static void waits_go_beyond(keel_sync_t *sync, uint32_t other)
{
    sync->waits.clock = keel_waits_after(sync, keel_larger(sync->waits.clock, other));
    waits_say_clock(sync, sync->waits.clock);
}

uint32_t keel_waits_here(const keel_sync_t *sync)
{
    const uint32_t here = KEEL_PLANT(clock_alone) ? 0 : keel_access_clock_of(sync->lane, sync->lane->rank, sync->phase);

    return keel_larger(here, sync->waits.seen);
}

void keel_waits_tick(keel_sync_t *sync)
{
    waits_go_beyond(sync, keel_waits_here(sync));
}

void keel_waits_join(keel_sync_t *sync, uint32_t clock)
{
    waits_go_beyond(sync, KEEL_PLANT(fetch_unjoined) ? 0 : clock);
}

/* ---- survivors ---- */

typedef struct sender {
    keel_sync_t *sync;
    uint32_t rank, phase;
    uint32_t number; /* of the next record */
    uint32_t skip, end;
} sender_t;

static keel_status_t waits_message(const sender_t *sender, waits_stage_t stage, const void *records, size_t length)
{
    waits_message_t *message = keel_alloc(sizeof(*message) + length, "puts to replay");
    keel_status_t status;

    if (message == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    message->phase = sender->phase;
    message->stage = stage;
    if (length > 0) {
        memcpy(message->records, records, length);
    }
    status = keel_lane_control_send(sender->sync->lane, sender->rank, KEEL_CONTROL_WAITS, message,
                                    sizeof(*message) + length);
    keel_free(message);
    return status;
}

static keel_status_t waits_run(void *arg, const keel_record_t *records, size_t length)
{
    sender_t *sender = arg;
    keel_records_t run = keel_records_of(records, length);
    const uint8_t *from = run.at;

    while (!keel_records_are_over(&run) && sender->number < sender->end) {
        if (sender->number == sender->skip) {
            from = run.at;
        }
        (void)keel_records_next(&run);
        sender->number++;
    }
    return (run.at > from && sender->number > sender->skip)
               ? waits_message(sender, WAITS_MORE, from, (size_t)(run.at - from))
               : KEEL_OK;
}

static keel_status_t waits_send(sender_t *sender, waits_stage_t stage)
{
    keel_sync_t *sync = sender->sync;
    uint64_t count = 0;
    keel_status_t status =
        keel_put_log_for_phase(sync->puts, sender->rank, sender->phase,
                               sync->lane->ops->max_data - sizeof(waits_message_t), waits_run, sender, &count);

    if (status == KEEL_OK) {
        status = waits_message(sender, stage, NULL, 0);
    }
    return status;
}

keel_status_t keel_waits_send(keel_sync_t *sync, uint32_t rank, uint32_t phase, uint32_t limit, uint32_t *count_p)
{
    sender_t sender = {.sync = sync, .rank = rank, .phase = phase, .end = limit};
    const keel_status_t status = waits_send(&sender, WAITS_SO_FAR);

    *count_p = sender.number;
    return status;
}

keel_status_t keel_waits_send_rest(keel_sync_t *sync, uint32_t rank, uint32_t phase, uint32_t skip)
{
    sender_t sender = {.sync = sync, .rank = rank, .phase = phase, .skip = skip, .end = UINT32_MAX};

    return waits_send(&sender, WAITS_REST);
}

/* ---- the replacement ---- */

static int has_atomics(const void *records, size_t length)
{
    keel_records_t run = keel_records_of(records, length);
    const keel_record_t *record;
    int has = 0;

    while ((record = keel_records_next(&run)) != NULL) {
        has |= keel_where_is_atomic(record->where);
    }
    return has;
}

void keel_waits_receive(keel_sync_t *sync, const keel_control_in_t *in)
{
    keel_waits_t *w = &sync->waits;
    const waits_message_t *message = (const void *)in->payload;
    keel_status_t status = KEEL_ERR_CORRUPT;

    if (in->length >= sizeof(*message) && message->phase == sync->phase && w->is_replaying) {
        status =
            keel_replay_add(&w->replay, in->source, KEEL_RECORD_CLOCK, message->records, in->length - sizeof(*message));
    }
    if (status == KEEL_OK && !KEEL_PLANT(waits_atomics_unnoted) &&
        has_atomics(message->records, in->length - sizeof(*message))) {
        pthread_mutex_lock(&sync->lane->lock);
        keel_lane_note_atomics(sync->lane, in->source, message->phase); /* planted.md, waits_atomics_unnoted */
        pthread_mutex_unlock(&sync->lane->lock);
    }
    if (status != KEEL_OK) {
        keel_error(sync->lane->message, "puts of rank %u to be replayed refused: %s", in->source,
                   keel_status_string(status));
        keel_lane_fail(sync->lane, status);
        return;
    }
    if (message->stage == WAITS_SO_FAR) {
        w->heard[in->source] = message->phase + 1;
    } else if (message->stage == WAITS_REST) {
        w->has_rest[in->source] = 1;
    }
}

int keel_waits_are_here(keel_sync_t *sync)
{
    keel_waits_t *w = &sync->waits;

    if (sync->phase > sync->front) {
        return 1; /* the predecessor was the first to come here: nobody put anything */
    }
    for (uint32_t r = 0; r < sync->lane->size; r++) {
        if (r != sync->lane->rank && w->heard[r] <= sync->phase) {
            return 0;
        }
    }
    if (w->replay.next == 0 && !KEEL_PLANT(waits_unsorted)) {
        keel_replay_sort(&w->replay);
    }
    return 1;
}

int keel_waits_is_within(const keel_sync_t *sync, uint32_t clock)
{
    const keel_replay_t *replay = &sync->waits.replay;

    return replay->next < replay->count && replay->pieces[replay->next].number <= clock;
}

keel_status_t keel_waits_replay_next(keel_sync_t *sync)
{
    keel_waits_t *w = &sync->waits;
    keel_status_t status;

    if (w->replay.next == w->replay.count) {
        return KEEL_OK;
    }
    w->seen = keel_larger(w->seen, w->replay.pieces[w->replay.next].number);
    status = keel_replay_next(&w->replay, sync->lane);
    return (status == KEEL_OK) ? KEEL_INPROGRESS : status;
}

void keel_waits_declare(keel_sync_t *sync)
{
    sync->waits.since = 0;
}

void keel_waits_begin(keel_sync_t *sync)
{
    sync->waits.begun = sync->phase + 1;
    if (sync->phase + 1 < sync->waits.since) {
        sync->waits.since = sync->phase + 1;
    }
}

int keel_waits_are_told(const keel_sync_t *sync)
{
    return keel_waits_are_numbered(sync) || sync->waits.begun == sync->phase + 1 || sync->waits.is_replaying;
}

int keel_waits_are_numbered(const keel_sync_t *sync)
{
    return sync->phase >= sync->waits.since;
}

void keel_waits_note(keel_sync_t *sync)
{
    sync->waits.waited = sync->phase + 1;
}

int keel_waits_go_on(const keel_sync_t *sync)
{
    return keel_waits_are_numbered(sync) || sync->waits.waited == sync->phase + 1;
}

int keel_waits_are_to_write(keel_sync_t *sync, const void *bytes, size_t size)
{
    return sync->waits.is_replaying && keel_waits_are_here(sync) &&
           keel_replay_is_to_write(&sync->waits.replay, sync->lane, bytes, size);
}

int keel_waits_note_new(keel_sync_t *sync, uint32_t rank)
{
    if (!sync->waits.is_replaying || sync->phase < sync->front) {
        return 0;
    }
    sync->waits.has_new[rank] = 1;
    return 1;
}

int keel_waits_has_new(const keel_sync_t *sync, uint32_t rank)
{
    int is_new = 0;

    for (uint32_t r = 0; sync->waits.is_replaying && r < sync->lane->size; r++) {
        is_new |= sync->waits.has_new[r] && (r == rank || rank == KEEL_RANK_NONE);
    }
    return is_new;
}

void keel_waits_ask_rest(keel_sync_t *sync)
{
    if (!sync->waits.is_asking) {
        sync->waits.is_asking = 1;
        (void)keel_lane_control_send_all(sync->lane, KEEL_CONTROL_CAUGHT_UP, NULL, 0);
    }
}

int keel_waits_have_rest(const keel_sync_t *sync)
{
    for (uint32_t r = 0; r < sync->lane->size; r++) {
        if (r != sync->lane->rank && !sync->waits.has_rest[r] && !KEEL_PLANT(rest_not_awaited)) {
            return 0;
        }
    }
    return 1;
}

keel_status_t keel_waits_take_rest(keel_sync_t *sync)
{
    keel_waits_t *w = &sync->waits;
    keel_lane_t *lane = sync->lane;
    keel_status_t status;

    keel_replay_sort(&w->replay);
    do {
        status = keel_waits_replay_next(sync);
    } while (status == KEEL_INPROGRESS);
    if (status != KEEL_OK) {
        return status;
    }
    pthread_mutex_lock(&lane->lock); /* what its source does itself goes on after these */
    for (uint32_t r = 0; r < lane->size; r++) {
        if (r != lane->rank) {
            keel_lane_set_done(lane, r, sync->phase, w->replay.records[r]);
            if (!KEEL_PLANT(rest_uncounted)) {
                keel_board_set(&lane->board[r].done, lane->peers[r].done);
            }
        }
    }
    pthread_mutex_unlock(&lane->lock);
    w->is_replaying = 0;
    memset(w->has_new, 0, lane->size);
    if (!KEEL_PLANT(waits_rest_clockless)) { /* a rank that fetches here goes beyond the clock of what was replayed */
        waits_say_clock(sync, w->seen);
    }
    (void)keel_lane_control_send_all(lane, KEEL_CONTROL_TAKEN, NULL, 0);
    return KEEL_OK;
}
