/*
 * A rehearsal (KEEL_REHEARSE) kills each rank once, in turn, and compares the re-execution of the
 * replacement with the first execution. At each gsync a rank sums its puts of the ending phase to
 * each target, from the put log, and its memory: protected regions, which no other rank writes, and
 * windows while no other rank can have put to them yet.
 *
 * In a rehearsal each gsync has the second barrier of a checkpoint, so windows stand still while
 * ranks sum them; a rank that a decision released does not sum them, and no rank waits for it. A
 * rank dies after that barrier once a generation is in use from which the replacement re-executes
 * some phases, and once all lower ranks have died, are back and have passed the gsync. The leader
 * orders such generations; all ranks wait in the gsync for their parity share.
 */
#ifndef KEEL_REHEARSAL_REHEARSE_H_
#define KEEL_REHEARSAL_REHEARSE_H_

#include "base/rehearse_file.h"

#include <keel/keel.h>

typedef struct keel_rehearse keel_rehearse_t;

/*
 * Opens the rehearsal if KEEL_REHEARSE is set, before the first gsync. Closing is allowed without a
 * rehearsal.
 */
keel_status_t keel_rehearse_open(keel_context_h ctx);
void keel_rehearse_close(keel_context_h ctx);

#endif
