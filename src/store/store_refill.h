/*
 * Restores the cells that the own window lacks, from the other holders. A process has nothing after
 * the death of its predecessor. Cells come stepwise inside the process's own calls; nobody else
 * takes part.
 */
#ifndef KEEL_STORE_STORE_REFILL_H_
#define KEEL_STORE_STORE_REFILL_H_

#include "store/store_state.h"

/* Begins to look at all cells of the version in the slot, which replace a refill under way. */
void keel_store_refill_begin(keel_store_h store, uint32_t slot, uint64_t label);
/* KEEL_OK: all cells that some rank has are here. KEEL_INPROGRESS: another step is needed.
 * KEEL_ERR_NO_MEMORY. */
keel_status_t keel_store_refill_step(keel_store_h store);
void keel_store_refill_stop(keel_store_h store);
/* Stops the refill, and waits for the end of its reads or for an error of the job. */
void keel_store_refill_end_reads(keel_store_h store);
/* In the background: a step for a version that a load may want, if some cells may be lacking. */
void keel_store_refill_progress(keel_store_h store);

/* The slot of the version that a rollback to the generation in use needs; slots: none. */
uint32_t keel_store_kept(const struct keel_store *store);

#endif
