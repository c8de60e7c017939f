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
/* this process has left the last gsync: tells everybody, and takes part in no recovery any more */
void keel_recovery_finish(keel_recovery_t *rec);
/* it leaves, and when that is because nobody can go on it says so: where a launcher's events do not travel nothing else does */
void keel_recovery_give_up(keel_recovery_t *rec);

/* ---- what the calls of the program tell ---- */

/* this process has a rank and has announced itself; it began at @a begun_ns */
void keel_recovery_joined(keel_recovery_t *rec, uint64_t begun_ns);
/* the last gsync is over, for certain */
void keel_recovery_note_finished(keel_recovery_t *rec);
/* the program has accessed something, or asked whether it is restarted: windows made after @a window_calls calls are none of
 * generation 0; before that each one is (keel_recovery_note_windows()) */
void keel_recovery_close_prefix(keel_recovery_t *rec, uint32_t window_calls);
void keel_recovery_note_windows(keel_recovery_t *rec, uint32_t window_calls);

#endif
