/*
 * Intercommunicators: messages go to another group, and what both groups have to know goes by the first ranks of each. A collective's number
 * is that of both groups.
 */
#ifndef KEEL_MPI_INTER_H_
#define KEEL_MPI_INTER_H_

#include "coll/mpi_coll.h"

/* a context for both groups; collective over them */
uint64_t keel_mpi_inter_context(const keel_mpi_comm_t *inter, const char *call);
/* who gives a context where nobody is asked: a rank of the job, the same for all members, of both groups */
uint32_t keel_mpi_inter_context_owner(const keel_mpi_comm_t *comm);
/* whom a collective's data goes to and comes from: the members themselves, or, by @a room, the other group in their stead; the rank is the own one */
const keel_mpi_comm_t *keel_mpi_inter_others(const keel_mpi_comm_t *comm, keel_mpi_comm_t *room);
/* the same round between the groups */
keel_mpi_coll_t keel_mpi_inter_across(const keel_mpi_coll_t *coll, const keel_mpi_comm_t *others);
/* whether the caller is a collective's root: MPI_ROOT, or of an intracommunicator that rank */
static inline int keel_mpi_is_root(const keel_mpi_comm_t *comm, int root)
{
    return keel_mpi_comm_is_inter(comm) ? root == MPI_ROOT : (uint32_t)root == comm->rank;
}
/* returns when all of both groups have come to it */
void keel_mpi_inter_barrier(const keel_mpi_coll_t *coll);
/* MPI_Comm_split() and MPI_Comm_create(): of each group those with that color, or those in that group of it */
int keel_mpi_inter_split(const keel_mpi_comm_t *of, int color, int key, MPI_Comm *newcomm, const char *call);
int keel_mpi_inter_create(const keel_mpi_comm_t *of, uint32_t size, const uint32_t *ranks, MPI_Comm *newcomm,
                          const char *call);

#endif
