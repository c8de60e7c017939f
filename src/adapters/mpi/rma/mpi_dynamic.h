/* Dynamic windows. Each member attaches and detaches memory alone. Other members find memory by its
 * address in a table of that member. */
#ifndef KEEL_MPI_DYNAMIC_H_
#define KEEL_MPI_DYNAMIC_H_

#include "rma/mpi_window.h"

/* Makes the own table and returns its offset. */
uint64_t keel_mpi_dynamic_make(const char *call);
void keel_mpi_dynamic_remove(const keel_mpi_win_t *win);
/* True if memory of the program's own is attached, besides memory of MPI_Alloc_mem. */
int keel_mpi_dynamic_has_own(const keel_mpi_win_t *win);
/* The table of a member, valid until the next call. Some entries may have 0 bytes. */
const struct keel_mpi_segment *keel_mpi_dynamic_table(const keel_mpi_win_t *win, uint32_t target, size_t *count_p,
                                                      const char *call);

#endif
