/*
 * A rehearsal (KEEL_REHEARSE): every rank is killed once, one after the other, and what its replacement does again is compared with
 * what it had done. At each gsync a process sums what it put to each target in the phase that ends, by its put log, and what it has in
 * memory: protected regions, which nobody else writes, and windows where nobody can have put to them yet.
 *
 * In a rehearsal each gsync has the second barrier of a checkpoint, so that windows stand still while they are summed: who was
 * released by a decision does not sum them, and is not waited for. A rank dies after that barrier, when a generation is in use that
 * its replacement does some phases from, and all ranks before it have died and are back: those that all have passed the gsync.
 * Rank 0 orders such generations; all wait in that gsync until they have their share of parity.
 */
#ifndef KEEL_API_REHEARSE_H_
#define KEEL_API_REHEARSE_H_

#include "base/rehearse_file.h"

#include <keel/keel.h>

typedef struct keel_rehearse keel_rehearse_t;

/* with KEEL_REHEARSE: from the first gsync on. Releasing is for whom it was not begun, too. */
keel_status_t keel_rehearse_open(keel_context_h ctx);
void keel_rehearse_close(keel_context_h ctx);
/* rank 0: some rank's turn is to come, and until then a rehearsal says when images are taken */
int keel_rehearse_orders(const keel_context_h ctx);
/* before a safe gsync: where a replacement is to begin */
int keel_rehearse_wants_image(const keel_context_h ctx);
/* before the arrival: what was put in this phase, and protected regions */
void keel_rehearse_arrive(keel_context_h ctx);
/* leaving gsync @a number, before the position that others hear of: windows */
void keel_rehearse_leave(keel_context_h ctx, uint32_t number, int was_front);
/* after it, where all that were at the front are: the barrier, and may not return */
keel_status_t keel_rehearse_end(keel_context_h ctx, uint32_t number, unsigned flags);
/* the job rolls back: is it because this process read what its predecessor did not? */
void keel_rehearse_rolled_back(keel_context_h ctx);

/* ---- rehearse_compare.c ---- */

#endif
