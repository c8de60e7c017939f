/*
 * Intercommunicators. Messages go to the remote group. The first ranks of both groups exchange
 * common knowledge. A collective has the same number in both groups.
 */
#ifndef KEEL_MPI_INTER_H_
#define KEEL_MPI_INTER_H_

#include "coll/mpi_coll.h"

/* A new context for both groups; collective over both. */
uint64_t keel_mpi_inter_context(const keel_mpi_comm_t *inter, const char *call);
/* The rank of the job, the same for all members of both groups, that chooses a context without
 * negotiation. */
uint32_t keel_mpi_inter_context_owner(const keel_mpi_comm_t *comm);
/* The communicator for a collective's data: @a room filled with the peers as members. For an
 * intracommunicator the peers are the members. The rank stays the caller's. */
const keel_mpi_comm_t *keel_mpi_inter_others(const keel_mpi_comm_t *comm, keel_mpi_comm_t *room);
/* The same collective, with messages to the remote group. */
keel_mpi_coll_t keel_mpi_inter_across(const keel_mpi_coll_t *coll, const keel_mpi_comm_t *others);
/* True if the caller is the root of a collective: @a root is MPI_ROOT, or the rank in an
 * intracommunicator. */
static inline int keel_mpi_is_root(const keel_mpi_comm_t *comm, int root)
{
    return keel_mpi_comm_is_inter(comm) ? root == MPI_ROOT : (uint32_t)root == comm->rank;
}
/* Returns when all ranks of both groups have called it. */
void keel_mpi_inter_barrier(const keel_mpi_coll_t *coll);
/* MPI_Comm_split() and MPI_Comm_create(): select from each group the ranks with the color, or the
 * ranks in the given group. */
int keel_mpi_inter_split(const keel_mpi_comm_t *comm_ptr, int color, int key, MPI_Comm *newcomm, const char *call);
int keel_mpi_inter_create(const keel_mpi_comm_t *comm_ptr, uint32_t size, const uint32_t *ranks, MPI_Comm *newcomm,
                          const char *call);

#endif
