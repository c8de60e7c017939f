/*
 * Collectives that move data. Rooted collectives are linear except MPI_Bcast; in the others each
 * rank sends to each. On intercommunicators the data goes between the groups; only MPI_Bcast and
 * MPI_Barrier send within a group.
 */
#include "coll/mpi_parts.h"
#include "comm/mpi_inter.h"
#include "life/mpi_restart.h"

#include <stdlib.h>
#include <string.h>

int MPI_Barrier(MPI_Comm comm)
{
    keel_mpi_coll_t coll;
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Barrier")

    coll = keel_mpi_coll_begin(comm_ptr, "MPI_Barrier");
    if (keel_mpi_comm_is_inter(comm_ptr)) {
        keel_mpi_inter_barrier(&coll);
    } else {
        keel_mpi_coll_barrier_or_gsync(&coll);
    }
    if (comm == MPI_COMM_WORLD) {
        keel_mpi_restart_barrier();
    }
    return MPI_SUCCESS;
}

/* The first rank of the remote group receives and broadcasts. */
static void broadcast_across(const keel_mpi_parts_t *part, int root, const keel_mpi_coll_t *coll)
{
    keel_mpi_comm_t room;
    const keel_mpi_coll_t across = keel_mpi_inter_across(coll, keel_mpi_inter_others(coll->comm, &room));
    void *packed;

    if (root == MPI_ROOT) {
        keel_mpi_part_send(part, 0, &across, 0);
    } else if (root != MPI_PROC_NULL) {
        packed = keel_mpi_part_pack(part, 0, coll->call);
        if (coll->comm->rank == 0) {
            keel_mpi_coll_receive(&across, (uint32_t)root, packed, keel_mpi_part_bytes(part, 0));
        }
        keel_mpi_coll_bcast(coll, 0, packed, keel_mpi_part_bytes(part, 0));
        keel_mpi_part_unpack(part, 0, packed, keel_mpi_part_bytes(part, 0));
        free(packed);
    }
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    const keel_mpi_parts_t part = {.buffer = buffer, .count = count, .type = datatype};
    keel_mpi_coll_t coll;
    void *packed;
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Bcast")

    code = keel_mpi_root_check(comm_ptr, root, "MPI_Bcast");
    code =
        (code == MPI_SUCCESS && root != MPI_PROC_NULL) ? keel_mpi_parts_check(&part, 1, comm_ptr, "MPI_Bcast") : code;
    if (code != MPI_SUCCESS) {
        return code;
    }
    coll = keel_mpi_coll_begin(comm_ptr, "MPI_Bcast");
    if (keel_mpi_comm_is_inter(comm_ptr)) {
        broadcast_across(&part, root, &coll);
        return MPI_SUCCESS;
    }
    packed = keel_mpi_part_pack(&part, 0, "MPI_Bcast");
    keel_mpi_coll_bcast(&coll, (uint32_t)root, packed, keel_mpi_part_bytes(&part, 0));
    if (comm_ptr->rank != (uint32_t)root) {
        keel_mpi_part_unpack(&part, 0, packed, keel_mpi_part_bytes(&part, 0));
    }
    free(packed);
    return MPI_SUCCESS;
}

/* ---- to one, and from one ---- */

static int gather(const keel_mpi_parts_t *mine, const keel_mpi_parts_t *all, int root, MPI_Comm comm, const char *call)
{
    const int is_in_place = mine->buffer == MPI_IN_PLACE;
    const keel_mpi_comm_t *others;
    keel_mpi_comm_t room;
    keel_mpi_coll_t coll;
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, call)

    code = keel_mpi_parts_check_rooted(mine, all, root, comm_ptr, call);
    if (code != MPI_SUCCESS) {
        return code;
    }
    coll = keel_mpi_coll_begin(comm_ptr, call);
    others = keel_mpi_inter_others(comm_ptr, &room);
    coll = keel_mpi_inter_across(&coll, others);
    if (!keel_mpi_is_root(comm_ptr, root)) {
        if (root != MPI_PROC_NULL) {
            keel_mpi_part_send(mine, 0, &coll, (uint32_t)root);
        }
        return MPI_SUCCESS;
    }
    for (uint32_t i = 0; i < others->size; i++) {
        if (i != comm_ptr->rank || keel_mpi_comm_is_inter(comm_ptr)) {
            keel_mpi_part_receive(all, i, &coll, i);
        } else if (!is_in_place) {
            keel_mpi_part_copy(mine, 0, all, i, call);
        }
    }
    return MPI_SUCCESS;
}

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const keel_mpi_parts_t mine = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t all = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return gather(&mine, &all, root, comm, "MPI_Gather");
}

int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const keel_mpi_parts_t mine = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t all = {.buffer = recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype};

    return gather(&mine, &all, root, comm, "MPI_Gatherv");
}

static int scatter(const keel_mpi_parts_t *all, const keel_mpi_parts_t *mine, int root, MPI_Comm comm, const char *call)
{
    const int is_in_place = mine->buffer == MPI_IN_PLACE;
    const keel_mpi_comm_t *others;
    keel_mpi_comm_t room;
    keel_mpi_coll_t coll;
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, call)

    code = keel_mpi_parts_check_rooted(mine, all, root, comm_ptr, call);
    if (code != MPI_SUCCESS) {
        return code;
    }
    coll = keel_mpi_coll_begin(comm_ptr, call);
    others = keel_mpi_inter_others(comm_ptr, &room);
    coll = keel_mpi_inter_across(&coll, others);
    if (!keel_mpi_is_root(comm_ptr, root)) {
        if (root != MPI_PROC_NULL) {
            keel_mpi_part_receive(mine, 0, &coll, (uint32_t)root);
        }
        return MPI_SUCCESS;
    }
    for (uint32_t i = 0; i < others->size; i++) {
        if (i != comm_ptr->rank || keel_mpi_comm_is_inter(comm_ptr)) {
            keel_mpi_part_send(all, i, &coll, i);
        } else if (!is_in_place) {
            keel_mpi_part_copy(all, i, mine, 0, call);
        }
    }
    return MPI_SUCCESS;
}

int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const keel_mpi_parts_t all = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t mine = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return scatter(&all, &mine, root, comm, "MPI_Scatter");
}

int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const keel_mpi_parts_t all = {.buffer = sendbuf, .counts = sendcounts, .displs = displs, .type = sendtype};
    const keel_mpi_parts_t mine = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return scatter(&all, &mine, root, comm, "MPI_Scatterv");
}

/* ---- from all to all ---- */

/* @a to has a part per rank, or one for all if @a is_same. */
static int exchange(const keel_mpi_parts_t *to, int is_same, const keel_mpi_parts_t *from, MPI_Comm comm,
                    const char *call)
{
    const keel_mpi_comm_t *others;
    keel_mpi_comm_t room;
    keel_mpi_coll_t coll;
    uint32_t size, first;
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, call)

    others = keel_mpi_inter_others(comm_ptr, &room);
    size = others->size;
    first = keel_mpi_comm_is_inter(comm_ptr) ? 0 : 1; /* no message for the own part */
    code = keel_mpi_parts_check(to, is_same ? 1 : size, comm_ptr, call);
    code = (code == MPI_SUCCESS) ? keel_mpi_parts_check(from, size, comm_ptr, call) : code;
    if (code != MPI_SUCCESS) {
        return code;
    }
    coll = keel_mpi_coll_begin(comm_ptr, call);
    coll = keel_mpi_inter_across(&coll, others);
    for (uint32_t i = first; i < size; i++) {
        const uint32_t peer = (comm_ptr->rank + i) % size;

        keel_mpi_part_send(to, is_same ? 0 : peer, &coll, peer);
    }
    if (first > 0) {
        keel_mpi_part_copy(to, is_same ? 0 : comm_ptr->rank, from, comm_ptr->rank, call);
    }
    for (uint32_t i = first; i < size; i++) {
        const uint32_t peer = (comm_ptr->rank % size + size - i) % size;

        keel_mpi_part_receive(from, peer, &coll, peer);
    }
    return MPI_SUCCESS;
}

/* With MPI_IN_PLACE the own contribution lies in its place of the receive buffer. */
static int all_gather(keel_mpi_parts_t *mine, const keel_mpi_parts_t *all, MPI_Comm comm, const char *call)
{
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, call)

    code = keel_mpi_place_check(mine->buffer, comm_ptr, call);
    if (code == MPI_SUCCESS && mine->buffer == MPI_IN_PLACE) {
        code = keel_mpi_parts_check(all, comm_ptr->size, comm_ptr, call);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (mine->buffer == MPI_IN_PLACE) {
        mine->buffer = keel_mpi_part_at(all, comm_ptr->rank);
        mine->count = (all->counts != NULL) ? all->counts[comm_ptr->rank] : all->count;
        mine->type = all->type;
    }
    return exchange(mine, 1, all, comm, call);
}

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
    keel_mpi_parts_t mine = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t all = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return all_gather(&mine, &all, comm, "MPI_Allgather");
}

int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    keel_mpi_parts_t mine = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t all = {.buffer = recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype};

    return all_gather(&mine, &all, comm, "MPI_Allgatherv");
}

/* With MPI_IN_PLACE all parts are packed and sent before any is received. */
static int all_to_all(const keel_mpi_parts_t *to, const keel_mpi_parts_t *from, MPI_Comm comm, const char *call)
{
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, call)

    code = keel_mpi_place_check(to->buffer, comm_ptr, call);
    return (code == MPI_SUCCESS) ? exchange(to->buffer == MPI_IN_PLACE ? from : to, 0, from, comm, call) : code;
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm)
{
    const keel_mpi_parts_t to = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t from = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return all_to_all(&to, &from, comm, "MPI_Alltoall");
}

int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                  void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    const keel_mpi_parts_t to = {.buffer = sendbuf, .counts = sendcounts, .displs = sdispls, .type = sendtype};
    const keel_mpi_parts_t from = {.buffer = recvbuf, .counts = recvcounts, .displs = rdispls, .type = recvtype};

    return all_to_all(&to, &from, comm, "MPI_Alltoallv");
}

int MPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                  void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                  MPI_Comm comm)
{
    const keel_mpi_parts_t to = {.buffer = sendbuf, .counts = sendcounts, .displs = sdispls, .types = sendtypes};
    const keel_mpi_parts_t from = {.buffer = recvbuf, .counts = recvcounts, .displs = rdispls, .types = recvtypes};

    return all_to_all(&to, &from, comm, "MPI_Alltoallw");
}
