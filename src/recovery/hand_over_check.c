/*
 * Check after the hand-over. A rank reports the end of its hand-over together with count and digest
 * of the predecessor's records, so that the replacement can compare its re-execution.
 *
 * Safety. The records of a phase at the other rank are a prefix of the predecessor's records: they
 * were counted when they were applied, and a re-execution makes the same records in the same order,
 * or the numbers would not fit (peer/served). So at the end of a phase the replacement has logged
 * at least as many records, and first the same ones. The comparison uses the own log, if complete
 * for the phase: from the restored phase on. It takes place before the arrival at the gsync that
 * ends the front phase, after all hand-overs: no rank has left that gsync, so the job can roll
 * back. After a rollback no records are left to compare.
 */
#include "recovery/hand_over_check.h"
#include "peer/members.h"
#include "recovery/rollback_request.h"
#include "recovery/position.h"
#include "recovery/recovery_status.h"
#include "recovery/recovery.h"

#include "check/plant.h"
#include "check/reached.h"
#include "trace/trace_area.h"

#include <string.h>

/* ---- the replacement's re-execution ---- */

#define REDONE_HINT                                                                                               \
    ": the job rolls back; is the program deterministic, and all memory protected that it goes on from? keelrun " \
    "--rehearse finds out"

typedef struct redone {
    uint32_t phase, most; /* most: records that are summed */
    uint64_t count;       /* records in the own log */
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

static void redone_differ(keel_recovery_t *rec, uint32_t rank, const redone_t *redone, const keel_digest_t *digest,
                          const char *what)
{
    keel_error(rec->message,
               "in phase %u this process did otherwise at rank %u than before its death: %lu record%s now and "
               "%u%s before%s" REDONE_HINT,
               redone->phase, rank, (unsigned long)redone->count, (redone->count == 1) ? "" : "s",
               keel_digest_count(digest), digest->is_all ? "" : " or more", what);
}

/* @a is_summed: the digest has a sum to compare. */
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
        redone_differ(rec, rank, &redone, digest, "");
    } else if (is_summed && redone.digest.sum != digest->sum) {
        redone_differ(rec, rank, &redone, digest, ", and they differ");
    } else {
        return 1;
    }
    return 0;
}

/* Compares with the records of the predecessor at other ranks. A rehearsal compares more, and
 * names the difference. */
static int redone_compare(keel_recovery_t *rec)
{
    int is_same = 1;

    if (rec->life == KEEL_LIFE_LIVE || !keel_sync_may_be_local(rec->sync) || rec->lane->config->rehearse != NULL ||
        KEEL_PLANT(hand_over_check_unread)) {
        return 1;
    }
    KEEL_EACH_MEMBER_WHILE(r, rec->lane, is_same) {
        const keel_peer_state_t *peer_state = &rec->peer_states[r];
        const keel_digest_t done = {.records = (peer_state->done != peer_state->digest.records) ? peer_state->done : 0};

        if (r != rec->lane->rank) {
            is_same = redone_are_same(rec, r, &peer_state->digest, 1) && redone_are_same(rec, r, &done, 0);
        }
    }
    return is_same;
}

/* An equal re-execution would find the value in its record (peer/served). */
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
    KEEL_EACH_MEMBER(r, rec->lane) {
        records += rec->peer_states[r].records_received;
    }
    keel_recovery_info(rec, "caught up: %lu put records handed over by others, %lu gets answered from records", records,
                       rec->replayed_gets);
    keel_recovery_life_event(rec, KEEL_LIFE_HANDED_OVER);
    keel_trace_end(rec->lane->trace, KEEL_TRACE_CATCH_UP, rec->phase);
    keel_outcome_step(rec);
    return KEEL_OK;
}
