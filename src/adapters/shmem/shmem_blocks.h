/*
 * Allocator of blocks in a memory area. The table of blocks lies in the same area, in chunks that
 * are blocks themselves, so only the memory limits their number. An image of the blocks contains
 * the table, with addresses that stay valid after each restore. Allocation, release and growth take
 * logarithmic time.
 */
#ifndef KEEL_SHMEM_BLOCKS_H_
#define KEEL_SHMEM_BLOCKS_H_

#include <stddef.h>
#include <stdint.h>

enum {
    /* alignment of blocks, at least: no two blocks share a cache line */
    KEEL_SHMEM_ALIGN = 64,
    KEEL_SHMEM_FIRST_CHUNK = 84 /* blocks in the first chunk of the table */
};

/* A node of a tree ordered by address. The memory from a block's end to the next block is free. */
typedef struct keel_shmem_block {
    char *begin; /* a multiple of KEEL_SHMEM_ALIGN */
    uint64_t bytes : 63;
    uint64_t is_table : 1; /* a chunk of the table, not memory of the program */
    uint64_t room;         /* free bytes behind the block: a multiple of KEEL_SHMEM_ALIGN */
    uint64_t most_room;    /* largest room in this subtree */
    struct keel_shmem_block *left, *right;
} keel_shmem_block_t;

/*
 * A chunk of the table. The table is dense: all chunks but the last are full. The first block of
 * each chunk but the first is the chunk itself.
 */
typedef struct keel_shmem_chunk {
    struct keel_shmem_chunk *before;
    uint32_t size, used;        /* blocks */
    keel_shmem_block_t *blocks; /* right behind this header */
} keel_shmem_chunk_t;

/* The allocator's state, the first block of the area. */
typedef struct keel_shmem_blocks {
    keel_shmem_block_t *root;
    keel_shmem_chunk_t *last;
    uint64_t count; /* count of blocks, chunks of the table included */
    keel_shmem_chunk_t first;
    keel_shmem_block_t first_blocks[KEEL_SHMEM_FIRST_CHUNK];
} keel_shmem_blocks_t;

/*
 * Starts with the area from @a begin, occupied by the first block of @a bytes, up to @a end; the
 * rest is free.
 */
void keel_shmem_blocks_begin(keel_shmem_blocks_t *blocks, char *begin, size_t bytes, const char *end);
/* Allocates in the lowest sufficient room. @a alignment: a power of 2. NULL: there is no room. */
void *keel_shmem_blocks_alloc(keel_shmem_blocks_t *blocks, size_t alignment, size_t bytes);
/*
 * Returns the last block, chunks of the table included, that begins at or before the address. Valid
 * until the next change. NULL: no such block.
 */
keel_shmem_block_t *keel_shmem_blocks_find(const keel_shmem_blocks_t *blocks, const void *address);
/* Resizes the block in place. Returns false if there is no room. */
int keel_shmem_blocks_resize(keel_shmem_blocks_t *blocks, keel_shmem_block_t *block, size_t bytes);
void keel_shmem_blocks_free(keel_shmem_blocks_t *blocks, keel_shmem_block_t *block);

typedef void (*keel_shmem_block_cb_t)(const keel_shmem_block_t *block, void *arg);
/* Calls @a cb for all blocks in ascending order, chunks of the table included. */
void keel_shmem_blocks_each(const keel_shmem_blocks_t *blocks, keel_shmem_block_cb_t cb, void *arg);

static inline uint64_t keel_shmem_blocks_count(const keel_shmem_blocks_t *blocks)
{
    return blocks->count;
}

/* The address at which the block's room begins. */
static inline char *keel_shmem_block_end(const keel_shmem_block_t *block)
{
    return block->begin + ((block->bytes + KEEL_SHMEM_ALIGN - 1) & ~(uint64_t)(KEEL_SHMEM_ALIGN - 1));
}

#endif
