/* Looks through the global variables that are restored for what would be wrong then: pointers to private memory, which is not. */
#ifndef KEEL_SHMEM_POINTERS_H_
#define KEEL_SHMEM_POINTERS_H_

#include "shmem_globals.h"

/* Writes the names of variables with such pointers to @a text, with a comma between, as far as they have room: how many there are. Of memory
 * from @a begin up to @a end, the window, it is right to have pointers. */
unsigned keel_shmem_pointers_find(const keel_shmem_globals_t *globals, uintptr_t begin, uintptr_t end, char *text,
                                  size_t room);

#endif
