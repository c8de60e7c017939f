/*
 * Logs that fill up between safe gsyncs. Every rank checks its put log with the copies of gets
 * (KEEL_OPLOG_SIZE) and its records of other ranks' reads (KEEL_GETLOG_SIZE), and reports to rank
 * 0.
 *
 * If a program offers no safe point, the leader warns once when half of a log is in use: no record
 * can be dropped, and after the log is full a death is a rollback to the start. The warning is
 * repeated at most if the leader dies before another death has been decided. For a program that
 * calls keel_safe_point() the leader begins a stop when a log passes KEEL_OPLOG_SOFT.
 */
#ifndef KEEL_RECOVERY_LOG_PRESSURE_H_
#define KEEL_RECOVERY_LOG_PRESSURE_H_

#include "recovery/recovery.h"

/* True if KEEL_OPLOG_SOFT applies: a log with more in use is trimmed by an image or a stop. */
static inline int keel_log_pressure_is_watched(const keel_recovery_t *rec)
{
    return rec->lane->config->oplog_soft != 0 && keel_sync_may_be_local(rec->sync) &&
           keel_recovery_state(rec) == KEEL_RANK_FRONT;
}
/* The process has come to a safe gsync or a checkpoint. */
void keel_log_pressure_note_safe_gsync(keel_recovery_t *rec);
/* The process has come to a safe point, where a stop is possible. */
void keel_log_pressure_note_safe_point(keel_recovery_t *rec);
/* True if the process has called keel_safe_point(), or some rank had before the last decision. */
int keel_log_pressure_knows_safe_points(const keel_recovery_t *rec);
/* The leader: a stop is over. */
void keel_log_pressure_stop_done(keel_recovery_t *rec);
/* Checks the logs and reports them. */
void keel_log_pressure_step(keel_recovery_t *rec);
void keel_log_pressure_receive(void *arg, const keel_control_in_t *in);

#endif
