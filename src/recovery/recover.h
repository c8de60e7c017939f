/* Life of recovery, and the one function that makes progress. */
#ifndef KEEL_RECOVERY_RECOVER_H_
#define KEEL_RECOVERY_RECOVER_H_

#include "recovery/recovery.h"
#include "recovery/recovery_status.h"

keel_status_t keel_recovery_init(keel_recovery_t *rec, const keel_recovery_params_t *params);
void keel_recovery_release(keel_recovery_t *rec);
/* events, messages, parity, handing over; never blocks */
void keel_recovery_progress(keel_recovery_t *rec);
/* progress once, then give the core away the longer the caller has been waiting */
void keel_recovery_wait(keel_recovery_t *rec, unsigned *rounds);
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
