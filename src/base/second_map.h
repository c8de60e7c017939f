/* Conversion of the program's own memory to shared memory, and back. */
#ifndef KEEL_BASE_SECOND_MAP_H_
#define KEEL_BASE_SECOND_MAP_H_

#include <stddef.h>

/* Is the memory convertible? It must be whole pages of private memory, which no other process
 * can have mapped. */
int keel_second_map_is_possible(const void *memory, size_t bytes);
/* Maps @a shared, which already has the contents of @a memory, at @a memory, too, in one step.
 * Returns 0 without any change if impossible. */
int keel_second_map(void *shared, void *memory, size_t bytes);
/* Replaces the mapping by private memory with equal contents in one step. Returns 0 without any
 * change if the kernel refuses. */
int keel_second_unmap(void *memory, size_t bytes);
/* Converts whole pages of zeros of this process, unknown to other processes, to shared memory
 * that a child of fork() does not inherit. Shared memory stays unchanged. Returns 0 if memory is
 * short; the contents are then undefined. */
int keel_second_make_possible(void *memory, size_t bytes);

#endif
