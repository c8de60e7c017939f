/*
 * The ranks of a store in a job with fewer ranks (KEEL_SHRINK). All ranks apply the gone ranks in
 * one order, so all know the same holders. A version has blocks of the ranks that were there at the
 * submit. An update keeps the blocks of ranks that are gone since.
 */
#ifndef KEEL_STORE_STORE_WORLD_H_
#define KEEL_STORE_STORE_WORLD_H_

#include "store/store_state.h"

/* Gives the copies of newly gone ranks their next holders. KEEL_ERR_NO_MEMORY: try again. */
keel_status_t keel_store_world(keel_store_h store);

#endif
