/*
 * Blocks of memory: what is in use of it, and what is free. The table of them lies in that memory, too, in pieces that are blocks themselves, so
 * there may be as many as there is memory for; an image of the blocks has the table, which leads to the same addresses wherever it is
 * restored. Finding room, freeing and growing take logarithmic time.
 */
#ifndef KEEL_SHMEM_BLOCKS_H_
#define KEEL_SHMEM_BLOCKS_H_

#include <stddef.h>
#include <stdint.h>

enum {
    KEEL_SHMEM_ALIGN = 64,      /* of the blocks, at least: what is put to two of them shares no line of a cache */
    KEEL_SHMEM_FIRST_PIECE = 84 /* blocks that need no piece of the memory for the table */
};

/* a node of a tree by address; what follows a block, up to the next one, is free */
typedef struct keel_shmem_block {
    char *begin; /* a multiple of KEEL_SHMEM_ALIGN */
    uint64_t bytes : 63;
    uint64_t is_table : 1; /* no memory of the program's */
    uint64_t room;         /* behind it: a multiple of KEEL_SHMEM_ALIGN */
    uint64_t most;         /* room behind a block of this subtree */
    struct keel_shmem_block *left, *right;
} keel_shmem_block_t;

/* the table is dense: all pieces but the last one are full; the first block of each but the first piece is the piece itself */
typedef struct keel_shmem_piece {
    struct keel_shmem_piece *before;
    uint32_t size, used;        /* blocks */
    keel_shmem_block_t *blocks; /* behind this */
} keel_shmem_piece_t;

/* at the beginning of the memory, as its first block */
typedef struct keel_shmem_blocks {
    keel_shmem_block_t *root;
    keel_shmem_piece_t *last;
    uint64_t count; /* the table's among them */
    keel_shmem_piece_t first;
    keel_shmem_block_t first_blocks[KEEL_SHMEM_FIRST_PIECE];
} keel_shmem_blocks_t;

/* of the memory from @a begin, which the first block is of, up to @a end; the rest is free */
void keel_shmem_blocks_begin(keel_shmem_blocks_t *blocks, char *begin, size_t bytes, const char *end);
/* the lowest room that is large enough; NULL: there is none. @a alignment: a power of 2. */
void *keel_shmem_blocks_make(keel_shmem_blocks_t *blocks, size_t alignment, size_t bytes);
/* the one that begins last, at the address or before it; the table's, too; valid up to the next call that changes any. NULL: there is none. */
keel_shmem_block_t *keel_shmem_blocks_find(const keel_shmem_blocks_t *blocks, const void *address);
/* makes it as long, or as short, where it lies; false: there is no room for that */
int keel_shmem_blocks_resize(keel_shmem_blocks_t *blocks, keel_shmem_block_t *block, size_t bytes);
void keel_shmem_blocks_free(keel_shmem_blocks_t *blocks, keel_shmem_block_t *block);

typedef void (*keel_shmem_block_cb_t)(const keel_shmem_block_t *block, void *arg);
/* of all of them, the table's, too, ascending */
void keel_shmem_blocks_each(const keel_shmem_blocks_t *blocks, keel_shmem_block_cb_t cb, void *arg);

static inline uint64_t keel_shmem_blocks_count(const keel_shmem_blocks_t *blocks)
{
    return blocks->count;
}

/* where its room begins */
static inline char *keel_shmem_block_end(const keel_shmem_block_t *block)
{
    return block->begin + ((block->bytes + KEEL_SHMEM_ALIGN - 1) & ~(uint64_t)(KEEL_SHMEM_ALIGN - 1));
}

#endif
