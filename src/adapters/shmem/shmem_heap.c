/*
 * The symmetric heap: blocks of the window, behind the hidden part as the first block. All PEs make
 * the same changes, so addresses are equal everywhere; the used blocks belong into an image.
 */
#include "shmem_globals.h"
#include "shmem_state.h"

#include <stdlib.h>
#include <string.h>

static struct {
    int is_announced;        /* the blocks were announced for images */
    keel_extent_t *extents;  /* the list under construction */
    unsigned count, globals; /* of the list; of its global variables */
} heap;

/* Finds the block of a pointer from the program, which may be invalid. */
static keel_shmem_block_t *block_of(const void *ptr, const char *call)
{
    keel_shmem_block_t *block = NULL;

    if (keel_shmem_is_in_heap(ptr, 1)) {
        block = keel_shmem_blocks_find(&keel_shmem.hidden->blocks, ptr);
        if (block->begin == ptr && !block->is_table) {
            return block;
        }
    }
    keel_shmem_refuse(call,
                      (block == NULL) ? "not memory of the symmetric heap"
                      : (!block->is_table && (const char *)ptr < block->begin + block->bytes)
                          ? "amid memory that was allocated, not where that begins"
                          : "not memory that was allocated, or it was freed before",
                      (uintptr_t)ptr);
}

static void block_free(void *ptr, const char *call)
{
    keel_shmem_blocks_free(&keel_shmem.hidden->blocks, block_of(ptr, call));
    heap.is_announced = 0;
}

static void *block_make(size_t alignment, size_t bytes)
{
    heap.is_announced = 0;
    return keel_shmem_blocks_alloc(&keel_shmem.hidden->blocks, alignment, bytes);
}

static void *allocate(size_t alignment, size_t bytes, int is_zeroed, const char *call)
{
    void *made;

    (void)keel_shmem_begin(call);
    if (bytes == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
        return NULL;
    }
    made = block_make(alignment, bytes);
    if (made != NULL && is_zeroed) { /* before other PEs put there */
        memset(made, 0, bytes);
    }
    keel_shmem_barrier_of_world(call);
    return made;
}

KEEL_SHMEM_DEFINE(void *, malloc, (size_t size))
{
    return allocate(KEEL_SHMEM_ALIGN, size, 0, "shmem_malloc");
}

KEEL_SHMEM_DEFINE(void *, malloc_with_hints, (size_t size, long hints))
{
    return allocate(KEEL_SHMEM_ALIGN, size, 0, "shmem_malloc_with_hints");
}

KEEL_SHMEM_DEFINE(void *, align, (size_t alignment, size_t size))
{
    return allocate(alignment, size, 0, "shmem_align");
}

KEEL_SHMEM_DEFINE(void *, calloc, (size_t count, size_t size))
{
    if (size > 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    return allocate(KEEL_SHMEM_ALIGN, count * size, 1, "shmem_calloc");
}

KEEL_SHMEM_DEFINE(void, free, (void *ptr))
{
    (void)keel_shmem_begin("shmem_free");
    if (ptr == NULL) {
        return;
    }
    (void)block_of(ptr, "shmem_free");
    keel_shmem_barrier_of_world("shmem_free"); /* no PE accesses the block any more */
    block_free(ptr, "shmem_free");
}

/* Resizes in place, or moves the block; other PEs must know its new place before they put there. */
static void *resize(void *ptr, size_t bytes, const char *call)
{
    keel_shmem_block_t *block = block_of(ptr, call);
    const size_t had = block->bytes;
    void *made;

    heap.is_announced = 0;
    if (keel_shmem_blocks_resize(&keel_shmem.hidden->blocks, block, bytes)) {
        return ptr;
    }
    made = block_make(KEEL_SHMEM_ALIGN, bytes);
    if (made != NULL) {
        memcpy(made, ptr, had);
        block_free(ptr, call);
        keel_shmem_barrier_of_world(call);
    }
    return made;
}

KEEL_SHMEM_DEFINE(void *, realloc, (void *ptr, size_t size))
{
    (void)keel_shmem_begin("shmem_realloc");
    if (ptr == NULL) {
        return allocate(KEEL_SHMEM_ALIGN, size, 0, "shmem_realloc");
    }
    (void)block_of(ptr, "shmem_realloc");
    keel_shmem_barrier_of_world("shmem_realloc");
    if (size == 0) {
        block_free(ptr, "shmem_realloc");
        return NULL;
    }
    return resize(ptr, size, "shmem_realloc");
}

/* ---- images ---- */

void keel_shmem_extents_forget(void)
{
    heap.is_announced = 0;
}

static void extent_add(const keel_shmem_block_t *block, void *arg)
{
    const uint64_t offset = (uint64_t)(block->begin - (const char *)keel_shmem.hidden);
    const uint64_t bytes = (uint64_t)(keel_shmem_block_end(block) - block->begin);
    keel_extent_t *next = &heap.extents[heap.count];

    (void)arg;
    /* adjacent blocks form one extent */
    if (heap.count > 0 && next[-1].offset + next[-1].length == offset) {
        next[-1].length += bytes;
    } else {
        *next = (keel_extent_t){offset, bytes};
        heap.count++;
    }
}

/* Announces the extents of an image. An announcement holds until the heap changes. */
keel_status_t keel_shmem_extents(void)
{
    const keel_shmem_blocks_t *blocks = &keel_shmem.hidden->blocks;
    const unsigned globals = keel_shmem_globals_extents(NULL);
    keel_status_t status;

    if (heap.is_announced && heap.globals == globals) {
        return keel_shmem_teams_extents();
    }
    heap.extents = malloc((keel_shmem_blocks_count(blocks) + globals) * sizeof(heap.extents[0]));
    if (heap.extents == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    heap.count = 0;
    keel_shmem_blocks_each(blocks, extent_add, NULL);
    heap.count += keel_shmem_globals_extents(&heap.extents[heap.count]);
    status = keel_win_extents(keel_shmem.win, heap.extents, heap.count);
    free(heap.extents);
    heap.is_announced = status == KEEL_OK;
    heap.globals = globals;
    return (status == KEEL_OK) ? keel_shmem_teams_extents() : status;
}

/* ---- deprecated ---- */

void *shmalloc(size_t size)
{
    return pshmem_malloc(size);
}

void shfree(void *ptr)
{
    pshmem_free(ptr);
}

void *shrealloc(void *ptr, size_t size)
{
    return pshmem_realloc(ptr, size);
}

void *shmemalign(size_t alignment, size_t size)
{
    return pshmem_align(alignment, size);
}
