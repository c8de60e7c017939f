/*
 * Requests. One that is open is a generalized request of the system's MPI, which keeps its status; who asks for it looks here first whether
 * it can be completed. A persistent one has another such request each time that it is started.
 */
#ifndef KEEL_MPI_REQUEST_H_
#define KEEL_MPI_REQUEST_H_

#include "p2p/mpi_channel.h"
#include "comm/mpi_comm.h"
#include "datatype/mpi_layout.h"

typedef struct keel_mpi_request keel_mpi_request_t;

/* what makes it complete: 1 when it is, and then @a finish puts the results where they belong and sets the status; what finish has from
 * others it gets by keel_mpi_startup_result() */
typedef struct keel_mpi_request_ops {
    int (*is_ready)(keel_mpi_request_t *request);
    void (*finish)(keel_mpi_request_t *request, MPI_Status *status);
    void (*cancel)(keel_mpi_request_t *request, MPI_Status *status); /* NULL: cannot be */
    void (*await)(
        keel_mpi_request_t *request); /* until it is, for what is not received; NULL: the messages are waited for */
    int is_send;                      /* all that it has to do is done without it */
} keel_mpi_request_ops_t;

struct keel_mpi_request {
    const keel_mpi_request_ops_t *ops;
    MPI_Request handle;
    MPI_Status status;
    int is_done;
    int is_orphan;   /* the program has freed its handle; it is complete when it is, in some call of this file */
    uint32_t number; /* of a receive whose handle is freed, from 1 */
    const char *call;
    /* a receive, and what else needs these */
    keel_mpi_receive_t receive;
    keel_mpi_comm_t *comm; /* held; NULL: none */
    void *buffer;
    size_t count;
    keel_mpi_layout_t *layout; /* a copy */
    uint64_t ticket;           /* of a send, to want.source */
    /* a collective call's */
    keel_mpi_receive_t *receives; /* all of them; allocated */
    uint32_t receive_count;
    struct keel_mpi_request_place { /* of each, where what has come goes; allocated, NULL: elsewhere */
        void *at;
        size_t count;
        const keel_mpi_layout_t *layout;
    } * places;
    keel_mpi_layout_t **kept; /* the copies that these need; allocated, as all are */
    uint32_t kept_count;
    const void *form; /* of a reduction: such elements as it is done on; and the part of them that the buffer gets */
    size_t part_at, part_count;
    void *own;       /* its own contribution, packed; allocated */
    uint32_t own_at; /* after so many of the others; UINT32_MAX: it is none */
    MPI_Datatype type;
    MPI_Op op;
    int is_reduction, frees_op, frees_type; /* the last two: the program has freed it meanwhile */
};

/* one that is open, zeroed but for these; its handle is the program's */
keel_mpi_request_t *keel_mpi_request_make(const keel_mpi_request_ops_t *ops, const char *call);
/* a handle of one that is complete already */
int keel_mpi_request_complete(MPI_Request *request);
/* of the program's handle, NULL: none of ours, or complete */
keel_mpi_request_t *keel_mpi_request_of(MPI_Request handle);
/* one that is ready is completed; and one that may not be is waited for before that */
void keel_mpi_request_finish(keel_mpi_request_t *request);
void keel_mpi_request_wait(keel_mpi_request_t *request);
/* where the handle stands that the system's MPI is to be asked for: of a persistent one, of what was started */
MPI_Request *keel_mpi_request_active(MPI_Request *handle);
/* those whose handle is freed, and that are ready: sends, and where nothing has to be done again in the same way, receives */
void keel_mpi_request_finish_orphans(void);
/* such receives; where what is done has to be done again in the same way, only here: when a call has received something, in
 * the record before the restart point. And whether some are left; and not there either until that is taken back. */
void keel_mpi_request_finish_freed(void);
void keel_mpi_request_hold_freed(int is_kept);
int keel_mpi_request_has_freed(void);
/* whether some are open; and all of them forgotten at a rollback */
int keel_mpi_request_is_open(void);
void keel_mpi_request_drop(void);

/* a persistent one's way to be started; @a type and @a comm are part of the arguments, and let go with it */
typedef int (*keel_mpi_start_t)(const void *arguments, MPI_Request *request);
int keel_mpi_request_persist(keel_mpi_start_t start, const void *arguments, size_t bytes, MPI_Datatype type,
                             keel_mpi_comm_t *comm, MPI_Request *request);

/* true: some that is open uses it, and it is freed with that */
int keel_mpi_request_takes_op(MPI_Op op);
int keel_mpi_request_takes_type(MPI_Datatype type);

/* mpi_mprobe.c: messages that were matched by MPI_Mprobe and are not received: whether there are some, and all of them forgotten at a rollback */
int keel_mpi_mprobe_is_open(void);
void keel_mpi_mprobe_drop(void);

/* mpi_send_recv.c: MPI_SUCCESS, or an error that was raised; @a is_any: of what receives or looks, which may be for any */
int keel_mpi_message_check(const keel_mpi_comm_t *comm, int count, const keel_mpi_layout_t *layout, int peer,
                           int is_any, int tag, const char *call);
/* what is wanted of a peer that was found right */
keel_mpi_receive_t keel_mpi_receive_of(const keel_mpi_comm_t *comm, int source, int tag);
/* of a message that was matched and is whole: to where it goes; gives MPI_SUCCESS or MPI_ERR_TRUNCATE */
int keel_mpi_receive_deliver(const keel_mpi_comm_t *comm, keel_mpi_receive_t *receive, void *buffer, size_t count,
                             const keel_mpi_layout_t *layout, MPI_Status *status, const char *call);
/* a request of a message that was received */
int keel_mpi_request_received(const MPI_Status *status, MPI_Request *request);

void keel_mpi_status_set(MPI_Status *status, int source, int tag, size_t bytes);

#endif
