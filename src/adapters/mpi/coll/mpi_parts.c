#include "coll/mpi_parts.h"

#include "comm/mpi_inter.h"

#include <stdlib.h>
#include <string.h>

static MPI_Datatype type_of(const keel_mpi_parts_t *parts, uint32_t i)
{
    return (parts->types != NULL) ? parts->types[i] : parts->type;
}

static size_t count_of(const keel_mpi_parts_t *parts, uint32_t i)
{
    return (size_t)((parts->counts != NULL) ? parts->counts[i] : parts->count);
}

int keel_mpi_parts_check(const keel_mpi_parts_t *parts, uint32_t number, const keel_mpi_comm_t *comm, const char *call)
{
    for (uint32_t i = 0; i < number; i++) {
        if (((parts->counts != NULL) ? parts->counts[i] : parts->count) < 0) {
            return keel_mpi_raise(comm->handle, MPI_ERR_COUNT, call, "a negative count");
        }
        if (keel_mpi_layout_of(type_of(parts, i)) == NULL) {
            return keel_mpi_raise(comm->handle, MPI_ERR_TYPE, call, "not a datatype");
        }
    }
    return MPI_SUCCESS;
}

int keel_mpi_root_check(const keel_mpi_comm_t *comm, int root, const char *call)
{
    if ((keel_mpi_comm_is_inter(comm) && (root == MPI_ROOT || root == MPI_PROC_NULL)) ||
        (root >= 0 && (uint32_t)root < comm->peer_count)) {
        return MPI_SUCCESS;
    }
    return keel_mpi_raise(comm->handle, MPI_ERR_ROOT, call, "no rank of the communicator");
}

int keel_mpi_parts_check_rooted(const keel_mpi_parts_t *mine, const keel_mpi_parts_t *all, int root,
                                const keel_mpi_comm_t *comm, const char *call)
{
    const int is_root = keel_mpi_is_root(comm, root), is_inter = keel_mpi_comm_is_inter(comm);
    int code = keel_mpi_root_check(comm, root, call);

    if (code == MPI_SUCCESS && mine->buffer != MPI_IN_PLACE && (!is_inter || root >= 0)) {
        code = keel_mpi_parts_check(mine, 1, comm, call);
    }
    if (code == MPI_SUCCESS && is_root) {
        code = keel_mpi_parts_check(all, comm->peer_count, comm, call);
    }
    return code;
}

int keel_mpi_place_check(const void *buffer, const keel_mpi_comm_t *comm, const char *call)
{
    if (buffer == MPI_IN_PLACE && keel_mpi_comm_is_inter(comm)) {
        return keel_mpi_raise(comm->handle, MPI_ERR_ARG, call, "MPI_IN_PLACE, which is not for intercommunicators");
    }
    return MPI_SUCCESS;
}

size_t keel_mpi_part_bytes(const keel_mpi_parts_t *parts, uint32_t i)
{
    return keel_mpi_layout_of(type_of(parts, i))->size * count_of(parts, i);
}

void *keel_mpi_part_at(const keel_mpi_parts_t *parts, uint32_t i)
{
    const ptrdiff_t extent = (parts->types != NULL) ? 1 : keel_mpi_layout_of(parts->type)->extent;
    const ptrdiff_t place = (parts->displs != NULL) ? parts->displs[i] : (ptrdiff_t)i * parts->count;

    return (char *)parts->buffer + (parts->bytes_at != NULL ? parts->bytes_at[i] : place * extent);
}

void *keel_mpi_part_pack(const keel_mpi_parts_t *parts, uint32_t i, const char *call)
{
    const size_t bytes = keel_mpi_part_bytes(parts, i);
    const void *packed;
    void *room = keel_mpi_pack(keel_mpi_part_at(parts, i), count_of(parts, i), keel_mpi_layout_of(type_of(parts, i)),
                               &packed, call);

    if (room == NULL) {
        room = malloc(bytes + 1);
        if (room == NULL) {
            keel_mpi_fatal(call, "no memory");
        }
        memcpy(room, packed, bytes);
    }
    return room;
}

void keel_mpi_part_unpack(const keel_mpi_parts_t *parts, uint32_t i, const void *packed, size_t bytes)
{
    keel_mpi_unpack(packed, bytes, keel_mpi_part_at(parts, i), count_of(parts, i),
                    keel_mpi_layout_of(type_of(parts, i)));
}

void keel_mpi_part_send(const keel_mpi_parts_t *parts, uint32_t i, const keel_mpi_coll_t *coll, uint32_t to)
{
    const void *packed;
    void *room = keel_mpi_pack(keel_mpi_part_at(parts, i), count_of(parts, i), keel_mpi_layout_of(type_of(parts, i)),
                               &packed, coll->call);

    keel_mpi_coll_send(coll, to, packed, keel_mpi_part_bytes(parts, i));
    free(room);
}

void keel_mpi_part_receive(const keel_mpi_parts_t *parts, uint32_t i, const keel_mpi_coll_t *coll, uint32_t from)
{
    const size_t bytes = keel_mpi_part_bytes(parts, i);
    void *room = malloc(bytes + 1);

    if (room == NULL) {
        keel_mpi_fatal(coll->call, "no memory");
    }
    keel_mpi_part_unpack(parts, i, room, keel_mpi_coll_receive(coll, from, room, bytes));
    free(room);
}

void keel_mpi_part_copy(const keel_mpi_parts_t *from, uint32_t i, const keel_mpi_parts_t *to, uint32_t j,
                        const char *call)
{
    void *packed = keel_mpi_part_pack(from, i, call);
    const size_t bytes = keel_mpi_part_bytes(from, i), room = keel_mpi_part_bytes(to, j);

    keel_mpi_part_unpack(to, j, packed, bytes < room ? bytes : room);
    free(packed);
}
