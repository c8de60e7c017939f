/*
 * Stops: coordinated checkpoints of programs that only lock [F 3.1.2, "Locks"], and
 * keel_checkpoint().
 *
 * A stop is two gsyncs without calls by the programs: the first takes an image, the second puts the
 * image into use. The leader begins a stop at a safe point or while it waits in a safe collective
 * call. Every other rank joins at its next safe point, or by the arrival of its present collective
 * call, which it then repeats.
 *
 * Safety. A rank that joins holds no lock, so a rank that waits for a lock never waits for a rank
 * in a stop [F theorem 3.2]. No log contains the place in the program where a rank joined. So the
 * images of a stop are in use when the stop ends, and a death between the two gsyncs rolls the job
 * back (recovery/decide). A replacement joins after it has done again everything that other ranks
 * know of.
 */
#ifndef KEEL_EPOCH_STOP_H_
#define KEEL_EPOCH_STOP_H_

#include "engine/context.h"

/* Makes the collective call of @a flags. While it waits, the ranks may pass stops. */
keel_status_t keel_gsync_run(keel_context_h ctx, unsigned flags);
/* Makes both gsyncs of keel_checkpoint(). */
keel_status_t keel_checkpoint_run(keel_context_h ctx);

#endif
