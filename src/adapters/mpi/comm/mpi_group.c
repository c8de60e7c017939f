#include "comm/mpi_group.h"

#include "comm/mpi_comm.h"
#include "life/mpi_handle_vars.h"
#include "life/mpi_persistent_handles.h"
#include "life/mpi_restart.h"
#include "mpi_table.h"
#include "rma/mpi_window.h"

#include <stdlib.h>
#include <string.h>

static keel_mpi_table_t groups;
static const keel_mpi_group_t empty;
static const MPI_Group none = MPI_GROUP_NULL;

/* A reference that the program freed behind the restart point, to a group made before it. */
typedef struct freed {
    struct freed *next;
    void *variable;
    uint64_t at; /* number of checkpoints at the time */
} freed_t;

typedef struct keel_mpi_group_shares {
    unsigned uses; /* references of the program, plus one of the communicator */
    int is_late;   /* made behind the restart point */
    freed_t *freed;
} keel_mpi_group_shares_t;

const keel_mpi_group_t *keel_mpi_group_of(MPI_Group handle)
{
    return (handle == MPI_GROUP_EMPTY) ? &empty : keel_mpi_table_find(&groups, (uintptr_t)handle);
}

/* Makes a group of the caller alone, a new one each time: Open MPI's Fortran bindings dereference
 * handles. */
static MPI_Group handle_make(void)
{
    const int zero = 0;
    MPI_Group self, handle = MPI_GROUP_NULL;

    if (PMPI_Comm_group(MPI_COMM_SELF, &self) == MPI_SUCCESS) {
        PMPI_Group_incl(self, 1, &zero, &handle);
        PMPI_Group_free(&self);
    }
    return handle;
}

static MPI_Group group_add(uint32_t size, const uint32_t *ranks, keel_mpi_group_shares_t *shares, const char *call)
{
    keel_mpi_group_t *group;
    MPI_Group handle;

    group = malloc(sizeof(*group) + size * sizeof(*ranks));
    handle = handle_make();
    if (group == NULL || handle == MPI_GROUP_NULL || keel_mpi_group_of(handle) != NULL ||
        !keel_mpi_table_add(&groups, (uintptr_t)handle, group)) {
        keel_mpi_fatal(call, "no memory for a group");
    }
    group->size = size;
    group->shares = shares;
    memcpy(group->ranks, ranks, size * sizeof(*ranks));
    return handle;
}

MPI_Group keel_mpi_group_make(uint32_t size, const uint32_t *ranks, const char *call)
{
    MPI_Group handle;

    if (size == 0) {
        return MPI_GROUP_EMPTY;
    }
    handle = group_add(size, ranks, NULL, call);
    keel_mpi_persistent_handle_add((uintptr_t)handle, NULL, &none, sizeof(none), call);
    return handle;
}

/* ---- groups of communicators: several variables share a handle ---- */

MPI_Group keel_mpi_group_of_comm(keel_mpi_comm_t *comm, int is_remote, const char *call)
{
    const int is_late = keel_mpi.phase == KEEL_MPI_RUNS;
    MPI_Group *handle = &comm->groups[is_late][is_remote];
    keel_mpi_group_shares_t *shares;

    if (*handle == MPI_GROUP_NULL) {
        shares = calloc(1, sizeof(*shares));
        if (shares == NULL) {
            keel_mpi_fatal(call, "no memory for a group");
        }
        shares->uses = 1;
        shares->is_late = is_late;
        *handle = is_remote ? group_add(comm->peer_count, comm->peers, shares, call)
                            : group_add(comm->size, comm->members, shares, call);
    }
    keel_mpi_group_of(*handle)->shares->uses++;
    return *handle;
}

static void shares_leave(MPI_Group handle)
{
    const keel_mpi_group_t *group = keel_mpi_group_of(handle);

    if (--group->shares->uses == 0 && group->shares->freed == NULL) {
        keel_mpi_table_remove(&groups, (uintptr_t)handle);
        free(group->shares);
        free((void *)group);
        PMPI_Group_free(&handle);
    }
}

void keel_mpi_group_leave_comm(const keel_mpi_comm_t *comm)
{
    for (unsigned i = 0; i < 4; i++) {
        if (comm->groups[i / 2][i % 2] != MPI_GROUP_NULL) {
            shares_leave(comm->groups[i / 2][i % 2]);
        }
    }
}

/* The program frees a reference. A rollback may restore it if the group was made before the restart
 * point. */
static void shares_free(MPI_Group *variable)
{
    keel_mpi_group_shares_t *shares = keel_mpi_group_of(*variable)->shares;
    freed_t *freed;

    if (keel_mpi.phase == KEEL_MPI_RUNS && !shares->is_late) {
        freed = malloc(sizeof(*freed));
        if (freed == NULL) {
            keel_mpi_fatal("MPI_Group_free", "no memory");
        }
        *freed = (freed_t){.next = shares->freed, .variable = variable, .at = keel_mpi.hidden->checkpoints};
        shares->freed = freed;
    }
    shares_leave(*variable);
    *variable = MPI_GROUP_NULL;
}

static void shares_revive(MPI_Group handle, keel_mpi_group_shares_t *shares)
{
    freed_t **link = &shares->freed, *freed;

    while ((freed = *link) != NULL) {
        MPI_Group *variable = freed->variable;
        const keel_mpi_group_t *is;
        keel_mpi_handle_vars_t variables = {.freed_by = variable};

        if (freed->at < keel_mpi.hidden->checkpoints) { /* freed in the checkpoint, too */
            link = &freed->next;
            continue;
        }
        is = keel_mpi_is_live_variable(variable) ? keel_mpi_group_of(*variable) : NULL;
        if (is != NULL && is->shares != NULL && is->shares->is_late) {
            *variable = MPI_GROUP_NULL;
        }
        keel_mpi_handle_vars_revive(&variables, 0, &handle, &none, sizeof(none));
        shares->uses++;
        *link = freed->next;
        free(freed);
    }
}

void keel_mpi_group_revive(void)
{
    for (size_t i = 0; i < groups.size; i++) {
        keel_mpi_group_t *group = groups.entries[i].object;
        MPI_Group handle;

        if (group != NULL && group->shares != NULL) {
            memcpy(&handle, &groups.entries[i].handle, sizeof(handle));
            shares_revive(handle, group->shares);
        }
    }
}

static uint32_t index_of(uint32_t size, const uint32_t *ranks, uint32_t rank)
{
    for (uint32_t i = 0; i < size; i++) {
        if (ranks[i] == rank) {
            return i;
        }
    }
    return UINT32_MAX;
}

uint32_t keel_mpi_group_index(const keel_mpi_group_t *group, uint32_t rank)
{
    return index_of(group->size, group->ranks, rank);
}

int keel_mpi_members_compare(uint32_t size, const uint32_t *members, uint32_t other_size, const uint32_t *others)
{
    if (size != other_size) {
        return MPI_UNEQUAL;
    }
    if (memcmp(members, others, size * sizeof(*members)) == 0) {
        return MPI_IDENT;
    }
    for (uint32_t i = 0; i < size; i++) {
        if (index_of(size, others, members[i]) == UINT32_MAX) {
            return MPI_UNEQUAL;
        }
    }
    return MPI_SIMILAR;
}

/* ---- calls ---- */

static int raise_group(const char *call)
{
    return keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_GROUP, call, "not a group");
}

#define GROUP(_group, _handle, _call)                            \
    const keel_mpi_group_t *_group = keel_mpi_group_of(_handle); \
                                                                 \
    keel_mpi_begin(_call);                                       \
    if (_group == NULL) {                                        \
        return raise_group(_call);                               \
    }

int MPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Comm_group")

    *group = keel_mpi_group_of_comm(comm_ptr, 0, "MPI_Comm_group");
    return MPI_SUCCESS;
}

int MPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_get_group")

    *group = keel_mpi_group_of_comm(win_ptr->comm, 0, "MPI_Win_get_group");
    return MPI_SUCCESS;
}

int MPI_Group_free(MPI_Group *group)
{
    GROUP(group_ptr, *group, "MPI_Group_free")

    if (group_ptr->shares != NULL) {
        shares_free(group);
        return MPI_SUCCESS;
    }
    if (keel_mpi_persistent_handle_keep((uintptr_t)*group, group, &none, sizeof(none))) {
        return MPI_SUCCESS;
    }
    if (group_ptr != &empty) {
        keel_mpi_table_remove(&groups, (uintptr_t)*group);
        free((void *)group_ptr);
        return PMPI_Group_free(group);
    }
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

int MPI_Group_size(MPI_Group group, int *size)
{
    GROUP(group_ptr, group, "MPI_Group_size")

    *size = (int)group_ptr->size;
    return MPI_SUCCESS;
}

int MPI_Group_rank(MPI_Group group, int *rank)
{
    GROUP(group_ptr, group, "MPI_Group_rank")

    *rank = (int)keel_mpi_group_index(group_ptr, keel_mpi.rank);
    *rank = (*rank < 0) ? MPI_UNDEFINED : *rank;
    return MPI_SUCCESS;
}

int MPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
    const keel_mpi_group_t *other = keel_mpi_group_of(group2);
    GROUP(group_ptr, group1, "MPI_Group_compare")

    if (other == NULL) {
        return raise_group("MPI_Group_compare");
    }
    *result = keel_mpi_members_compare(group_ptr->size, group_ptr->ranks, other->size, other->ranks);
    return MPI_SUCCESS;
}

int MPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[])
{
    const keel_mpi_group_t *other = keel_mpi_group_of(group2);
    GROUP(group_ptr, group1, "MPI_Group_translate_ranks")

    if (other == NULL) {
        return raise_group("MPI_Group_translate_ranks");
    }
    for (int i = 0; i < n; i++) {
        if (ranks1[i] == MPI_PROC_NULL) {
            ranks2[i] = MPI_PROC_NULL;
            continue;
        }
        if (ranks1[i] < 0 || (uint32_t)ranks1[i] >= group_ptr->size) {
            return keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_RANK, "MPI_Group_translate_ranks", "no rank of the group");
        }
        ranks2[i] = (int)keel_mpi_group_index(other, group_ptr->ranks[ranks1[i]]);
        ranks2[i] = (ranks2[i] < 0) ? MPI_UNDEFINED : ranks2[i];
    }
    return MPI_SUCCESS;
}

/* ---- groups made of others ---- */

/* The ranks of @a first, in order, that are in @a second (@a is_in) or are not, or all
 * (@a is_first). Then, with @a is_more, the ranks of @a second that are not in @a first. */
static MPI_Group combine(const keel_mpi_group_t *first, const keel_mpi_group_t *second, int is_first, int is_in,
                         int is_more, const char *call)
{
    uint32_t *ranks = malloc((first->size + second->size + 1) * sizeof(*ranks));
    uint32_t size = 0;
    MPI_Group made_of;

    if (ranks == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    for (uint32_t i = 0; i < first->size; i++) {
        if (is_first || (keel_mpi_group_index(second, first->ranks[i]) != UINT32_MAX) == is_in) {
            ranks[size++] = first->ranks[i];
        }
    }
    for (uint32_t i = 0; is_more && i < second->size; i++) {
        if (keel_mpi_group_index(first, second->ranks[i]) == UINT32_MAX) {
            ranks[size++] = second->ranks[i];
        }
    }
    made_of = keel_mpi_group_make(size, ranks, call);
    free(ranks);
    return made_of;
}

#define DEFINE_COMBINE(_name, _is_first, _is_in, _is_more)                                       \
    int MPI_Group_##_name(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)               \
    {                                                                                            \
        const keel_mpi_group_t *other = keel_mpi_group_of(group2);                               \
        GROUP(group_ptr, group1, "MPI_Group_" #_name)                                            \
                                                                                                 \
        if (other == NULL) {                                                                     \
            return raise_group("MPI_Group_" #_name);                                             \
        }                                                                                        \
        *newgroup = combine(group_ptr, other, _is_first, _is_in, _is_more, "MPI_Group_" #_name); \
        return MPI_SUCCESS;                                                                      \
    }
DEFINE_COMBINE(union, 1, 0, 1)
DEFINE_COMBINE(intersection, 0, 1, 0)
DEFINE_COMBINE(difference, 0, 0, 0)

/* The members of the given numbers, in the given order; with @a is_left_out the other members, in
 * group order. */
static int pick(const keel_mpi_group_t *group_ptr, int n, const int picked[], int is_left_out, MPI_Group *newgroup,
                const char *call)
{
    uint32_t *ranks = malloc((group_ptr->size + (size_t)n + 1) * sizeof(*ranks));
    char *is_picked = calloc(group_ptr->size + 1, 1);
    uint32_t size = 0;
    int is_wrong = 0;

    if (ranks == NULL || is_picked == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    for (int i = 0; i < n && !is_wrong; i++) {
        is_wrong = picked[i] < 0 || (uint32_t)picked[i] >= group_ptr->size || is_picked[picked[i]];
        if (!is_wrong) {
            is_picked[picked[i]] = 1;
            ranks[size++] = group_ptr->ranks[picked[i]];
        }
    }
    if (is_left_out && !is_wrong) {
        size = 0;
        for (uint32_t i = 0; i < group_ptr->size; i++) {
            if (!is_picked[i]) {
                ranks[size++] = group_ptr->ranks[i];
            }
        }
    }
    if (!is_wrong) {
        *newgroup = keel_mpi_group_make(size, ranks, call);
    }
    free(ranks);
    free(is_picked);
    return is_wrong ? keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_RANK, call, "no rank of the group, or one twice")
                    : MPI_SUCCESS;
}

#define DEFINE_PICK(_name, _is_left_out)                                                                 \
    int MPI_Group_##_name(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)                \
    {                                                                                                    \
        GROUP(group_ptr, group, "MPI_Group_" #_name)                                                     \
                                                                                                         \
        if (n < 0) {                                                                                     \
            return keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_ARG, "MPI_Group_" #_name, "a negative count"); \
        }                                                                                                \
        return pick(group_ptr, n, ranks, _is_left_out, newgroup, "MPI_Group_" #_name);                   \
    }
DEFINE_PICK(incl, 0)
DEFINE_PICK(excl, 1)

/* Expands ranges of first, last and stride into numbers; NULL: a stride is 0. */
static int *ranges_write_out(int n, int ranges[][3], int *count_p)
{
    size_t count = 0, at = 0;
    int *ranks;

    for (int i = 0; i < n; i++) {
        if (ranges[i][2] == 0) {
            return NULL;
        }
        count += (size_t)(labs((long)ranges[i][1] - ranges[i][0]) / labs(ranges[i][2])) + 1;
    }
    ranks = malloc((count + 1) * sizeof(*ranks));
    for (int i = 0; ranks != NULL && i < n; i++) {
        const long first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];

        for (long rank = first; (stride > 0) ? rank <= last : rank >= last; rank += stride) {
            ranks[at++] = (int)rank;
        }
    }
    *count_p = (int)at;
    return ranks;
}

#define DEFINE_RANGES(_name, _is_left_out)                                                            \
    int MPI_Group_##_name(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)               \
    {                                                                                                 \
        int count, code, *ranks;                                                                      \
        GROUP(group_ptr, group, "MPI_Group_" #_name)                                                  \
                                                                                                      \
        ranks = ranges_write_out(n, ranges, &count);                                                  \
        if (ranks == NULL) {                                                                          \
            return keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_ARG, "MPI_Group_" #_name, "a stride of 0"); \
        }                                                                                             \
        code = pick(group_ptr, count, ranks, _is_left_out, newgroup, "MPI_Group_" #_name);            \
        free(ranks);                                                                                  \
        return code;                                                                                  \
    }
DEFINE_RANGES(range_incl, 0)
DEFINE_RANGES(range_excl, 1)

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    const keel_mpi_group_t *members;
    keel_mpi_comm_t among;
    uint64_t context;
    KEEL_MPI_INTRA(comm_ptr, comm, "MPI_Comm_create_group")

    members = keel_mpi_group_of(group);
    if (members == NULL) {
        return keel_mpi_raise(comm, MPI_ERR_GROUP, "MPI_Comm_create_group", "not a group");
    }
    if (keel_mpi_group_index(members, keel_mpi.rank) == UINT32_MAX) {
        *newcomm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    /* messages among the group alone; the negative tag tells them apart from the communicator's
     * collectives */
    among = (keel_mpi_comm_t){.size = members->size,
                              .rank = keel_mpi_group_index(members, keel_mpi.rank),
                              .members = (uint32_t *)members->ranks,
                              .context = comm_ptr->context};
    context = keel_mpi_comm_context_tagged(&among, tag, "MPI_Comm_create_group");
    return keel_mpi_comm_derive(comm_ptr, members->size,
                                keel_mpi_members_copy(members->size, members->ranks, "MPI_Comm_create_group"), context,
                                newcomm, "MPI_Comm_create_group");
}
