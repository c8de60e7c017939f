/* Nonblocking reductions. Each rank with a result receives the elements of all contributors and
 * applies the operation in rank order. */
#include "coll/mpi_icoll.h"
#include "coll/mpi_reduce.h"
#include "comm/mpi_inter.h"
#include "life/mpi_startup.h"

#include <stdlib.h>
#include <string.h>

/* Contributors to a rank's result: the ranks [0, end), with or without the rank itself. */
typedef struct {
    uint32_t end;
    int has_own;
} contributors_t;

static void reduction_finish(keel_mpi_request_t *request, MPI_Status *status)
{
    const uint32_t count = request->receive_count + (request->own_at != UINT32_MAX);
    const size_t bytes = request->layout->size * request->count;
    char *all = calloc(count + 1, bytes + 1);
    keel_mpi_reduction_t reduction, part;
    void *elements;

    if (all == NULL || keel_mpi_reduction_make(&reduction, request->comm, (int)request->count, request->type,
                                               request->op, request->call) != MPI_SUCCESS) {
        keel_mpi_fatal(request->call, "no memory");
    }
    for (uint32_t i = 0, receive = 0; i < count; i++) {
        if (i == request->own_at) {
            memcpy(all + i * bytes, request->own, bytes);
        } else {
            keel_mpi_icoll_take(request, receive++, all + i * bytes, bytes);
        }
    }
    if (count > 0) {
        /* gives the form; all elements are set below */
        elements = keel_mpi_reduction_begin(&reduction, request->form);
        keel_mpi_unpack(all, bytes, elements, request->count, request->layout);
        for (uint32_t i = 1; i < count; i++) {
            keel_mpi_reduction_append(&reduction, &elements, all + i * bytes);
        }
        part = reduction;
        part.count = (int)request->part_count;
        part.bytes = request->layout->size * request->part_count;
        keel_mpi_reduction_set(&part, request->buffer,
                               (const char *)elements + (ptrdiff_t)request->part_at * request->layout->extent);
        keel_mpi_reduction_end(&reduction, elements);
    }
    free(all);
    keel_mpi_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

static const keel_mpi_request_ops_t reduction_ops = {.is_ready = keel_mpi_icoll_has_all, .finish = reduction_finish};

/* Makes the request for the elements of the own result. */
static keel_mpi_request_t *reduction_expect(const keel_mpi_coll_t *coll, const keel_mpi_reduction_t *reduction,
                                            contributors_t contributors, void *buffer)
{
    const keel_mpi_comm_t *comm_ptr = coll->comm;
    uint32_t *ranks = keel_mpi_icoll_ranks(comm_ptr, 0, contributors.end, 1, coll->call);
    keel_mpi_request_t *open =
        keel_mpi_icoll_expect(&reduction_ops, coll, &(keel_mpi_partners_t){.count = contributors.end, .ranks = ranks});

    free(ranks);
    open->form = open->buffer = buffer;
    open->count = open->part_count = (size_t)reduction->count;
    open->layout = keel_mpi_layout_keep(reduction->layout, coll->call);
    open->type = reduction->type;
    open->op = reduction->op;
    open->is_reduction = 1;
    open->own_at = contributors.has_own ? comm_ptr->rank : UINT32_MAX;
    return open;
}

/* Sends the own elements to the ranks [first, end), since their results include the elements. */
static int reduce(const void *sendbuf, void *recvbuf, const keel_mpi_reduction_t *reduction,
                  const keel_mpi_comm_t *comm_ptr, contributors_t contributors, uint32_t first, uint32_t end,
                  MPI_Request *request)
{
    const keel_mpi_parts_t part = {
        .buffer = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, .count = reduction->count, .type = reduction->type};
    const keel_mpi_coll_t coll = keel_mpi_coll_begin(comm_ptr, reduction->call);
    keel_mpi_comm_t room;
    keel_mpi_coll_t across = keel_mpi_inter_across(&coll, keel_mpi_inter_others(comm_ptr, &room));
    keel_mpi_request_t *open = reduction_expect(&coll, reduction, contributors, recvbuf);

    across.is_nonblocking = 1;
    open->own = keel_mpi_part_pack(&part, 0, reduction->call);
    for (uint32_t i = first; i < end; i++) {
        if (i != comm_ptr->rank || keel_mpi_comm_is_inter(comm_ptr)) {
            keel_mpi_coll_send(&across, i, open->own, reduction->bytes);
        }
    }
    *request = open->handle;
    return MPI_SUCCESS;
}

int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    keel_mpi_reduction_t reduction;
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Iallreduce")

    code = keel_mpi_reduction_make(&reduction, comm_ptr, count, datatype, op, "MPI_Iallreduce");
    return (code == MPI_SUCCESS) ? reduce(sendbuf, recvbuf, &reduction, comm_ptr,
                                          (contributors_t){comm_ptr->peer_count, !keel_mpi_comm_is_inter(comm_ptr)}, 0,
                                          comm_ptr->peer_count, request)
                                 : code;
}

/* Between groups: a rank that is no peer of the root has neither elements nor a result. */
static int reduce_across(const void *sendbuf, void *recvbuf, const keel_mpi_reduction_t *reduction,
                         const keel_mpi_comm_t *comm_ptr, int root, MPI_Request *request)
{
    const keel_mpi_reduction_t nothing = {
        .type = MPI_BYTE, .op = MPI_BAND, .layout = keel_mpi_layout_of(MPI_BYTE), .call = reduction->call};

    return (root == MPI_PROC_NULL) ? reduce(NULL, NULL, &nothing, comm_ptr, (contributors_t){0, 0}, 0, 0, request)
           : (root == MPI_ROOT)
               ? reduce(recvbuf, recvbuf, reduction, comm_ptr, (contributors_t){comm_ptr->peer_count, 0}, 0, 0, request)
               : reduce(sendbuf, NULL, reduction, comm_ptr, (contributors_t){0, 0}, (uint32_t)root, (uint32_t)root + 1,
                        request);
}

int MPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm, MPI_Request *request)
{
    const uint32_t to = (uint32_t)root;
    keel_mpi_reduction_t reduction = {.call = "MPI_Ireduce"};
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Ireduce")

    code = keel_mpi_root_check(comm_ptr, root, "MPI_Ireduce");
    if (code == MPI_SUCCESS && root != MPI_PROC_NULL) {
        code = keel_mpi_reduction_make(&reduction, comm_ptr, count, datatype, op, "MPI_Ireduce");
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    return keel_mpi_comm_is_inter(comm_ptr)
               ? reduce_across(sendbuf, recvbuf, &reduction, comm_ptr, root, request)
               : reduce(sendbuf, recvbuf, &reduction, comm_ptr,
                        comm_ptr->rank == to ? (contributors_t){comm_ptr->size, 1} : (contributors_t){0, 0}, to, to + 1,
                        request);
}

static int scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int has_own,
                MPI_Comm comm, MPI_Request *request, const char *call)
{
    keel_mpi_reduction_t reduction;
    int code;
    KEEL_MPI_INTRA(comm_ptr, comm, call)

    code = keel_mpi_reduction_make(&reduction, comm_ptr, count, datatype, op, call);
    return (code == MPI_SUCCESS)
               ? reduce(sendbuf, recvbuf, &reduction, comm_ptr, (contributors_t){comm_ptr->rank, has_own},
                        comm_ptr->rank + 1, comm_ptr->size, request)
               : code;
}

int MPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
              MPI_Request *request)
{
    return scan(sendbuf, recvbuf, count, datatype, op, 1, comm, request, "MPI_Iscan");
}

int MPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                MPI_Request *request)
{
    return scan(sendbuf, recvbuf, count, datatype, op, 0, comm, request, "MPI_Iexscan");
}

/* ---- each rank's own part ---- */

/* The remote group's division of its result is not known here. Each rank therefore sends all
 * elements, and keeps its own part of its result. */
static int reduce_scatter_across(const void *sendbuf, void *recvbuf, const keel_mpi_parts_t *parts, MPI_Op op,
                                 const keel_mpi_comm_t *comm_ptr, MPI_Request *request, const char *call)
{
    keel_mpi_request_t *open;
    keel_mpi_reduction_t reduction;
    int code = keel_mpi_parts_check(parts, comm_ptr->size, comm_ptr, call), total = 0, first = 0;

    for (uint32_t i = 0; code == MPI_SUCCESS && i < comm_ptr->size; i++) {
        first = (i == comm_ptr->rank) ? total : first;
        total += (parts->counts != NULL) ? parts->counts[i] : parts->count;
    }
    code = (code == MPI_SUCCESS) ? keel_mpi_reduction_make(&reduction, comm_ptr, total, parts->type, op, call) : code;
    code = (code == MPI_SUCCESS) ? reduce(sendbuf, recvbuf, &reduction, comm_ptr,
                                          (contributors_t){comm_ptr->peer_count, 0}, 0, comm_ptr->peer_count, request)
                                 : code;
    if (code == MPI_SUCCESS) {
        open = keel_mpi_request_of(*request);
        open->form = sendbuf;
        open->part_at = (size_t)first;
        open->part_count = (size_t)((parts->counts != NULL) ? parts->counts[comm_ptr->rank] : parts->count);
    }
    return code;
}

static int reduce_scatter(const void *sendbuf, void *recvbuf, keel_mpi_parts_t *parts, MPI_Op op, MPI_Comm comm,
                          MPI_Request *request, const char *call)
{
    keel_mpi_request_t *open;
    keel_mpi_coll_t coll;
    keel_mpi_reduction_t reduction;
    int code, total = 0, *displs;
    KEEL_MPI_COMM(comm_ptr, comm, call)

    if (keel_mpi_comm_is_inter(comm_ptr)) {
        return reduce_scatter_across(sendbuf, recvbuf, parts, op, comm_ptr, request, call);
    }
    code = keel_mpi_parts_check(parts, comm_ptr->size, comm_ptr, call);
    code = (code == MPI_SUCCESS)
               ? keel_mpi_reduction_make(&reduction, comm_ptr,
                                         parts->counts != NULL ? parts->counts[comm_ptr->rank] : parts->count,
                                         parts->type, op, call)
               : code;
    if (code != MPI_SUCCESS) {
        return code;
    }
    displs = calloc(comm_ptr->size, sizeof(*displs));
    if (displs == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    for (uint32_t i = 0; i < comm_ptr->size; i++) {
        displs[i] = total;
        total += (parts->counts != NULL) ? parts->counts[i] : parts->count;
    }
    parts->displs = displs;
    parts->buffer = (sendbuf == MPI_IN_PLACE) ? recvbuf : sendbuf;
    coll = keel_mpi_coll_begin(comm_ptr, call);
    coll.is_nonblocking = 1;
    open = reduction_expect(&coll, &reduction, (contributors_t){comm_ptr->size, 1}, recvbuf);
    open->own = keel_mpi_part_pack(parts, comm_ptr->rank, call);
    for (uint32_t i = 1; i < comm_ptr->size; i++) {
        keel_mpi_part_send(parts, (comm_ptr->rank + i) % comm_ptr->size, &coll, (comm_ptr->rank + i) % comm_ptr->size);
    }
    free(displs);
    *request = open->handle;
    return MPI_SUCCESS;
}

int MPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, MPI_Request *request)
{
    keel_mpi_parts_t parts = {.counts = recvcounts, .type = datatype};

    return reduce_scatter(sendbuf, recvbuf, &parts, op, comm, request, "MPI_Ireduce_scatter");
}

int MPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, MPI_Request *request)
{
    keel_mpi_parts_t parts = {.count = recvcount, .type = datatype};

    return reduce_scatter(sendbuf, recvbuf, &parts, op, comm, request, "MPI_Ireduce_scatter_block");
}
