/*
 * Reductions in rank order, since an operation need not commute. Partial results go up a binomial
 * tree to rank 0, each covering a rank and the ranks behind it; the result goes from rank 0 to the
 * root or to all. If the number of ranks is a power of two, short elements for all are exchanged
 * instead, with partial results over the same ranks: half as many messages follow one another. On
 * intercommunicators each group reduces for the other.
 */
#include "coll/mpi_reduce.h"

#include "comm/mpi_inter.h"
#include "rma/mpi_op.h"

#include <stdlib.h>
#include <string.h>

enum {
    EXCHANGED_MAX = 2048, /* bytes: longer elements cost more than the time of a message */
    SHORT_MAX = 256       /* bytes on the stack */
};

/* ---- elements of a reduction ---- */

static void *elements_alloc(const keel_mpi_reduction_t *reduction)
{
    char *room = calloc(1, reduction->span + 16);

    if (room == NULL) {
        keel_mpi_fatal(reduction->call, "no memory");
    }
    return room - reduction->low;
}

static void elements_free(const keel_mpi_reduction_t *reduction, void *elements)
{
    if (elements != NULL) {
        free((char *)elements + reduction->low);
    }
}

int keel_mpi_reduction_make(keel_mpi_reduction_t *reduction, const keel_mpi_comm_t *comm, int count, MPI_Datatype type,
                            MPI_Op op, const char *call)
{
    const keel_mpi_parts_t part = {.count = count, .type = type};
    const int code = keel_mpi_parts_check(&part, 1, comm, call);

    if (code != MPI_SUCCESS) {
        return code;
    }
    if (op == MPI_OP_NULL) {
        return keel_mpi_raise(comm->handle, MPI_ERR_OP, call, "not an operation");
    }
    *reduction = (keel_mpi_reduction_t){
        .count = count, .type = type, .op = op, .layout = keel_mpi_layout_of(type), .call = call};
    reduction->bytes = reduction->layout->size * (size_t)count;
    keel_mpi_layout_span(reduction->layout, (size_t)count, &reduction->low, &reduction->span);
    return MPI_SUCCESS;
}

void *keel_mpi_reduction_begin(const keel_mpi_reduction_t *reduction, const void *from)
{
    void *elements = elements_alloc(reduction);

    keel_mpi_reduction_set(reduction, elements, from);
    return elements;
}

void keel_mpi_reduction_set(const keel_mpi_reduction_t *reduction, void *to, const void *from)
{
    const keel_mpi_parts_t part = {.buffer = from, .count = reduction->count, .type = reduction->type};
    void *packed = keel_mpi_part_pack(&part, 0, reduction->call);

    keel_mpi_unpack(packed, reduction->bytes, to, (size_t)reduction->count, reduction->layout);
    free(packed);
}

void keel_mpi_reduction_end(const keel_mpi_reduction_t *reduction, void *elements)
{
    elements_free(reduction, elements);
}

void keel_mpi_reduction_append(const keel_mpi_reduction_t *reduction, void **elements_p, const void *packed)
{
    void *other = elements_alloc(reduction);

    keel_mpi_unpack(packed, reduction->bytes, other, (size_t)reduction->count, reduction->layout);
    PMPI_Reduce_local(*elements_p, other, reduction->count, reduction->type, reduction->op);
    elements_free(reduction, *elements_p);
    *elements_p = other;
}

static void elements_send(const keel_mpi_reduction_t *reduction, const void *elements, const keel_mpi_coll_t *coll,
                          uint32_t to)
{
    const keel_mpi_parts_t part = {.buffer = elements, .count = reduction->count, .type = reduction->type};

    keel_mpi_part_send(&part, 0, coll, to);
}

static void elements_receive(const keel_mpi_reduction_t *reduction, void *elements, const keel_mpi_coll_t *coll,
                             uint32_t from)
{
    const keel_mpi_parts_t part = {.buffer = elements, .count = reduction->count, .type = reduction->type};

    keel_mpi_part_receive(&part, 0, coll, from);
}

/* Leaves the result at rank 0. */
static void reduce_to_rank_0(const keel_mpi_reduction_t *reduction, void **elements_p, const keel_mpi_coll_t *coll)
{
    const uint32_t size = coll->comm->size, rank = coll->comm->rank;
    void *packed = malloc(reduction->bytes + 1);

    if (packed == NULL) {
        keel_mpi_fatal(reduction->call, "no memory");
    }
    for (uint64_t distance = 1; distance < size; distance *= 2) {
        if (rank & distance) {
            elements_send(reduction, *elements_p, coll, (uint32_t)(rank - distance));
            break;
        }
        if (rank + distance < size) {
            keel_mpi_coll_receive(coll, (uint32_t)(rank + distance), packed, reduction->bytes);
            keel_mpi_reduction_append(reduction, elements_p, packed);
        }
    }
    free(packed);
}

/* Leaves the result at all ranks, with the same bits: of two partners the one before computes what
 * the one behind does. */
static void reduce_by_exchange(const keel_mpi_reduction_t *reduction, void **elements_p, const keel_mpi_coll_t *coll)
{
    const uint32_t size = coll->comm->size, rank = coll->comm->rank;
    void *packed = malloc(reduction->bytes + 1), *before;

    if (packed == NULL) {
        keel_mpi_fatal(reduction->call, "no memory");
    }
    for (uint32_t distance = 1; distance < size; distance *= 2) {
        elements_send(reduction, *elements_p, coll, rank ^ distance);
        keel_mpi_coll_receive(coll, rank ^ distance, packed, reduction->bytes);
        if ((rank & distance) == 0) {
            keel_mpi_reduction_append(reduction, elements_p, packed);
        } else {
            before = elements_alloc(reduction);
            keel_mpi_unpack(packed, reduction->bytes, before, (size_t)reduction->count, reduction->layout);
            PMPI_Reduce_local(before, *elements_p, reduction->count, reduction->type, reduction->op);
            elements_free(reduction, before);
        }
    }
    free(packed);
}

/* reduce_by_exchange() of a few elements without gaps, of a type and operation that the adapter
 * knows. Returns 0 for others. */
static int reduce_short(const keel_mpi_reduction_t *reduction, const void *from, void *to, const keel_mpi_coll_t *coll)
{
    const keel_mpi_layout_t *layout = reduction->layout;
    const uint32_t size = coll->comm->size, rank = coll->comm->rank;
    const keel_mpi_kind_t kind = (keel_mpi_kind_t)layout->basic_kind;
    _Alignas(16) char mine[SHORT_MAX], other[SHORT_MAX];
    size_t count;

    if (reduction->bytes == 0 || reduction->bytes > SHORT_MAX || !layout->is_dense || layout->is_mixed ||
        !keel_mpi_op_apply(kind, reduction->op, NULL, NULL, 0)) {
        return 0;
    }
    count = reduction->bytes / layout->basic_size;
    memcpy(mine, (const char *)from + layout->runs[0].offset, reduction->bytes);
    for (uint32_t distance = 1; distance < size; distance *= 2) {
        keel_mpi_coll_send(coll, rank ^ distance, mine, reduction->bytes);
        keel_mpi_coll_receive(coll, rank ^ distance, other, reduction->bytes);
        if ((rank & distance) == 0) { /* both partners combine in the order of ranks */
            (void)keel_mpi_op_apply(kind, reduction->op, other, mine, count);
            memcpy(mine, other, reduction->bytes);
        } else {
            (void)keel_mpi_op_apply(kind, reduction->op, mine, other, count);
        }
    }
    memcpy((char *)to + layout->runs[0].offset, mine, reduction->bytes);
    return 1;
}

/* Broadcasts from rank 0. */
static void elements_bcast(const keel_mpi_reduction_t *reduction, void *elements, const keel_mpi_coll_t *coll)
{
    const keel_mpi_parts_t part = {.buffer = elements, .count = reduction->count, .type = reduction->type};
    void *packed = keel_mpi_part_pack(&part, 0, reduction->call);

    keel_mpi_coll_bcast(coll, 0, packed, reduction->bytes);
    keel_mpi_unpack(packed, reduction->bytes, elements, (size_t)reduction->count, reduction->layout);
    free(packed);
}

/* Exchanges the results of the two groups between their first ranks. */
static void elements_swap(const keel_mpi_reduction_t *reduction, void *elements, const keel_mpi_coll_t *coll)
{
    keel_mpi_comm_t room;
    const keel_mpi_coll_t across = keel_mpi_inter_across(coll, keel_mpi_inter_others(coll->comm, &room));

    if (keel_mpi_comm_is_inter(coll->comm) && coll->comm->rank == 0) {
        elements_send(reduction, elements, &across, 0);
        elements_receive(reduction, elements, &across, 0);
    }
}

/* ---- calls ---- */

/* Reduces for the remote group, or receives its result. */
static void reduce_across(const keel_mpi_reduction_t *reduction, const void *sendbuf, void *recvbuf, int root,
                          const keel_mpi_coll_t *coll)
{
    keel_mpi_comm_t room;
    const keel_mpi_coll_t across = keel_mpi_inter_across(coll, keel_mpi_inter_others(coll->comm, &room));
    void *elements;

    if (root == MPI_ROOT) {
        elements_receive(reduction, recvbuf, &across, 0);
    } else if (root != MPI_PROC_NULL) {
        elements = keel_mpi_reduction_begin(reduction, sendbuf);
        reduce_to_rank_0(reduction, &elements, coll);
        if (coll->comm->rank == 0) {
            elements_send(reduction, elements, &across, (uint32_t)root);
        }
        keel_mpi_reduction_end(reduction, elements);
    }
}

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    keel_mpi_reduction_t reduction;
    keel_mpi_coll_t coll;
    void *elements;
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Reduce")

    code = keel_mpi_root_check(comm_ptr, root, "MPI_Reduce");
    if (code == MPI_SUCCESS && root != MPI_PROC_NULL) {
        code = keel_mpi_reduction_make(&reduction, comm_ptr, count, datatype, op, "MPI_Reduce");
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    coll = keel_mpi_coll_begin(comm_ptr, "MPI_Reduce");
    if (keel_mpi_comm_is_inter(comm_ptr)) {
        reduce_across(&reduction, sendbuf, recvbuf, root, &coll);
        return MPI_SUCCESS;
    }
    elements = keel_mpi_reduction_begin(&reduction, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
    reduce_to_rank_0(&reduction, &elements, &coll);
    if (root != 0 && comm_ptr->rank == 0) {
        elements_send(&reduction, elements, &coll, (uint32_t)root);
    } else if (root != 0 && comm_ptr->rank == (uint32_t)root) {
        elements_receive(&reduction, elements, &coll, 0);
    }
    if (comm_ptr->rank == (uint32_t)root) {
        keel_mpi_reduction_set(&reduction, recvbuf, elements);
    }
    keel_mpi_reduction_end(&reduction, elements);
    return MPI_SUCCESS;
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    keel_mpi_reduction_t reduction;
    const void *from = (sendbuf == MPI_IN_PLACE) ? recvbuf : sendbuf;
    keel_mpi_coll_t coll;
    void *elements;
    int code, is_exchanged;
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Allreduce")

    code = keel_mpi_reduction_make(&reduction, comm_ptr, count, datatype, op, "MPI_Allreduce");
    if (code != MPI_SUCCESS) {
        return code;
    }
    coll = keel_mpi_coll_begin(comm_ptr, "MPI_Allreduce");
    is_exchanged = reduction.bytes <= EXCHANGED_MAX && !keel_mpi_comm_is_inter(comm_ptr) &&
                   (comm_ptr->size & (comm_ptr->size - 1)) == 0;
    if (is_exchanged && reduce_short(&reduction, from, recvbuf, &coll)) {
        return MPI_SUCCESS;
    }
    elements = keel_mpi_reduction_begin(&reduction, from);
    if (is_exchanged) {
        reduce_by_exchange(&reduction, &elements, &coll);
    } else {
        reduce_to_rank_0(&reduction, &elements, &coll);
        elements_swap(&reduction, elements, &coll);
        elements_bcast(&reduction, elements, &coll);
    }
    keel_mpi_reduction_set(&reduction, recvbuf, elements);
    keel_mpi_reduction_end(&reduction, elements);
    return MPI_SUCCESS;
}

/* A chain: each rank receives the partial result of the rank before, and sends it on with its own
 * elements included. */
static int scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                int is_exclusive, const char *call)
{
    keel_mpi_reduction_t reduction;
    keel_mpi_coll_t coll;
    void *mine, *before = NULL, *packed;
    int code;
    KEEL_MPI_INTRA(comm_ptr, comm, call)

    code = keel_mpi_reduction_make(&reduction, comm_ptr, count, datatype, op, call);
    if (code != MPI_SUCCESS) {
        return code;
    }
    coll = keel_mpi_coll_begin(comm_ptr, call);
    mine = keel_mpi_reduction_begin(&reduction, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
    if (comm_ptr->rank > 0) {
        const keel_mpi_parts_t part = {.buffer = mine, .count = count, .type = datatype};

        before = elements_alloc(&reduction);
        elements_receive(&reduction, before, &coll, comm_ptr->rank - 1);
        if (is_exclusive) {
            keel_mpi_reduction_set(&reduction, recvbuf, before);
        }
        packed = keel_mpi_part_pack(&part, 0, call);
        keel_mpi_reduction_append(&reduction, &before, packed);
        free(packed);
    }
    if (comm_ptr->rank + 1 < comm_ptr->size) {
        elements_send(&reduction, before != NULL ? before : mine, &coll, comm_ptr->rank + 1);
    }
    if (!is_exclusive) {
        keel_mpi_reduction_set(&reduction, recvbuf, before != NULL ? before : mine);
    }
    keel_mpi_reduction_end(&reduction, before);
    keel_mpi_reduction_end(&reduction, mine);
    return MPI_SUCCESS;
}

int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return scan(sendbuf, recvbuf, count, datatype, op, comm, 0, "MPI_Scan");
}

int MPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return scan(sendbuf, recvbuf, count, datatype, op, comm, 1, "MPI_Exscan");
}

/* Gives each rank its part of the result. @a parts describes the parts; its buffer is set here. */
static int reduce_scatter(const void *sendbuf, void *recvbuf, keel_mpi_parts_t *parts, MPI_Op op, MPI_Comm comm,
                          const char *call)
{
    keel_mpi_parts_t mine = {.buffer = recvbuf, .type = parts->type};
    keel_mpi_reduction_t reduction;
    keel_mpi_coll_t coll;
    void *elements;
    int code, total = 0, *displs;
    KEEL_MPI_COMM(comm_ptr, comm, call)

    code = keel_mpi_parts_check(parts, comm_ptr->size, comm_ptr, call);
    if (code != MPI_SUCCESS) {
        return code;
    }
    displs = malloc(comm_ptr->size * sizeof(*displs));
    if (displs == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    for (uint32_t i = 0; i < comm_ptr->size; i++) {
        displs[i] = total;
        total += (parts->counts != NULL) ? parts->counts[i] : parts->count;
    }
    parts->displs = displs;
    mine.count = (parts->counts != NULL) ? parts->counts[comm_ptr->rank] : parts->count;
    code = keel_mpi_reduction_make(&reduction, comm_ptr, total, parts->type, op, call);
    if (code == MPI_SUCCESS) {
        coll = keel_mpi_coll_begin(comm_ptr, call);
        elements = keel_mpi_reduction_begin(&reduction, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
        reduce_to_rank_0(&reduction, &elements, &coll);
        elements_swap(&reduction, elements, &coll);
        parts->buffer = elements;
        for (uint32_t i = 1; comm_ptr->rank == 0 && i < comm_ptr->size; i++) {
            keel_mpi_part_send(parts, i, &coll, i);
        }
        if (comm_ptr->rank == 0) {
            keel_mpi_part_copy(parts, 0, &mine, 0, call);
        } else {
            keel_mpi_part_receive(&mine, 0, &coll, 0);
        }
        keel_mpi_reduction_end(&reduction, elements);
    }
    free(displs);
    return code;
}

int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm)
{
    keel_mpi_parts_t parts = {.counts = recvcounts, .type = datatype};

    return reduce_scatter(sendbuf, recvbuf, &parts, op, comm, "MPI_Reduce_scatter");
}

int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm)
{
    keel_mpi_parts_t parts = {.count = recvcount, .type = datatype};

    return reduce_scatter(sendbuf, recvbuf, &parts, op, comm, "MPI_Reduce_scatter_block");
}
