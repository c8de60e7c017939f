/* One collective call: its messages, told apart from those of other calls by the number of the
 * call, and the building blocks of all collectives. */
#ifndef KEEL_MPI_COLL_H_
#define KEEL_MPI_COLL_H_

#include "comm/mpi_comm.h"

typedef struct keel_mpi_coll {
    const keel_mpi_comm_t *comm;
    uint64_t context;
    int64_t tag;
    const char *call;
    int is_nonblocking; /* of a nonblocking call */
} keel_mpi_coll_t;

/* Begins the next collective of the communicator. */
keel_mpi_coll_t keel_mpi_coll_begin(const keel_mpi_comm_t *comm, const char *call);
/* Send to and receive from a rank of the communicator. Between two members all messages of a
 * collective arrive in the order of sending. */
void keel_mpi_coll_send(const keel_mpi_coll_t *coll, uint32_t to, const void *data, size_t bytes);
size_t keel_mpi_coll_receive(const keel_mpi_coll_t *coll, uint32_t from, void *data, size_t bytes);

/* Returns when all ranks have called it. Takes log n messages per rank. */
void keel_mpi_coll_barrier(const keel_mpi_coll_t *coll);
/* A barrier. In deterministic mode, if the communicator has all ranks of the job, a gsync. For
 * calls that these ranks make in the same order. */
void keel_mpi_coll_barrier_or_gsync(const keel_mpi_coll_t *coll);
/* A barrier that returns whether @a is holds for any rank. */
int keel_mpi_coll_any(const keel_mpi_coll_t *coll, int is);
/* Gathers equally many bytes from each rank, in rank order. Takes log n messages per rank. */
void keel_mpi_coll_allgather(const keel_mpi_coll_t *coll, const void *mine, size_t bytes, void *all);
/* Broadcast from @a root down a binomial tree. */
void keel_mpi_coll_bcast(const keel_mpi_coll_t *coll, uint32_t root, void *data, size_t bytes);

#endif
