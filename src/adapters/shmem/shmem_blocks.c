/*
 * A treap of the used blocks by address. Each node knows the largest room behind a block of its
 * subtree: so one descent finds the lowest sufficient room, and freed memory joins the adjacent
 * room, since no structure tracks free memory. Priorities are hashes of addresses, so all PEs have
 * the same tree.
 *
 * The nodes form an array in chunks. A freed node's place is filled with the last node, so the last
 * chunk is released as soon as it is empty.
 */
#include "shmem_blocks.h"

#include <assert.h>

enum {
    CHUNK_BYTES = 4096,    /* of a chunk, if there is room for so many bytes */
    MIN_CHUNK_BYTES = 128, /* otherwise: room for one block of the program */
    MAX_ALIGNMENT = 1 << 30
};

/* ---- the tree ---- */

static uint64_t priority_of(const keel_shmem_block_t *block)
{
    uint64_t bits = (uint64_t)(uintptr_t)block->begin / KEEL_SHMEM_ALIGN; /* splitmix64 */

    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
}

static void update(keel_shmem_block_t *block)
{
    block->most_room = block->room;
    if (block->left != NULL && block->left->most_room > block->most_room) {
        block->most_room = block->left->most_room;
    }
    if (block->right != NULL && block->right->most_room > block->most_room) {
        block->most_room = block->right->most_room;
    }
}

static void split(keel_shmem_block_t *root, const char *at, keel_shmem_block_t **below_p, keel_shmem_block_t **above_p)
{
    if (root == NULL) {
        *below_p = *above_p = NULL;
    } else if (root->begin < at) {
        split(root->right, at, &root->right, above_p);
        *below_p = root;
        update(root);
    } else {
        split(root->left, at, below_p, &root->left);
        *above_p = root;
        update(root);
    }
}

static keel_shmem_block_t *merge(keel_shmem_block_t *below, keel_shmem_block_t *above)
{
    if (below == NULL || above == NULL) {
        return (below == NULL) ? above : below;
    }
    if (priority_of(below) > priority_of(above)) {
        below->right = merge(below->right, above);
        update(below);
        return below;
    }
    above->left = merge(below, above->left);
    update(above);
    return above;
}

static keel_shmem_block_t *with(keel_shmem_block_t *root, keel_shmem_block_t *added)
{
    if (root == NULL || priority_of(added) > priority_of(root)) {
        split(root, added->begin, &added->left, &added->right);
        update(added);
        return added;
    }
    if (added->begin < root->begin) {
        root->left = with(root->left, added);
    } else {
        root->right = with(root->right, added);
    }
    update(root);
    return root;
}

static keel_shmem_block_t *without(keel_shmem_block_t *root, const keel_shmem_block_t *gone)
{
    if (root == gone) {
        return merge(root->left, root->right);
    }
    if (gone->begin < root->begin) {
        root->left = without(root->left, gone);
    } else {
        root->right = without(root->right, gone);
    }
    update(root);
    return root;
}

/* Updates the nodes from the changed block up to the root. */
static void update_to(keel_shmem_block_t *root, const keel_shmem_block_t *changed)
{
    if (root != changed) {
        update_to((changed->begin < root->begin) ? root->left : root->right, changed);
    }
    update(root);
}

static keel_shmem_block_t *last_below(const keel_shmem_blocks_t *blocks, const char *address, int is_at_most)
{
    keel_shmem_block_t *found = NULL, *at = blocks->root;

    while (at != NULL) {
        if (at->begin < address || (is_at_most && at->begin == address)) {
            found = at;
            at = at->right;
        } else {
            at = at->left;
        }
    }
    return found;
}

static char *align_up(char *address, size_t alignment)
{
    return address + (-(uintptr_t)address & (alignment - 1));
}

static int fits(const keel_shmem_block_t *block, size_t alignment, size_t bytes)
{
    char *const begin = keel_shmem_block_end(block);
    const size_t skipped = (size_t)(align_up(begin, alignment) - begin);

    return skipped <= block->room && bytes <= block->room - skipped;
}

/*
 * Finds the lowest fitting block. With KEEL_SHMEM_ALIGN in one descent: there is one if most_room
 * is large enough. Otherwise tries all candidates.
 */
static keel_shmem_block_t *first_fit(keel_shmem_block_t *root, size_t alignment, size_t bytes)
{
    keel_shmem_block_t *found;

    if (root == NULL || root->most_room < bytes) {
        return NULL;
    }
    found = first_fit(root->left, alignment, bytes);
    if (found == NULL && fits(root, alignment, bytes)) {
        found = root;
    }
    return (found != NULL) ? found : first_fit(root->right, alignment, bytes);
}

static keel_shmem_block_t *last_fit(keel_shmem_block_t *root, size_t bytes)
{
    while (root != NULL && root->most_room >= bytes) {
        if (root->right != NULL && root->right->most_room >= bytes) {
            root = root->right;
        } else if (root->room >= bytes) {
            return root;
        } else {
            root = root->left;
        }
    }
    return NULL;
}

/* ---- the table ---- */

/* Enters a new node behind a block with room for it. */
static void enter(keel_shmem_blocks_t *blocks, keel_shmem_block_t *node, keel_shmem_block_t *before, char *begin,
                  size_t bytes, int is_table)
{
    char *const end = keel_shmem_block_end(before) + before->room;

    *node = (keel_shmem_block_t){.begin = begin, .bytes = bytes, .is_table = is_table != 0};
    node->room = (uint64_t)(end - keel_shmem_block_end(node));
    before->room = (uint64_t)(begin - keel_shmem_block_end(before));
    update_to(blocks->root, before);
    blocks->root = with(blocks->root, node);
    blocks->count++;
}

/* Removes a block from the tree; its node is then unused. */
static void leave(keel_shmem_blocks_t *blocks, const keel_shmem_block_t *block)
{
    keel_shmem_block_t *before = last_below(blocks, block->begin, 0);

    blocks->root = without(blocks->root, block);
    before->room = (uint64_t)(keel_shmem_block_end(block) + block->room - keel_shmem_block_end(before));
    update_to(blocks->root, before);
    blocks->count--;
}

/* Adds a chunk with a block of its own behind all others. Returns false if there is no room. */
static int chunk_add(keel_shmem_blocks_t *blocks, size_t bytes)
{
    keel_shmem_block_t *before = last_fit(blocks->root, bytes);
    keel_shmem_chunk_t *chunk;

    if (before == NULL) {
        return 0;
    }
    chunk = (keel_shmem_chunk_t *)(void *)(keel_shmem_block_end(before) + before->room - bytes);
    *chunk = (keel_shmem_chunk_t){
        .before = blocks->last,
        .size = (uint32_t)((bytes - sizeof(*chunk)) / sizeof(chunk->blocks[0])),
        .used = 1,
        .blocks = (keel_shmem_block_t *)(void *)(chunk + 1),
    };
    enter(blocks, &chunk->blocks[0], before, (char *)chunk, bytes, 1);
    blocks->last = chunk;
    return 1;
}

static void chunk_release(keel_shmem_blocks_t *blocks)
{
    keel_shmem_chunk_t *chunk = blocks->last;

    if (chunk->used == 1 && chunk->before != NULL) { /* only the chunk's own block */
        blocks->last = chunk->before;
        leave(blocks, &chunk->blocks[0]);
    }
}

/* Frees a node and moves the last node into its place. */
static void node_free(keel_shmem_blocks_t *blocks, keel_shmem_block_t *node)
{
    keel_shmem_chunk_t *chunk = blocks->last;
    keel_shmem_block_t *last = &chunk->blocks[--chunk->used], **link = &blocks->root;

    if (last != node) {
        while (*link != last) {
            link = (last->begin < (*link)->begin) ? &(*link)->left : &(*link)->right;
        }
        *link = node;
        *node = *last;
    }
    chunk_release(blocks);
}

static void *block_make(keel_shmem_blocks_t *blocks, size_t alignment, size_t bytes)
{
    /* found at once: room for every possible alignment */
    keel_shmem_block_t *before = first_fit(blocks->root, KEEL_SHMEM_ALIGN, bytes + alignment - KEEL_SHMEM_ALIGN);
    keel_shmem_chunk_t *chunk = blocks->last;
    char *begin;

    if (before == NULL) {
        before = first_fit(blocks->root, alignment, bytes);
    }
    if (before == NULL) {
        return NULL;
    }
    begin = align_up(keel_shmem_block_end(before), alignment);
    enter(blocks, &chunk->blocks[chunk->used++], before, begin, bytes, 0);
    return begin;
}

/* ---- calls ---- */

void keel_shmem_blocks_begin(keel_shmem_blocks_t *blocks, char *begin, size_t bytes, const char *end)
{
    keel_shmem_block_t *first = &blocks->first_blocks[0];

    assert((uintptr_t)begin % KEEL_SHMEM_ALIGN == 0 && begin + bytes <= end);
    *first = (keel_shmem_block_t){.begin = begin, .bytes = bytes, .is_table = 1};
    first->room = (uint64_t)(end - keel_shmem_block_end(first)) & ~(uint64_t)(KEEL_SHMEM_ALIGN - 1);
    update(first);
    blocks->first = (keel_shmem_chunk_t){.size = KEEL_SHMEM_FIRST_CHUNK, .used = 1, .blocks = blocks->first_blocks};
    blocks->last = &blocks->first;
    blocks->root = first;
    blocks->count = 1;
}

void *keel_shmem_blocks_alloc(keel_shmem_blocks_t *blocks, size_t alignment, size_t bytes)
{
    static const size_t chunk_bytes[] = {CHUNK_BYTES, MIN_CHUNK_BYTES};
    void *made = NULL;

    if (alignment > MAX_ALIGNMENT || bytes > blocks->root->most_room) {
        return NULL;
    }
    alignment = (alignment < KEEL_SHMEM_ALIGN) ? KEEL_SHMEM_ALIGN : alignment;
    if (blocks->last->used < blocks->last->size) {
        return block_make(blocks, alignment, bytes);
    }
    for (int i = 0; i < 2 && made == NULL; i++) {
        if (chunk_add(blocks, chunk_bytes[i])) {
            made = block_make(blocks, alignment, bytes);
            chunk_release(blocks);
        }
    }
    return made;
}

keel_shmem_block_t *keel_shmem_blocks_find(const keel_shmem_blocks_t *blocks, const void *address)
{
    return last_below(blocks, address, 1);
}

int keel_shmem_blocks_resize(keel_shmem_blocks_t *blocks, keel_shmem_block_t *block, size_t bytes)
{
    const char *end = keel_shmem_block_end(block) + block->room;

    if (bytes > (size_t)(end - block->begin)) {
        return 0;
    }
    block->bytes = bytes;
    block->room = (uint64_t)(end - keel_shmem_block_end(block));
    update_to(blocks->root, block);
    return 1;
}

void keel_shmem_blocks_free(keel_shmem_blocks_t *blocks, keel_shmem_block_t *block)
{
    leave(blocks, block);
    node_free(blocks, block);
}

static void each(const keel_shmem_block_t *root, keel_shmem_block_cb_t cb, void *arg)
{
    if (root != NULL) {
        each(root->left, cb, arg);
        cb(root, arg);
        each(root->right, cb, arg);
    }
}

void keel_shmem_blocks_each(const keel_shmem_blocks_t *blocks, keel_shmem_block_cb_t cb, void *arg)
{
    each(blocks->root, cb, arg);
}
