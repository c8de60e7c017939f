/* Allocation: the C library behind the hook, and arenas from the kernel. */
#include "base/memory.h"

#include "base/memory_limit.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEEL_HUGE_PAGE ((size_t)2 << 20)
/* from this size on, checks first whether the memory is available */
#define KEEL_ARENA_LARGE ((size_t)64 << 20)

/* the only process-wide variable: allocations are process-wide, too, and only tests set it */
static keel_memory_hook_t keel_memory_hook;

void keel_memory_set_hook(const keel_memory_hook_t *hook)
{
    static const keel_memory_hook_t none;

    keel_memory_hook = (hook != NULL) ? *hook : none;
}

static int keel_memory_may_allocate(size_t bytes, const char *name)
{
    const keel_memory_hook_t *hook = &keel_memory_hook;

    return (hook->may_allocate == NULL) || hook->may_allocate(hook->arg, bytes, name);
}

static void keel_memory_allocated(void *memory, size_t bytes, int is_arena)
{
    const keel_memory_hook_t *hook = &keel_memory_hook;

    if ((hook->allocated != NULL) && (memory != NULL)) {
        hook->allocated(hook->arg, memory, bytes, is_arena);
    }
}

static void keel_memory_freed(void *memory)
{
    const keel_memory_hook_t *hook = &keel_memory_hook;

    if ((hook->freed != NULL) && (memory != NULL)) {
        hook->freed(hook->arg, memory);
    }
}

void *keel_alloc(size_t bytes, const char *name)
{
    void *memory;

    if (!keel_memory_may_allocate(bytes, name)) {
        return NULL;
    }
    memory = calloc(1, (bytes > 0) ? bytes : 1);
    keel_memory_allocated(memory, bytes, 0);
    return memory;
}

void *keel_realloc(void *old, size_t bytes, const char *name)
{
    /* only the value is passed on; volatile suppresses the compiler's warning */
    void *volatile previous = old;
    void *memory;

    if (!keel_memory_may_allocate(bytes, name)) {
        return NULL;
    }
    memory = realloc(old, (bytes > 0) ? bytes : 1);
    if (memory != NULL) {
        keel_memory_freed(previous);
        keel_memory_allocated(memory, bytes, 0);
    }
    return memory;
}

void keel_free(void *memory)
{
    keel_memory_freed(memory);
    free(memory);
}

static size_t keel_arena_length(size_t bytes)
{
    const size_t page = sysconf(_SC_PAGESIZE);

    return (bytes == 0) ? page : ((bytes + page - 1) & ~(page - 1));
}

/* maps @a length bytes, on a huge-page boundary if a huge page fits */
static char *keel_arena_map(size_t length)
{
    const size_t slack = (length >= KEEL_HUGE_PAGE) ? KEEL_HUGE_PAGE : 0;
    char *map, *base;
    size_t head;

    map = mmap(NULL, length + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        return NULL;
    }
    if (slack == 0) {
        return map;
    }
    head = -(uintptr_t)map & (KEEL_HUGE_PAGE - 1);
    base = map + head;
    if (head > 0) {
        munmap(map, head);
    }
    if (head < slack) {
        munmap(base + length, slack - head);
    }
    return base;
}

static void keel_arena_take(char *base, size_t length)
{
    const size_t page = sysconf(_SC_PAGESIZE);
    size_t offset;

#ifdef MADV_POPULATE_WRITE
    if (madvise(base, length, MADV_POPULATE_WRITE) == 0) {
        return;
    }
#endif
    for (offset = 0; offset < length; offset += page) {
        *(volatile char *)(base + offset) = 0;
    }
}

/* returns 0 if memory is short */
static int keel_arena_fault_in(char *base, size_t length)
{
    size_t part, available;

    if (length < KEEL_ARENA_LARGE) {
        keel_arena_take(base, length);
        return 1;
    }
    for (; length > 0; base += part, length -= part) {
        part = keel_memory_part(length, &available);
        if (part == 0) {
            return 0;
        }
        keel_arena_take(base, part);
    }
    return 1;
}

void *keel_arena_alloc(size_t bytes, size_t ready, const char *name)
{
    const size_t length = keel_arena_length(bytes);
    char *base;

    if ((bytes > SIZE_MAX / 2) || !keel_memory_may_allocate(bytes, name)) {
        return NULL;
    }
    base = keel_arena_map(length);
    if (base == NULL) {
        return NULL;
    }
    /* optional: without huge pages the arena is only slower */
    (void)madvise(base, length, MADV_HUGEPAGE);
    if (ready > 0 && !keel_arena_fault_in(base, (ready < bytes) ? keel_arena_length(ready) : length)) {
        munmap(base, length);
        return NULL;
    }
    keel_memory_allocated(base, length, 1);
    return base;
}

void keel_arena_wipe_in_child(void *memory, size_t bytes)
{
    (void)madvise(memory, keel_arena_length(bytes), MADV_WIPEONFORK);
}

void keel_arena_free(void *memory, size_t bytes)
{
    int rc;

    if (memory == NULL) {
        return;
    }
    keel_memory_freed(memory);
    rc = munmap(memory, keel_arena_length(bytes));
    assert(rc == 0);
    (void)rc;
}
