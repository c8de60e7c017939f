/*
 * Nonblocking collectives. A rank sends all its data at once, and the request is complete when the
 * data of all others has arrived. Once called, a collective needs nothing more from the caller for
 * the other ranks to complete it.
 */
#ifndef KEEL_MPI_ICOLL_H_
#define KEEL_MPI_ICOLL_H_

#include "coll/mpi_parts.h"
#include "p2p/mpi_request.h"

#define KEEL_MPI_NO_RANK UINT32_MAX

/* The ranks that a call sends to or receives from, each with its part of that number. Ranks equal
 * to KEEL_MPI_NO_RANK are left out. */
typedef struct keel_mpi_partners {
    const keel_mpi_parts_t *parts;
    int is_same; /* one part for all */
    uint32_t count;
    const uint32_t *ranks; /* of the communicator, or of an intercommunicator's remote group */
    const int64_t *marks;  /* for neighbourhood collectives; NULL: none */
} keel_mpi_partners_t;

/* Sends, and returns the request for the incoming parts. */
void keel_mpi_icoll_exchange(const keel_mpi_coll_t *coll, const keel_mpi_partners_t *to,
                             const keel_mpi_partners_t *from, MPI_Request *request);

/* Makes an open request with one receive for each of the ranks, in order. */
keel_mpi_request_t *keel_mpi_icoll_expect(const keel_mpi_request_ops_t *ops, const keel_mpi_coll_t *coll,
                                          const keel_mpi_partners_t *from);
/* Adds a receive from a rank of the job. */
void keel_mpi_icoll_expect_of(keel_mpi_request_t *request, const keel_mpi_coll_t *coll, uint32_t rank);
int keel_mpi_icoll_has_all(keel_mpi_request_t *request);
/* Takes the message of the i-th receive, up to @a bytes. */
void keel_mpi_icoll_take(keel_mpi_request_t *request, uint32_t i, void *data, size_t bytes);

/* Returns the array of @a count ranks from @a first on. @a is_without_self: KEEL_MPI_NO_RANK stands
 * for the caller. Allocated. */
uint32_t *keel_mpi_icoll_ranks(const keel_mpi_comm_t *comm, uint32_t first, uint32_t count, int is_without_self,
                               const char *call);

/* mpi_neighbour.c: Waits for the request of a blocking call if @a code is MPI_SUCCESS. */
int keel_mpi_icoll_wait(int code, MPI_Request *request);

#endif
