#include "comm/mpi_inter.h"

#include "comm/mpi_group.h"
#include "p2p/mpi_channel.h"

#include <stdlib.h>

/* Exchanged by the first ranks, each about its own group. The list of ranks follows. */
typedef struct {
    uint64_t size, context;
    uint64_t is_high;
} leader_info_t;

/* ---- exchange between the first ranks of both groups ---- */

/* Breaks ties between the groups without messages: the group with the lower first rank comes
 * first. */
static int is_first(const keel_mpi_comm_t *inter)
{
    return inter->members[0] < inter->peers[0];
}

uint32_t keel_mpi_inter_context_owner(const keel_mpi_comm_t *comm)
{
    return is_first(comm) ? comm->members[0] : comm->peers[0];
}

const keel_mpi_comm_t *keel_mpi_inter_others(const keel_mpi_comm_t *comm, keel_mpi_comm_t *room)
{
    *room = *comm;
    room->size = comm->peer_count;
    room->members = comm->peers;
    return room;
}

keel_mpi_coll_t keel_mpi_inter_across(const keel_mpi_coll_t *coll, const keel_mpi_comm_t *others)
{
    keel_mpi_coll_t across = *coll;

    across.comm = others;
    return across;
}

/* Exchanges data between the groups by their first ranks, and broadcasts the remote group's data.
 * @a coll belongs to the intercommunicator. */
static void exchange(const keel_mpi_coll_t *coll, const void *mine, size_t bytes, void *theirs, size_t their_bytes)
{
    const keel_mpi_comm_t *inter = coll->comm;

    if (inter->rank == 0) {
        keel_mpi_channel_send(inter->peers[0], coll->context, coll->tag, mine, bytes, coll->call);
        keel_mpi_channel_receive(inter->peers[0], coll->context, coll->tag, theirs, their_bytes, coll->call);
    }
    keel_mpi_coll_bcast(coll, 0, theirs, their_bytes);
}

void keel_mpi_inter_barrier(const keel_mpi_coll_t *coll)
{
    char nothing = 0;

    keel_mpi_coll_barrier(coll);
    exchange(coll, &nothing, sizeof(nothing), &nothing, sizeof(nothing));
}

uint64_t keel_mpi_inter_context(const keel_mpi_comm_t *inter, const char *call)
{
    const keel_mpi_coll_t coll = keel_mpi_coll_begin(inter, call);
    uint64_t mine = 0, theirs = 0;

    if (inter->rank == 0 && is_first(inter)) {
        mine = keel_mpi_comm_context_new();
    }
    if (is_first(inter)) {
        keel_mpi_coll_bcast(&coll, 0, &mine, sizeof(mine));
    }
    exchange(&coll, &mine, sizeof(mine), &theirs, sizeof(theirs));
    return is_first(inter) ? mine : theirs;
}

/* ---- making intercommunicators ---- */

/* Exchanges the groups with @a leader, a rank of the job and the first of the remote group. The tag
 * tells concurrent calls apart. */
static uint32_t *leaders_exchange(const keel_mpi_comm_t *local, const keel_mpi_comm_t *peer, uint32_t leader, int tag,
                                  leader_info_t *info)
{
    static const char call[] = "MPI_Intercomm_create";
    /* tags of the communicator's collectives are not negative */
    const int64_t mark = -1 - (int64_t)tag;
    leader_info_t mine = {local->size, 0, 0};
    uint32_t *remote;

    if (keel_mpi.rank < leader) {
        mine.context = keel_mpi_comm_context_new();
    }
    keel_mpi_channel_send(leader, peer->context + 1, mark, &mine, sizeof(mine), call);
    keel_mpi_channel_send(leader, peer->context + 1, mark, local->members, local->size * sizeof(*local->members), call);
    keel_mpi_channel_receive(leader, peer->context + 1, mark, info, sizeof(*info), call);
    remote = calloc(info->size + 1, sizeof(*remote));
    if (remote == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    keel_mpi_channel_receive(leader, peer->context + 1, mark, remote, info->size * sizeof(*remote), call);
    info->context = (keel_mpi.rank < leader) ? mine.context : info->context;
    return remote;
}

int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                         MPI_Comm *newintercomm)
{
    static const char call[] = "MPI_Intercomm_create";
    const keel_mpi_comm_t *peer;
    uint32_t *remote = NULL;
    keel_mpi_coll_t coll;
    leader_info_t info = {0};
    int code;
    KEEL_MPI_INTRA(comm_ptr, local_comm, "MPI_Intercomm_create")

    if (local_leader < 0 || (uint32_t)local_leader >= comm_ptr->size) {
        return keel_mpi_raise(local_comm, MPI_ERR_RANK, call, "a local leader that is no rank of the communicator");
    }
    coll = keel_mpi_coll_begin(comm_ptr, call);
    if (comm_ptr->rank == (uint32_t)local_leader) {
        peer = keel_mpi_comm_of(peer_comm);
        if (peer == NULL || remote_leader < 0 || (uint32_t)remote_leader >= peer->peer_count) {
            return keel_mpi_raise(local_comm, peer == NULL ? MPI_ERR_COMM : MPI_ERR_RANK, call,
                                  "a remote leader that is no rank of the peer communicator");
        }
        remote = leaders_exchange(comm_ptr, peer, peer->peers[remote_leader], tag, &info);
    }
    keel_mpi_coll_bcast(&coll, (uint32_t)local_leader, &info, sizeof(info));
    remote = (remote == NULL) ? calloc(info.size + 1, sizeof(*remote)) : remote;
    if (remote == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    keel_mpi_coll_bcast(&coll, (uint32_t)local_leader, remote, info.size * sizeof(*remote));
    code =
        keel_mpi_comm_derive(comm_ptr, comm_ptr->size, keel_mpi_members_copy(comm_ptr->size, comm_ptr->members, call),
                             info.context, newintercomm, call);
    if (code == MPI_SUCCESS) {
        keel_mpi_comm_set_remote(keel_mpi_comm_of(*newintercomm), (uint32_t)info.size, remote);
    }
    return code;
}

int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
    static const char call[] = "MPI_Intercomm_merge";
    uint64_t mine = high != 0, theirs = 0, context;
    keel_mpi_coll_t coll;
    uint32_t *members, first;
    int comes_first;
    KEEL_MPI_COMM(comm_ptr, intercomm, "MPI_Intercomm_merge")

    if (!keel_mpi_comm_is_inter(comm_ptr)) {
        return keel_mpi_raise(intercomm, MPI_ERR_COMM, call, "not an intercommunicator");
    }
    context = keel_mpi_inter_context(comm_ptr, call);
    coll = keel_mpi_coll_begin(comm_ptr, call);
    exchange(&coll, &mine, sizeof(mine), &theirs, sizeof(theirs));
    comes_first = (mine != theirs) ? !high : is_first(comm_ptr);
    members = malloc((comm_ptr->size + comm_ptr->peer_count) * sizeof(*members));
    if (members == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    first = comes_first ? 0 : comm_ptr->peer_count;
    for (uint32_t i = 0; i < comm_ptr->size; i++) {
        members[first + i] = comm_ptr->members[i];
    }
    first = comes_first ? comm_ptr->size : 0;
    for (uint32_t i = 0; i < comm_ptr->peer_count; i++) {
        members[first + i] = comm_ptr->peers[i];
    }
    return keel_mpi_comm_derive(comm_ptr, comm_ptr->size + comm_ptr->peer_count, members, context, newintracomm, call);
}

/* Takes over both arrays. The communicator is MPI_COMM_NULL if the caller is no member, or the
 * remote group is empty. */
static int make_of(const keel_mpi_comm_t *comm_ptr, uint32_t size, uint32_t *members, uint32_t remote_size,
                   uint32_t *remote, uint64_t context, int is_member, MPI_Comm *newcomm, const char *call)
{
    int code = MPI_SUCCESS;

    *newcomm = MPI_COMM_NULL;
    if (is_member && remote_size > 0) {
        code = keel_mpi_comm_derive(comm_ptr, size, members, context, newcomm, call);
        if (code == MPI_SUCCESS) {
            keel_mpi_comm_set_remote(keel_mpi_comm_of(*newcomm), remote_size, remote);
        }
        return code;
    }
    free(members);
    free(remote);
    return code;
}

int keel_mpi_inter_split(const keel_mpi_comm_t *comm_ptr, int color, int key, MPI_Comm *newcomm, const char *call)
{
    const keel_mpi_split_t mine = {color, key, comm_ptr->rank, keel_mpi.rank};
    const uint64_t context = keel_mpi_inter_context(comm_ptr, call);
    const keel_mpi_coll_t coll = keel_mpi_coll_begin(comm_ptr, call);
    keel_mpi_split_t *all = malloc(comm_ptr->size * sizeof(*all)),
                     *theirs = malloc(comm_ptr->peer_count * sizeof(*theirs));
    uint32_t *members, *remote, size, remote_size;

    if (all == NULL || theirs == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    keel_mpi_coll_allgather(&coll, &mine, sizeof(mine), all);
    exchange(&coll, all, comm_ptr->size * sizeof(*all), theirs, comm_ptr->peer_count * sizeof(*theirs));
    members = keel_mpi_split_choose(all, comm_ptr->size, color, &size, call);
    remote = keel_mpi_split_choose(theirs, comm_ptr->peer_count, color, &remote_size, call);
    free(all);
    free(theirs);
    return make_of(comm_ptr, size, members, remote_size, remote, context, color != MPI_UNDEFINED, newcomm, call);
}

int keel_mpi_inter_create(const keel_mpi_comm_t *comm_ptr, uint32_t size, const uint32_t *ranks, MPI_Comm *newcomm,
                          const char *call)
{
    const uint64_t context = keel_mpi_inter_context(comm_ptr, call);
    const keel_mpi_coll_t coll = keel_mpi_coll_begin(comm_ptr, call);
    uint32_t remote_size = 0, *remote, *members = keel_mpi_members_copy(size, ranks, call);
    int is_member = 0;

    exchange(&coll, &size, sizeof(size), &remote_size, sizeof(remote_size));
    remote = calloc(remote_size + 1, sizeof(*remote));
    if (remote == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    exchange(&coll, ranks, size * sizeof(*ranks), remote, remote_size * sizeof(*remote));
    for (uint32_t i = 0; i < size; i++) {
        is_member |= ranks[i] == keel_mpi.rank;
    }
    return make_of(comm_ptr, size, members, remote_size, remote, context, is_member, newcomm, call);
}

/* ---- queries ---- */

int MPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Comm_test_inter")

    *flag = keel_mpi_comm_is_inter(comm_ptr);
    return MPI_SUCCESS;
}

int MPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Comm_remote_size")

    if (!keel_mpi_comm_is_inter(comm_ptr)) {
        return keel_mpi_raise(comm, MPI_ERR_COMM, "MPI_Comm_remote_size", "not an intercommunicator");
    }
    *size = (int)comm_ptr->peer_count;
    return MPI_SUCCESS;
}

int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Comm_remote_group")

    if (!keel_mpi_comm_is_inter(comm_ptr)) {
        return keel_mpi_raise(comm, MPI_ERR_COMM, "MPI_Comm_remote_group", "not an intercommunicator");
    }
    *group = keel_mpi_group_of_comm(comm_ptr, 1, "MPI_Comm_remote_group");
    return MPI_SUCCESS;
}

/* No process is spawned by another. */
int MPI_Comm_get_parent(MPI_Comm *parent)
{
    keel_mpi_begin("MPI_Comm_get_parent");
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
