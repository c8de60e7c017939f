#include "mpi_comm.h"

#include "mpi_arena.h"
#include "mpi_group.h"
#include "mpi_prefix.h"
#include "mpi_round.h"
#include "mpi_survive.h"
#include "mpi_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONTEXT_WORLD = 2, CONTEXT_SELF = 4, CONTEXT_FIRST = 6 };

static keel_mpi_table_t comms;

keel_mpi_comm_t *keel_mpi_comm_of(MPI_Comm handle)
{
    keel_mpi_comm_t *comm = keel_mpi_table_find(&comms, (uintptr_t)handle);

    return (comm != NULL && comm->freed == NULL) ? comm : NULL;
}

uint32_t *keel_mpi_members_copy(uint32_t size, const uint32_t *members, const char *call)
{
    uint32_t *copy = malloc((size + 1) * sizeof(*copy));

    if (copy == NULL) {
        keel_mpi_refuse(call, "no memory");
    }
    memcpy(copy, members, size * sizeof(*copy));
    return copy;
}

uint32_t keel_mpi_comm_index(const keel_mpi_comm_t *comm, uint32_t rank)
{
    if (rank < comm->size && comm->members[rank] == rank) {
        return rank;
    }
    for (uint32_t i = 0; i < comm->size; i++) {
        if (comm->members[i] == rank) {
            return i;
        }
    }
    return UINT32_MAX;
}

keel_mpi_comm_t *keel_mpi_comm_add(MPI_Comm handle, uint32_t size, uint32_t *members, uint64_t context,
                                   const char *call)
{
    keel_mpi_comm_t *comm = malloc(sizeof(*comm));

    if (comm == NULL) {
        keel_mpi_refuse(call, "no memory");
    }
    *comm = (keel_mpi_comm_t){.handle = handle, .size = size, .members = members, .context = context};
    comm->rank = keel_mpi_comm_index(comm, keel_mpi.rank);
    comm->is_late = keel_mpi.phase == KEEL_MPI_RUNS;
    comm->turn = keel_mpi_arena_take(sizeof(uint64_t), KEEL_MPI_ALIGN, call);
    *(uint64_t *)keel_mpi_arena_at(comm->turn) = 0;
    if (handle != MPI_COMM_NULL && !keel_mpi_table_add(&comms, (uintptr_t)handle, comm)) {
        keel_mpi_refuse(call, "no memory");
    }
    return comm;
}

void keel_mpi_comm_remove(keel_mpi_comm_t *comm)
{
    if (comm->handle != MPI_COMM_NULL) {
        keel_mpi_table_remove(&comms, (uintptr_t)comm->handle);
    }
    keel_mpi_arena_give(comm->turn);
    free(comm->members);
    free(comm);
}

void keel_mpi_comm_make(void)
{
    uint32_t *all = malloc(keel_mpi.ranks * sizeof(*all));

    if (all == NULL) {
        keel_mpi_refuse("MPI_Init", "no memory");
    }
    for (uint32_t i = 0; i < keel_mpi.ranks; i++) {
        all[i] = i;
    }
    if (!keel_mpi_is_replay()) {
        keel_mpi.hidden->next_context = CONTEXT_FIRST;
    }
    keel_mpi_comm_add(MPI_COMM_WORLD, keel_mpi.ranks, all, CONTEXT_WORLD, "MPI_Init");
    keel_mpi_comm_add(MPI_COMM_SELF, 1, keel_mpi_members_copy(1, &keel_mpi.rank, "MPI_Init"), CONTEXT_SELF, "MPI_Init");
}

void keel_mpi_comm_unmake(void)
{
    for (size_t i = 0; i < comms.size; i++) {
        keel_mpi_comm_t *comm = comms.entries[i].object;

        if (comm != NULL) {
            free(comm->members);
            free(comm);
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

/* removing one moves others to where was looked already: so until there is none */
void keel_mpi_comm_drop_late(void)
{
    while (keel_mpi_comm_is_late()) {
        for (size_t i = 0; i < comms.size; i++) {
            keel_mpi_comm_t *comm = comms.entries[i].object;

            if (comm != NULL && comm->is_late) {
                MPI_Comm handle = comm->handle;

                keel_mpi_comm_remove(comm);
                PMPI_Comm_free(&handle);
            }
        }
    }
}

void keel_mpi_comm_revive(void)
{
    for (size_t i = 0; i < comms.size; i++) {
        keel_mpi_comm_t *comm = comms.entries[i].object;

        if (comm != NULL && comm->freed != NULL && keel_mpi_arena_block(comm->turn, sizeof(uint64_t)) != NULL) {
            if (keel_mpi_is_alive(comm->freed) && *comm->freed == MPI_COMM_NULL) {
                *comm->freed = comm->handle;
            }
            comm->freed = NULL;
        }
    }
}

/* the largest that a member has not used yet; contexts are even */
static uint64_t context_agree(const keel_mpi_round_t *round)
{
    uint64_t mine = keel_mpi.hidden->next_context, most = 0, *all = malloc(round->comm->size * sizeof(*all));

    if (all == NULL) {
        keel_mpi_refuse(round->call, "no memory");
    }
    keel_mpi_prefix_result(&mine, sizeof(mine));
    keel_mpi_round_all(round, &mine, sizeof(mine), all);
    for (uint32_t i = 0; i < round->comm->size; i++) {
        most = (all[i] > most) ? all[i] : most;
    }
    free(all);
    if (!keel_mpi_is_replay()) {
        keel_mpi.hidden->next_context = most + 2;
    }
    return most;
}

uint64_t keel_mpi_comm_context(const keel_mpi_comm_t *comm, const char *call)
{
    const keel_mpi_round_t round = keel_mpi_round_begin(comm, call);

    return context_agree(&round);
}

uint64_t keel_mpi_comm_context_by(const keel_mpi_comm_t *comm, int tag, const char *call)
{
    const keel_mpi_round_t round = {comm, comm->context, -1 - (int64_t)tag, call};

    return context_agree(&round);
}

/* ---- calls ---- */

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    KEEL_MPI_COMM(of, comm, "MPI_Comm_rank")

    *rank = (int)of->rank;
    return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    KEEL_MPI_COMM(of, comm, "MPI_Comm_size")

    *size = (int)of->size;
    return MPI_SUCCESS;
}

int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    const keel_mpi_comm_t *other;
    KEEL_MPI_COMM(of, comm1, "MPI_Comm_compare")

    other = keel_mpi_comm_of(comm2);
    if (other == NULL) {
        return keel_mpi_raise(comm1, MPI_ERR_COMM, "MPI_Comm_compare", "not a communicator");
    }
    *result = (of == other) ? MPI_IDENT : keel_mpi_members_compare(of->size, of->members, other->size, other->members);
    *result = (of != other && *result == MPI_IDENT) ? MPI_CONGRUENT : *result;
    return MPI_SUCCESS;
}

/* the handle, with the attributes of another one or with none */
static int handle_make(MPI_Comm like, int is_dup, MPI_Info info, MPI_Comm *handle_p)
{
    MPI_Errhandler handler;
    int code;

    if (is_dup) {
        return (info == MPI_INFO_NULL) ? PMPI_Comm_dup(like, handle_p) : PMPI_Comm_dup_with_info(like, info, handle_p);
    }
    code = PMPI_Comm_split(MPI_COMM_SELF, 0, 0, handle_p); /* has none */
    if (code == MPI_SUCCESS && PMPI_Comm_get_errhandler(like, &handler) == MPI_SUCCESS) {
        code = PMPI_Comm_set_errhandler(*handle_p, handler);
        PMPI_Errhandler_free(&handler);
    }
    return code;
}

static int duplicate(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, const char *call)
{
    uint64_t context;
    int code;
    KEEL_MPI_COMM(of, comm, call)

    context = keel_mpi_comm_context(of, call);
    code = handle_make(comm, 1, info, newcomm);
    if (code != MPI_SUCCESS) {
        return code;
    }
    keel_mpi_comm_add(*newcomm, of->size, keel_mpi_members_copy(of->size, of->members, call), context, call);
    return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    return duplicate(comm, MPI_INFO_NULL, newcomm, "MPI_Comm_dup");
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return duplicate(comm, info, newcomm, "MPI_Comm_dup_with_info");
}

static int make_of(const keel_mpi_comm_t *of, uint32_t size, uint32_t *members, uint64_t context, MPI_Comm *newcomm,
                   const char *call)
{
    int code = handle_make(of->handle, 0, MPI_INFO_NULL, newcomm);

    if (code == MPI_SUCCESS) {
        keel_mpi_comm_add(*newcomm, size, members, context, call);
    }
    return code;
}

typedef struct {
    int color, key;
    uint32_t index, rank;
} split_t;

static int compare_splits(const void *a, const void *b)
{
    const split_t *first = a, *second = b;

    if (first->key != second->key) {
        return (first->key > second->key) - (first->key < second->key);
    }
    return (first->index > second->index) - (first->index < second->index);
}

static int split(const keel_mpi_comm_t *of, int color, int key, MPI_Comm *newcomm, const char *call)
{
    const split_t mine = {color, key, of->rank, keel_mpi.rank};
    const uint64_t context = keel_mpi_comm_context(of, call);
    const keel_mpi_round_t round = keel_mpi_round_begin(of, call);
    split_t *all = malloc(of->size * sizeof(*all));
    uint32_t *members = malloc(of->size * sizeof(*members));
    uint32_t size = 0;

    if (all == NULL || members == NULL) {
        keel_mpi_refuse(call, "no memory");
    }
    keel_mpi_round_all(&round, &mine, sizeof(mine), all);
    for (uint32_t i = 0; i < of->size; i++) {
        if (all[i].color == color) {
            all[size++] = all[i];
        }
    }
    qsort(all, size, sizeof(*all), compare_splits);
    for (uint32_t i = 0; i < size; i++) {
        members[i] = all[i].rank;
    }
    free(all);
    if (color == MPI_UNDEFINED) {
        free(members);
        *newcomm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    return make_of(of, size, members, context, newcomm, call);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    KEEL_MPI_COMM(of, comm, "MPI_Comm_split")

    if (color < 0 && color != MPI_UNDEFINED) {
        return keel_mpi_raise(comm, MPI_ERR_ARG, "MPI_Comm_split", "a color that is negative");
    }
    return split(of, color, key, newcomm, "MPI_Comm_split");
}

/* the ranks that share memory are those whose processes see one host name */
int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    char mine[256] = "", *all;
    int color = MPI_UNDEFINED;
    keel_mpi_round_t round;
    KEEL_MPI_COMM(of, comm, "MPI_Comm_split_type")

    if (split_type != MPI_COMM_TYPE_SHARED && split_type != MPI_UNDEFINED) {
        return keel_mpi_raise(comm, MPI_ERR_ARG, "MPI_Comm_split_type", "a type that is not MPI_COMM_TYPE_SHARED");
    }
    gethostname(mine, sizeof(mine) - 1);
    keel_mpi_prefix_result(mine, sizeof(mine)); /* a replacement may be elsewhere */
    all = calloc(of->size, sizeof(mine));
    if (all == NULL) {
        keel_mpi_refuse("MPI_Comm_split_type", "no memory");
    }
    round = keel_mpi_round_begin(of, "MPI_Comm_split_type");
    keel_mpi_round_all(&round, mine, sizeof(mine), all);
    for (uint32_t i = 0; i < of->size && split_type != MPI_UNDEFINED && color == MPI_UNDEFINED; i++) {
        if (memcmp(all + i * sizeof(mine), mine, sizeof(mine)) == 0) {
            color = (int)i;
        }
    }
    free(all);
    return split(of, color, key, newcomm, "MPI_Comm_split_type");
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    const keel_mpi_group_t *members;
    uint64_t context;
    KEEL_MPI_COMM(of, comm, "MPI_Comm_create")

    members = keel_mpi_group_of(group);
    if (members == NULL) {
        return keel_mpi_raise(comm, MPI_ERR_GROUP, "MPI_Comm_create", "not a group");
    }
    for (uint32_t i = 0; i < members->size; i++) {
        if (keel_mpi_comm_index(of, members->ranks[i]) == UINT32_MAX) {
            return keel_mpi_raise(comm, MPI_ERR_GROUP, "MPI_Comm_create",
                                  "a group with others than of the communicator");
        }
    }
    context = keel_mpi_comm_context(of, "MPI_Comm_create");
    if (keel_mpi_group_index(members, keel_mpi.rank) == UINT32_MAX) {
        *newcomm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    return make_of(of, members->size, keel_mpi_members_copy(members->size, members->ranks, "MPI_Comm_create"), context,
                   newcomm, "MPI_Comm_create");
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    const keel_mpi_group_t *members;
    keel_mpi_comm_t among;
    uint64_t context;
    KEEL_MPI_COMM(of, comm, "MPI_Comm_create_group")

    members = keel_mpi_group_of(group);
    if (members == NULL) {
        return keel_mpi_raise(comm, MPI_ERR_GROUP, "MPI_Comm_create_group", "not a group");
    }
    if (keel_mpi_group_index(members, keel_mpi.rank) == UINT32_MAX) {
        *newcomm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    /* messages of the group alone, told apart by the tag: those of the communicator's own collectives are not negative */
    among = (keel_mpi_comm_t){.size = members->size,
                              .rank = keel_mpi_group_index(members, keel_mpi.rank),
                              .members = (uint32_t *)members->ranks,
                              .context = of->context};
    context = keel_mpi_comm_context_by(&among, tag, "MPI_Comm_create_group");
    return make_of(of, members->size, keel_mpi_members_copy(members->size, members->ranks, "MPI_Comm_create_group"),
                   context, newcomm, "MPI_Comm_create_group");
}

int MPI_Comm_free(MPI_Comm *comm)
{
    KEEL_MPI_COMM(of, *comm, "MPI_Comm_free")

    if (*comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF) {
        return keel_mpi_raise(*comm, MPI_ERR_COMM, "MPI_Comm_free", "one of those that are always there");
    }
    if (keel_mpi.phase == KEEL_MPI_RUNS && !of->is_late) {
        keel_mpi_arena_give(of->turn);
        of->freed = comm;
        *comm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    keel_mpi_comm_remove(of);
    return PMPI_Comm_free(comm);
}

int MPI_Comm_disconnect(MPI_Comm *comm)
{
    return MPI_Comm_free(comm); /* nothing is under way when a call returns */
}

int MPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    KEEL_MPI_COMM(of, comm, "MPI_Comm_test_inter")

    (void)of;
    *flag = 0;
    return MPI_SUCCESS;
}
