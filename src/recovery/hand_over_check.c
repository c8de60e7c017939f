/*
 * Who has handed everything over to a process says so; and with it what it holds of what the predecessor put here, so that the
 * replacement finds out whether it has done the same again.
 *
 * Safety. What is held of a phase is a prefix of what the predecessor put here in it: it was counted when it was applied, and
 * who re-executes makes the same records in the same order, or its numbers would not do (peer/served). So at the end of a phase the
 * replacement has logged these records first, and as many at least. What it compares is its own log, where that has all
 * records of the phase: from the phase on that it was restored at. It does so before its arrival at the gsync that ends the front
 * phase, when all have handed over: nobody has left that, so the job can roll back. Behind a rollback nothing is held.
 */
#include "recovery/hand_over_check.h"
#include "recovery/rollback_request.h"
#include "recovery/position.h"
#include "recovery/recovery_status.h"
#include "recovery/recovery.h"

#include "check/plant.h"
#include "check/reached.h"

#include <string.h>

/* ---- what the replacement did again ---- */

#define REDONE_HINT                                                                                               \
    ": the job rolls back; is the program deterministic, and all memory protected that it goes on from? keelrun " \
    "--rehearse finds out"

typedef struct redone {
    uint32_t phase, most; /* records that are summed */
    uint64_t count;       /* and those there are */
    keel_digest_t digest;
} redone_t;

static keel_status_t redone_run(void *arg, const keel_record_t *records, size_t length)
{
    redone_t *redone = arg;
    keel_records_t all = keel_records_of(records, length);
    const keel_record_t *record;

    while ((record = keel_records_next(&all)) != NULL) {
        if (redone->count < redone->most) {
            keel_digest_add(&redone->digest, redone->phase, (uint32_t)redone->count, record, record + 1);
        }
        redone->count++;
    }
    return KEEL_OK;
}

static void redone_differ(keel_recovery_t *rec, uint32_t rank, const redone_t *redone, uint32_t count, const char *what)
{
    keel_error(rec->message,
               "in phase %u this process did otherwise at rank %u than before its death: %lu records now, rank %u "
               "has %u%s" REDONE_HINT,
               redone->phase, rank, (unsigned long)redone->count, rank, count, what);
}

/* @a digest: its sum is known when it has one */
static int redone_are_same(keel_recovery_t *rec, uint32_t rank, const keel_digest_t *digest, int is_summed)
{
    const uint32_t count = keel_digest_count(digest);
    redone_t redone = {.phase = keel_digest_phase(digest), .most = is_summed ? count : 0};
    uint64_t records = 0;

    if (count == 0 || count >= rec->puts->number_end || redone.phase < rec->restarted_at || redone.phase > rec->phase ||
        !keel_put_log_is_complete(rec->puts, rank, redone.phase)) {
        return 1;
    }
    (void)keel_put_log_for_phase(rec->puts, rank, redone.phase, 0, redone_run, &redone, &records);
    if (is_summed) {
        KEEL_REACHED(redone_summed);
    } else {
        KEEL_REACHED(redone_counted);
    }
    if (redone.count < count || (digest->is_all && redone.count > count)) {
        redone_differ(rec, rank, &redone, count, digest->is_all ? " and no more" : "");
    } else if (is_summed && redone.digest.sum != digest->sum) {
        redone_differ(rec, rank, &redone, count, ", which differ");
    } else {
        return 1;
    }
    return 0;
}

/* what others hold of the predecessor; a rehearsal compares more, and names it */
static int redone_compare(keel_recovery_t *rec)
{
    int is_same = 1;

    if (rec->life == KEEL_LIFE_LIVE || !keel_sync_may_be_local(rec->sync) || rec->lane->config->rehearse != NULL ||
        KEEL_PLANT(digest_unread)) {
        return 1;
    }
    for (uint32_t r = 0; is_same && r < rec->lane->size; r++) {
        const keel_peer_state_t *peer_state = &rec->peer_states[r];
        const keel_digest_t done = {.records = (peer_state->done != peer_state->digest.records) ? peer_state->done : 0};

        if (r != rec->lane->rank) {
            is_same = redone_are_same(rec, r, &peer_state->digest, 1) && redone_are_same(rec, r, &done, 0);
        }
    }
    return is_same;
}

/* who did the same would find the value in its record (peer/served) */
keel_status_t keel_hand_over_fetch_refused(keel_recovery_t *rec, uint32_t rank)
{
    if (rec->life != KEEL_LIFE_AWAITING) {
        return KEEL_ERR_RANGE;
    }
    if (!rec->is_refused) {
        keel_error(
            rec->message,
            "in phase %u this process did otherwise at rank %u than before its death: it fetches where rank %u has "
            "another record" REDONE_HINT,
            rec->phase, rank, rank);
        rec->is_refused = 1;
    }
    return KEEL_ERR_ROLLED_BACK;
}

keel_status_t keel_hand_over_check(keel_recovery_t *rec)
{
    uint64_t records = 0;

    if (rec->life != KEEL_LIFE_AWAITING) {
        return KEEL_OK;
    }
    if (!redone_compare(rec)) {
        return keel_rollback_request(rec, KEEL_ROLLBACK_DIFFERS);
    }
    keel_position_announce_complete(rec);
    for (uint32_t r = 0; r < rec->lane->size; r++) {
        records += rec->peer_states[r].records_received;
    }
    keel_recovery_info(rec, "caught up: %lu put records handed over by others, %lu gets answered from records", records,
                       rec->replayed_gets);
    keel_recovery_life_event(rec, KEEL_LIFE_HANDED_OVER);
    return KEEL_OK;
}
