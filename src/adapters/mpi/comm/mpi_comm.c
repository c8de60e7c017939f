#include "comm/mpi_comm.h"

#include "coll/mpi_coll.h"
#include "comm/mpi_group.h"
#include "comm/mpi_inter.h"
#include "comm/mpi_topology.h"
#include "life/mpi_startup.h"
#include "mpi_arena.h"
#include "mpi_table.h"

#include <stdlib.h>
#include <string.h>

enum { CONTEXT_WORLD = 2, CONTEXT_SELF = 4, CONTEXT_FIRST = 1, RANK_BITS = 24 };

static keel_mpi_table_t comms;
static const MPI_Comm none = MPI_COMM_NULL;

keel_mpi_comm_t *keel_mpi_comm_of(MPI_Comm handle)
{
    keel_mpi_comm_t *comm = keel_mpi_table_find(&comms, (uintptr_t)handle);

    return (comm != NULL && comm->variables.freed_by == NULL) ? comm : NULL;
}

uint32_t *keel_mpi_members_copy(uint32_t size, const uint32_t *members, const char *call)
{
    uint32_t *copy = malloc((size + 1) * sizeof(*copy));

    if (copy == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    memcpy(copy, members, size * sizeof(*copy));
    return copy;
}

static uint32_t index_of(uint32_t size, const uint32_t *ranks, uint32_t rank)
{
    if (rank < size && ranks[rank] == rank) {
        return rank;
    }
    for (uint32_t i = 0; i < size; i++) {
        if (ranks[i] == rank) {
            return i;
        }
    }
    return UINT32_MAX;
}

uint32_t keel_mpi_comm_index(const keel_mpi_comm_t *comm, uint32_t rank)
{
    return index_of(comm->size, comm->members, rank);
}

uint32_t keel_mpi_comm_peer_index(const keel_mpi_comm_t *comm, uint32_t rank)
{
    return index_of(comm->peer_count, comm->peers, rank);
}

keel_mpi_comm_t *keel_mpi_comm_add(MPI_Comm handle, uint32_t size, uint32_t *members, uint64_t context,
                                   const char *call)
{
    keel_mpi_comm_t *comm = malloc(sizeof(*comm));

    if (comm == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    *comm = (keel_mpi_comm_t){.handle = handle, .size = size, .members = members, .context = context};
    comm->peer_count = size;
    comm->peers = members;
    comm->rank = keel_mpi_comm_index(comm, keel_mpi.rank);
    comm->is_late = keel_mpi.phase == KEEL_MPI_RUNS;
    for (unsigned i = 0; i < 4; i++) {
        comm->groups[i / 2][i % 2] = MPI_GROUP_NULL;
    }
    comm->coll_count = keel_mpi_arena_alloc(sizeof(uint64_t), KEEL_MPI_ALIGN, call);
    *(uint64_t *)keel_mpi_arena_at(comm->coll_count) = 0;
    if (handle != MPI_COMM_NULL && !keel_mpi_table_add(&comms, (uintptr_t)handle, comm)) {
        keel_mpi_fatal(call, "no memory");
    }
    return comm;
}

static void comm_forget(keel_mpi_comm_t *comm)
{
    keel_mpi_group_leave_comm(comm);
    if (keel_mpi_comm_is_inter(comm)) {
        free(comm->peers);
    }
    keel_mpi_topology_free(comm->topology);
    free(comm->members);
    free(comm);
}

void keel_mpi_comm_remove(keel_mpi_comm_t *comm)
{
    if (comm->handle != MPI_COMM_NULL) {
        keel_mpi_table_remove(&comms, (uintptr_t)comm->handle);
    }
    keel_mpi_arena_free(comm->coll_count);
    comm->is_gone = 1;
    if (comm->uses == 0) {
        comm_forget(comm);
    }
}

keel_mpi_comm_t *keel_mpi_comm_hold(keel_mpi_comm_t *comm)
{
    comm->uses++;
    return comm;
}

void keel_mpi_comm_release(keel_mpi_comm_t *comm)
{
    if (--comm->uses == 0 && comm->is_gone) {
        comm_forget(comm);
    }
}

void keel_mpi_comm_set_remote(keel_mpi_comm_t *comm, uint32_t size, uint32_t *remote)
{
    comm->peer_count = size;
    comm->peers = remote;
}

void keel_mpi_comm_make(void)
{
    uint32_t *all = malloc(keel_mpi.ranks * sizeof(*all));

    if (all == NULL) {
        keel_mpi_fatal("MPI_Init", "no memory");
    }
    for (uint32_t i = 0; i < keel_mpi.ranks; i++) {
        all[i] = i;
    }
    if (!keel_mpi_is_replaying()) {
        keel_mpi.hidden->next_context = CONTEXT_FIRST;
    }
    keel_mpi_comm_add(MPI_COMM_WORLD, keel_mpi.ranks, all, CONTEXT_WORLD, "MPI_Init");
    keel_mpi_comm_add(MPI_COMM_SELF, 1, keel_mpi_members_copy(1, &keel_mpi.rank, "MPI_Init"), CONTEXT_SELF, "MPI_Init");
}

void keel_mpi_comm_end_freed(void)
{
    for (size_t i = 0; i < comms.size; i++) {
        keel_mpi_comm_t *comm = comms.entries[i].object;

        if (comm != NULL && comm->variables.freed_by != NULL) {
            MPI_Comm handle = comm->handle;

            comm->variables.freed_by = NULL;
            PMPI_Comm_free(&handle);
        }
    }
}

void keel_mpi_comm_unmake(void)
{
    for (size_t i = 0; i < comms.size; i++) {
        keel_mpi_comm_t *comm = comms.entries[i].object;

        if (comm != NULL) {
            comm_forget(comm);
        }
    }
    free(comms.entries);
    comms = (keel_mpi_table_t){0};
}

int keel_mpi_comm_is_late(void)
{
    for (size_t i = 0; i < comms.size; i++) {
        const keel_mpi_comm_t *comm = comms.entries[i].object;

        if (comm != NULL && comm->is_late) {
            return 1;
        }
    }
    return 0;
}

/* Removing one moves others in the table, so the search repeats until none is left. */
void keel_mpi_comm_drop_late(void)
{
    while (keel_mpi_comm_is_late()) {
        for (size_t i = 0; i < comms.size; i++) {
            keel_mpi_comm_t *comm = comms.entries[i].object;

            if (comm != NULL && comm->is_late) {
                MPI_Comm handle = comm->handle;

                keel_mpi_handle_vars_forget(&comm->variables, &handle, &none, sizeof(none));
                /* the callbacks of attributes still look the communicator up */
                PMPI_Comm_free(&handle);
                keel_mpi_comm_remove(comm);
            }
        }
    }
}

void keel_mpi_comm_revive(void)
{
    for (size_t i = 0; i < comms.size; i++) {
        keel_mpi_comm_t *comm = comms.entries[i].object;

        if (comm != NULL) {
            const int is_freed = *(const uint64_t *)keel_mpi_arena_at(comm->coll_count) == KEEL_MPI_FREED;

            keel_mpi_handle_vars_revive(&comm->variables, is_freed, &comm->handle, &none, sizeof(none));
        }
    }
}

uint64_t keel_mpi_comm_context_new(void)
{
    uint64_t context = 0;

    if (!keel_mpi_is_replaying()) {
        context = 2 * (keel_mpi.hidden->next_context++ << RANK_BITS | keel_mpi.rank);
    }
    keel_mpi_startup_result(&context, sizeof(context));
    return context;
}

/* The first member chooses the context for all. */
static uint64_t context_agree(const keel_mpi_coll_t *coll)
{
    uint64_t context = (coll->comm->rank == 0) ? keel_mpi_comm_context_new() : 0;

    keel_mpi_coll_bcast(coll, 0, &context, sizeof(context));
    return context;
}

uint64_t keel_mpi_comm_context(const keel_mpi_comm_t *comm, const char *call)
{
    const keel_mpi_coll_t coll = keel_mpi_coll_begin(comm, call);

    return context_agree(&coll);
}

uint64_t keel_mpi_comm_context_tagged(const keel_mpi_comm_t *comm, int tag, const char *call)
{
    const keel_mpi_coll_t coll = {comm, comm->context, -1 - (int64_t)tag, call, 0};

    return context_agree(&coll);
}

/* ---- calls ---- */

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Comm_rank")

    *rank = (int)comm_ptr->rank;
    return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Comm_size")

    *size = (int)comm_ptr->size;
    return MPI_SUCCESS;
}

/* Compares both groups of intercommunicators; the worse result counts. */
static int compare(const keel_mpi_comm_t *comm_ptr, const keel_mpi_comm_t *other)
{
    const int local = keel_mpi_members_compare(comm_ptr->size, comm_ptr->members, other->size, other->members);
    const int remote = keel_mpi_members_compare(comm_ptr->peer_count, comm_ptr->peers, other->peer_count, other->peers);

    if (comm_ptr == other) {
        return MPI_IDENT;
    }
    if (keel_mpi_comm_is_inter(comm_ptr) != keel_mpi_comm_is_inter(other) || local == MPI_UNEQUAL ||
        remote == MPI_UNEQUAL) {
        return MPI_UNEQUAL;
    }
    return (local == MPI_IDENT && remote == MPI_IDENT) ? MPI_CONGRUENT : MPI_SIMILAR;
}

int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    const keel_mpi_comm_t *other;
    KEEL_MPI_COMM(comm_ptr, comm1, "MPI_Comm_compare")

    other = keel_mpi_comm_of(comm2);
    if (other == NULL) {
        return keel_mpi_raise(comm1, MPI_ERR_COMM, "MPI_Comm_compare", "not a communicator");
    }
    *result = compare(comm_ptr, other);
    return MPI_SUCCESS;
}

/* Makes a handle with the attributes of another one (@a is_dup) or without attributes. */
static int handle_make(MPI_Comm like, int is_dup, MPI_Info info, MPI_Comm *handle_p)
{
    MPI_Errhandler handler;
    int code;

    if (is_dup) {
        return (info == MPI_INFO_NULL) ? PMPI_Comm_dup(like, handle_p) : PMPI_Comm_dup_with_info(like, info, handle_p);
    }
    code = PMPI_Comm_split(MPI_COMM_SELF, 0, 0, handle_p); /* has no attributes */
    if (code == MPI_SUCCESS && PMPI_Comm_get_errhandler(like, &handler) == MPI_SUCCESS) {
        code = PMPI_Comm_set_errhandler(*handle_p, handler);
        PMPI_Errhandler_free(&handler);
    }
    return code;
}

int keel_mpi_comm_duplicate(const keel_mpi_comm_t *comm_ptr, MPI_Info info, MPI_Comm *newcomm, const char *call)
{
    const int code = handle_make(comm_ptr->handle, 1, info, newcomm);
    keel_mpi_comm_t *copy;

    if (code != MPI_SUCCESS) {
        return code;
    }
    copy = keel_mpi_comm_add(*newcomm, comm_ptr->size, keel_mpi_members_copy(comm_ptr->size, comm_ptr->members, call),
                             0, call);
    if (keel_mpi_comm_is_inter(comm_ptr)) {
        keel_mpi_comm_set_remote(copy, comm_ptr->peer_count,
                                 keel_mpi_members_copy(comm_ptr->peer_count, comm_ptr->peers, call));
    }
    copy->topology = keel_mpi_topology_copy(comm_ptr->topology, call);
    copy->variables.made_by = newcomm;
    return MPI_SUCCESS;
}

static int duplicate(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, const char *call)
{
    uint64_t context;
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, call)

    context = keel_mpi_comm_is_inter(comm_ptr) ? keel_mpi_inter_context(comm_ptr, call)
                                               : keel_mpi_comm_context(comm_ptr, call);
    code = keel_mpi_comm_duplicate(comm_ptr, info, newcomm, call);
    if (code == MPI_SUCCESS) {
        keel_mpi_comm_of(*newcomm)->context = context;
    }
    return code;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    return duplicate(comm, MPI_INFO_NULL, newcomm, "MPI_Comm_dup");
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return duplicate(comm, info, newcomm, "MPI_Comm_dup_with_info");
}

int keel_mpi_comm_derive(const keel_mpi_comm_t *comm_ptr, uint32_t size, uint32_t *members, uint64_t context,
                         MPI_Comm *newcomm, const char *call)
{
    int code = handle_make(comm_ptr->handle, 0, MPI_INFO_NULL, newcomm);

    if (code == MPI_SUCCESS) {
        keel_mpi_comm_add(*newcomm, size, members, context, call)->variables.made_by = newcomm;
    }
    return code;
}

/* The predecessor had freed the communicator. */
static int was_freed(MPI_Comm handle)
{
    const keel_mpi_comm_t *comm = keel_mpi_table_find(&comms, (uintptr_t)handle);

    return comm != NULL && comm->variables.freed_by != NULL && comm->variables.was_freed;
}

/* The callbacks of attributes still look the communicator up. */
static int comm_free(MPI_Comm *comm)
{
    int code;
    KEEL_MPI_COMM(comm_ptr, *comm, "MPI_Comm_free")

    if (*comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF) {
        return keel_mpi_raise(*comm, MPI_ERR_COMM, "MPI_Comm_free", "one of those that are always there");
    }
    if (keel_mpi.phase == KEEL_MPI_RUNS && !comm_ptr->is_late) {
        *(uint64_t *)keel_mpi_arena_at(comm_ptr->coll_count) = KEEL_MPI_FREED;
        comm_ptr->variables.freed_by = comm;
        *comm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    code = PMPI_Comm_free(comm);
    if (code == MPI_SUCCESS) {
        keel_mpi_comm_remove(comm_ptr);
    }
    return code;
}

int MPI_Comm_free(MPI_Comm *comm)
{
    if (keel_mpi.ctx != NULL && was_freed(*comm)) {
        *comm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    return comm_free(comm);
}

int MPI_Comm_disconnect(MPI_Comm *comm)
{
    return MPI_Comm_free(comm); /* no communication is pending when a call returns */
}
