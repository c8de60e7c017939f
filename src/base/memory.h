/*
 * All allocations of Keel pass here, so tests can make any allocation fail, and the simulator can
 * free the memory of a killed rank. The hook is process-wide because allocations are; production
 * code never sets it.
 */
#ifndef KEEL_BASE_MEMORY_H_
#define KEEL_BASE_MEMORY_H_

#include <stddef.h>

void *keel_alloc(size_t bytes, const char *name); /* zeroed, or NULL */
void *keel_realloc(void *old, size_t bytes, const char *name);
void keel_free(void *memory);
/* Zeroed, page aligned, with huge pages if the kernel provides them. The first @a ready bytes
 * are faulted in; NULL if the machine or the control group lacks the memory. */
void *keel_arena_alloc(size_t bytes, size_t ready, const char *name);
/* A child of fork() sees zeros in the memory; on kernels before 4.14, a copy as usual. */
void keel_arena_wipe_in_child(void *memory, size_t bytes);
void keel_arena_free(void *memory, size_t bytes);

/* each callback may be NULL; a reallocation is reported as free and allocation */
typedef struct keel_memory_hook {
    int (*may_allocate)(void *arg, size_t bytes, const char *name); /* 0: the allocation fails */
    void (*allocated)(void *arg, void *memory, size_t bytes, int is_arena);
    void (*freed)(void *arg, void *memory);
    void *arg;
} keel_memory_hook_t;
void keel_memory_set_hook(const keel_memory_hook_t *hook); /* NULL: none */

#endif
