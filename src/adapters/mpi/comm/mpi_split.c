/* Communicators of a subset of another one's members. */
#include "coll/mpi_coll.h"
#include "comm/mpi_comm.h"
#include "comm/mpi_group.h"
#include "comm/mpi_inter.h"
#include "life/mpi_startup.h"
#include "mpi_arena.h"

#include <stdlib.h>
#include <string.h>

static int compare_splits(const void *a, const void *b)
{
    const keel_mpi_split_t *first = a, *second = b;

    if (first->key != second->key) {
        return (first->key > second->key) - (first->key < second->key);
    }
    return (first->index > second->index) - (first->index < second->index);
}

uint32_t *keel_mpi_split_choose(keel_mpi_split_t *all, uint32_t number, int color, uint32_t *size_p, const char *call)
{
    uint32_t *members = malloc((number + 1) * sizeof(*members)), size = 0;

    if (members == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    qsort(all, number, sizeof(*all), compare_splits);
    for (uint32_t i = 0; i < number; i++) {
        if (all[i].color == color) {
            members[size++] = all[i].rank;
        }
    }
    *size_p = size;
    return members;
}

int keel_mpi_comm_split(const keel_mpi_comm_t *comm_ptr, int color, int key, MPI_Comm *newcomm, const char *call)
{
    const keel_mpi_split_t mine = {color, key, comm_ptr->rank, keel_mpi.rank};
    const uint64_t context = keel_mpi_comm_context(comm_ptr, call);
    const keel_mpi_coll_t coll = keel_mpi_coll_begin(comm_ptr, call);
    keel_mpi_split_t *all = malloc(comm_ptr->size * sizeof(*all));
    uint32_t *members, size;

    if (all == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    keel_mpi_coll_allgather(&coll, &mine, sizeof(mine), all);
    members = keel_mpi_split_choose(all, comm_ptr->size, color, &size, call);
    free(all);
    if (color == MPI_UNDEFINED) {
        free(members);
        *newcomm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    return keel_mpi_comm_derive(comm_ptr, size, members, context, newcomm, call);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Comm_split")

    if (color < 0 && color != MPI_UNDEFINED) {
        return keel_mpi_raise(comm, MPI_ERR_ARG, "MPI_Comm_split", "a color that is negative");
    }
    return keel_mpi_comm_is_inter(comm_ptr) ? keel_mpi_inter_split(comm_ptr, color, key, newcomm, "MPI_Comm_split")
                                            : keel_mpi_comm_split(comm_ptr, color, key, newcomm, "MPI_Comm_split");
}

/* The first member with memory mapped here: the same result on all ranks that map each other's
 * memory. */
static int mapped_first(const keel_mpi_comm_t *comm_ptr, const char *call)
{
    int first = MPI_UNDEFINED;

    for (uint32_t i = 0; i < comm_ptr->size && first == MPI_UNDEFINED; i++) {
        first = (keel_mpi_arena_mapped(comm_ptr->members[i], call) != NULL) ? (int)i : first;
    }
    keel_mpi_startup_result(&first, sizeof(first)); /* a replacement may run on another node */
    return first;
}

int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    KEEL_MPI_INTRA(comm_ptr, comm, "MPI_Comm_split_type")

    if (split_type != MPI_COMM_TYPE_SHARED && split_type != MPI_UNDEFINED) {
        return keel_mpi_raise(comm, MPI_ERR_ARG, "MPI_Comm_split_type", "a type that is not MPI_COMM_TYPE_SHARED");
    }
    return keel_mpi_comm_split(
        comm_ptr, split_type == MPI_UNDEFINED ? MPI_UNDEFINED : mapped_first(comm_ptr, "MPI_Comm_split_type"), key,
        newcomm, "MPI_Comm_split_type");
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    const keel_mpi_group_t *members;
    uint64_t context;
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Comm_create")

    members = keel_mpi_group_of(group);
    if (members == NULL) {
        return keel_mpi_raise(comm, MPI_ERR_GROUP, "MPI_Comm_create", "not a group");
    }
    for (uint32_t i = 0; i < members->size; i++) {
        if (keel_mpi_comm_index(comm_ptr, members->ranks[i]) == UINT32_MAX) {
            return keel_mpi_raise(comm, MPI_ERR_GROUP, "MPI_Comm_create",
                                  "a group with others than of the communicator");
        }
    }
    if (keel_mpi_comm_is_inter(comm_ptr)) {
        return keel_mpi_inter_create(comm_ptr, members->size, members->ranks, newcomm, "MPI_Comm_create");
    }
    context = keel_mpi_comm_context(comm_ptr, "MPI_Comm_create");
    if (keel_mpi_group_index(members, keel_mpi.rank) == UINT32_MAX) {
        *newcomm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    return keel_mpi_comm_derive(comm_ptr, members->size,
                                keel_mpi_members_copy(members->size, members->ranks, "MPI_Comm_create"), context,
                                newcomm, "MPI_Comm_create");
}
