/*
 * Communicators. A handle is one of the system's MPI, for this process alone, so that names, attributes and error handlers are its
 * affair; who belongs to it stands here.
 */
#ifndef KEEL_MPI_COMM_H_
#define KEEL_MPI_COMM_H_

#include "mpi_state.h"
#include "life/mpi_handle_vars.h"

/* the number of collectives of one that was freed behind the restart point: its block stays, so that images say so */
#define KEEL_MPI_FREED UINT64_MAX

typedef struct keel_mpi_comm {
    MPI_Comm handle; /* MPI_COMM_NULL: a window's own */
    uint32_t size, rank;
    uint32_t *members;   /* ranks of the job */
    uint32_t peer_count; /* of those that messages go to: the members; of an intercommunicator the other group */
    uint32_t *peers;     /* ranks of the job; of an intracommunicator the members' own array */
    uint64_t context;    /* of its messages; the next one is that of its collectives */
    uint64_t coll_count; /* offset of the number of collectives it has done, a block of the arena */
    struct keel_mpi_topology *topology; /* NULL: none */
    MPI_Group groups[2][2];             /* mpi_group.c: by is_late and is_remote; MPI_GROUP_NULL: none yet */
    unsigned uses;                      /* by requests that are open */
    int is_gone;                        /* removed, but for those */
    int is_late;                        /* made after the restart point: a rollback takes it away */
    keel_mpi_handle_vars_t variables;
} keel_mpi_comm_t;

/* MPI_COMM_WORLD and MPI_COMM_SELF */
void keel_mpi_comm_make(void);
/* at the job's end: those that a rollback might have brought back, with what the program has to be done then */
void keel_mpi_comm_end_freed(void);
void keel_mpi_comm_unmake(void); /* what the program has left */
/* one that a checkpoint cannot have; and at a rollback, before the arena's return and after it */
int keel_mpi_comm_is_late(void);
void keel_mpi_comm_drop_late(void);
void keel_mpi_comm_revive(void);

/* NULL: no communicator */
keel_mpi_comm_t *keel_mpi_comm_of(MPI_Comm handle);
/* a context for all members; collective */
uint64_t keel_mpi_comm_context(const keel_mpi_comm_t *comm, const char *call);
/* the same, among those alone whom @a comm has and who give this tag, without a turn of a communicator's own */
uint64_t keel_mpi_comm_context_tagged(const keel_mpi_comm_t *comm, int tag, const char *call);
/* takes over @a members, which are allocated; the caller is one of them */
keel_mpi_comm_t *keel_mpi_comm_add(MPI_Comm handle, uint32_t size, uint32_t *members, uint64_t context,
                                   const char *call);
void keel_mpi_comm_remove(keel_mpi_comm_t *comm);
/* a request's: it stays until it is let go */
keel_mpi_comm_t *keel_mpi_comm_hold(keel_mpi_comm_t *comm);
void keel_mpi_comm_release(keel_mpi_comm_t *comm);
/* the other group of one that becomes an intercommunicator; takes it over */
void keel_mpi_comm_set_remote(keel_mpi_comm_t *comm, uint32_t size, uint32_t *remote);
static inline int keel_mpi_comm_is_inter(const keel_mpi_comm_t *comm)
{
    return comm->peers != comm->members;
}
/* a new one with error handler of @a of, without its attributes; @a members is taken over */
int keel_mpi_comm_make_of(const keel_mpi_comm_t *of, uint32_t size, uint32_t *members, uint64_t context,
                          MPI_Comm *newcomm, const char *call);
/* who has a color, and where they want to be among those */
typedef struct keel_mpi_split {
    int color, key;
    uint32_t index, rank;
} keel_mpi_split_t;

/* those of that color, in their order, allocated; @a all is put in order, too */
uint32_t *keel_mpi_split_choose(keel_mpi_split_t *all, uint32_t number, int color, uint32_t *size_p, const char *call);
/* what MPI_Comm_split() does of an intracommunicator */
int keel_mpi_comm_split(const keel_mpi_comm_t *of, int color, int key, MPI_Comm *newcomm, const char *call);
/* one that is a copy, whose context is not set yet */
int keel_mpi_comm_duplicate(const keel_mpi_comm_t *of, MPI_Info info, MPI_Comm *newcomm, const char *call);
/* a context that no other process and no other call gives */
uint64_t keel_mpi_comm_context_new(void);
/* of a rank of the job; UINT32_MAX: not a member, or not one that messages come from */
uint32_t keel_mpi_comm_index(const keel_mpi_comm_t *comm, uint32_t rank);
uint32_t keel_mpi_comm_peer_index(const keel_mpi_comm_t *comm, uint32_t rank);
uint32_t *keel_mpi_members_copy(uint32_t size, const uint32_t *members, const char *call);

/* for errors of what is done on it still, also when it is freed */
static inline MPI_Comm keel_mpi_comm_handle(const keel_mpi_comm_t *comm)
{
    return comm->is_gone ? MPI_COMM_WORLD : comm->handle;
}

/* begins a call on a communicator: comm is there, or the call returns with an error */
#define KEEL_MPI_COMM(_comm, _handle, _call) KEEL_MPI_COMM_FOUND(_comm, keel_mpi_comm_of(_handle), _call)
/* the same of what was found otherwise */
#define KEEL_MPI_COMM_FOUND(_comm, _found, _call)                                         \
    keel_mpi_comm_t *_comm;                                                               \
    keel_mpi_begin(_call);                                                                \
    _comm = (_found);                                                                     \
    if (_comm == NULL) {                                                                  \
        return keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_COMM, _call, "not a communicator"); \
    }

/* for calls that intercommunicators have no part in */
#define KEEL_MPI_INTRA(_comm, _handle, _call)                                                            \
    KEEL_MPI_COMM(_comm, _handle, _call)                                                                 \
    if (keel_mpi_comm_is_inter(_comm)) {                                                                 \
        return keel_mpi_raise(_handle, MPI_ERR_COMM, _call, "an intercommunicator, which it cannot be"); \
    }

#endif
