/*
 * Replay into waits.
 *
 * The programs. Inside a phase processes synchronise by keel_wait_until() alone: a put that makes
 * the condition true happens before the return of the wait, and so does every access completed by
 * the source before the put (flush, or a fence towards the same target). Two accesses of the same
 * bytes, one of them a put, are ordered by waits, by program order and by gsyncs, except at the
 * word waited on.
 *
 * Clocks. C(x), the clock of the source at x, is Lamport's, moved by returning waits and by fetched
 * values: if x happens before y through one of these, C(x) < C(y), else, of one source, C(x) <=
 * C(y). The source raises the clock on the target's board before the put, and the own clock at
 * home, so a rank that sees an effect sees the clock.
 *
 * Safety, of puts to the replacement p' in phase k. All of them are replayed in the order of clocks
 * and, of one source, of the log, and each wait of p' replays no further than until the condition
 * holds.
 *   - Of two puts to the same bytes the put that happens before the other is replayed first.
 *   - An effect before the return of a wait is ordered through the put w, by which the wait
 *     returned in the first life. So the effect has a lower clock than w, or is of the same source
 *     and before w: it is replayed when the condition holds. If the condition holds earlier, by a
 *     put before w, then the wait might have returned by the earlier put.
 *   - A put y after an act of p after the wait is not replayed before: the clock of p was beyond
 *     C(w), and C(y) is higher still. Clocks of p' may differ from the clocks of p, for p may have
 *     seen more when a wait returned, but by induction are never higher: so records logged again by
 *     p' are ordered with records of others as before.
 *
 * In a phase passed by all ranks, all puts are present. In the front phase others go on while p'
 * re-executes, and only log their puts to p'. The puts from before the decision suffice for all
 * waits that returned in the first life, and are a cut: between a report and the decision the
 * reporting rank does not put to p, and the decision needs all reports, so nothing in the cut
 * happens after a put outside of it. Later puts are sent together only: a put might arrive without
 * an earlier one of another source. So the first wait for which the cut does not suffice, or the
 * gsync, is beyond p's death; none of the puts present then happens after a future effect of p'. p'
 * asks for the remaining puts. A rank with these puts sent puts nothing to p' until p' has replayed
 * the remaining puts of all ranks: these are replayed together, in order, and a put by a rank that
 * knows of another's put must come after both.
 *
 * The dead rank may have been the first to leave a gsync that no other rank has left. If the rank
 * had an effect on others after the gsync, the others know the effect, and the phase after the
 * gsync is the front (keel_waits_find_front()): else they would act on signals of p before p' is
 * there. The same holds without waits: puts over the served lane are counted and not repeated, so
 * no rank may re-execute a phase below that count.
 *
 * Safety, of puts to a dead rank. A rank unaware of the death reads the dead memory by the direct
 * lane; an aware rank does not put there, and puts under way on the served lane are lost. So
 * neither is complete before the death is decided, when all ranks know (keel_flush_one()): a rank
 * that waited for a flag put after such a flush gets the puts.
 *
 * The same holds before any wait is announced or any effect exists, when nothing is replayed into
 * waits. A replacement waits for the first time after all hand-overs to the replacement, and the
 * job rolls back if another rank waits first and the replacement is not known to be beyond the
 * death of the predecessor (epoch/wait). If several ranks were lost before any effect, each is held
 * until it reaches the front: a rank already there does not merely log a put to another and then
 * signal a third.
 *
 * Safety, of effects of p' on others: see rma/put. After a get of p in the front phase without a
 * record, no effect of p was seen (keel_determinant_stabilize_reads()), so no rank overwrote the
 * bytes read. When the program of p' learns that such a get is complete, p' is beyond p's death, as
 * in a wait for which the cut does not suffice, and asks for the remaining puts: p' may poll, and
 * others would wait forever to read from p'. The issue of the get is too early: p may have issued
 * the get, and waited for something else before the death.
 *
 * The last clock of a phase is the clock of all later waits, so it gives no order: a put under it
 * counts as not logged (keel_put_clock()), no replacement gets it, and a death is a rollback.
 *
 * Atomics without a fetch, all of one class that commutes, are like puts here. Atomics of several
 * ranks at a word have one sum in any order. So a wait for the sum of several atomics (a counter)
 * returns in the replay with the atomics of the lowest clocks, and effects before each of these are
 * replayed then, too: the wait might have returned by the same atomics. A program that relies on
 * all arrivals waits for all. Atomics completed by a source p are in place, served or by stores,
 * and p' only logs again; the atomic under way at the death may be applied or not
 * (keel_board_half_done()), and then the job rolls back.
 *
 * Fetched values. A value found by p at q is the effect of ranks that raised q's clock before, and
 * p goes beyond the clock of q, which is part of the record (rma/fetch). So the argument above
 * holds with "the return of a wait or of a fetch": earlier effects have a lower clock than p's next
 * effect. p' gets the value from the record. The value may tell of effects in p's own
 * memory: all puts of others under the same clock or a lower one are replayed first. The puts
 * include every effect before the fetch, and no effect after p's next one, which has a higher
 * clock. Up to there each wait of p' replays no more than otherwise, for the effects replayed at a
 * fetch are below those of p's later waits, or were in memory when p continued. An atomic without a
 * record was not applied, for both are one step; by stores it is in doubt, as above. p' is beyond
 * the death then, as after a get.
 *   - If q died: the atomics towards q have one sum, and the fetched values imply one order. Only a
 *     rank awaiting a value might contradict (recovery/decide), so such a death is refused. A fetch
 *     from own memory is a determinant (sync/determinants).
 *
 * Refused (sync.c): several ranks lost at once, unless there were no effects; atomics, if those
 * towards the dead rank do not commute, or if a rank has fetched and not all ranks knew of the
 * waits from the image on: the records have no clock; a front phase with the first wait of the
 * program: some ranks did not number records yet.
 */
#include "sync/waits.h"

#include "base/memory.h"
#include "check/plant.h"
#include "check/reached.h"
#include "sync/sync.h"
#include "peer/access.h"
#include "peer/control.h"
#include "peer/members.h"

#include <string.h>

typedef enum { WAITS_MORE, WAITS_PREFIX, WAITS_REMAINING } waits_stage_t;

typedef struct waits_message {
    uint32_t phase;
    uint32_t stage; /* waits_stage_t: this message is the last one of the stage */
    uint8_t records[];
} waits_message_t;
_Static_assert(sizeof(waits_message_t) <= KEEL_PUT_MESSAGE_HEAD, "a record of any size fits after it");

keel_status_t keel_waits_init(keel_waits_t *w, uint32_t ranks)
{
    memset(w, 0, sizeof(*w));
    w->since = KEEL_PHASE_NONE;
    w->complete = keel_alloc(ranks * sizeof(*w->complete), "complete waits");
    w->has_rest = keel_alloc(ranks, "complete waits");
    w->has_new = keel_alloc(ranks, "complete waits");
    if (w->complete == NULL || w->has_rest == NULL || w->has_new == NULL ||
        keel_replay_init(&w->replay, ranks) != KEEL_OK) {
        keel_waits_release(w);
        return KEEL_ERR_NO_MEMORY;
    }
    return KEEL_OK;
}

void keel_waits_release(keel_waits_t *w)
{
    keel_replay_release(&w->replay);
    keel_free(w->complete);
    keel_free(w->has_rest);
    keel_free(w->has_new);
    w->complete = NULL;
    w->has_rest = w->has_new = NULL;
}

void keel_waits_begin_phase(keel_sync_t *sync)
{
    keel_waits_t *w = &sync->waits;

    if (w->since == KEEL_PHASE_NONE) {
        keel_waits_take_announced(sync);
    }
    w->clock = w->seen = 0;
    keel_replay_forget(&w->replay);
    KEEL_EACH_MEMBER_WHILE(r, sync->lane, w->is_replaying) {
        keel_replay_end_source(&w->replay, r);
    }
}

void keel_waits_reset(keel_sync_t *sync)
{
    keel_waits_t *w = &sync->waits;

    keel_waits_begin_phase(sync);
    w->is_replaying = w->is_asking = w->begun = w->waited = 0;
    memset(w->complete, 0, sync->lane->size * sizeof(*w->complete));
    memset(w->has_rest, 0, sync->lane->size);
    memset(w->has_new, 0, sync->lane->size);
}

void keel_waits_take_announced(keel_sync_t *sync)
{
    KEEL_EACH_MEMBER(r, sync->lane) {
        const uint64_t word = keel_board_get(&sync->lane->board[r].waits);

        if (word > 0 && word - 1 < sync->waits.since) {
            sync->waits.since = (uint32_t)(word - 1);
        }
    }
}

void keel_waits_find_front(const keel_sync_t *sync, uint32_t *reached_p, uint32_t *first_p)
{
    *reached_p = 0;
    *first_p = KEEL_PHASE_NONE;
    KEEL_EACH_MEMBER_WHILE(r, sync->lane, !sync->sections.is_used && !KEEL_PLANT(waits_ahead_left_out)) {
        const keel_board_slot_t *slot = &sync->lane->board[r];
        const uint64_t first = keel_board_get(&slot->first), announced = keel_board_get(&slot->waits);

        *reached_p = keel_larger(*reached_p, (uint32_t)(keel_board_get(&slot->done) >> 32));
        if (keel_sync_style(sync) != KEEL_STYLE_WAITS) {
            continue;
        }
        if (announced > 1) { /* announced first wait: its phase is before the one in the word */
            *reached_p = keel_larger(*reached_p, (uint32_t)announced - 2);
            *first_p = (announced - 2 < *first_p) ? (uint32_t)announced - 2 : *first_p;
        }
        *reached_p = keel_larger(*reached_p, (uint32_t)(keel_board_get(&slot->opened) >> 32));
        if (first > 0 && first - 1 < *first_p) {
            *first_p = (uint32_t)first - 1;
        }
    }
}

/* A rank that fetches the result of an own atomic at own memory finds the clock there, too. */
static void waits_publish_clock(const keel_sync_t *sync, uint32_t clock)
{
    if (!KEEL_PLANT(waits_own_clock_missing)) {
        keel_board_raise(keel_access_clock(sync->lane, sync->lane->rank), keel_phase_word(sync->phase, clock));
    }
}

uint32_t keel_waits_after(const keel_sync_t *sync, uint32_t clock)
{
    return clock + (clock < keel_counters_clocks(&sync->lane->counters));
}

static void waits_advance(keel_sync_t *sync, uint32_t other)
{
    sync->waits.clock = keel_waits_after(sync, keel_larger(sync->waits.clock, other));
    waits_publish_clock(sync, sync->waits.clock);
}

uint32_t keel_waits_here(const keel_sync_t *sync)
{
    const uint32_t here = KEEL_PLANT(waits_alone) ? 0 : keel_access_clock_of(sync->lane, sync->lane->rank, sync->phase);

    return keel_larger(here, sync->waits.seen);
}

void keel_waits_tick(keel_sync_t *sync)
{
    waits_advance(sync, keel_waits_here(sync));
}

void keel_waits_join(keel_sync_t *sync, uint32_t clock)
{
    waits_advance(sync, KEEL_PLANT(waits_fetch_unjoined) ? 0 : clock);
}

/* ---- survivors ---- */

typedef struct sender {
    keel_sync_t *sync;
    uint32_t rank, phase;
    uint32_t number; /* number of the next record */
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

    while (!keel_records_at_end(&run) && sender->number < sender->end) {
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
    const keel_status_t status = waits_send(&sender, WAITS_PREFIX);

    *count_p = sender.number;
    return status;
}

keel_status_t keel_waits_send_remaining(keel_sync_t *sync, uint32_t rank, uint32_t phase, uint32_t skip)
{
    sender_t sender = {.sync = sync, .rank = rank, .phase = phase, .skip = skip, .end = UINT32_MAX};

    return waits_send(&sender, WAITS_REMAINING);
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

void keel_waits_receive(void *arg, const keel_control_in_t *in)
{
    keel_sync_t *sync = arg;
    keel_waits_t *w = &sync->waits;
    const waits_message_t *message = (const void *)in->payload;
    keel_status_t status = KEEL_ERR_CORRUPT;

    if (in->length >= sizeof(*message) && message->phase == sync->phase && w->is_replaying) {
        status =
            keel_replay_add(&w->replay, in->source, KEEL_RECORD_CLOCK, message->records, in->length - sizeof(*message));
    }
    if (status == KEEL_OK && !KEEL_PLANT(waits_atomics_unnoted) &&
        has_atomics(message->records, in->length - sizeof(*message))) {
        pthread_mutex_lock(&sync->lane->lock); /* planted.md, waits_atomics_unnoted */
        keel_lane_note_atomics(sync->lane, in->source, message->phase);
        pthread_mutex_unlock(&sync->lane->lock);
    }
    if (status != KEEL_OK) {
        keel_error(sync->lane->message, "puts of rank %u to be replayed refused: %s", in->source,
                   keel_status_string(status));
        keel_lane_fail(sync->lane, status);
        return;
    }
    if (message->stage == WAITS_PREFIX) {
        w->complete[in->source] = message->phase + 1;
    } else if (message->stage == WAITS_REMAINING) {
        w->has_rest[in->source] = 1;
    }
}

int keel_waits_are_here(keel_sync_t *sync)
{
    keel_waits_t *w = &sync->waits;

    if (sync->phase > sync->front) {
        return 1; /* the predecessor was the first rank in this phase: no rank has put anything */
    }
    KEEL_EACH_MEMBER(r, sync->lane) {
        if (r != sync->lane->rank && w->complete[r] <= sync->phase) {
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

int keel_waits_are_announced(const keel_sync_t *sync)
{
    return keel_waits_are_numbered(sync) || sync->waits.begun == sync->phase + 1 || sync->waits.is_replaying;
}

int keel_waits_are_numbered(const keel_sync_t *sync)
{
    return sync->phase >= sync->waits.since;
}

void keel_waits_note_wait(keel_sync_t *sync)
{
    sync->waits.waited = sync->phase + 1;
}

int keel_waits_have_effect(const keel_sync_t *sync)
{
    return keel_waits_are_numbered(sync) || sync->waits.waited == sync->phase + 1;
}

int keel_waits_are_to_write(keel_sync_t *sync, const void *bytes, size_t size)
{
    return sync->waits.is_replaying && keel_waits_are_here(sync) &&
           keel_replay_is_to_write(&sync->waits.replay, sync->lane, bytes, size);
}

int keel_waits_note_unrecorded(keel_sync_t *sync, uint32_t rank)
{
    if (!sync->waits.is_replaying || sync->phase < sync->front) {
        return 0;
    }
    sync->waits.has_new[rank] = 1;
    return 1;
}

int keel_waits_has_unrecorded(const keel_sync_t *sync, uint32_t rank)
{
    int is_new = 0;

    KEEL_EACH_TOUCHED_WHILE(r, sync->lane, sync->waits.is_replaying) {
        is_new |= sync->waits.has_new[r] && (r == rank || rank == KEEL_RANK_NONE);
    }
    return is_new;
}

void keel_waits_ask_remaining(keel_sync_t *sync)
{
    if (!sync->waits.is_asking) {
        sync->waits.is_asking = 1;
        (void)keel_lane_control_send_all(sync->lane, KEEL_CONTROL_CAUGHT_UP, NULL, 0);
    }
}

int keel_waits_have_remaining(const keel_sync_t *sync)
{
    KEEL_EACH_MEMBER(r, sync->lane) {
        if (r != sync->lane->rank && !sync->waits.has_rest[r] && !KEEL_PLANT(waits_rest_unawaited)) {
            return 0;
        }
    }
    return 1;
}

keel_status_t keel_waits_take_remaining(keel_sync_t *sync)
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
    pthread_mutex_lock(&lane->lock); /* later records of the sources continue after these */
    KEEL_EACH_MEMBER(r, lane) {
        if (r != lane->rank) {
            keel_lane_set_done(lane, r, sync->phase, w->replay.records[r]);
            if (!KEEL_PLANT(waits_rest_uncounted)) {
                keel_board_set(&lane->board[r].done, lane->peers[r].done);
            }
        }
    }
    pthread_mutex_unlock(&lane->lock);
    w->is_replaying = 0;
    memset(w->has_new, 0, lane->size);
    /* a rank that fetches here goes beyond the clock of what was replayed */
    if (!KEEL_PLANT(waits_rest_clockless)) {
        waits_publish_clock(sync, w->seen);
    }
    (void)keel_lane_control_send_all(lane, KEEL_CONTROL_REST_DONE, NULL, 0);
    return KEEL_OK;
}
