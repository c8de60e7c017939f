/*
 * Pushes ranges to the cells of their holders: by stores to mapped memory, else by messages without
 * a log, several outstanding.
 */
#ifndef KEEL_STORE_STORE_PUSH_H_
#define KEEL_STORE_STORE_PUSH_H_

#include "store/store_state.h"

typedef struct keel_store_push {
    keel_store_h store;
    const uint8_t *data;              /* of the own rank; NULL: in blocks */
    const keel_store_block_t *blocks; /* blocks of different sizes */
    uint64_t count;
    uint64_t total; /* bytes of it */
    uint64_t label;
    uint32_t slot;
} keel_store_push_t;

/* Pushes all own ranges to the holders that do not have them from this process. Waits for holders
 * that are not live. KEEL_ERR_INVALID_PARAM: a holder made
 * the store with other parameters. */
keel_status_t keel_store_push_all(const keel_store_push_t *push);

#endif
