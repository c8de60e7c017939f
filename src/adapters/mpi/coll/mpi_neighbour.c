/* Neighbourhood collectives. The blocking ones wait for the nonblocking ones. */
#include "coll/mpi_icoll.h"
#include "comm/mpi_topology.h"

int keel_mpi_icoll_wait(int code, MPI_Request *request)
{
    return (code == MPI_SUCCESS) ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

/* MPI_PROC_NULL stands for a missing neighbour. */
static const uint32_t *ranks_of(const int *neighbours, uint32_t count)
{
    uint32_t *ranks = (uint32_t *)neighbours;

    for (uint32_t i = 0; i < count; i++) {
        ranks[i] = (neighbours[i] == MPI_PROC_NULL) ? KEEL_MPI_NO_RANK : (uint32_t)neighbours[i];
    }
    return ranks;
}

static int exchange(const keel_mpi_parts_t *to, int is_same, const keel_mpi_parts_t *from, MPI_Comm comm,
                    MPI_Request *request, const char *call)
{
    keel_mpi_neighbours_t neighbours;
    keel_mpi_coll_t coll;
    int code;
    KEEL_MPI_INTRA(comm_ptr, comm, call)

    if (comm_ptr->topology == NULL) {
        return keel_mpi_raise(comm, MPI_ERR_TOPOLOGY, call, "a communicator without neighbours");
    }
    keel_mpi_neighbours_make(comm_ptr, &neighbours, call);
    code = keel_mpi_parts_check(to, is_same ? 1 : neighbours.out_count, comm_ptr, call);
    code = (code == MPI_SUCCESS) ? keel_mpi_parts_check(from, neighbours.in_count, comm_ptr, call) : code;
    if (code == MPI_SUCCESS) {
        coll = keel_mpi_coll_begin(comm_ptr, call);
        keel_mpi_icoll_exchange(
            &coll,
            &(keel_mpi_partners_t){to, is_same, neighbours.out_count, ranks_of(neighbours.out, neighbours.out_count),
                                   neighbours.out_marks},
            &(keel_mpi_partners_t){from, 0, neighbours.in_count, ranks_of(neighbours.in, neighbours.in_count),
                                   neighbours.in_marks},
            request);
    }
    keel_mpi_neighbours_free(&neighbours);
    return code;
}

/* ---- one part for all ---- */

int MPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const keel_mpi_parts_t mine = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t all = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return exchange(&mine, 1, &all, comm, request, "MPI_Neighbor_allgather");
}

int MPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm)
{
    MPI_Request request;

    return keel_mpi_icoll_wait(
        MPI_Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &request), &request);
}

int MPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
    const keel_mpi_parts_t mine = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t all = {.buffer = recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype};

    return exchange(&mine, 1, &all, comm, request, "MPI_Neighbor_allgatherv");
}

int MPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                            const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    MPI_Request request;

    return keel_mpi_icoll_wait(
        MPI_Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, &request),
        &request);
}

/* ---- a part per neighbour ---- */

int MPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const keel_mpi_parts_t to = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t from = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return exchange(&to, 0, &from, comm, request, "MPI_Neighbor_alltoall");
}

int MPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm)
{
    MPI_Request request;

    return keel_mpi_icoll_wait(
        MPI_Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &request), &request);
}

int MPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Request *request)
{
    const keel_mpi_parts_t to = {.buffer = sendbuf, .counts = sendcounts, .displs = sdispls, .type = sendtype};
    const keel_mpi_parts_t from = {.buffer = recvbuf, .counts = recvcounts, .displs = rdispls, .type = recvtype};

    return exchange(&to, 0, &from, comm, request, "MPI_Neighbor_alltoallv");
}

int MPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                           void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                           MPI_Comm comm)
{
    MPI_Request request;

    return keel_mpi_icoll_wait(MPI_Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                                       rdispls, recvtype, comm, &request),
                               &request);
}

int MPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                            MPI_Request *request)
{
    const keel_mpi_parts_t to = {.buffer = sendbuf, .counts = sendcounts, .bytes_at = sdispls, .types = sendtypes};
    const keel_mpi_parts_t from = {.buffer = recvbuf, .counts = recvcounts, .bytes_at = rdispls, .types = recvtypes};

    return exchange(&to, 0, &from, comm, request, "MPI_Neighbor_alltoallw");
}

int MPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                           const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    MPI_Request request;

    return keel_mpi_icoll_wait(MPI_Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                                       rdispls, recvtypes, comm, &request),
                               &request);
}
