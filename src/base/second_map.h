/* Memory of the program's own that becomes shared memory, and comes back. */
#ifndef KEEL_BASE_SECOND_MAP_H_
#define KEEL_BASE_SECOND_MAP_H_

#include <stddef.h>

/* whole pages of private memory, which nobody else can have mapped; else it cannot be done */
int keel_second_map_is_possible(const void *memory, size_t bytes);
/* @a shared, which has the contents of @a memory already, is mapped there too, in one step. 0: it cannot be, and all stays as it is */
int keel_second_map(void *shared, void *memory, size_t bytes);
/* private memory takes its place, with what is there now, in one step; 0: the kernel refuses that, and it stays as it is */
int keel_second_unmap(void *memory, size_t bytes);
/* Whole pages of zeros of this process's own, which nobody else knows of yet, become shared memory, and a child of fork() does not have them;
 * what is shared stays. 0: there is no memory, and they hold nothing that is of use */
int keel_second_make_possible(void *memory, size_t bytes);

#endif
