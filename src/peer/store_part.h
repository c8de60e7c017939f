/* Stores of a put with several parts to memory of other processes. */
#ifndef KEEL_PEER_STORE_PART_H_
#define KEEL_PEER_STORE_PART_H_

#include "peer/store.h"
#include "wire/blocks.h"

/* Orders all earlier stores before the store of their announcement. */
static inline void keel_store_behind(void)
{
    if (!KEEL_PLANT(store_part_signal_unordered)) {
        keel_store_fence();
    }
}

/* Stores a part of a checked record. @a at: place of the first block. */
static inline void keel_store_part(char *at, const keel_blocks_part_t *part)
{
    if (part->is_behind) {
        keel_store_behind();
    }
    for (uint32_t i = 0; i < part->count; i++) {
        keel_store_bytes(at + i * part->stride, part->data + (size_t)i * part->length, part->length);
    }
}

#endif
