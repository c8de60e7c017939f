/*
 * Communicators. A handle belongs to the system's MPI and to this process alone, so the system's
 * MPI keeps names, attributes and error handlers. The adapter keeps the members.
 */
#ifndef KEEL_MPI_COMM_H_
#define KEEL_MPI_COMM_H_

#include "life/mpi_handle_vars.h"
#include "mpi_state.h"

/* Number of collectives of a communicator freed behind the restart point. The block stays
 * allocated, so that images record the free. */
#define KEEL_MPI_FREED UINT64_MAX

typedef struct keel_mpi_comm {
    MPI_Comm handle; /* MPI_COMM_NULL: the private communicator of a window */
    uint32_t size, rank;
    uint32_t *members; /* ranks of the job */
    /* number of ranks that messages go to: the members, or the remote group of an
     * intercommunicator */
    uint32_t peer_count;
    /* ranks of the job; the members array itself for an intracommunicator */
    uint32_t *peers;
    /* context of the messages; collectives use context + 1 */
    uint64_t context;
    /* offset of the count of collectives, a block of the arena */
    uint64_t coll_count;
    struct keel_mpi_topology *topology; /* NULL: none */
    /* mpi_group.c: by is_late and is_remote; MPI_GROUP_NULL: not made yet */
    MPI_Group groups[2][2];
    unsigned uses; /* references by open requests */
    int is_gone;   /* removed, but for these references */
    /* made after the restart point; a rollback removes the communicator */
    int is_late;
    keel_mpi_handle_vars_t variables;
} keel_mpi_comm_t;

/* Makes MPI_COMM_WORLD and MPI_COMM_SELF. */
void keel_mpi_comm_make(void);
/* At the end of the job: frees the communicators that were kept for a rollback, and runs their
 * callbacks. */
void keel_mpi_comm_end_freed(void);
void keel_mpi_comm_unmake(void); /* forgets the program's remaining communicators */
/* True if a communicator exists that a checkpoint cannot have. At a rollback drop_late() runs
 * before the arena is restored, and revive() after. */
int keel_mpi_comm_is_late(void);
void keel_mpi_comm_drop_late(void);
void keel_mpi_comm_revive(void);

/* NULL: not a communicator. */
keel_mpi_comm_t *keel_mpi_comm_of(MPI_Comm handle);
/* A new context for all members; collective. */
uint64_t keel_mpi_comm_context(const keel_mpi_comm_t *comm, const char *call);
/* A new context for the members of @a comm, all of which give this tag; does not count as a
 * collective of a communicator. */
uint64_t keel_mpi_comm_context_tagged(const keel_mpi_comm_t *comm, int tag, const char *call);
/* Takes over the allocated array @a members; the caller is a member. */
keel_mpi_comm_t *keel_mpi_comm_add(MPI_Comm handle, uint32_t size, uint32_t *members, uint64_t context,
                                   const char *call);
void keel_mpi_comm_remove(keel_mpi_comm_t *comm);
/* Take and drop a request's reference. The communicator outlives its removal until the last one is
 * dropped. */
keel_mpi_comm_t *keel_mpi_comm_hold(keel_mpi_comm_t *comm);
void keel_mpi_comm_release(keel_mpi_comm_t *comm);
/* Sets the remote group of a new intercommunicator; takes over the array. */
void keel_mpi_comm_set_remote(keel_mpi_comm_t *comm, uint32_t size, uint32_t *remote);
static inline int keel_mpi_comm_is_inter(const keel_mpi_comm_t *comm)
{
    return comm->peers != comm->members;
}
/* Makes a communicator with the error handler of @a comm_ptr and without its attributes; takes over
 * @a members. */
int keel_mpi_comm_derive(const keel_mpi_comm_t *comm_ptr, uint32_t size, uint32_t *members, uint64_t context,
                         MPI_Comm *newcomm, const char *call);
/* Color and key of a rank in a split. */
typedef struct keel_mpi_split {
    int color, key;
    uint32_t index, rank;
} keel_mpi_split_t;

/* The ranks of a color, ordered by key, allocated. Sorts @a all. */
uint32_t *keel_mpi_split_choose(keel_mpi_split_t *all, uint32_t number, int color, uint32_t *size_p, const char *call);
/* MPI_Comm_split() of an intracommunicator. */
int keel_mpi_comm_split(const keel_mpi_comm_t *comm_ptr, int color, int key, MPI_Comm *newcomm, const char *call);
/* Makes a duplicate; the caller sets its context. */
int keel_mpi_comm_duplicate(const keel_mpi_comm_t *comm_ptr, MPI_Info info, MPI_Comm *newcomm, const char *call);
/* A context that no other process and no other call returns. */
uint64_t keel_mpi_comm_context_new(void);
/* Index of a rank of the job among the members, or among the peers; UINT32_MAX: not there. */
uint32_t keel_mpi_comm_index(const keel_mpi_comm_t *comm, uint32_t rank);
uint32_t keel_mpi_comm_peer_index(const keel_mpi_comm_t *comm, uint32_t rank);
uint32_t *keel_mpi_members_copy(uint32_t size, const uint32_t *members, const char *call);

/* The handle to raise errors on; MPI_COMM_WORLD if the communicator has been freed. */
static inline MPI_Comm keel_mpi_comm_handle(const keel_mpi_comm_t *comm)
{
    return comm->is_gone ? MPI_COMM_WORLD : comm->handle;
}

/* Begins a call on a communicator: finds the object, or returns from the call with an error. */
#define KEEL_MPI_COMM(_comm, _handle, _call) KEEL_MPI_COMM_FOUND(_comm, keel_mpi_comm_of(_handle), _call)
/* The same for an object that the caller has looked up. */
#define KEEL_MPI_COMM_FOUND(_comm, _found, _call)                                         \
    keel_mpi_comm_t *_comm;                                                               \
    keel_mpi_begin(_call);                                                                \
    _comm = (_found);                                                                     \
    if (_comm == NULL) {                                                                  \
        return keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_COMM, _call, "not a communicator"); \
    }

/* The same for calls that do not accept intercommunicators. */
#define KEEL_MPI_INTRA(_comm, _handle, _call)                                                            \
    KEEL_MPI_COMM(_comm, _handle, _call)                                                                 \
    if (keel_mpi_comm_is_inter(_comm)) {                                                                 \
        return keel_mpi_raise(_handle, MPI_ERR_COMM, _call, "an intercommunicator, which it cannot be"); \
    }

#endif
