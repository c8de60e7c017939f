/*
 * Collectives that do not wait: what a rank has for others it sends at once, and the request is complete when all has come that others
 * have for it. So one that has been called needs nothing more of the caller for the others to complete theirs.
 */
#ifndef KEEL_MPI_ICOLL_H_
#define KEEL_MPI_ICOLL_H_

#include "coll/mpi_parts.h"
#include "p2p/mpi_request.h"

#define KEEL_MPI_NO_RANK UINT32_MAX

/* to whom a call sends, and from whom it has something: of each the part of that number; KEEL_MPI_NO_RANK is left out. */
typedef struct keel_mpi_partners {
    const keel_mpi_parts_t *parts;
    int is_same; /* one part for all */
    uint32_t count;
    const uint32_t *ranks; /* of the communicator, or of an intercommunicator's other group */
    const int64_t *marks;  /* of neighbours; NULL: none */
} keel_mpi_partners_t;

/* sends, and gives the request of what comes */
void keel_mpi_icoll_exchange(const keel_mpi_coll_t *coll, const keel_mpi_partners_t *to,
                             const keel_mpi_partners_t *from, MPI_Request *request);

/* an open request that wants something of each of these ranks, in their order */
keel_mpi_request_t *keel_mpi_icoll_expect(const keel_mpi_request_ops_t *ops, const keel_mpi_coll_t *coll,
                                          const keel_mpi_partners_t *from);
/* and of one more, a rank of the job */
void keel_mpi_icoll_expect_of(keel_mpi_request_t *request, const keel_mpi_coll_t *coll, uint32_t rank);
int keel_mpi_icoll_has_all(keel_mpi_request_t *request);
/* what the i-th of them had: @a bytes at most */
void keel_mpi_icoll_take(keel_mpi_request_t *request, uint32_t i, void *data, size_t bytes);

/* such ranks from @a first on, one for each; the own is left out where @a is_without_self, if it is among them; allocated */
uint32_t *keel_mpi_icoll_ranks(const keel_mpi_comm_t *comm, uint32_t first, uint32_t count, int is_without_self,
                               const char *call);

/* mpi_neighbour.c: what a call that waits has done when it returns */
int keel_mpi_icoll_wait(int code, MPI_Request *request);

#endif
