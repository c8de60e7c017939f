/*
 * The ranks of a store when the job goes on with fewer ranks (KEEL_SHRINK). All ranks apply the
 * gone ranks in one order, so all know the same holders. A version has blocks of the ranks that
 * were there at its submit. An update keeps the blocks of ranks that are gone since.
 */
#ifndef KEEL_STORE_STORE_WORLD_H_
#define KEEL_STORE_STORE_WORLD_H_

#include "store/store_state.h"

/* Gives the copies of newly gone ranks their next holders. KEEL_ERR_NO_MEMORY: try again. */
keel_status_t keel_store_world(keel_store_h store);
/* True if the rank was gone at the submit of the version in the slot. */
int keel_store_is_without(const struct keel_store *store, uint32_t slot, uint32_t rank);
/* What a holder sets in head->complete when it has all cells of the version that are to be had.
 * Next holders make the set of cells another one, so the word depends on the gone ranks. */
uint64_t keel_store_complete_word(const struct keel_store *store, uint64_t label);

#endif
