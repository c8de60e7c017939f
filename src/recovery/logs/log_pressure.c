/* Logs that fill up. */
#include "recovery/logs/log_pressure.h"

#include "check/plant.h"
#include "peer/control.h"
#include "peer/members.h"

#include <string.h>

/* flag beside a log_pressure_t: the rank calls keel_safe_point() */
#define PRESSURE_SAFE_POINTS 0x100u
/* Marks in keel_reasons_t: decisions make them known to all ranks. */
#define PRESSURE_REASON    1u
#define SAFE_POINTS_REASON 2u
#define PRESSURE_HALF      50u /* percent */
/* steps between two checks of the get log, which touch some of its chunks */
#define PRESSURE_CHECKS 8u

typedef enum { PRESSURE_NONE, PRESSURE_OPLOG, PRESSURE_GETLOG, PRESSURE_LAST } log_pressure_t;

static const char *const pressure_names[] = {
    [PRESSURE_OPLOG] = "KEEL_OPLOG_SIZE", [PRESSURE_GETLOG] = "KEEL_GETLOG_SIZE"};

void keel_log_pressure_note_safe_gsync(keel_recovery_t *rec)
{
    rec->has_safe_gsync = 1;
}

void keel_log_pressure_note_safe_point(keel_recovery_t *rec)
{
    if (!rec->has_safe_points) {
        rec->has_safe_gsync = rec->has_safe_points = 1;
        (void)keel_reasons_add(&rec->reasons, SAFE_POINTS_REASON);
    }
}

int keel_log_pressure_knows_safe_points(const keel_recovery_t *rec)
{
    return keel_reasons_has(&rec->reasons, SAFE_POINTS_REASON);
}

void keel_log_pressure_stop_done(keel_recovery_t *rec)
{
    rec->is_stop_wanted = 0;
}

static log_pressure_t find_pressure(keel_recovery_t *rec, unsigned percent)
{
    const keel_segment_pool_t *pool = rec->puts->pool;

    if ((uint64_t)pool->in_use * 100 > (uint64_t)pool->count * percent) {
        return PRESSURE_OPLOG;
    }
    return (rec->pressure_checks++ % PRESSURE_CHECKS == 0 && rec->gets->is_enabled &&
            !KEEL_PLANT(log_pressure_puts_alone) && keel_get_log_may_be_filled(rec->gets, percent))
               ? PRESSURE_GETLOG
               : PRESSURE_NONE;
}

/* The leader: rank @a rank has reported pressure. */
static void note_pressure(keel_recovery_t *rec, uint32_t rank, uint32_t word)
{
    if (word & PRESSURE_SAFE_POINTS) {
        rec->is_stop_wanted = 1;
    } else if (!rec->has_safe_gsync && keel_reasons_add(&rec->reasons, PRESSURE_REASON)) {
        keel_warn(
            rec->message,
            "half of a log of rank %u is in use (%s), and the program has offered no safe point yet (keel_gsync() "
            "with KEEL_GSYNC_SAFE, keel_checkpoint(), or keel_safe_point() outside of its locks): when no room is left "
            "a death is a rollback to its start",
            rank, pressure_names[word]);
    }
}

static void report_pressure(keel_recovery_t *rec, log_pressure_t log)
{
    const uint32_t word = log | (rec->has_safe_points ? PRESSURE_SAFE_POINTS : 0);

    if (keel_lane_is_leader(rec->lane)) {
        note_pressure(rec, rec->lane->rank, word);
    } else if (!rec->lane->peers[rec->lane->leader].is_up ||
               keel_lane_control_send(rec->lane, rec->lane->leader, KEEL_CONTROL_LOG_PRESSURE, &word, sizeof(word)) !=
                   KEEL_OK) {
        return; /* again when the leader has a replacement */
    }
    rec->pressure_reported = rec->lane->peers[rec->lane->leader].incarnation + 1;
    rec->pressure_phase = rec->phase + 1;
}

/* Requests a stop, once a phase: each stop begins a phase. */
static void want_stop(keel_recovery_t *rec)
{
    const unsigned soft = rec->lane->config->oplog_soft;
    log_pressure_t log;

    if (!keel_log_pressure_is_watched(rec) ||
        (rec->pressure_phase == rec->phase + 1 &&
         rec->pressure_reported == rec->lane->peers[rec->lane->leader].incarnation + 1)) {
        return;
    }
    log = find_pressure(rec, soft);
    if (log != PRESSURE_NONE) {
        report_pressure(rec, log);
    }
}

void keel_log_pressure_step(keel_recovery_t *rec)
{
    log_pressure_t log;

    if (rec->has_safe_points) {
        want_stop(rec);
        return;
    }
    if (rec->has_safe_gsync || rec->pressure_reported > rec->lane->peers[rec->lane->leader].incarnation ||
        rec->generation.number > 0 || keel_reasons_has(&rec->reasons, PRESSURE_REASON)) {
        return;
    }
    log = find_pressure(rec, PRESSURE_HALF);
    if (log != PRESSURE_NONE) {
        report_pressure(rec, log);
    }
}

void keel_log_pressure_receive(void *arg, const keel_control_in_t *in)
{
    keel_recovery_t *rec = arg;
    uint32_t word = PRESSURE_NONE;

    if (in->length == sizeof(word)) {
        memcpy(&word, in->payload, sizeof(word));
    }
    if ((word & ~PRESSURE_SAFE_POINTS) == PRESSURE_NONE || (word & ~PRESSURE_SAFE_POINTS) >= PRESSURE_LAST ||
        !keel_lane_is_leader(rec->lane)) {
        keel_error(rec->message, "malformed word of logs from rank %u refused", in->source);
        return;
    }
    note_pressure(rec, in->source, word);
}
