/*
 * Logs that fill between safe gsyncs. The put log and the copies of gets of a rank (KEEL_OPLOG_SIZE) and the records of what others read
 * there (KEEL_GETLOG_SIZE) are looked at by that rank, which tells rank 0.
 *
 * A program that offers no safe point is told once, by rank 0, when half of a log is in use: nothing can be dropped, and when the log is
 * full a death is a rollback to the start. The message comes again at most where rank 0 dies before another death has been decided.
 * For a program that calls keel_safe_point() rank 0 begins a stop when a log passes KEEL_OPLOG_SOFT.
 */
#ifndef KEEL_RECOVERY_LOG_PRESSURE_H_
#define KEEL_RECOVERY_LOG_PRESSURE_H_

#include "recovery/recovery.h"

/* this process has come to a safe gsync, or a checkpoint */
void keel_log_pressure_note_safe_gsync(keel_recovery_t *rec);
/* or to a safe point, at which a stop may be had */
void keel_log_pressure_note_safe_point(keel_recovery_t *rec);
/* Some rank had called keel_safe_point() before the last decision, or this one has. */
int keel_log_pressure_knows_safe_points(const keel_recovery_t *rec);
/* Rank 0: a stop is over. */
void keel_log_pressure_stop_done(keel_recovery_t *rec);
/* looks, and tells */
void keel_log_pressure_step(keel_recovery_t *rec);
void keel_log_pressure_receive(void *arg, const keel_control_in_t *in);

#endif
