/*
 * The parameters of a store are equal at all ranks. Before the first pushes, each rank compares the
 * parameters with the next member along the ring.
 */
#ifndef KEEL_STORE_STORE_AGREE_H_
#define KEEL_STORE_STORE_AGREE_H_

#include "store/store_state.h"

/* Sets the words of the head for the rank before the own rank. */
void keel_store_agree_announce(const struct keel_store *store);
/* Waits for the parameters of the next member. KEEL_ERR_INVALID_PARAM: the parameters differ. */
keel_status_t keel_store_agree(keel_store_h store);

#endif
