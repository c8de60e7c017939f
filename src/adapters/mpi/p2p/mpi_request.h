/*
 * Requests. An open request is a generalized request of the system's MPI, which keeps the status. A
 * call that tests or waits first looks here whether the request can be completed. Each start of a
 * persistent request makes another generalized request.
 */
#ifndef KEEL_MPI_REQUEST_H_
#define KEEL_MPI_REQUEST_H_

#include "comm/mpi_comm.h"
#include "datatype/mpi_layout.h"
#include "p2p/mpi_channel.h"

typedef struct keel_mpi_request keel_mpi_request_t;

/* is_ready returns 1 once the request can complete. finish then delivers the results and sets the
 * status; results from other ranks pass through keel_mpi_startup_result(). */
typedef struct keel_mpi_request_ops {
    int (*is_ready)(keel_mpi_request_t *request);
    void (*finish)(keel_mpi_request_t *request, MPI_Status *status);
    void (*cancel)(keel_mpi_request_t *request, MPI_Status *status); /* NULL: cannot be cancelled */
    /* waits until a request without receives is ready; NULL: the wait is for messages */
    void (*await)(keel_mpi_request_t *request);
    /* the request completes without further work of the program */
    int is_send;
} keel_mpi_request_ops_t;

struct keel_mpi_request {
    const keel_mpi_request_ops_t *ops;
    MPI_Request handle;
    MPI_Status status;
    int is_done;
    /* the program has freed the handle; a later call of this file completes the request */
    int is_orphan;
    uint32_t number; /* number of a receive with a freed handle, from 1 */
    const char *call;
    /* fields of a receive; other requests use some of them */
    keel_mpi_receive_t receive;
    keel_mpi_comm_t *comm; /* holds a reference; NULL: none */
    void *buffer;
    size_t count;
    keel_mpi_layout_t *layout; /* a copy */
    uint64_t ticket;           /* ticket of a send to receive.source */
    /* fields of a collective */
    keel_mpi_receive_t *receives; /* all receives; allocated */
    uint32_t receive_count;
    /* for each receive the destination of the data; allocated; NULL: elsewhere */
    struct keel_mpi_request_place {
        void *at;
        size_t count;
        const keel_mpi_layout_t *layout;
    } * places;
    keel_mpi_layout_t **layouts; /* copies of layouts that the places need; allocated */
    uint32_t layout_count;
    /* a reduction: elements of the kind it works on, and the part of the result for the buffer */
    const void *form;
    size_t part_at, part_count;
    void *own;       /* the rank's own contribution, packed; allocated */
    uint32_t own_at; /* position of the own contribution among the others; UINT32_MAX: none */
    MPI_Datatype type;
    MPI_Op op;
    /* frees_op, frees_type: the program has freed the operation or the type meanwhile */
    int is_reduction, frees_op, frees_type;
};

/* Makes an open request, zeroed but for its ops and call. The handle is for the program. */
keel_mpi_request_t *keel_mpi_request_make(const keel_mpi_request_ops_t *ops, const char *call);
/* Makes a handle of a request that is complete already. */
int keel_mpi_request_complete(MPI_Request *request);
/* The open request of a handle; NULL: the handle is foreign, or its request is complete. */
keel_mpi_request_t *keel_mpi_request_of(MPI_Request handle);
/* keel_mpi_request_finish() completes a ready request; keel_mpi_request_wait() waits until the
 * request is ready, and completes it. */
void keel_mpi_request_finish(keel_mpi_request_t *request);
void keel_mpi_request_wait(keel_mpi_request_t *request);
/* The handle to ask the system's MPI for: of a persistent request the active one. */
MPI_Request *keel_mpi_request_active(MPI_Request *handle);
/* Completes ready requests with freed handles: sends, and, if no replay has to repeat the order,
 * receives. */
void keel_mpi_request_finish_orphans(void);
/* Completes ready receives with freed handles. If a replay has to repeat the order, this is the
 * only place: after a call has received something, with the result in the startup record.
 * keel_mpi_request_hold_freed() suspends even this. keel_mpi_request_has_freed() is true if some
 * are left. */
void keel_mpi_request_finish_freed(void);
void keel_mpi_request_hold_freed(int is_held);
int keel_mpi_request_has_freed(void);
/* True if requests are open. keel_mpi_request_drop() forgets all requests at a rollback. */
int keel_mpi_request_is_open(void);
void keel_mpi_request_drop(void);

/* Starts a persistent request. @a type and @a comm of keel_mpi_request_persist() are part of the
 * arguments and released with them. */
typedef int (*keel_mpi_start_t)(const void *arguments, MPI_Request *request);
int keel_mpi_request_persist(keel_mpi_start_t start, const void *arguments, size_t bytes, MPI_Datatype type,
                             keel_mpi_comm_t *comm, MPI_Request *request);

/* True if an open request uses the operation (type). The request then frees the operation (type) at
 * its end. */
int keel_mpi_request_takes_op(MPI_Op op);
int keel_mpi_request_takes_type(MPI_Datatype type);

/* mpi_mprobe.c: True if MPI_Mprobe has matched messages not received yet. keel_mpi_mprobe_drop()
 * forgets all of them at a rollback. */
int keel_mpi_mprobe_is_open(void);
void keel_mpi_mprobe_drop(void);

/* mpi_send_recv.c: Checks the arguments of a call; MPI_SUCCESS, or the code of a raised error.
 * @a is_any: the call receives or probes, so wildcards are allowed. */
int keel_mpi_message_check(const keel_mpi_comm_t *comm, int count, const keel_mpi_layout_t *layout, int peer,
                           int is_any, int tag, const char *call);
/* The receive for a source and tag that have been checked. */
keel_mpi_receive_t keel_mpi_receive_of(const keel_mpi_comm_t *comm, int source, int tag);
/* Unpacks a message that is matched and whole into the buffer. Returns MPI_SUCCESS or
 * MPI_ERR_TRUNCATE. */
int keel_mpi_receive_deliver(const keel_mpi_comm_t *comm, keel_mpi_receive_t *receive, void *buffer, size_t count,
                             const keel_mpi_layout_t *layout, MPI_Status *status, const char *call);
/* Makes a request for a message that has been received. */
int keel_mpi_request_received(const MPI_Status *status, MPI_Request *request);

void keel_mpi_status_set(MPI_Status *status, int source, int tag, size_t bytes);

#endif
