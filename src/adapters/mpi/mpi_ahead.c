/*
 * Collectives that do not wait: what a rank has for others it sends at once, and the request is complete when all has come that others
 * have for it. So one that has been called needs nothing more of the caller for the others to complete theirs.
 */
#include "mpi_prefix.h"
#include "mpi_reduce.h"
#include "mpi_request.h"

#include <stdlib.h>
#include <string.h>

static int have_all(keel_mpi_request_t *request)
{
    for (uint32_t i = 0; i < request->want_count; i++) {
        if (!keel_mpi_channel_has(&request->wants[i])) {
            return 0;
        }
    }
    return 1;
}

/* what one of the others had; @a bytes at most */
static void take(keel_mpi_request_t *request, uint32_t i, void *data, size_t bytes)
{
    if (!keel_mpi_is_replay()) {
        keel_mpi_letter_t *letter = request->wants[i].letter;

        memcpy(data, letter->data, letter->head.bytes < bytes ? letter->head.bytes : bytes);
        keel_mpi_channel_done(letter, request->call);
    }
    keel_mpi_prefix_result(data, bytes);
}

/* from all others (@a from is UINT32_MAX) in the order of their ranks, or from one */
static keel_mpi_request_t *expect(const keel_mpi_request_ops_t *ops, const keel_mpi_round_t *round, uint32_t from)
{
    const keel_mpi_comm_t *comm = round->comm;
    keel_mpi_request_t *request = keel_mpi_request_make(ops, round->call);

    request->comm = (keel_mpi_comm_t *)comm;
    request->wants = calloc(comm->size, sizeof(*request->wants));
    if (request->wants == NULL) {
        keel_mpi_refuse(round->call, "no memory");
    }
    for (uint32_t i = 0; i < comm->size; i++) {
        if (i != comm->rank && (from == UINT32_MAX || from == i)) {
            keel_mpi_want_t *want = &request->wants[request->want_count++];

            *want = (keel_mpi_want_t){.context = round->context, .source = comm->members[i], .tag = round->tag};
            if (!keel_mpi_is_replay()) {
                keel_mpi_channel_post(want);
            }
        }
    }
    return request;
}

static void send_to_all(const keel_mpi_round_t *round, const void *data, size_t bytes)
{
    for (uint32_t i = 1; i < round->comm->size; i++) {
        keel_mpi_round_send(round, (round->comm->rank + i) % round->comm->size, data, bytes);
    }
}

/* ---- MPI_Ibarrier ---- */

static void barrier_finish(keel_mpi_request_t *request, MPI_Status *status)
{
    for (uint32_t i = 0; i < request->want_count; i++) {
        take(request, i, NULL, 0);
    }
    keel_mpi_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

static const keel_mpi_request_ops_t barrier_ops = {.is_ready = have_all, .finish = barrier_finish};

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    keel_mpi_round_t round;
    KEEL_MPI_COMM(of, comm, "MPI_Ibarrier")

    round = keel_mpi_round_begin(of, "MPI_Ibarrier");
    *request = expect(&barrier_ops, &round, UINT32_MAX)->handle;
    send_to_all(&round, NULL, 0);
    return MPI_SUCCESS;
}

/* ---- MPI_Ibcast ---- */

static void bcast_finish(keel_mpi_request_t *request, MPI_Status *status)
{
    const size_t bytes = request->layout->size * request->count;
    void *packed = calloc(1, bytes + 1);

    if (packed == NULL) {
        keel_mpi_refuse(request->call, "no memory");
    }
    take(request, 0, packed, bytes);
    keel_mpi_unpack(packed, bytes, request->buffer, request->count, request->layout);
    free(packed);
    keel_mpi_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

static const keel_mpi_request_ops_t bcast_ops = {.is_ready = have_all, .finish = bcast_finish};

int MPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
    const keel_mpi_parts_t part = {.buffer = buffer, .count = count, .type = datatype};
    keel_mpi_request_t *open;
    keel_mpi_round_t round;
    void *packed;
    int code;
    KEEL_MPI_COMM(of, comm, "MPI_Ibcast")

    if (root < 0 || (uint32_t)root >= of->size) {
        return keel_mpi_raise(comm, MPI_ERR_ROOT, "MPI_Ibcast", "no rank of the communicator");
    }
    code = keel_mpi_parts_check(&part, 1, of, "MPI_Ibcast");
    if (code != MPI_SUCCESS) {
        return code;
    }
    round = keel_mpi_round_begin(of, "MPI_Ibcast");
    if (of->rank == (uint32_t)root) {
        packed = keel_mpi_part_pack(&part, 0, "MPI_Ibcast");
        send_to_all(&round, packed, keel_mpi_part_bytes(&part, 0));
        free(packed);
        return keel_mpi_request_complete(request);
    }
    open = expect(&bcast_ops, &round, (uint32_t)root);
    open->buffer = buffer;
    open->count = (size_t)count;
    open->layout = keel_mpi_layout_keep(keel_mpi_layout_of(datatype), "MPI_Ibcast");
    *request = open->handle;
    return MPI_SUCCESS;
}

/* ---- MPI_Iallreduce ---- */

/* in the order of ranks, the own contribution at its place */
static void allreduce_finish(keel_mpi_request_t *request, MPI_Status *status)
{
    const size_t bytes = request->layout->size * request->count;
    char *all = calloc(request->want_count + 1, bytes + 1), *first = all;
    keel_mpi_fold_t fold;
    void *elements;

    if (all == NULL || keel_mpi_fold_make(&fold, request->comm, (int)request->count, request->type, request->op,
                                          request->call) != MPI_SUCCESS) {
        keel_mpi_refuse(request->call, "no memory, or the type was freed");
    }
    for (uint32_t i = 0, want = 0; i <= request->want_count; i++) {
        if (i == request->comm->rank) {
            memcpy(all + i * bytes, request->own, bytes);
        } else {
            take(request, want++, all + i * bytes, bytes);
        }
    }
    elements = keel_mpi_fold_begin(&fold, request->buffer); /* for its form; all of it is set */
    keel_mpi_unpack(first, bytes, elements, request->count, request->layout);
    for (uint32_t i = 1; i <= request->want_count; i++) {
        keel_mpi_fold_behind(&fold, &elements, all + i * bytes);
    }
    keel_mpi_fold_set(&fold, request->buffer, elements);
    keel_mpi_fold_end(&fold, elements);
    free(all);
    keel_mpi_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

static const keel_mpi_request_ops_t allreduce_ops = {.is_ready = have_all, .finish = allreduce_finish};

int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    const keel_mpi_parts_t part = {
        .buffer = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, .count = count, .type = datatype};
    keel_mpi_request_t *open;
    keel_mpi_fold_t fold;
    keel_mpi_round_t round;
    int code;
    KEEL_MPI_COMM(of, comm, "MPI_Iallreduce")

    code = keel_mpi_fold_make(&fold, of, count, datatype, op, "MPI_Iallreduce");
    if (code != MPI_SUCCESS) {
        return code;
    }
    round = keel_mpi_round_begin(of, "MPI_Iallreduce");
    open = expect(&allreduce_ops, &round, UINT32_MAX);
    open->buffer = recvbuf;
    open->count = (size_t)count;
    open->layout = keel_mpi_layout_keep(fold.layout, "MPI_Iallreduce");
    open->type = datatype;
    open->op = op;
    open->own = keel_mpi_part_pack(&part, 0, "MPI_Iallreduce");
    send_to_all(&round, open->own, fold.bytes);
    *request = open->handle;
    return MPI_SUCCESS;
}
