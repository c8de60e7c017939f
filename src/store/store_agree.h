/*
 * The parameters of a store are equal at all ranks. Before the first pushes, each rank compares the
 * parameters with those of the next member along the ring.
 */
#ifndef KEEL_STORE_STORE_AGREE_H_
#define KEEL_STORE_STORE_AGREE_H_

#include "store/store_state.h"

/* Sets the words of the head that the rank before this one reads. */
void keel_store_agree_announce(const struct keel_store *store);
/* Waits until the parameters of the next member are known. KEEL_ERR_INVALID_PARAM: they differ. */
keel_status_t keel_store_agree(keel_store_h store);

#endif
