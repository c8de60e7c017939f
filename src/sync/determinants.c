/*
 * Determinants.
 *
 * The program may act on a determinant in any way, and no other rank knows the determinant. So a
 * determinant is a record in the get log of another rank before any later effect of the process can
 * be seen: an access to memory of others or, by a call, to own memory, or an arrival
 * (order/determinant). A replacement without a record for a determinant is beyond the predecessor's
 * death, for no rank depends on later effects: the replacement replays the remaining effects of
 * others, and learns the determinant again. A record may lie at any rank: results are numbered, and
 * a replacement looks through the records from all ranks. If the holder and this rank are lost
 * together, several ranks are lost, which is a rollback.
 *
 * With a result goes the clock of all effects present here until then, and this rank goes beyond
 * the clock, as after a wait: the words may show the last of many earlier effects of others. The
 * replacement first replays all effects up to the clock of this rank after the result (sync/waits):
 * the words are as then or newer, and an effect after a later act of the predecessor has a higher
 * clock. A result is taken after all puts begun here are complete, so no rank has seen an
 * incomplete one.
 *
 * A program that polls gets the same result many times: one record, with a count. The words may
 * differ each time, or may have been put again; but no rank may have had an effect here under a
 * higher clock than the record's. Then every visible effect has been replayed with the first
 * repetition.
 *
 * Unstable records have one holder, so one flush makes all of them stable. A record is complete
 * only after the ones before it: a replacement of the holder gets no record behind an incomplete
 * one.
 */
#include "sync/determinants.h"

#include "check/plant.h"
#include "check/reached.h"
#include "oplog/get_log_replay.h"
#include "peer/access.h"
#include "sync/sync.h"

keel_determinants_t *keel_determinants_of(keel_sync_t *sync, keel_determinants_t *d)
{
    const uint64_t phase = (uint64_t)sync->lane->rollback << 32 | sync->phase;

    if (d->phase != phase && !(KEEL_PLANT(determinants_kept_over_rollback) && (uint32_t)d->phase == sync->phase)) {
        *d = (keel_determinants_t){.phase = phase, .holder = KEEL_RANK_NONE};
    }
    return d;
}

void keel_determinants_open(keel_determinants_t *d, uint32_t holder, uint32_t incarnation, keel_get_record_t *open)
{
    d->holder = holder;
    d->incarnation = incarnation;
    d->open = open;
    d->number++;
    d->is_unstable = 1;
}

keel_status_t keel_determinants_close(keel_sync_t *sync, keel_determinants_t *d, keel_get_log_t *gets,
                                      uint32_t *holder_p)
{
    keel_get_record_t *record = keel_determinants_of(sync, d)->open;

    *holder_p = d->holder;
    if (record == NULL) {
        return KEEL_OK;
    }
    if (sync->lane->peers[d->holder].mode != KEEL_PEER_LIVE) {
        return KEEL_INPROGRESS; /* a complete record would go to the replacement once more */
    }
    d->open = NULL;
    record->completeness = KEEL_GET_COMPLETE;
    return (KEEL_PLANT(determinants_poll_unstable) && d == &sync->polls) ||
                   (KEEL_PLANT(determinants_result_unstable) && d == &sync->results)
               ? KEEL_OK
               : keel_get_log_send_record(gets, d->holder, record);
}

void keel_determinants_replay(keel_determinants_t *d, uint32_t holder, const keel_get_record_t *record, uint64_t times)
{
    d->holder = holder;
    d->open = NULL;
    d->replayed = record;
    d->number++;
    d->remaining = times;
}

/* ---- results: a replacement ---- */

static keel_determinants_t *results_of(keel_sync_t *sync)
{
    return keel_determinants_of(sync, &sync->results);
}

static uint64_t result_where(const keel_determinants_t *results)
{
    return keel_where(results->number, KEEL_RECORD_LOCAL_READ, 0);
}

keel_status_t keel_results_replay_next(keel_sync_t *sync, keel_get_log_t *gets,
                                       const keel_record_local_read_t **answer_p, int *is_first_p)
{
    keel_determinants_t *results = results_of(sync);
    const keel_get_record_t *record = NULL;
    const keel_record_local_read_t *answer;
    keel_status_t status;

    *is_first_p = results->remaining == 0;
    if (results->remaining == 0) {
        status = keel_get_log_take_determinant(gets, result_where(results), &record);
        if (status != KEEL_OK) {
            return status;
        }
        answer = (const void *)(record + 1);
        if (record->length < sizeof(*answer) || record->length != keel_result_length(answer->words) ||
            answer->times == 0) {
            return KEEL_ERR_CORRUPT;
        }
        KEEL_REACHED(answer_recorded);
        keel_determinants_replay(results, results->holder, record, answer->times);
    }
    keel_determinants_count_replay(results);
    *answer_p = (const void *)(results->replayed + 1);
    return KEEL_OK;
}

/* The record covers that look; no record of a program without earlier looks does. */
static int result_has_look(const keel_record_local_read_t *answer, uint64_t look)
{
    return answer->words == 0 && look >= answer->clock && look - answer->clock < answer->times;
}

keel_status_t keel_results_replay_look(keel_sync_t *sync, keel_get_log_t *gets, uint64_t look, int *is_first_p)
{
    const keel_determinants_t *results = results_of(sync);
    const keel_record_local_read_t *answer;
    const keel_get_record_t *record;
    keel_status_t status;

    if (results->remaining == 0) {
        record = keel_get_log_find_determinant(gets, result_where(results));
        if (record == NULL || record->length != sizeof(*answer) || !result_has_look((const void *)(record + 1), look)) {
            return KEEL_OK;
        }
    } else if (!result_has_look((const void *)(results->replayed + 1), look)) {
        return KEEL_ERR_CORRUPT;
    }
    status = keel_results_replay_next(sync, gets, &answer, is_first_p);
    return (status == KEEL_OK) ? KEEL_INPROGRESS : KEEL_ERR_CORRUPT;
}

/* ---- results: a rank that learns them ---- */

uint64_t keel_results_count_look(keel_sync_t *sync)
{
    return results_of(sync)->looks++;
}

int keel_results_repeat_look(keel_sync_t *sync, uint64_t look)
{
    const keel_record_local_read_t *last = keel_results_last(sync);

    if (last == NULL || last->words != 0 || last->clock + last->times != look) {
        return 0;
    }
    keel_results_repeat(sync);
    return 1;
}

const keel_record_local_read_t *keel_results_last(keel_sync_t *sync)
{
    const keel_determinants_t *results = results_of(sync);

    return (results->open != NULL) ? (const void *)(results->open + 1) : NULL;
}

void keel_results_repeat(keel_sync_t *sync)
{
    ((keel_record_local_read_t *)(void *)(sync->results.open + 1))->times++;
}

/* A live other rank; one with mapped memory, if there is any, for that needs no message. */
static uint32_t live_holder(const keel_lane_t *lane)
{
    uint32_t served = KEEL_RANK_NONE;

    for (uint32_t i = 1; i < lane->programs; i++) {
        const uint32_t r = (lane->rank + i) % lane->programs;

        if (lane->peers[r].mode != KEEL_PEER_LIVE) {
            continue;
        }
        if (keel_access_is_stored(lane, r)) {
            return r;
        }
        served = (served == KEEL_RANK_NONE) ? r : served;
    }
    return served;
}

/* Programs that go on: a rank without a program holds no determinants. */
static uint32_t living_programs(const keel_lane_t *lane)
{
    return lane->programs - lane->gone;
}

int keel_results_find_holder(keel_sync_t *sync, uint32_t *holder_p)
{
    keel_determinants_t *results = results_of(sync);
    const keel_lane_t *lane = sync->lane;

    if (living_programs(lane) > 1 && (!results->is_unstable || KEEL_PLANT(determinants_moved)) &&
        (results->holder == KEEL_RANK_NONE || results->changes != lane->changes ||
         lane->peers[results->holder].mode != KEEL_PEER_LIVE)) {
        results->changes = lane->changes;
        results->holder = live_holder(lane);
    }
    *holder_p = results->holder;
    return living_programs(lane) == 1 || results->holder != KEEL_RANK_NONE;
}

keel_record_local_read_t *keel_results_open(keel_sync_t *sync, keel_get_log_t *gets, size_t length)
{
    keel_determinants_t *results = results_of(sync);
    keel_get_record_t *record;
    uint32_t index;

    keel_get_log_end_replay(gets, results->holder);
    record = keel_get_log_reserve(gets, results->holder, result_where(results), (uint32_t)length, &index);
    keel_determinants_open(results, results->holder, results->incarnation, record);
    return (record != NULL) ? (void *)(record + 1) : NULL;
}
