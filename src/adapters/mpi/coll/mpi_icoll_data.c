/* Nonblocking collectives that move data. */
#include "coll/mpi_icoll.h"
#include "comm/mpi_inter.h"
#include "life/mpi_startup.h"

#include <stdlib.h>

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    const keel_mpi_parts_t nothing = {.type = MPI_BYTE};
    keel_mpi_coll_t coll;
    uint32_t *all;
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Ibarrier")

    coll = keel_mpi_coll_begin(comm_ptr, "MPI_Ibarrier");
    all = keel_mpi_icoll_ranks(comm_ptr, 0, comm_ptr->peer_count, 1, "MPI_Ibarrier");
    keel_mpi_icoll_exchange(
        &coll, &(keel_mpi_partners_t){.parts = &nothing, .count = comm_ptr->peer_count, .ranks = all},
        &(keel_mpi_partners_t){.parts = &nothing, .count = comm_ptr->peer_count, .ranks = all}, request);
    free(all);
    return MPI_SUCCESS;
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
    const keel_mpi_parts_t part = {.buffer = buffer, .count = count, .type = datatype};
    const uint32_t from = (uint32_t)root;
    keel_mpi_partners_t none = {.parts = &part}, others = {.parts = &part, .is_same = 1},
                        one = {.parts = &part, .ranks = &from};
    keel_mpi_coll_t coll;
    uint32_t *all;
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Ibcast")

    code = keel_mpi_root_check(comm_ptr, root, "MPI_Ibcast");
    code =
        (code == MPI_SUCCESS && root != MPI_PROC_NULL) ? keel_mpi_parts_check(&part, 1, comm_ptr, "MPI_Ibcast") : code;
    if (code != MPI_SUCCESS) {
        return code;
    }
    coll = keel_mpi_coll_begin(comm_ptr, "MPI_Ibcast");
    all = keel_mpi_icoll_ranks(comm_ptr, 0, comm_ptr->peer_count, 1, "MPI_Ibcast");
    others.ranks = all;
    others.count = comm_ptr->peer_count;
    one.count = (root != MPI_PROC_NULL);
    if (keel_mpi_is_root(comm_ptr, root)) {
        keel_mpi_icoll_exchange(&coll, &others, &none, request);
    } else {
        keel_mpi_icoll_exchange(&coll, &none, &one, request);
    }
    free(all);
    return MPI_SUCCESS;
}

/* ---- to one, and from one ---- */

/* Moves a part of each rank to the root (@a is_up) or from the root. */
static int rooted(const keel_mpi_parts_t *mine, const keel_mpi_parts_t *all, int root, int is_up, MPI_Comm comm,
                  MPI_Request *request, const char *call)
{
    const int is_in_place = mine->buffer == MPI_IN_PLACE;
    const uint32_t one = is_in_place ? KEEL_MPI_NO_RANK : (uint32_t)root;
    keel_mpi_partners_t many = {.parts = all}, single = {.parts = mine, .ranks = &one};
    keel_mpi_coll_t coll;
    uint32_t *ranks;
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, call)

    code = keel_mpi_parts_check_rooted(mine, all, root, comm_ptr, call);
    if (code != MPI_SUCCESS) {
        return code;
    }
    coll = keel_mpi_coll_begin(comm_ptr, call);
    ranks = keel_mpi_icoll_ranks(comm_ptr, 0, comm_ptr->peer_count, is_in_place, call);
    many.ranks = ranks;
    many.count = keel_mpi_is_root(comm_ptr, root) ? comm_ptr->peer_count : 0;
    single.count = (root >= 0); /* a rank, possibly the caller itself */
    keel_mpi_icoll_exchange(&coll, is_up ? &single : &many, is_up ? &many : &single, request);
    free(ranks);
    return MPI_SUCCESS;
}

int MPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    const keel_mpi_parts_t mine = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t all = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return rooted(&mine, &all, root, 1, comm, request, "MPI_Igather");
}

int MPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    const keel_mpi_parts_t mine = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t all = {.buffer = recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype};

    return rooted(&mine, &all, root, 1, comm, request, "MPI_Igatherv");
}

int MPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    const keel_mpi_parts_t all = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t mine = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return rooted(&mine, &all, root, 0, comm, request, "MPI_Iscatter");
}

int MPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    const keel_mpi_parts_t all = {.buffer = sendbuf, .counts = sendcounts, .displs = displs, .type = sendtype};
    const keel_mpi_parts_t mine = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return rooted(&mine, &all, root, 0, comm, request, "MPI_Iscatterv");
}

/* ---- from all to all ---- */

/* With MPI_IN_PLACE all parts are packed before any is received: receiving begins when the program
 * asks for the request. */
static int exchange(const keel_mpi_parts_t *to, int is_same, const keel_mpi_parts_t *from, MPI_Comm comm,
                    MPI_Request *request, const char *call)
{
    const keel_mpi_parts_t *packed = (to->buffer == MPI_IN_PLACE) ? from : to;
    /* the own part of the receive buffer goes to all */
    const int is_own = is_same && to->buffer == MPI_IN_PLACE;
    keel_mpi_parts_t own = *from;
    keel_mpi_coll_t coll;
    uint32_t *all;
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, call)

    code = keel_mpi_place_check(to->buffer, comm_ptr, call);
    code = (code == MPI_SUCCESS) ? keel_mpi_parts_check(from, comm_ptr->peer_count, comm_ptr, call) : code;
    code = (code == MPI_SUCCESS)
               ? keel_mpi_parts_check(packed, is_same && !is_own ? 1 : comm_ptr->peer_count, comm_ptr, call)
               : code;
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (is_own) {
        own = (keel_mpi_parts_t){.buffer = keel_mpi_part_at(from, comm_ptr->rank),
                                 .count = (from->counts != NULL) ? from->counts[comm_ptr->rank] : from->count,
                                 .type = from->type};
        packed = &own;
    }
    coll = keel_mpi_coll_begin(comm_ptr, call);
    all = keel_mpi_icoll_ranks(comm_ptr, 0, comm_ptr->peer_count, is_own, call);
    keel_mpi_icoll_exchange(
        &coll, &(keel_mpi_partners_t){.parts = packed, .is_same = is_same, .count = comm_ptr->peer_count, .ranks = all},
        &(keel_mpi_partners_t){.parts = from, .count = comm_ptr->peer_count, .ranks = all}, request);
    free(all);
    return MPI_SUCCESS;
}

int MPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const keel_mpi_parts_t mine = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t all = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return exchange(&mine, 1, &all, comm, request, "MPI_Iallgather");
}

int MPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const keel_mpi_parts_t mine = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t all = {.buffer = recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype};

    return exchange(&mine, 1, &all, comm, request, "MPI_Iallgatherv");
}

int MPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const keel_mpi_parts_t to = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    const keel_mpi_parts_t from = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return exchange(&to, 0, &from, comm, request, "MPI_Ialltoall");
}

int MPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Request *request)
{
    const keel_mpi_parts_t to = {.buffer = sendbuf, .counts = sendcounts, .displs = sdispls, .type = sendtype};
    const keel_mpi_parts_t from = {.buffer = recvbuf, .counts = recvcounts, .displs = rdispls, .type = recvtype};

    return exchange(&to, 0, &from, comm, request, "MPI_Ialltoallv");
}

int MPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm, MPI_Request *request)
{
    const keel_mpi_parts_t to = {.buffer = sendbuf, .counts = sendcounts, .displs = sdispls, .types = sendtypes};
    const keel_mpi_parts_t from = {.buffer = recvbuf, .counts = recvcounts, .displs = rdispls, .types = recvtypes};

    return exchange(&to, 0, &from, comm, request, "MPI_Ialltoallw");
}

/* ---- MPI_Comm_idup ---- */

/* The first member (of the first of two groups) chooses the context and sends it to the others. */
static void idup_finish(keel_mpi_request_t *request, MPI_Status *status)
{
    keel_mpi_comm_t *copy = request->buffer;

    if (request->receive_count > 0) {
        keel_mpi_icoll_take(request, 0, &copy->context, sizeof(copy->context));
    }
    keel_mpi_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

static const keel_mpi_request_ops_t idup_ops = {.is_ready = keel_mpi_icoll_has_all, .finish = idup_finish};

static int idup(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request, const char *call)
{
    const keel_mpi_partners_t no_partners = {.count = 0};
    keel_mpi_comm_t room;
    keel_mpi_request_t *open;
    keel_mpi_coll_t coll, across;
    keel_mpi_comm_t *copy;
    uint32_t owner;
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, call)

    code = keel_mpi_comm_duplicate(comm_ptr, info, newcomm, call);
    if (code != MPI_SUCCESS) {
        return code;
    }
    copy = keel_mpi_comm_of(*newcomm);
    coll = keel_mpi_coll_begin(comm_ptr, call);
    coll.is_nonblocking = 1;
    across = keel_mpi_inter_across(&coll, keel_mpi_inter_others(comm_ptr, &room));
    owner = keel_mpi_inter_context_owner(comm_ptr);
    open = keel_mpi_icoll_expect(&idup_ops, &coll, &no_partners);
    open->buffer = copy;
    if (owner == keel_mpi.rank) {
        copy->context = keel_mpi_comm_context_new();
        for (uint32_t i = 1; i < comm_ptr->size; i++) {
            keel_mpi_coll_send(&coll, i, &copy->context, sizeof(copy->context));
        }
        for (uint32_t i = 0; keel_mpi_comm_is_inter(comm_ptr) && i < comm_ptr->peer_count; i++) {
            keel_mpi_coll_send(&across, i, &copy->context, sizeof(copy->context));
        }
    } else {
        keel_mpi_icoll_expect_of(open, &coll, owner);
    }
    *request = open->handle;
    return MPI_SUCCESS;
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return idup(comm, MPI_INFO_NULL, newcomm, request, "MPI_Comm_idup");
}

/* not in mpi.h of Open MPI 4.1 */
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request);
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
    return idup(comm, info, newcomm, request, "MPI_Comm_idup_with_info");
}
