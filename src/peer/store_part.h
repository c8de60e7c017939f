/* Stores of what is put at several places as one, to memory that others see. */
#ifndef KEEL_PEER_STORE_PART_H_
#define KEEL_PEER_STORE_PART_H_

#include "peer/store.h"
#include "wire/blocks.h"

/* ahead of what says that what was stored before is there */
static inline void keel_store_behind(void)
{
    if (!KEEL_PLANT(signal_unordered)) {
        keel_store_fence();
    }
}

/* a part of a record that was made or checked here; @a at is where its first block goes */
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
