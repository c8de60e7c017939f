/*
 * Rollback on request of a process: the program found wrong data, the re-execution differs from the
 * records, or there is no room for the predecessor's records.
 *
 * A request begins a view as a death does: all ranks stop passing gsyncs, report, and adopt one
 * decision. Requests are numbered, and a view is named by its incarnations and the number of
 * requests.
 *
 * Safety: all reports of a decision carry both, so the requester of a number has its request in the
 * report. The leader passes on every number from a report or a request. So a requester may die amid
 * telling the others and leaves no rank frozen, not even those that reported under the number
 * before. The requester has not arrived at the last gsync, so no rank has left the gsync. Only the
 * requester's memory has the reason: after a death the replacement starts from an image anyway.
 */
#include "recovery/rollback_request.h"
#include "recovery/recovery_status.h"
#include "recovery/recovery.h"

#include "check/plant.h"
#include "check/reached.h"
#include "peer/control.h"
#include "peer/members.h"
#include "trace/trace_area.h"

#include <string.h>

static void request_begin(keel_recovery_t *rec, uint32_t number)
{
    rec->request_number = number;
    keel_outcome_view_changes(rec);
    if (!keel_recovery_is_frozen(rec)) {
        keel_trace_begin(rec->lane->trace, KEEL_TRACE_VIEW, 0);
    }
    keel_recovery_view_event(rec, KEEL_VIEW_CHANGES);
}

/* Another process knows a higher number. */
static void request_learn(keel_recovery_t *rec, uint32_t number)
{
    request_begin(rec, number);
    if (keel_lane_is_leader(rec->lane) && !KEEL_PLANT(rollback_request_not_passed_on)) {
        (void)keel_lane_control_send_all(rec->lane, KEEL_CONTROL_REQUEST, &number, sizeof(number));
    }
}

/* Status of calls if nothing can be rolled back. */
static keel_status_t request_status(keel_rollback_reason_t reason)
{
    switch (reason) {
    case KEEL_ROLLBACK_DIFFERS:
        return KEEL_ERR_CORRUPT;
    case KEEL_ROLLBACK_NO_ROOM:
        return KEEL_ERR_BUDGET;
    default:
        return KEEL_ERR_STATE;
    }
}

keel_status_t keel_rollback_request(keel_recovery_t *rec, keel_rollback_reason_t reason)
{
    if (rec->fatal != KEEL_OK) {
        return rec->fatal;
    }
    if (keel_recovery_is_finished(rec) || rec->lane->config->protect == KEEL_PROTECT_NONE) {
        rec->fatal = request_status(reason);
        return rec->fatal;
    }
    rec->differences += (reason == KEEL_ROLLBACK_DIFFERS);
    if (rec->rollback_reason == KEEL_ROLLBACK_NOT_REQUESTED && rec->roll == KEEL_ROLL_NONE) {
        rec->rollback_reason = reason;
        request_begin(rec, rec->request_number + 1);
        (void)keel_lane_control_send_all(rec->lane, KEEL_CONTROL_REQUEST, &rec->request_number,
                                         sizeof(rec->request_number));
    }
    return KEEL_ERR_ROLLED_BACK;
}

void keel_rollback_request_receive(void *arg, const keel_control_in_t *in)
{
    keel_recovery_t *rec = arg;
    uint32_t number;

    if (in->length != sizeof(number)) {
        keel_error(rec->message, "malformed request for a rollback from rank %u refused", in->source);
        return;
    }
    memcpy(&number, in->payload, sizeof(number));
    if (number > rec->request_number) {
        request_learn(rec, number);
    }
}

void keel_rollback_request_pass_on(keel_recovery_t *rec)
{
    if (rec->request_number > 0) {
        (void)keel_lane_control_send_all(rec->lane, KEEL_CONTROL_REQUEST, &rec->request_number,
                                         sizeof(rec->request_number));
    }
}

void keel_rollback_request_compare(keel_recovery_t *rec, uint32_t rank, uint32_t number)
{
    if (number > rec->request_number && !KEEL_PLANT(rollback_request_not_passed_on)) {
        KEEL_REACHED(request_by_report);
        request_learn(rec, number);
    } else if (number < rec->request_number && !KEEL_PLANT(rollback_request_not_passed_on)) {
        (void)keel_lane_control_send(rec->lane, rank, KEEL_CONTROL_REQUEST, &rec->request_number,
                                     sizeof(rec->request_number));
    }
}

const char *keel_rollback_request_reason(uint32_t reason)
{
    switch (reason) {
    case KEEL_ROLLBACK_NOT_REQUESTED:
        return NULL;
    case KEEL_ROLLBACK_DIFFERS:
        KEEL_REACHED(request_differs);
        return "its re-execution differs from what was recorded";
    case KEEL_ROLLBACK_NO_ROOM:
        KEEL_REACHED(request_no_room);
        return "it has no room for what its predecessor recorded";
    case KEEL_ROLLBACK_MIXES:
        KEEL_REACHED(request_mixes);
        return "it begins to wait, or to mix ways to synchronise, while another may be doing again what it did";
    case KEEL_ROLLBACK_CHANGES:
        KEEL_REACHED(request_waits_on_changes);
        return "it goes on by a word that others changed, and nobody can tell what it was meanwhile";
    default:
        KEEL_REACHED(request_program);
        return "its program asked for it";
    }
}
