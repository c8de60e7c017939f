/*
 * The one seam through which Keel allocates, so that tests can make any allocation fail and the simulator can take
 * back what a killed rank held. The hook is process-wide because allocations are; production code never sets it.
 */
#ifndef KEEL_BASE_MEMORY_H_
#define KEEL_BASE_MEMORY_H_

#include <stddef.h>

void *keel_alloc(size_t bytes, const char *name); /* zeroed, or NULL */
void *keel_realloc(void *old, size_t bytes, const char *name);
void keel_free(void *memory);
/* zeroed, page aligned, with huge pages where the kernel gives them; the first @a ready bytes are faulted in, NULL when the machine
 * or the control group has not got them */
void *keel_arena_alloc(size_t bytes, size_t ready, const char *name);
/* a child of fork() finds zeros there; where the kernel is older than 4.14, a copy like anywhere else */
void keel_arena_wipe_in_child(void *memory, size_t bytes);
void keel_arena_free(void *memory, size_t bytes);

/* each callback may be NULL; a reallocation is told as freed and allocated */
typedef struct keel_memory_hook {
    int (*may_allocate)(void *arg, size_t bytes, const char *name); /* 0: the allocation fails */
    void (*allocated)(void *arg, void *memory, size_t bytes, int is_arena);
    void (*freed)(void *arg, void *memory);
    void *arg;
} keel_memory_hook_t;
void keel_memory_set_hook(const keel_memory_hook_t *hook); /* NULL: none */

#endif
