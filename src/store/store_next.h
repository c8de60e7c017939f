/*
 * Next holders of the copies of gone ranks [R IV-E]. Pure functions of the placement and of the
 * order of the gone ranks, so that all ranks compute the same holders.
 *
 * Each rank has spare cells. Each copy of a gone rank gets a spare cell of a remaining rank. The
 * candidates are probed in an order of the copy's own [R appendix A]. A candidate holds no other
 * copy of the range, and of all candidates with a free cell none shares fewer levels of the failure
 * domains with a holder. Among the first equal candidates the one with the fewest copies is taken.
 * A copy without a candidate has no holder any more.
 *
 * A copy moves when its holder is gone, and a cell has one copy only. So a rank that knows of
 * fewer gone ranks finds the cells that it knows unchanged.
 */
#ifndef KEEL_STORE_STORE_NEXT_H_
#define KEEL_STORE_STORE_NEXT_H_

#include "store/store_place.h"

/* For a placement with spare cells, after keel_store_place_init() with the same domains. To be
 * released also after an error. */
keel_status_t keel_store_next_init(keel_store_place_t *place, const keel_domains_t *domains);
void keel_store_next_release(keel_store_place_t *place); /* zeroed: no effect */
/* The rank is gone: its copies get next holders. KEEL_ERR_NO_MEMORY: nothing has changed. */
keel_status_t keel_store_next_gone(keel_store_place_t *place, uint32_t rank);

#endif
