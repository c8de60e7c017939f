/* Loads, as far as blocks of different sizes need them. */
#ifndef KEEL_STORE_STORE_LOAD_H_
#define KEEL_STORE_STORE_LOAD_H_

#include "store/store_state.h"

/* Loads parts whose blocks are bytes. */
keel_status_t keel_store_load_bytes(keel_store_h store, keel_store_part_t *parts, unsigned count);
/* Reports that the part goes beyond the @a submitted blocks; returns KEEL_ERR_RANGE. */
keel_status_t keel_store_refuse_range(keel_store_h store, const keel_store_part_t *part, uint64_t submitted);
/* Reports that the call is for another kind of blocks; returns KEEL_ERR_UNSUPPORTED. */
keel_status_t keel_store_refuse_size(keel_store_h store, const char *call);

#endif
