/* Groups: ranks of the job, in order. A handle is one of the system's MPI, of a group of the caller alone. */
#ifndef KEEL_MPI_GROUP_H_
#define KEEL_MPI_GROUP_H_

#include "mpi_state.h"

typedef struct keel_mpi_group {
    uint32_t size;
    uint32_t ranks[];
} keel_mpi_group_t;

/* NULL: no group */
const keel_mpi_group_t *keel_mpi_group_of(MPI_Group handle);
MPI_Group keel_mpi_group_make(uint32_t size, const uint32_t *ranks, const char *call);
/* UINT32_MAX: not in it */
uint32_t keel_mpi_group_index(const keel_mpi_group_t *group, uint32_t rank);
/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL */
int keel_mpi_members_compare(uint32_t size, const uint32_t *members, uint32_t other_size, const uint32_t *others);

#endif
