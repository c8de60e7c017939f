/*
 * Blocks of different sizes. The data of a rank begins with a directory of words: the number of
 * blocks, then for each block the end of its bytes, counted from the end of the directory.
 */
#ifndef KEEL_STORE_STORE_SIZES_H_
#define KEEL_STORE_STORE_SIZES_H_

#include "store/store_state.h"

/* Writes the data of a rank, part after part. Zeroed except for blocks and count at the start. */
typedef struct keel_store_emit {
    const keel_store_block_t *blocks;
    uint64_t count;
    uint64_t word; /* next word of the directory */
    uint64_t end;  /* of the blocks before it */
    uint64_t block, at;
} keel_store_emit_t;

/* @param length  a multiple of 8 as long as the directory is not complete */
void keel_store_emit(keel_store_emit_t *emit, uint8_t *to, uint64_t length);
/* Passes over @a length bytes, the data's end at most. */
void keel_store_emit_skip(keel_store_emit_t *emit, uint64_t length);
/* Bytes of the directory and the blocks; more than @a most: UINT64_MAX. */
uint64_t keel_store_emit_total(const keel_store_block_t *blocks, uint64_t count, uint64_t most);

/* Loads the directories of the parts, in a wait. KEEL_OK, KEEL_ERR_LOST: *reads_p has the bytes of
 * the parts as reads, which the caller frees in any case. */
keel_status_t keel_store_sized_begin(keel_store_h store, keel_store_part_t *parts, unsigned count,
                                     keel_store_part_t **reads_p);
/* After the reads ended with @a status: sets the status of each part. */
void keel_store_sized_end(keel_store_part_t *parts, const keel_store_part_t *reads, unsigned count,
                          keel_status_t status);
/* keel_store_load() for blocks of different sizes. */
keel_status_t keel_store_load_sized(keel_store_h store, keel_store_part_t *parts, unsigned count);

#endif
