/* A collective call's messages, told from those of others by the number of the call; and what all collectives are made of. */
#ifndef KEEL_MPI_COLL_H_
#define KEEL_MPI_COLL_H_

#include "comm/mpi_comm.h"

typedef struct keel_mpi_coll {
    const keel_mpi_comm_t *comm;
    uint64_t context;
    int64_t tag;
    const char *call;
    int is_nonblocking; /* of a call that does not wait */
} keel_mpi_coll_t;

/* the next of the communicator */
keel_mpi_coll_t keel_mpi_coll_begin(const keel_mpi_comm_t *comm, const char *call);
/* to and from a rank of the communicator; of two members all messages of a round are received in the order of their sending */
void keel_mpi_coll_send(const keel_mpi_coll_t *coll, uint32_t to, const void *data, size_t bytes);
size_t keel_mpi_coll_receive(const keel_mpi_coll_t *coll, uint32_t from, void *data, size_t bytes);

/* returns when all have come to it: log n messages each */
void keel_mpi_coll_barrier(const keel_mpi_coll_t *coll);
/* the same, which with the promise is a gsync where these are all ranks of the job: for calls that these make in one order */
void keel_mpi_coll_barrier_or_gsync(const keel_mpi_coll_t *coll);
/* the same, and whether @a is holds for any of them */
int keel_mpi_coll_any(const keel_mpi_coll_t *coll, int is);
/* the same many bytes of each, in the order of their ranks: log n messages each */
void keel_mpi_coll_allgather(const keel_mpi_coll_t *coll, const void *mine, size_t bytes, void *all);
/* from @a root to all, down a binomial tree */
void keel_mpi_coll_bcast(const keel_mpi_coll_t *coll, uint32_t root, void *data, size_t bytes);

#endif
