#include "p2p/mpi_request.h"

#include "life/mpi_persistent_handles.h"
#include "life/mpi_startup.h"
#include "mpi_table.h"

#include <stdlib.h>
#include <string.h>

static keel_mpi_table_t requests;    /* open requests */
static keel_mpi_table_t persistents; /* by the program's handle */
static size_t orphans;               /* sends with a freed handle; freed: such receives */
static struct {
    size_t open;
    uint32_t last; /* newest number; the startup record refers to receives by number */
    int is_held;   /* keel_mpi_request_hold_freed() is in force */
} freed;

typedef struct {
    MPI_Request now; /* the active request; MPI_REQUEST_NULL: inactive */
    keel_mpi_start_t start;
    MPI_Datatype type;     /* holds a reference */
    keel_mpi_comm_t *comm; /* holds a reference */
    char arguments[];
} persistent_t;

void keel_mpi_status_set(MPI_Status *status, int source, int tag, size_t bytes)
{
    if (status == MPI_STATUS_IGNORE) {
        return;
    }
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    PMPI_Status_set_elements_x(status, MPI_BYTE, (MPI_Count)bytes);
    PMPI_Status_set_cancelled(status, 0);
}

/* ---- callbacks of the system's MPI ---- */

static int query(void *extra_state, MPI_Status *status)
{
    const keel_mpi_request_t *request = extra_state;
    const int error = status->MPI_ERROR;

    *status = request->status;
    status->MPI_ERROR = error;
    return request->status.MPI_ERROR;
}

static int forget(void *extra_state)
{
    keel_mpi_request_t *request = extra_state;

    if (!request->is_done) { /* MPI_Request_free: withdraws the receive */
        (void)keel_mpi_match_unpost(&request->receive);
    }
    for (uint32_t i = 0; i < request->receive_count && !request->is_done; i++) {
        (void)keel_mpi_match_unpost(&request->receives[i]);
    }
    if (request->comm != NULL) {
        keel_mpi_comm_release(request->comm);
    }
    for (uint32_t i = 0; i < request->layout_count; i++) {
        free(request->layouts[i]);
    }
    free(request->layouts);
    free(request->places);
    free(request->receives);
    free(request->own);
    free(request->layout);
    free(request);
    return MPI_SUCCESS;
}

static int cancel(void *extra_state, int is_complete)
{
    keel_mpi_request_t *request = extra_state;

    if (!is_complete && !request->is_done && request->ops->cancel != NULL) {
        request->ops->cancel(request, &request->status);
    }
    return MPI_SUCCESS;
}

static keel_mpi_request_t *orphan_that_is_ready(int is_send)
{
    for (size_t i = 0; i < requests.size; i++) {
        keel_mpi_request_t *request = requests.entries[i].object;

        if (request != NULL && request->is_orphan && request->ops->is_send == is_send &&
            request->ops->is_ready(request)) {
            return request;
        }
    }
    return NULL;
}

static void finish_orphan(keel_mpi_request_t *request)
{
    MPI_Request handle = request->handle;

    request->is_orphan = 0;
    *(request->ops->is_send ? &orphans : &freed.open) -= 1;
    keel_mpi_request_finish(request);
    PMPI_Request_free(&handle);
}

/* Completing one moves others in the table, so the search starts again after each. */
void keel_mpi_request_finish_orphans(void)
{
    keel_mpi_request_t *request;

    while (orphans > 0 && (request = orphan_that_is_ready(1)) != NULL) {
        finish_orphan(request);
    }
    if (keel_mpi.phase == KEEL_MPI_RUNS && !keel_mpi.is_deterministic_mode) {
        keel_mpi_request_finish_freed();
    }
}

static keel_mpi_request_t *freed_with(uint32_t number)
{
    for (size_t i = 0; i < requests.size; i++) {
        keel_mpi_request_t *request = requests.entries[i].object;

        if (request != NULL && request->is_orphan && !request->ops->is_send && request->number == number) {
            return request;
        }
    }
    return NULL;
}

void keel_mpi_request_finish_freed(void)
{
    keel_mpi_request_t *request;

    do {
        uint32_t number; /* of the receive with a complete message; 0: none */

        if (freed.open == 0 || freed.is_held) {
            return;
        }
        request = keel_mpi_is_replaying() ? NULL : orphan_that_is_ready(0);
        number = (request != NULL) ? request->number : 0;
        keel_mpi_startup_result(&number, sizeof(number));
        request = keel_mpi_is_replaying() ? freed_with(number) : request;
        if (request != NULL) {
            finish_orphan(request);
        }
    } while (request != NULL);
}

void keel_mpi_request_hold_freed(int is_held)
{
    freed.is_held = is_held;
}

int keel_mpi_request_has_freed(void)
{
    keel_mpi_request_finish_freed();
    return freed.open > 0;
}

keel_mpi_request_t *keel_mpi_request_make(const keel_mpi_request_ops_t *ops, const char *call)
{
    keel_mpi_request_t *request = calloc(1, sizeof(*request));

    if (request == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    keel_mpi_request_finish_orphans();
    keel_mpi_request_finish_freed();
    request->ops = ops;
    request->call = call;
    if (PMPI_Grequest_start(query, forget, cancel, request, &request->handle) != MPI_SUCCESS ||
        !keel_mpi_table_add(&requests, (uintptr_t)request->handle, request)) {
        keel_mpi_fatal(call, "no memory for a request");
    }
    return request;
}

int keel_mpi_request_complete(MPI_Request *request)
{
    return PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

keel_mpi_request_t *keel_mpi_request_of(MPI_Request handle)
{
    return (handle == MPI_REQUEST_NULL) ? NULL : keel_mpi_table_find(&requests, (uintptr_t)handle);
}

/* An open reduction that uses the operation or the type; NULL: none. */
static keel_mpi_request_t *reduction_that_uses(MPI_Op op, MPI_Datatype type)
{
    for (size_t i = 0; i < requests.size; i++) {
        keel_mpi_request_t *request = requests.entries[i].object;

        if (request != NULL && request->is_reduction && (request->op == op || request->type == type)) {
            return request;
        }
    }
    return NULL;
}

int keel_mpi_request_takes_op(MPI_Op op)
{
    keel_mpi_request_t *user = reduction_that_uses(op, MPI_DATATYPE_NULL);

    if (user != NULL) {
        user->frees_op = 1;
    }
    return user != NULL;
}

int keel_mpi_request_takes_type(MPI_Datatype type)
{
    keel_mpi_request_t *user = reduction_that_uses(MPI_OP_NULL, type);

    if (user != NULL) {
        user->frees_type = 1;
    }
    return user != NULL;
}

void keel_mpi_request_finish(keel_mpi_request_t *request)
{
    request->ops->finish(request, &request->status);
    request->is_done = 1;
    keel_mpi_table_remove(&requests, (uintptr_t)request->handle);
    if (request->frees_op && !keel_mpi_request_takes_op(request->op)) {
        PMPI_Op_free(&request->op);
    }
    if (request->frees_type && !keel_mpi_request_takes_type(request->type)) {
        PMPI_Type_free(&request->type);
    }
    PMPI_Grequest_complete(request->handle);
}

/* In deterministic mode waits for the messages in turn. Acks are left out: an ack need not come. */
static void await_messages(keel_mpi_request_t *request)
{
    if (request->ops->await != NULL) {
        request->ops->await(request);
        return;
    }
    for (uint32_t i = 0; i < request->receive_count; i++) {
        keel_mpi_channel_await(&request->receives[i], request->call);
    }
    if (request->receive_count == 0 && request->receive.context != KEEL_MPI_ACK_CONTEXT &&
        !request->ops->is_ready(request)) {
        keel_mpi_channel_await(&request->receive, request->call);
    }
}

void keel_mpi_request_wait(keel_mpi_request_t *request)
{
    if (keel_mpi.is_deterministic_mode && !keel_mpi_is_replaying()) {
        await_messages(request);
    }
    while (!keel_mpi_is_replaying() && !request->ops->is_ready(request)) {
        keel_mpi_channel_progress_or_sleep(request->call);
    }
    keel_mpi_request_finish(request);
    keel_mpi_request_finish_freed();
}

/* True if a request needs no more work of its own: an orphan, or a send with all data out. A send
 * waiting for an ack is not done. Freed receives are counted elsewhere. */
static int is_sent(keel_mpi_request_t *request)
{
    return request->is_orphan ||
           (request->ops->is_send && request->ops->await != NULL && request->ops->is_ready(request));
}

int keel_mpi_request_is_open(void)
{
    size_t open = 0;

    keel_mpi_request_finish_orphans();
    for (size_t i = 0; i < requests.size; i++) {
        keel_mpi_request_t *request = requests.entries[i].object;

        open += request != NULL && !is_sent(request);
    }
    return open > 0;
}

void keel_mpi_request_drop(void)
{
    for (size_t i = 0; i < requests.size; i++) {
        keel_mpi_request_t *request = requests.entries[i].object;

        if (request != NULL) {
            MPI_Request handle = request->handle;

            if (request->frees_op) {
                /* the other requests that use the operation are dropped, too */
                PMPI_Op_free(&request->op);
            }
            if (request->frees_type) {
                PMPI_Type_free(&request->type);
            }
            request->is_done = 1;
            PMPI_Grequest_complete(handle);
            PMPI_Request_free(&handle);
        }
    }
    free(requests.entries);
    requests = (keel_mpi_table_t){0};
    orphans = freed.open = 0;
    freed.is_held = 0;
    for (size_t i = 0; i < persistents.size; i++) {
        persistent_t *persistent = persistents.entries[i].object;

        if (persistent != NULL) {
            persistent->now = MPI_REQUEST_NULL;
        }
    }
}

/* ---- persistent requests ---- */

int keel_mpi_request_persist(keel_mpi_start_t start, const void *arguments, size_t bytes, MPI_Datatype type,
                             keel_mpi_comm_t *comm, MPI_Request *request)
{
    const MPI_Request none = MPI_REQUEST_NULL;
    persistent_t *persistent = malloc(sizeof(*persistent) + bytes);
    int code;

    if (persistent == NULL) {
        keel_mpi_fatal("MPI_Send_init", "no memory");
    }
    persistent->start = start;
    persistent->type = type;
    persistent->comm = comm;
    persistent->now = MPI_REQUEST_NULL;
    memcpy(persistent->arguments, arguments, bytes);
    /* never started: only a handle */
    code = PMPI_Recv_init(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
    if (code != MPI_SUCCESS || !keel_mpi_table_add(&persistents, (uintptr_t)*request, persistent)) {
        keel_mpi_fatal("MPI_Send_init", "no memory for a request");
    }
    keel_mpi_persistent_handle_add((uintptr_t)*request, request, &none, sizeof(none), "MPI_Send_init");
    return MPI_SUCCESS;
}

static persistent_t *persistent_of(MPI_Request handle)
{
    return (handle == MPI_REQUEST_NULL) ? NULL : keel_mpi_table_find(&persistents, (uintptr_t)handle);
}

int MPI_Start(MPI_Request *request)
{
    persistent_t *persistent;

    keel_mpi_begin("MPI_Start");
    persistent = persistent_of(*request);
    if (persistent == NULL || persistent->now != MPI_REQUEST_NULL) {
        return keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_REQUEST, "MPI_Start",
                              "not a persistent request that is inactive");
    }
    return persistent->start(persistent->arguments, &persistent->now);
}

int MPI_Startall(int count, MPI_Request requests_[])
{
    int code = MPI_SUCCESS;

    for (int i = 0; i < count && code == MPI_SUCCESS; i++) {
        code = MPI_Start(&requests_[i]);
    }
    return code;
}

int MPI_Request_free(MPI_Request *request)
{
    const MPI_Request none = MPI_REQUEST_NULL;
    persistent_t *persistent;
    keel_mpi_request_t *open;

    keel_mpi_begin("MPI_Request_free");
    persistent = persistent_of(*request);
    if (persistent != NULL) {
        if (persistent->now != MPI_REQUEST_NULL) {
            MPI_Request_free(&persistent->now);
        }
        if (keel_mpi_persistent_handle_keep((uintptr_t)*request, request, &none, sizeof(none))) {
            return MPI_SUCCESS;
        }
        keel_mpi_table_remove(&persistents, (uintptr_t)*request);
        keel_mpi_type_release(persistent->type);
        keel_mpi_comm_release(persistent->comm);
        free(persistent);
    } else if ((open = keel_mpi_request_of(*request)) != NULL) {
        /* an open request completes without the program */
        if (open->ops->is_send && !keel_mpi.is_deterministic_mode && !keel_mpi_is_replaying()) {
            keel_mpi_stream_copy(open->receive.source, open->ticket, "MPI_Request_free");
        }
        if (open->ops->is_send ? open->ops->await == NULL && !keel_mpi_is_replaying() && !keel_mpi.is_deterministic_mode
                               : open->receive_count == 0) {
            open->is_orphan = 1; /* a later call takes the ack or the message */
            open->number = open->ops->is_send ? 0 : ++freed.last;
            *(open->ops->is_send ? &orphans : &freed.open) += 1;
            *request = MPI_REQUEST_NULL;
            return MPI_SUCCESS;
        }
        if (open->ops->is_send) { /* the request has a copy of its data */
            keel_mpi_request_finish(open);
        } else {
            keel_mpi_request_wait(open);
        }
    }
    return PMPI_Request_free(request);
}

int MPI_Cancel(MPI_Request *request)
{
    persistent_t *persistent;
    keel_mpi_request_t *open;

    keel_mpi_begin("MPI_Cancel");
    persistent = persistent_of(*request);
    open = keel_mpi_request_of(persistent != NULL ? persistent->now : *request);
    if (persistent == NULL && open == NULL) {
        /* null, a generalized request of the program's, or complete */
        return PMPI_Cancel(request);
    }
    if (open != NULL && open->ops->cancel != NULL) {
        open->ops->cancel(open, &open->status);
    }
    return MPI_SUCCESS; /* a send in flight is not cancelled */
}

MPI_Request *keel_mpi_request_active(MPI_Request *handle)
{
    persistent_t *persistent = persistent_of(*handle);

    return (persistent != NULL) ? &persistent->now : handle;
}
