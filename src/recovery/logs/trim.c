/* Requests for images, and trimming. */
#include "recovery/logs/trim.h"

#include "base/memory.h"
#include "check/plant.h"
#include "recovery/logs/log_pressure.h"
#include "recovery/recovery.h"
#include "peer/control.h"
#include "peer/members.h"

#include <string.h>

#define TRIM_GAP     4u /* gsyncs */
#define TRIM_GAP_MAX 1024u
/* gsyncs between two checks of the records of sources, which touch many chunks */
#define TRIM_SOURCES 4u

keel_status_t keel_trim_init(keel_recovery_t *rec)
{
    rec->trim.requests = keel_alloc(rec->lane->size * sizeof(*rec->trim.requests), "demands");
    return (rec->trim.requests == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
}

void keel_trim_release(keel_recovery_t *rec)
{
    keel_free(rec->trim.requests);
}

static int request_is_due(const keel_recovery_t *rec, uint32_t rank, uint32_t number)
{
    const keel_trim_request_t *request = &rec->trim.requests[rank];

    return rank < rec->lane->programs &&
           (request->number == 0 || request->number + request->gap <= number || request->number > number);
}

static void request(keel_recovery_t *rec, uint32_t rank, uint32_t number, int is_again)
{
    keel_trim_request_t *a = &rec->trim.requests[rank];

    a->gap = ((is_again || a->number != 0) && a->gap > 0) ? 2 * a->gap : TRIM_GAP;
    a->gap = (a->gap > TRIM_GAP_MAX) ? TRIM_GAP_MAX : a->gap;
    a->number = number;
    rec->trim.asked++;
    if (rank == rec->lane->rank) {
        keel_demand_ask(rec->demand, number);
    } else if (rec->lane->peers[rank].is_up) {
        (void)keel_lane_control_send(rec->lane, rank, KEEL_CONTROL_DEMAND, &number, sizeof(number));
        rec->trim.awaited[rec->trim.awaited_count++] = rank;
    }
}

int keel_trim_requests_arrived(const keel_recovery_t *rec)
{
    for (unsigned i = 0; i < rec->trim.awaited_count; i++) {
        const uint32_t rank = rec->trim.awaited[i];

        if (rec->lane->peers[rank].is_up && !keel_lane_is_flushed(rec->lane, rank)) {
            return 0;
        }
    }
    return 1;
}

void keel_trim_receive(void *arg, const keel_control_in_t *in)
{
    keel_recovery_t *rec = arg;
    uint32_t number;

    if (in->length != sizeof(number)) {
        keel_error(rec->message, "malformed demand from rank %u refused", in->source);
        return;
    }
    memcpy(&number, in->payload, sizeof(number));
    /* numbers repeat after a rollback, and no request names a gsync far ahead */
    if (number <= rec->phase + 2) {
        keel_demand_ask(rec->demand, number);
    }
}

/* The rank with the image that would free most of the logs: the own rank for its reads; none:
 * the number of ranks. */
static uint32_t request_largest(keel_recovery_t *rec, uint32_t number)
{
    const uint32_t own = rec->lane->rank;
    uint64_t most = 0;
    uint32_t largest = rec->lane->size;

    KEEL_EACH_TOUCHED(r, rec->lane) {
        const uint64_t bytes = (r == own) ? keel_get_log_bytes(rec->gets) : keel_put_log_target_bytes(rec->puts, r);

        if (bytes > most && request_is_due(rec, r, number)) {
            most = bytes;
            largest = r;
        }
    }
    return largest;
}

/* The target with the oldest phase and epoch in the table of phases; none: the number of ranks. */
static uint32_t request_oldest(keel_recovery_t *rec, uint32_t number)
{
    uint32_t oldest = rec->puts->epochs.open, rank = rec->lane->size;

    KEEL_EACH_TOUCHED(r, rec->lane) {
        const uint32_t epoch = keel_put_log_oldest(rec->puts, r);

        if (keel_epoch_is_before(epoch, oldest) && request_is_due(rec, r, number)) {
            oldest = epoch;
            rank = r;
        }
    }
    return rank;
}

static uint32_t request_lost(keel_recovery_t *rec, uint32_t number)
{
    const uint64_t lost = rec->lane->slot.lost_gets;

    if (rec->gets->is_enabled && lost > rec->ckpt->set.used.number &&
        lost > rec->demand->starts[rec->lane->rank].position && request_is_due(rec, rec->lane->rank, number)) {
        return rec->lane->rank;
    }
    KEEL_EACH_TOUCHED_WHILE(r, rec->lane, rec->puts->is_enabled) {
        if (r != rec->lane->rank && rec->puts->targets[r].lost != 0 && request_is_due(rec, r, number)) {
            return r;
        }
    }
    return rec->lane->size;
}

void keel_trim_request(keel_recovery_t *rec, uint32_t number)
{
    const keel_segment_pool_t *pool = rec->puts->pool;
    const unsigned soft = rec->lane->config->oplog_soft;
    uint32_t rank;

    rec->trim.awaited_count = 0;
    if (!keel_log_pressure_is_watched(rec) || rec->demand->set.parity == NULL) {
        return;
    }
    if ((uint64_t)pool->in_use * 100 >= (uint64_t)pool->count * soft) {
        rank = request_largest(rec, number);
        if (rank < rec->lane->size) {
            request(rec, rank, number, 0);
        }
    }
    if ((uint64_t)keel_put_log_phases(rec->puts) * 100 >= (uint64_t)KEEL_PUT_LOG_PHASES * soft ||
        (uint64_t)keel_epochs_age(&rec->puts->epochs) * 100 >= (uint64_t)KEEL_EPOCHS_MAX * soft) {
        rank = request_oldest(rec, number);
        if (rank < rec->lane->size) {
            request(rec, rank, number, 0);
        }
    }
    if (rec->puts->overflows + rec->gets->overflows + rec->demand_recoveries > 0) {
        rank = request_lost(rec, number);
        if (rank < rec->lane->size) {
            request(rec, rank, number, 1);
        }
    }
    if (number % TRIM_SOURCES == 0) {
        rank = keel_get_log_largest_source(rec->gets, soft);
        if (rank < rec->lane->size && request_is_due(rec, rank, number)) {
            request(rec, rank, number, 0);
        }
    }
}

void keel_trim_image(void *arg, uint32_t rank, uint32_t position)
{
    keel_recovery_t *rec = arg;
    const uint32_t keep = position + KEEL_PLANT(trim_demand_too_far);

    rec->trim.requests[rank].number = 0;
    if (rank == rec->lane->rank) {
        keel_get_log_trim_own(rec->gets, keep, rec->phase);
        KEEL_PLANT_CALL(trim_own_by_demand, rec, position);
    } else {
        keel_put_log_trim_image(rec->puts, rank, keep, rec->phase);
    }
    keel_get_log_trim_source(rec->gets, rank, keep);
}

void keel_trim_resume(keel_recovery_t *rec, uint32_t rank)
{
    if (rank == rec->lane->rank) {
        keel_get_log_resume(rec->gets);
    } else {
        keel_put_log_resume(rec->puts, rank);
    }
}

void keel_trim_begin_at(keel_recovery_t *rec, uint32_t position)
{
    KEEL_EACH_MEMBER(r, rec->lane) {
        if (r != rec->lane->rank && rec->demand->starts[r].position < position) {
            keel_put_log_begin_at(rec->puts, r, position);
        }
    }
}
