/* Dynamic windows: memory is attached and detached by each member alone; others find it by its address in a table of that member. */
#ifndef KEEL_MPI_DYNAMIC_H_
#define KEEL_MPI_DYNAMIC_H_

#include "rma/mpi_window.h"

/* the own table's offset */
uint64_t keel_mpi_dynamic_make(const char *call);
void keel_mpi_dynamic_remove(const keel_mpi_win_t *win);
/* whether memory of the program's own is attached here, and not only the arena's (MPI_Alloc_mem) */
int keel_mpi_dynamic_has_own(const keel_mpi_win_t *win);
/* the member's table, until the next call; some of its entries are of 0 bytes */
const struct keel_mpi_segment *keel_mpi_dynamic_table(const keel_mpi_win_t *win, uint32_t target, size_t *count_p,
                                                      const char *call);

#endif
