/* Groups: ranks of the job, in order. A handle belongs to the system's MPI, as a group of the
 * caller alone. */
#ifndef KEEL_MPI_GROUP_H_
#define KEEL_MPI_GROUP_H_

#include "comm/mpi_comm.h"

typedef struct keel_mpi_group {
    uint32_t size;
    struct keel_mpi_group_shares *shares; /* NULL: one variable holds the handle */
    uint32_t ranks[];
} keel_mpi_group_t;

/* NULL: not a group. */
const keel_mpi_group_t *keel_mpi_group_of(MPI_Group handle);
MPI_Group keel_mpi_group_make(uint32_t size, const uint32_t *ranks, const char *call);
/* The group of a communicator's members or peers. Each call returns the same handle; the handle
 * changes at the restart point. */
MPI_Group keel_mpi_group_of_comm(keel_mpi_comm_t *comm, int is_remote, const char *call);
/* Drops the communicator's own references to its groups. */
void keel_mpi_group_leave_comm(const keel_mpi_comm_t *comm);
/* After a rollback: restores, in the program's variables, the handles freed since the
 * checkpoint. */
void keel_mpi_group_revive(void);
/* UINT32_MAX: not a member. */
uint32_t keel_mpi_group_index(const keel_mpi_group_t *group, uint32_t rank);
/* Returns MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL. */
int keel_mpi_members_compare(uint32_t size, const uint32_t *members, uint32_t other_size, const uint32_t *others);

#endif
