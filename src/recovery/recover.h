/* Begin and end of recovery, and its part of the engine's loop (engine/progress). */
#ifndef KEEL_RECOVERY_RECOVER_H_
#define KEEL_RECOVERY_RECOVER_H_

#include "recovery/recovery.h"
#include "recovery/recovery_status.h"

keel_status_t keel_recovery_init(keel_recovery_t *rec, const keel_recovery_params_t *params);
void keel_recovery_release(keel_recovery_t *rec);
/* Takes the events of the runtime: deaths, replacements, exits. */
void keel_recovery_events(keel_recovery_t *rec);
/* A round of recovery's own progress, after the messages of the inbox; does not block. */
void keel_recovery_step(keel_recovery_t *rec);
/* The process has left the last gsync: announces so, and takes part in no recovery any more. */
void keel_recovery_finish(keel_recovery_t *rec);
/* Announces that the process leaves because the job cannot go on: without a launcher's events no
 * other message tells. */
void keel_recovery_give_up(keel_recovery_t *rec);

/* ---- called for calls of the program ---- */

/* The process has a rank and has announced itself; @a begun_ns: its begin. */
void keel_recovery_joined(keel_recovery_t *rec, uint64_t begun_ns);
/* The last gsync is over, for certain. */
void keel_recovery_note_finished(keel_recovery_t *rec);
/* The program has accessed another rank, or asked if it is restarted: windows made after @a
 * window_calls calls do not belong to generation 0. Before that each window does
 * (keel_recovery_note_windows()). */
void keel_recovery_close_prefix(keel_recovery_t *rec, uint32_t window_calls);
void keel_recovery_note_windows(keel_recovery_t *rec, uint32_t window_calls);

#endif
