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
#ifndef KEEL_REHEARSAL_REHEARSE_H_
#define KEEL_REHEARSAL_REHEARSE_H_

#include "base/rehearse_file.h"

#include <keel/keel.h>

typedef struct keel_rehearse keel_rehearse_t;

/* with KEEL_REHEARSE: from the first gsync on. Releasing is for whom it was not begun, too. */
keel_status_t keel_rehearse_open(keel_context_h ctx);
void keel_rehearse_close(keel_context_h ctx);

#endif
