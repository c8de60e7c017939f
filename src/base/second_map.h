/* Memory of the program's own that becomes shared memory, and comes back. */
#ifndef KEEL_BASE_SECOND_MAP_H_
#define KEEL_BASE_SECOND_MAP_H_

#include <stddef.h>

/* whole pages of private memory, which nobody else can have mapped; else it cannot be done */
int keel_second_map_is_possible(const void *memory, size_t bytes);
/* @a shared, which has the contents of @a memory already, is mapped there too, in one step. 0: it cannot be, and all stays as it is */
int keel_second_map(void *shared, void *memory, size_t bytes);
/* private memory takes its place, with what is there now, in one step; where the kernel refuses that, it stays as it is */
void keel_second_unmap(void *memory, size_t bytes);

#endif
