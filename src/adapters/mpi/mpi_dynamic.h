/* Dynamic windows: memory is attached and detached by each member alone; others find it by its address in a table of that member. */
#ifndef KEEL_MPI_DYNAMIC_H_
#define KEEL_MPI_DYNAMIC_H_

#include "mpi_window.h"

/* the own table's offset */
uint64_t keel_mpi_dynamic_make(const char *call);
void keel_mpi_dynamic_remove(const keel_mpi_win_t *win);
/* whether memory of the program's own is attached here, and not only the arena's (MPI_Alloc_mem) */
int keel_mpi_dynamic_has_own(const keel_mpi_win_t *win);
/* where in the member's arena the bytes at @a address of it lie; 0: they are not attached */
int keel_mpi_dynamic_find(const keel_mpi_win_t *win, uint32_t target, MPI_Aint address, size_t bytes,
                          uint64_t *offset_p, const char *call);

#endif
