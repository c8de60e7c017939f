/*
 * Searches restored global variables for pointers to private memory, which a restore does not bring
 * back.
 */
#ifndef KEEL_SHMEM_POINTERS_H_
#define KEEL_SHMEM_POINTERS_H_

#include "shmem_globals.h"

/*
 * Writes the names of variables with such pointers to @a text, separated by commas, as far as room
 * allows, and returns their count. Pointers to the window, from @a begin to @a end, are legitimate.
 */
unsigned keel_shmem_pointers_find(const keel_shmem_globals_t *globals, uintptr_t begin, uintptr_t end, char *text,
                                  size_t room);

#endif
