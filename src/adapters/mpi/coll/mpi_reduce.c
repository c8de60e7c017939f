/*
 * Reductions, in the order of ranks, as an operation need not commute: up a binomial tree to rank 0, where each rank holds the result of
 * itself and of those behind it, and from there to the root or to all; of intercommunicators each group for the other.
 */
#include "coll/mpi_reduce.h"

#include "comm/mpi_inter.h"

#include <stdlib.h>
#include <string.h>

/* ---- elements under an operation ---- */

static void *fold_room(const keel_mpi_reduction_t *fold)
{
    char *room = calloc(1, fold->span + 16);

    if (room == NULL) {
        keel_mpi_fatal(fold->call, "no memory");
    }
    return room - fold->low;
}

static void fold_free(const keel_mpi_reduction_t *fold, void *elements)
{
    if (elements != NULL) {
        free((char *)elements + fold->low);
    }
}

int keel_mpi_reduction_make(keel_mpi_reduction_t *fold, const keel_mpi_comm_t *comm, int count, MPI_Datatype type,
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
    *fold = (keel_mpi_reduction_t){
        .count = count, .type = type, .op = op, .layout = keel_mpi_layout_of(type), .call = call};
    fold->bytes = fold->layout->size * (size_t)count;
    keel_mpi_layout_span(fold->layout, (size_t)count, &fold->low, &fold->span);
    return MPI_SUCCESS;
}

void *keel_mpi_reduction_begin(const keel_mpi_reduction_t *fold, const void *from)
{
    void *elements = fold_room(fold);

    keel_mpi_reduction_set(fold, elements, from);
    return elements;
}

void keel_mpi_reduction_set(const keel_mpi_reduction_t *fold, void *to, const void *from)
{
    const keel_mpi_parts_t part = {.buffer = from, .count = fold->count, .type = fold->type};
    void *packed = keel_mpi_part_pack(&part, 0, fold->call);

    keel_mpi_unpack(packed, fold->bytes, to, (size_t)fold->count, fold->layout);
    free(packed);
}

void keel_mpi_reduction_end(const keel_mpi_reduction_t *fold, void *elements)
{
    fold_free(fold, elements);
}

/* elements op those that are packed */
void keel_mpi_reduction_append(const keel_mpi_reduction_t *fold, void **elements_p, const void *packed)
{
    void *other = fold_room(fold);

    keel_mpi_unpack(packed, fold->bytes, other, (size_t)fold->count, fold->layout);
    PMPI_Reduce_local(*elements_p, other, fold->count, fold->type, fold->op);
    fold_free(fold, *elements_p);
    *elements_p = other;
}

static void fold_send(const keel_mpi_reduction_t *fold, const void *elements, const keel_mpi_coll_t *round, uint32_t to)
{
    const keel_mpi_parts_t part = {.buffer = elements, .count = fold->count, .type = fold->type};

    keel_mpi_part_send(&part, 0, round, to);
}

static void fold_receive(const keel_mpi_reduction_t *fold, void *elements, const keel_mpi_coll_t *round, uint32_t from)
{
    const keel_mpi_parts_t part = {.buffer = elements, .count = fold->count, .type = fold->type};

    keel_mpi_part_receive(&part, 0, round, from);
}

/* the result is at rank 0 */
static void fold_up(const keel_mpi_reduction_t *fold, void **elements_p, const keel_mpi_coll_t *round)
{
    const uint32_t size = round->comm->size, rank = round->comm->rank;
    void *packed = malloc(fold->bytes + 1);

    if (packed == NULL) {
        keel_mpi_fatal(fold->call, "no memory");
    }
    for (uint64_t distance = 1; distance < size; distance *= 2) {
        if (rank & distance) {
            fold_send(fold, *elements_p, round, (uint32_t)(rank - distance));
            break;
        }
        if (rank + distance < size) {
            keel_mpi_coll_receive(round, (uint32_t)(rank + distance), packed, fold->bytes);
            keel_mpi_reduction_append(fold, elements_p, packed);
        }
    }
    free(packed);
}

/* from rank 0 to all */
static void fold_spread(const keel_mpi_reduction_t *fold, void *elements, const keel_mpi_coll_t *round)
{
    const keel_mpi_parts_t part = {.buffer = elements, .count = fold->count, .type = fold->type};
    void *packed = keel_mpi_part_pack(&part, 0, fold->call);

    keel_mpi_coll_bcast(round, 0, packed, fold->bytes);
    keel_mpi_unpack(packed, fold->bytes, elements, (size_t)fold->count, fold->layout);
    free(packed);
}

/* each group's result to the first rank of the other */
static void fold_swap(const keel_mpi_reduction_t *fold, void *elements, const keel_mpi_coll_t *round)
{
    keel_mpi_comm_t room;
    const keel_mpi_coll_t across = keel_mpi_inter_across(round, keel_mpi_inter_others(round->comm, &room));

    if (keel_mpi_comm_is_inter(round->comm) && round->comm->rank == 0) {
        fold_send(fold, elements, &across, 0);
        fold_receive(fold, elements, &across, 0);
    }
}

/* ---- calls ---- */

/* from the other group, or for it */
static void reduce_across(const keel_mpi_reduction_t *fold, const void *sendbuf, void *recvbuf, int root,
                          const keel_mpi_coll_t *round)
{
    keel_mpi_comm_t room;
    const keel_mpi_coll_t across = keel_mpi_inter_across(round, keel_mpi_inter_others(round->comm, &room));
    void *elements;

    if (root == MPI_ROOT) {
        fold_receive(fold, recvbuf, &across, 0);
    } else if (root != MPI_PROC_NULL) {
        elements = keel_mpi_reduction_begin(fold, sendbuf);
        fold_up(fold, &elements, round);
        if (round->comm->rank == 0) {
            fold_send(fold, elements, &across, (uint32_t)root);
        }
        keel_mpi_reduction_end(fold, elements);
    }
}

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    keel_mpi_reduction_t fold;
    keel_mpi_coll_t round;
    void *elements;
    int code;
    KEEL_MPI_COMM(of, comm, "MPI_Reduce")

    code = keel_mpi_root_check(of, root, "MPI_Reduce");
    if (code == MPI_SUCCESS && root != MPI_PROC_NULL) {
        code = keel_mpi_reduction_make(&fold, of, count, datatype, op, "MPI_Reduce");
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    round = keel_mpi_coll_begin(of, "MPI_Reduce");
    if (keel_mpi_comm_is_inter(of)) {
        reduce_across(&fold, sendbuf, recvbuf, root, &round);
        return MPI_SUCCESS;
    }
    elements = keel_mpi_reduction_begin(&fold, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
    fold_up(&fold, &elements, &round);
    if (root != 0 && of->rank == 0) {
        fold_send(&fold, elements, &round, (uint32_t)root);
    } else if (root != 0 && of->rank == (uint32_t)root) {
        fold_receive(&fold, elements, &round, 0);
    }
    if (of->rank == (uint32_t)root) {
        keel_mpi_reduction_set(&fold, recvbuf, elements);
    }
    keel_mpi_reduction_end(&fold, elements);
    return MPI_SUCCESS;
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    keel_mpi_reduction_t fold;
    keel_mpi_coll_t round;
    void *elements;
    int code;
    KEEL_MPI_COMM(of, comm, "MPI_Allreduce")

    code = keel_mpi_reduction_make(&fold, of, count, datatype, op, "MPI_Allreduce");
    if (code != MPI_SUCCESS) {
        return code;
    }
    round = keel_mpi_coll_begin(of, "MPI_Allreduce");
    elements = keel_mpi_reduction_begin(&fold, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
    fold_up(&fold, &elements, &round);
    fold_swap(&fold, elements, &round);
    fold_spread(&fold, elements, &round);
    keel_mpi_reduction_set(&fold, recvbuf, elements);
    keel_mpi_reduction_end(&fold, elements);
    return MPI_SUCCESS;
}

/* one after the other: what comes from the rank ahead, and with the own elements to the one after */
static int scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                int is_exclusive, const char *call)
{
    keel_mpi_reduction_t fold;
    keel_mpi_coll_t round;
    void *mine, *before = NULL, *packed;
    int code;
    KEEL_MPI_INTRA(of, comm, call)

    code = keel_mpi_reduction_make(&fold, of, count, datatype, op, call);
    if (code != MPI_SUCCESS) {
        return code;
    }
    round = keel_mpi_coll_begin(of, call);
    mine = keel_mpi_reduction_begin(&fold, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
    if (of->rank > 0) {
        const keel_mpi_parts_t part = {.buffer = mine, .count = count, .type = datatype};

        before = fold_room(&fold);
        fold_receive(&fold, before, &round, of->rank - 1);
        if (is_exclusive) {
            keel_mpi_reduction_set(&fold, recvbuf, before);
        }
        packed = keel_mpi_part_pack(&part, 0, call);
        keel_mpi_reduction_append(&fold, &before, packed);
        free(packed);
    }
    if (of->rank + 1 < of->size) {
        fold_send(&fold, before != NULL ? before : mine, &round, of->rank + 1);
    }
    if (!is_exclusive) {
        keel_mpi_reduction_set(&fold, recvbuf, before != NULL ? before : mine);
    }
    keel_mpi_reduction_end(&fold, before);
    keel_mpi_reduction_end(&fold, mine);
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

/* each rank's own part of the result; @a parts has them, its buffer is set */
static int reduce_scatter(const void *sendbuf, void *recvbuf, keel_mpi_parts_t *parts, MPI_Op op, MPI_Comm comm,
                          const char *call)
{
    keel_mpi_parts_t mine = {.buffer = recvbuf, .type = parts->type};
    keel_mpi_reduction_t fold;
    keel_mpi_coll_t round;
    void *elements;
    int code, total = 0, *displs;
    KEEL_MPI_COMM(of, comm, call)

    code = keel_mpi_parts_check(parts, of->size, of, call);
    if (code != MPI_SUCCESS) {
        return code;
    }
    displs = malloc(of->size * sizeof(*displs));
    if (displs == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    for (uint32_t i = 0; i < of->size; i++) {
        displs[i] = total;
        total += (parts->counts != NULL) ? parts->counts[i] : parts->count;
    }
    parts->displs = displs;
    mine.count = (parts->counts != NULL) ? parts->counts[of->rank] : parts->count;
    code = keel_mpi_reduction_make(&fold, of, total, parts->type, op, call);
    if (code == MPI_SUCCESS) {
        round = keel_mpi_coll_begin(of, call);
        elements = keel_mpi_reduction_begin(&fold, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
        fold_up(&fold, &elements, &round);
        fold_swap(&fold, elements, &round);
        parts->buffer = elements;
        for (uint32_t i = 1; of->rank == 0 && i < of->size; i++) {
            keel_mpi_part_send(parts, i, &round, i);
        }
        if (of->rank == 0) {
            keel_mpi_part_copy(parts, 0, &mine, 0, call);
        } else {
            keel_mpi_part_receive(&mine, 0, &round, 0);
        }
        keel_mpi_reduction_end(&fold, elements);
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
