/*
 * The symmetric heap: a table of the blocks in use, apart from them. All PEs do the same to it, so addresses are the same everywhere; what
 * writes beyond a block does no harm to it; and it is what belongs into an image.
 */
#include "shmem_globals.h"
#include "shmem_state.h"

#include <stdlib.h>
#include <string.h>

/* the first block at or after the offset */
static uint64_t block_at(uint64_t offset)
{
    const keel_shmem_hidden_t *hidden = keel_shmem.hidden;
    uint64_t low = 0, high = hidden->block_count;

    while (low < high) {
        const uint64_t middle = (low + high) / 2;

        if (hidden->blocks[middle].offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint64_t align_up(uint64_t offset, size_t alignment)
{
    return (offset + alignment - 1) & ~(uint64_t)(alignment - 1);
}

/* the first room that is large enough; 0: there is none */
static uint64_t block_make(size_t alignment, size_t bytes)
{
    keel_shmem_hidden_t *hidden = keel_shmem.hidden;
    const uintptr_t base = (uintptr_t)hidden;
    uint64_t begin = sizeof(*hidden), i;

    if (hidden->block_count == KEEL_SHMEM_BLOCKS) {
        return 0;
    }
    for (i = 0; i <= hidden->block_count; i++) {
        const uint64_t end = (i < hidden->block_count) ? hidden->blocks[i].offset : keel_shmem.bytes;
        const uint64_t at = align_up(base + begin, alignment) - base;

        if (at <= end && bytes <= end - at) {
            memmove(&hidden->blocks[i + 1], &hidden->blocks[i], (hidden->block_count - i) * sizeof(hidden->blocks[0]));
            hidden->blocks[i] = (keel_extent_t){at, bytes};
            hidden->block_count++;
            return at;
        }
        begin = (i < hidden->block_count) ? end + hidden->blocks[i].length : end;
    }
    return 0;
}

/* of a pointer that the program says is one */
static uint64_t block_of(const void *ptr, const char *call)
{
    const uint64_t offset = keel_shmem_place(ptr, 1, 0, call).offset, i = block_at(offset);

    if (i == keel_shmem.hidden->block_count || keel_shmem.hidden->blocks[i].offset != offset) {
        keel_shmem_refuse(call, "not memory that was allocated", (uintptr_t)ptr);
    }
    return i;
}

/* where it lies; true when there was room after it */
static int block_grow(uint64_t i, size_t bytes)
{
    keel_shmem_hidden_t *hidden = keel_shmem.hidden;
    const uint64_t end = (i + 1 < hidden->block_count) ? hidden->blocks[i + 1].offset : keel_shmem.bytes;

    if (bytes > end - hidden->blocks[i].offset) {
        return 0;
    }
    hidden->blocks[i].length = bytes;
    return 1;
}

static void block_free(uint64_t i)
{
    keel_shmem_hidden_t *hidden = keel_shmem.hidden;

    hidden->block_count--;
    memmove(&hidden->blocks[i], &hidden->blocks[i + 1], (hidden->block_count - i) * sizeof(hidden->blocks[0]));
}

static void *allocate(size_t alignment, size_t bytes, int is_zeroed, const char *call)
{
    uint64_t offset;

    (void)keel_shmem_begin(call);
    if (bytes == 0) {
        return NULL;
    }
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > (size_t)1 << 30) {
        return NULL;
    }
    offset = block_make(alignment < KEEL_SHMEM_ALIGN ? KEEL_SHMEM_ALIGN : alignment, bytes);
    if (offset > 0 && is_zeroed) { /* before what others put there */
        memset((char *)keel_shmem.hidden + offset, 0, bytes);
    }
    keel_shmem_meet(call);
    return (offset > 0) ? (char *)keel_shmem.hidden + offset : NULL;
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
    uint64_t i;

    (void)keel_shmem_begin("shmem_free");
    if (ptr == NULL) {
        return;
    }
    i = block_of(ptr, "shmem_free");
    keel_shmem_meet("shmem_free"); /* nobody accesses it any more */
    block_free(i);
}

KEEL_SHMEM_DEFINE(void *, realloc, (void *ptr, size_t size))
{
    uint64_t i, offset, length;

    (void)keel_shmem_begin("shmem_realloc");
    if (ptr == NULL) {
        return allocate(KEEL_SHMEM_ALIGN, size, 0, "shmem_realloc");
    }
    i = block_of(ptr, "shmem_realloc");
    keel_shmem_meet("shmem_realloc");
    if (size == 0) {
        block_free(i);
        return NULL;
    }
    length = keel_shmem.hidden->blocks[i].length;
    if (block_grow(i, size)) {
        return ptr;
    }
    offset = block_make(KEEL_SHMEM_ALIGN, size);
    if (offset == 0) {
        return NULL;
    }
    memcpy((char *)keel_shmem.hidden + offset, ptr, length);
    block_free(block_of(ptr, "shmem_realloc"));
    keel_shmem_meet("shmem_realloc");
    return (char *)keel_shmem.hidden + offset;
}

/* ---- images ---- */

keel_status_t keel_shmem_extents(void)
{
    const keel_shmem_hidden_t *hidden = keel_shmem.hidden;
    keel_extent_t *extents = malloc((hidden->block_count + 1 + keel_shmem_globals_extents(NULL)) * sizeof(*extents));
    keel_status_t status;
    unsigned count = 1;

    if (extents == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    extents[0] = (keel_extent_t){.length = offsetof(keel_shmem_hidden_t, blocks) +
                                           hidden->block_count * sizeof(hidden->blocks[0])};
    for (uint64_t i = 0; i < hidden->block_count; i++) {
        keel_extent_t *last = &extents[count - 1];

        if (count > 1 && last->offset + last->length == hidden->blocks[i].offset) {
            last->length += hidden->blocks[i].length;
        } else {
            extents[count++] = hidden->blocks[i];
        }
    }
    count += keel_shmem_globals_extents(&extents[count]);
    status = keel_win_extents(keel_shmem.win, extents, count);
    free(extents);
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
