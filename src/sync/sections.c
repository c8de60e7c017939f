/*
 * Replay of critical sections.
 *
 * Safety. Until the replacement has caught up no rank accesses its memory: survivors only log
 * towards the replacement and wait for its lock, which only the holder of an open section has. The
 * records sent are complete except for the open section, and the open section has the highest
 * number. Numbers are never skipped (lockword.h). So a number not above the highest one seen, by a
 * critical section or a reading, and used by no survivor is the replacement's own, and re-execution
 * will take it: re-execution covers every effect seen by any rank. A number taken at a process that
 * died before the reply arrived is higher, and nobody uses it again. Own sections beyond the
 * highest number seen, with no record of the first life left to use and no lock left to take again,
 * are new: the process has caught up.
 *
 * The predecessor may have been a gsync ahead of all others. So the replacement may announce the
 * arrival at F + 1, and replay own sections of that phase, before it has caught up. No other rank
 * can have accessed its memory in that phase.
 *
 * Only one process may be lost: of two, each has the numbers of the other's sections (decide.c
 * refuses).
 */
#include "sync/sections.h"

#include "base/memory.h"
#include "check/plant.h"
#include "check/reached.h"
#include "sync/sync.h"
#include "peer/control.h"
#include "peer/issue.h"
#include "peer/members.h"

#include <string.h>

typedef struct sections_message {
    uint32_t phase;
    uint32_t is_last;
    uint64_t owns;  /* SC of the receiver's lock held by the sender, 0: none */
    uint64_t reads; /* number of the sender's reading at the receiver, 0: none */
    uint64_t seen;  /* the highest SC of the receiver seen by the sender */
    /* the receiver's predecessor held or read the sender's memory, or was about to */
    uint64_t is_left;
    uint8_t records[];
} sections_message_t;
_Static_assert(sizeof(sections_message_t) <= KEEL_PUT_MESSAGE_HEAD, "a record of any size fits after it");

keel_status_t keel_sections_init(keel_sections_t *s, uint32_t ranks)
{
    memset(s, 0, sizeof(*s));
    s->held = keel_alloc(ranks, "locks held");
    s->is_release_due = keel_alloc(ranks, "locks given up");
    s->counter_at = keel_alloc(ranks * sizeof(*s->counter_at), "lock counters");
    s->seen_at = keel_alloc(ranks * sizeof(*s->seen_at), "lock counters");
    s->reads = keel_alloc(ranks * sizeof(*s->reads), "readings");
    s->is_left = keel_alloc(ranks, "locks left");
    s->complete = keel_alloc(ranks * sizeof(*s->complete), "complete sections");
    if (s->held == NULL || s->is_release_due == NULL || s->counter_at == NULL || s->seen_at == NULL ||
        s->reads == NULL || s->is_left == NULL || s->complete == NULL ||
        keel_replay_init(&s->replay, ranks) != KEEL_OK) {
        keel_sections_release(s);
        return KEEL_ERR_NO_MEMORY;
    }
    return KEEL_OK;
}

void keel_sections_release(keel_sections_t *s)
{
    keel_replay_release(&s->replay);
    keel_free(s->held);
    keel_free(s->is_release_due);
    keel_free(s->counter_at);
    keel_free(s->seen_at);
    keel_free(s->reads);
    keel_free(s->is_left);
    keel_free(s->complete);
    memset(s, 0, sizeof(*s));
}

void keel_sections_reset(keel_sections_t *s, keel_lane_t *lane, uint64_t counter)
{
    keel_lock_area_t *area = keel_lane_locks(lane);

    keel_replay_forget(&s->replay);
    s->is_replaying = 0;
    s->open = 0;
    s->known = 0;
    s->counter = counter;
    memset(s->held, 0, lane->size);
    if (!KEEL_PLANT(sections_release_kept)) {
        memset(s->is_release_due, 0, lane->size);
    }
    memset(s->is_left, 0, lane->size);
    memset(s->seen_at, 0, lane->size * sizeof(*s->seen_at));
    memset(s->reads, 0, lane->size * sizeof(*s->reads));
    memset(s->complete, 0, lane->size * sizeof(*s->complete));
    if (lane->gone == 0 || !KEEL_PLANT(sections_lock_of_gone_kept)) {
        keel_store_zero(area, keel_lock_area_size(lane->size));
        keel_store_word_release(&area->word, keel_lock_word_free(counter));
    }
}

int keel_sections_are_used(const keel_sync_t *sync, uint32_t *first_p)
{
    const keel_lock_area_t *area = sync->lane->own[KEEL_REGION_LOCKS].base;
    const uint64_t first = __atomic_load_n(&area->first, __ATOMIC_ACQUIRE);

    *first_p = (first > 0) ? (uint32_t)first - 1 : KEEL_PHASE_NONE;
    return sync->sections.is_used || first > 0;
}

/* ---- as a source ---- */

static void sections_hold(keel_sections_t *s, uint32_t rank, keel_held_t held)
{
    s->held[rank] = (uint8_t)held;
    s->open++;
}

void keel_sections_take(keel_sync_t *sync, uint32_t rank, uint64_t value)
{
    sections_hold(&sync->sections, rank, KEEL_HELD_WRITING);
    sync->sections.seen_at[rank] = value;
    sync->sections.counter_at[rank] = value;
}

void keel_sections_take_read(keel_sync_t *sync, uint32_t rank, uint64_t value, uint64_t reading)
{
    sections_hold(&sync->sections, rank, KEEL_HELD_READING);
    sync->sections.seen_at[rank] = value - 1;
    sync->sections.reads[rank] = reading;
}

void keel_sections_take_own(keel_sync_t *sync, int is_read, uint64_t reading)
{
    const uint32_t own = sync->lane->rank;

    sections_hold(&sync->sections, own, is_read ? KEEL_HELD_READING : KEEL_HELD_WRITING);
    if (is_read) {
        sync->sections.reads[own] = reading;
    }
}

void keel_sections_give(keel_sync_t *sync, uint32_t rank)
{
    sync->sections.held[rank] = KEEL_HELD_NOT;
    sync->sections.open--;
}

void keel_sections_defer_release(keel_sync_t *sync, uint32_t rank, int is_read)
{
    sync->sections.is_release_due[rank] |= (uint8_t)(1 << is_read);
}

void keel_sections_set_all(keel_sync_t *sync, int is_all)
{
    sync->sections.is_all = is_all;
}

void keel_sections_reach(keel_sync_t *sync, uint32_t rank)
{
    sync->sections.is_left[rank] = 0;
}

/* ---- survivors ---- */

typedef struct sender {
    keel_sync_t *sync;
    uint32_t rank, phase;
    uint32_t count; /* number of records sent */
    /* SC of the open section at the rank, 0: none; its records are handed over later */
    uint64_t open;
    int is_cut; /* the open section was reached */
} sender_t;

/* True if the predecessor of @a rank held or read this memory, or was about to. */
static int is_left_by(const keel_lock_area_t *area, uint32_t rank)
{
    return __atomic_load_n(&area->reading[rank], __ATOMIC_ACQUIRE) != 0 ||
           keel_lock_owner(__atomic_load_n(&area->word, __ATOMIC_ACQUIRE)) == rank + 1;
}

static keel_status_t sections_message(const sender_t *sender, int is_last, const void *records, size_t length)
{
    const keel_sections_t *s = &sender->sync->sections;
    const keel_lock_area_t *area = keel_lane_locks(sender->sync->lane);
    sections_message_t *message = keel_alloc(sizeof(*message) + length, "critical sections");
    keel_status_t status;

    if (message == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    message->phase = sender->phase;
    message->is_last = (uint32_t)is_last;
    if (sender->phase == sender->sync->phase) {
        /* the logs of earlier phases are complete, and so all numbers will be found */
        message->seen = s->seen_at[sender->rank];
        message->is_left = is_left_by(area, sender->rank);
        message->owns = (s->held[sender->rank] == KEEL_HELD_WRITING) ? s->counter_at[sender->rank] : 0;
        message->reads = (s->held[sender->rank] == KEEL_HELD_READING) ? s->reads[sender->rank] : 0;
    }
    if (length > 0) {
        memcpy(message->records, records, length);
    }
    status = keel_lane_control_send(sender->sync->lane, sender->rank, KEEL_CONTROL_SECTIONS, message,
                                    sizeof(*message) + length);
    keel_free(message);
    return status;
}

/*
 * Sends records up to the lock of the open section, inclusive: the section may still await a value,
 * and the hand-over asks for the value.
 */
static keel_status_t sections_run(void *arg, const keel_record_t *records, size_t length)
{
    sender_t *sender = arg;
    keel_records_t run = keel_records_of(records, length);
    const keel_record_t *record;
    uint64_t counter;

    while (!sender->is_cut && (record = keel_records_next(&run)) != NULL) {
        sender->count++;
        if (sender->open != 0 && keel_where_op(record->where) == KEEL_RECORD_LOCK) {
            memcpy(&counter, record + 1, sizeof(counter));
            sender->is_cut = (counter == sender->open);
        }
    }
    length -= keel_records_remaining(&run);
    return (length > 0) ? sections_message(sender, 0, records, length) : KEEL_OK;
}

keel_status_t keel_sections_send(keel_sync_t *sync, uint32_t rank, uint32_t phase, uint32_t *count_p)
{
    sender_t sender = {.sync = sync, .rank = rank, .phase = phase};
    uint64_t count = 0;
    keel_status_t status;

    if (phase == sync->phase && sync->sections.held[rank] == KEEL_HELD_WRITING) {
        sender.open = KEEL_PLANT(sections_open_sent) ? 0 : sync->sections.counter_at[rank];
    }
    status = keel_put_log_for_phase(sync->puts, rank, phase, sync->lane->ops->max_data - sizeof(sections_message_t),
                                    sections_run, &sender, &count);
    *count_p = sender.count;
    return (status == KEEL_OK) ? sections_message(&sender, 1, NULL, 0) : status;
}

void keel_sections_release_due(keel_sync_t *sync, uint32_t rank)
{
    keel_sections_t *s = &sync->sections;
    uint64_t answer;

    for (int is_read = 0; is_read < 2; is_read++) {
        const keel_lock_request_t request = {.ask = is_read ? KEEL_LOCK_RELEASE_READ : KEEL_LOCK_RELEASE};

        if (s->is_release_due[rank] & (1 << is_read)) {
            (void)keel_lane_lock(sync->lane, rank, &request, &answer, NULL, NULL);
        }
    }
    s->is_release_due[rank] = 0;
}

/* ---- the replacement ---- */

uint64_t keel_sections_seen_here(const keel_sync_t *sync)
{
    /* the lock word of a replacement is set when the replacement has caught up */
    return sync->sections.is_replaying
               ? sync->sections.counter
               : keel_lock_counter(__atomic_load_n(&keel_lane_locks(sync->lane)->word, __ATOMIC_ACQUIRE));
}

void keel_sections_begin_at(keel_sync_t *sync, uint64_t counter)
{
    sync->sections.counter = counter;
    if (!sync->sections.is_replaying) { /* no live rank knows of a lock, and numbers continue */
        keel_store_word_release(&keel_lane_locks(sync->lane)->word, keel_lock_word_free(counter));
    }
}

/*
 * Only the number of an open section is replayed. The log may have had no room for the number, if
 * the lock was taken after the log was reported complete: then the message has the number, and the
 * sender counts a record as sent.
 */
static keel_status_t sections_note_open(keel_sections_t *s, uint32_t source, uint64_t counter)
{
    const struct {
        keel_record_t record;
        uint64_t counter;
    } open = {.record = {.where = keel_where(0, KEEL_RECORD_LOCK, 0), .length = sizeof(counter)}, .counter = counter};

    if (s->replay.current[source] == counter) {
        return KEEL_OK;
    }
    return keel_replay_add(&s->replay, source, KEEL_RECORD_LOCK, &open, sizeof(open));
}

void keel_sections_receive(void *arg, const keel_control_in_t *in)
{
    keel_sync_t *sync = arg;
    keel_sections_t *s = &sync->sections;
    const sections_message_t *message = (const void *)in->payload;
    keel_lane_t *lane = sync->lane;
    keel_lock_area_t *area = keel_lane_locks(lane);
    keel_status_t status = KEEL_ERR_CORRUPT;

    if (!s->is_replaying) {
        /*
         * The sender did not know yet that this rank has caught up. Nothing was done here since,
         * and locks count again.
         */
        return;
    }
    if (in->length >= sizeof(*message) && message->phase >= sync->phase) {
        status =
            keel_replay_add(&s->replay, in->source, KEEL_RECORD_LOCK, message->records, in->length - sizeof(*message));
    }
    if (status == KEEL_OK && message->is_last && message->owns != 0) {
        status = sections_note_open(s, in->source, message->owns);
    }
    if (status != KEEL_OK) {
        keel_error(sync->lane->message, "critical sections from rank %u refused: %s", in->source,
                   keel_status_string(status));
        keel_lane_fail(lane, status);
        return;
    }
    if (!message->is_last) {
        return;
    }
    if (message->owns != 0) {
        KEEL_REACHED(lock_left);
        keel_store_word_release(&area->word, keel_lock_word(message->owns, in->source));
    }
    if (message->reads > 0) {
        keel_lock_join_readers(area, lane->size, in->source);
    }
    keel_store_word_release(&area->reading[in->source], message->reads > 0 ? message->reads << 1 | 1 : 0);
    s->is_left[in->source] = message->is_left != 0;
    s->known = (message->seen > s->known) ? message->seen : s->known;
    pthread_mutex_lock(&lane->lock); /* records of the served lane continue after these */
    keel_lane_set_done(lane, in->source, message->phase, s->replay.records[in->source]);
    pthread_mutex_unlock(&lane->lock);
    s->complete[in->source] = message->phase + 1;
    keel_replay_end_source(&s->replay, in->source);
}

int keel_sections_are_here(const keel_sync_t *sync)
{
    if (sync->phase > sync->front) {
        /*
         * the predecessor was the first rank in this phase: no other rank has accessed this memory
         */
        return 1;
    }
    KEEL_EACH_MEMBER(r, sync->lane) {
        if (r != sync->lane->rank && sync->sections.complete[r] <= sync->phase) {
            return 0;
        }
    }
    return 1;
}

keel_status_t keel_sections_apply_next(keel_sync_t *sync)
{
    keel_sections_t *s = &sync->sections;
    keel_replay_t *replay = &s->replay;
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && replay->next < replay->count && replay->pieces[replay->next].number <= s->counter + 1) {
        s->counter += (replay->pieces[replay->next].number == s->counter + 1);
        status = keel_replay_next(replay, sync->lane);
    }
    return status;
}

void keel_sections_begin(keel_sync_t *sync)
{
    if (!KEEL_PLANT(sections_unsorted)) {
        keel_replay_sort(&sync->sections.replay);
    }
}

int keel_sections_has_left(const keel_sync_t *sync)
{
    KEEL_EACH_TOUCHED(r, sync->lane) {
        if (sync->sections.is_left[r] && !KEEL_PLANT(sections_caught_up_early)) {
            return 1;
        }
    }
    return 0;
}

int keel_sections_has_gap(const keel_sync_t *sync)
{
    const keel_sections_t *s = &sync->sections;
    uint64_t counter = s->counter;

    for (uint32_t i = s->replay.next; i < s->replay.count; i++) {
        if (s->replay.pieces[i].number > counter + 1) {
            return 1;
        }
        counter = s->replay.pieces[i].number > counter ? s->replay.pieces[i].number : counter;
    }
    return counter < s->known;
}

uint64_t keel_sections_next_own(keel_sync_t *sync)
{
    return (sync->sections.counter < KEEL_LOCK_COUNTER_MAX) ? ++sync->sections.counter : KEEL_LOCK_SPENT;
}

keel_status_t keel_sections_finish(keel_sync_t *sync)
{
    keel_sections_t *s = &sync->sections;
    keel_status_t status = keel_sections_apply_next(sync);

    if (status == KEEL_OK && (s->replay.next < s->replay.count || s->counter < s->known)) {
        keel_error(sync->lane->message,
                   "re-execution differs from the first life: own critical section %lu is missing; is the program "
                   "deterministic?",
                   (unsigned long)s->counter + 1);
        status = KEEL_ERR_CORRUPT;
    }
    keel_replay_forget(&s->replay);
    return status;
}

keel_status_t keel_sections_catch_up(keel_sync_t *sync)
{
    keel_sections_t *s = &sync->sections;
    keel_lock_area_t *area = keel_lane_locks(sync->lane);
    const uint64_t word = __atomic_load_n(&area->word, __ATOMIC_ACQUIRE);
    const uint32_t own = sync->lane->rank;

    if (s->held[own] == KEEL_HELD_READING) {
        keel_lock_join_readers(area, sync->lane->size, own);
        keel_store_word_release(&area->reading[own], s->reads[own] << 1 | 1);
    }
    if (s->held[own] == KEEL_HELD_WRITING) {
        keel_store_word_release(&area->word, keel_lock_word(s->counter, own));
    } else if (keel_lock_owner(word) == 0) {
        keel_store_word_release(&area->word, keel_lock_word_free(s->counter));
    } else if (keel_lock_counter(word) != s->counter) {
        keel_error(sync->lane->message, "rank %u holds the lock under number %lu, and the last one replayed is %lu",
                   keel_lock_owner(word) - 1, (unsigned long)keel_lock_counter(word), (unsigned long)s->counter);
        return KEEL_ERR_CORRUPT;
    }
    s->is_replaying = 0;
    return KEEL_OK;
}
