/*
 * Stops: coordinated checkpoints of programs that only lock [F 3.1.2, "Locks"], and keel_checkpoint().
 *
 * A stop is two gsyncs that no rank's program calls as such: the first takes an image, the second puts it into use. Rank 0 begins
 * it, at a safe point or while it waits in a safe collective call; every other rank joins at its next safe point, or with
 * the arrival of the collective call in which it is, which it then makes again.
 *
 * Safety. A rank that joins holds no lock, so a rank that waits for a lock is never behind one that waits in a stop [F theorem 3.2].
 * Where in its program a rank joined is in no log: so the images of a stop are in use when the stop ends, and when a death comes
 * between the two the job rolls back (recovery/decide). A replacement joins when it has done again all that others know of.
 */
#ifndef KEEL_EPOCH_STOP_H_
#define KEEL_EPOCH_STOP_H_

#include "engine/context.h"

/* The collective call of @a flags. While it waits, the ranks may pass stops. */
keel_status_t keel_gsync_run(keel_context_h ctx, unsigned flags);
/* both gsyncs of keel_checkpoint() */
keel_status_t keel_checkpoint_run(keel_context_h ctx);

#endif
