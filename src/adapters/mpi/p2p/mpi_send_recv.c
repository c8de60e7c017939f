/*
 * Point-to-point messages. A send call returns when the message is at the receiver or copied.
 * Exceptions are synchronous sends, and nonblocking sends, which borrow the program's buffer until
 * the message finds room (mpi_stream.c) or, in deterministic mode, until the pending sends are
 * below their limit (mpi_pending.c).
 */
#include "life/mpi_startup.h"
#include "mpi_arena.h"
#include "p2p/mpi_request.h"
#include "p2p/mpi_synchronous.h"

#include <stdlib.h>
#include <string.h>

/* ---- checks ---- */

int keel_mpi_message_check(const keel_mpi_comm_t *comm, int count, const keel_mpi_layout_t *layout, int peer,
                           int is_any, int tag, const char *call)
{
    if (count < 0) {
        return keel_mpi_raise(comm->handle, MPI_ERR_COUNT, call, "a negative count");
    }
    if (layout == NULL) {
        return keel_mpi_raise(comm->handle, MPI_ERR_TYPE, call, "not a datatype");
    }
    if (peer != MPI_PROC_NULL && !(is_any && peer == MPI_ANY_SOURCE) &&
        (peer < 0 || (uint32_t)peer >= comm->peer_count)) {
        return keel_mpi_raise(comm->handle, MPI_ERR_RANK, call, "no rank of the communicator");
    }
    if (tag < 0 && !(is_any && tag == MPI_ANY_TAG)) {
        return keel_mpi_raise(comm->handle, MPI_ERR_TAG, call, "a negative tag");
    }
    return MPI_SUCCESS;
}

keel_mpi_receive_t keel_mpi_receive_of(const keel_mpi_comm_t *comm, int source, int tag)
{
    return (keel_mpi_receive_t){.context = comm->context,
                                .source = (source == MPI_ANY_SOURCE) ? KEEL_MPI_ANY_RANK : comm->peers[source],
                                .tag = (tag == MPI_ANY_TAG) ? KEEL_MPI_ANY_TAG : tag};
}

/* ---- sending ---- */

typedef struct {
    const void *buffer;
    int count, peer, tag;
    MPI_Datatype type;
    MPI_Comm comm;
    /* communicator of a persistent request, for the handle may be freed by now; NULL: look the
     * handle up */
    keel_mpi_comm_t *held;
} message_t;

static keel_mpi_comm_t *comm_of(const message_t *message)
{
    return (message->held != NULL) ? message->held : keel_mpi_comm_of(message->comm);
}

/* Sends a message and sets *@a ticket_p. @a ack_p: asks for an ack and receives its tag, 0 if the
 * peer is MPI_PROC_NULL; NULL: no ack. */
static int send(const message_t *message, keel_mpi_send_mode_t mode, int64_t *ack_p, uint64_t *ticket_p,
                const char *call)
{
    const keel_mpi_layout_t *layout = keel_mpi_layout_of(message->type);
    const void *packed;
    void *room;
    int code;
    KEEL_MPI_COMM_FOUND(comm_ptr, comm_of(message), call)

    code = keel_mpi_message_check(comm_ptr, message->count, layout, message->peer, 0, message->tag, call);
    *ticket_p = 0;
    if (ack_p != NULL) {
        *ack_p = 0;
    }
    if (code != MPI_SUCCESS || message->peer == MPI_PROC_NULL) {
        return code;
    }
    room = keel_mpi_pack(message->buffer, (size_t)message->count, layout, &packed, call);
    /* only the program's own buffer may be borrowed */
    mode = (mode == KEEL_MPI_SEND_BORROWS && room != NULL) ? KEEL_MPI_SEND_COPIES : mode;
    if (ack_p != NULL) {
        *ack_p = keel_mpi_channel_send_acked(mode, comm_ptr->peers[message->peer], comm_ptr->context, message->tag,
                                             packed, layout->size * (size_t)message->count, ticket_p, call);
    } else {
        *ticket_p = keel_mpi_channel_send_mode(mode, comm_ptr->peers[message->peer], comm_ptr->context, message->tag,
                                               packed, layout->size * (size_t)message->count, call);
    }
    free(room);
    return MPI_SUCCESS;
}

/* Waits for a pending send; in deterministic mode only if the pending sends are over the limit. */
static int finish_send(int code, const message_t *message, uint64_t ticket, const char *call)
{
    if (ticket != 0) {
        keel_mpi_channel_await_sent(comm_of(message)->peers[message->peer], ticket, call);
    }
    return code;
}

static int is_sent(keel_mpi_request_t *request)
{
    return keel_mpi_channel_is_sent(request->receive.source, request->ticket);
}

static void sent_await(keel_mpi_request_t *request)
{
    keel_mpi_channel_await_sent(request->receive.source, request->ticket, request->call);
}

static void sent_finish(keel_mpi_request_t *request, MPI_Status *status)
{
    keel_mpi_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

static const keel_mpi_request_ops_t sent_ops = {
    .is_ready = is_sent, .finish = sent_finish, .await = sent_await, .is_send = 1};

static int isend(const message_t *message, keel_mpi_send_mode_t mode, MPI_Request *request, const char *call)
{
    uint64_t ticket = 0;
    keel_mpi_request_t *open;
    uint32_t rank;
    int code = send(message, mode, NULL, &ticket, call);

    if (code != MPI_SUCCESS) {
        return code;
    }
    /* a buffered send is complete */
    ticket = (mode == KEEL_MPI_SEND_COPIES && !keel_mpi.is_deterministic_mode) ? 0 : ticket;
    rank = (ticket != 0) ? comm_of(message)->peers[message->peer] : 0;
    ticket = (ticket != 0 && keel_mpi_channel_is_sent(rank, ticket)) ? 0 : ticket;
    if (keel_mpi.is_deterministic_mode) { /* a replacement has the same requests open */
        keel_mpi_startup_result(&ticket, sizeof(ticket));
    }
    if (ticket == 0) {
        return keel_mpi_request_complete(request);
    }
    open = keel_mpi_request_make(&sent_ops, call);
    open->receive.source = rank;
    open->ticket = ticket;
    *request = open->handle;
    return MPI_SUCCESS;
}

static int persist(keel_mpi_start_t start, message_t message, MPI_Request *request, const char *call)
{
    message.type = keel_mpi_type_hold(message.type, call);
    message.held = keel_mpi_comm_hold(keel_mpi_comm_of(message.comm));
    return keel_mpi_request_persist(start, &message, sizeof(message), message.type, message.held, request);
}

/* All send modes but the synchronous one are implemented alike. */
#define DEFINE_SEND(_name, _how)                                                                          \
    static int start_##_name(const void *arguments, MPI_Request *request)                                 \
    {                                                                                                     \
        return isend(arguments, _how, request, "MPI_I" #_name);                                           \
    }                                                                                                     \
    int MPI_I##_name(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, \
                     MPI_Request *request)                                                                \
    {                                                                                                     \
        const message_t message = {buf, count, dest, tag, datatype, comm, NULL};                          \
                                                                                                          \
        return start_##_name(&message, request);                                                          \
    }
#define DEFINE_BLOCKING_SEND(_name)                                                                      \
    int MPI_##_name(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) \
    {                                                                                                    \
        const message_t message = {buf, count, dest, tag, datatype, comm, NULL};                         \
        uint64_t ticket = 0;                                                                             \
        const int code = send(&message, KEEL_MPI_SEND_BLOCKS, NULL, &ticket, "MPI_" #_name);             \
                                                                                                         \
        return finish_send(code, &message, ticket, "MPI_" #_name);                                       \
    }
#define DEFINE_SEND_INIT(_name, _start)                                                                         \
    int MPI_##_name##_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, \
                           MPI_Request *request)                                                                \
    {                                                                                                           \
        const message_t message = {buf, count, dest, tag, datatype, comm, NULL};                                \
        int code;                                                                                               \
        KEEL_MPI_COMM(comm_ptr, comm, "MPI_" #_name "_init")                                                    \
                                                                                                                \
        code = keel_mpi_message_check(comm_ptr, count, keel_mpi_layout_of(datatype), dest, 0, tag,              \
                                      "MPI_" #_name "_init");                                                   \
        return (code == MPI_SUCCESS) ? persist(_start, message, request, "MPI_" #_name "_init") : code;         \
    }
DEFINE_SEND(send, KEEL_MPI_SEND_BORROWS)
DEFINE_SEND(bsend, KEEL_MPI_SEND_COPIES)
DEFINE_SEND(rsend, KEEL_MPI_SEND_BORROWS)
DEFINE_BLOCKING_SEND(Send)
DEFINE_BLOCKING_SEND(Rsend)
DEFINE_SEND_INIT(Send, start_send)
DEFINE_SEND_INIT(Bsend, start_bsend)
DEFINE_SEND_INIT(Rsend, start_rsend)

/* Never waits. */
int MPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    const message_t message = {buf, count, dest, tag, datatype, comm, NULL};
    uint64_t ticket = 0;

    return send(&message, KEEL_MPI_SEND_COPIES, NULL, &ticket, "MPI_Bsend");
}

/* ---- requests of receives, and of sends with an ack ---- */

/* Without gaps the data may arrive at its place. */
static void set_place(keel_mpi_receive_t *receive, void *buffer, size_t count, const keel_mpi_layout_t *layout)
{
    if (layout->is_dense) {
        receive->place = (char *)buffer + layout->runs[0].offset;
        receive->room = layout->size * count;
    }
}

static int is_received(keel_mpi_request_t *request)
{
    return keel_mpi_receive_is_complete(&request->receive);
}

int keel_mpi_receive_deliver(const keel_mpi_comm_t *comm, keel_mpi_receive_t *receive, void *buffer, size_t count,
                             const keel_mpi_layout_t *layout, MPI_Status *status, const char *call)
{
    const size_t room = layout->size * count;
    keel_mpi_head_t head = {0};
    uint64_t bytes;
    char *packed;

    if (!keel_mpi_is_replaying()) {
        head = receive->message->head;
    }
    keel_mpi_startup_result(&head, sizeof(head));
    bytes = (head.bytes < room) ? head.bytes : room;
    packed = keel_mpi_is_replaying() ? malloc(bytes + 1) : receive->message->place;
    if (packed == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    keel_mpi_startup_result(packed, bytes);
    if (receive->room == 0 || packed != receive->place) {
        keel_mpi_unpack(packed, bytes, buffer, count, layout);
    }
    if (keel_mpi_is_replaying()) {
        free(packed);
    } else {
        free(receive->message);
        receive->message = NULL;
    }
    keel_mpi_status_set(status, (int)keel_mpi_comm_peer_index(comm, (uint32_t)head.source), (int)head.tag, bytes);
    return (head.bytes > room) ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

static int truncated(const keel_mpi_comm_t *comm, const char *call)
{
    return keel_mpi_raise(keel_mpi_comm_handle(comm), MPI_ERR_TRUNCATE, call,
                          "a message that is longer than the buffer");
}

static void receive_finish(keel_mpi_request_t *request, MPI_Status *status)
{
    if (keel_mpi_receive_deliver(request->comm, &request->receive, request->buffer, request->count, request->layout,
                                 status, request->call) != MPI_SUCCESS) {
        status->MPI_ERROR = truncated(request->comm, request->call);
    }
}

static void receive_cancel(keel_mpi_request_t *request, MPI_Status *status);

static const keel_mpi_request_ops_t receive_ops = {
    .is_ready = is_received, .finish = receive_finish, .cancel = receive_cancel};

static int is_ready_always(keel_mpi_request_t *request)
{
    return 1;
}

static void cancelled_finish(keel_mpi_request_t *request, MPI_Status *status)
{
    keel_mpi_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    PMPI_Status_set_cancelled(status, 1);
}

static const keel_mpi_request_ops_t cancelled_ops = {.is_ready = is_ready_always, .finish = cancelled_finish};

/* A receive that is matched already completes as usual. */
static void receive_cancel(keel_mpi_request_t *request, MPI_Status *status)
{
    int is_cancelled = !keel_mpi_is_replaying() && keel_mpi_match_unpost(&request->receive);

    keel_mpi_startup_result(&is_cancelled, sizeof(is_cancelled));
    if (is_cancelled) {
        request->ops = &cancelled_ops;
    }
}

static void received_finish(keel_mpi_request_t *request, MPI_Status *status)
{
}

static const keel_mpi_request_ops_t received_ops = {.is_ready = is_ready_always, .finish = received_finish};

int keel_mpi_request_received(const MPI_Status *status, MPI_Request *request)
{
    keel_mpi_request_t *open = keel_mpi_request_make(&received_ops, "MPI_Imrecv");

    open->status = *status;
    open->status.MPI_ERROR = MPI_SUCCESS;
    *request = open->handle;
    return MPI_SUCCESS;
}

/* In deterministic mode the message is copied, so only the ack is awaited. */
static int is_acked(keel_mpi_request_t *request)
{
    return (keel_mpi.is_deterministic_mode || keel_mpi_channel_is_sent(request->receive.source, request->ticket)) &&
           keel_mpi_synchronous_is_done(&request->receive, request->call);
}

static void acked_finish(keel_mpi_request_t *request, MPI_Status *status)
{
    if (!keel_mpi_is_replaying()) {
        (void)keel_mpi_match_unpost(&request->receive); /* the ack may still be under way */
        free(request->receive.message);
    }
    keel_mpi_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

static const keel_mpi_request_ops_t acked_ops = {.is_ready = is_acked, .finish = acked_finish, .is_send = 1};

static int start_receive(const void *arguments, MPI_Request *request)
{
    const message_t *message = arguments;
    const keel_mpi_layout_t *layout = keel_mpi_layout_of(message->type);
    keel_mpi_request_t *open;
    int code;
    KEEL_MPI_COMM_FOUND(comm_ptr, comm_of(message), "MPI_Irecv")

    code = keel_mpi_message_check(comm_ptr, message->count, layout, message->peer, 1, message->tag, "MPI_Irecv");
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (message->peer == MPI_PROC_NULL) {
        return PMPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_SELF, request);
    }
    open = keel_mpi_request_make(&receive_ops, "MPI_Irecv");
    open->comm = keel_mpi_comm_hold(comm_ptr);
    open->buffer = (void *)message->buffer;
    open->count = (size_t)message->count;
    open->layout = keel_mpi_layout_keep(layout, "MPI_Irecv");
    open->receive = keel_mpi_receive_of(comm_ptr, message->peer, message->tag);
    set_place(&open->receive, open->buffer, open->count, layout);
    if (!keel_mpi_is_replaying()) {
        keel_mpi_channel_post(&open->receive, "MPI_Irecv");
    }
    *request = open->handle;
    return MPI_SUCCESS;
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    const message_t message = {buf, count, source, tag, datatype, comm, NULL};

    return start_receive(&message, request);
}

int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    const message_t message = {buf, count, source, tag, datatype, comm, NULL};
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Recv_init")

    code = keel_mpi_message_check(comm_ptr, count, keel_mpi_layout_of(datatype), source, 1, tag, "MPI_Recv_init");
    return (code == MPI_SUCCESS) ? persist(start_receive, message, request, "MPI_Recv_init") : code;
}

static int start_synchronous(const void *arguments, MPI_Request *request)
{
    const message_t *message = arguments;
    keel_mpi_request_t *open;
    int64_t ack = 0;
    uint64_t ticket = 0;
    const int code = send(message, KEEL_MPI_SEND_BORROWS, &ack, &ticket, "MPI_Issend");

    if (code != MPI_SUCCESS) {
        return code;
    }
    if (message->peer == MPI_PROC_NULL) {
        return keel_mpi_request_complete(request);
    }
    open = keel_mpi_request_make(&acked_ops, "MPI_Issend");
    open->ticket = ticket;
    open->receive = (keel_mpi_receive_t){
        .context = KEEL_MPI_ACK_CONTEXT, .source = comm_of(message)->peers[message->peer], .tag = ack};
    if (!keel_mpi_is_replaying()) {
        keel_mpi_channel_post(&open->receive, "MPI_Issend");
    }
    *request = open->handle;
    return MPI_SUCCESS;
}

int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    const message_t message = {buf, count, dest, tag, datatype, comm, NULL};

    return start_synchronous(&message, request);
}

DEFINE_SEND_INIT(Ssend, start_synchronous)

int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    const message_t message = {buf, count, dest, tag, datatype, comm, NULL};
    int64_t ack = 0;
    uint64_t ticket = 0;
    const int code = send(&message, KEEL_MPI_SEND_BLOCKS, &ack, &ticket, "MPI_Ssend");

    if (code == MPI_SUCCESS && dest != MPI_PROC_NULL && keel_mpi.is_deterministic_mode) {
        keel_mpi_synchronous_await(keel_mpi_comm_of(comm)->peers[dest], ack, "MPI_Ssend");
    } else if (code == MPI_SUCCESS && dest != MPI_PROC_NULL) {
        keel_mpi_channel_receive(keel_mpi_comm_of(comm)->peers[dest], KEEL_MPI_ACK_CONTEXT, ack, NULL, 0, "MPI_Ssend");
    }
    return code;
}

/* ---- receiving ---- */

static int receive_blocking(const message_t *message, MPI_Status *status, const char *call)
{
    const keel_mpi_layout_t *layout = keel_mpi_layout_of(message->type);
    keel_mpi_receive_t receive;
    int code;
    KEEL_MPI_COMM_FOUND(comm_ptr, comm_of(message), call)

    code = keel_mpi_message_check(comm_ptr, message->count, layout, message->peer, 1, message->tag, call);
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (message->peer == MPI_PROC_NULL) {
        return PMPI_Recv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_SELF, status);
    }
    receive = keel_mpi_receive_of(comm_ptr, message->peer, message->tag);
    set_place(&receive, (void *)message->buffer, (size_t)message->count, layout);
    if (!keel_mpi_is_replaying()) {
        keel_mpi_channel_post(&receive, call);
        keel_mpi_channel_await(&receive, call);
    }
    code = keel_mpi_receive_deliver(comm_ptr, &receive, (void *)message->buffer, (size_t)message->count, layout, status,
                                    call);
    keel_mpi_request_finish_freed();
    return (code == MPI_SUCCESS) ? MPI_SUCCESS : truncated(comm_ptr, call);
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    const message_t message = {buf, count, source, tag, datatype, comm, NULL};

    return receive_blocking(&message, status, "MPI_Recv");
}

static int exchange(const message_t *to, keel_mpi_send_mode_t mode, const message_t *from, MPI_Status *status,
                    const char *call)
{
    uint64_t ticket = 0;
    int code = send(to, mode, NULL, &ticket, call);

    code = (code == MPI_SUCCESS) ? receive_blocking(from, status, call) : code;
    return finish_send(code, to, ticket, call);
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    const message_t to = {sendbuf, sendcount, dest, sendtag, sendtype, comm, NULL};
    const message_t from = {recvbuf, recvcount, source, recvtag, recvtype, comm, NULL};

    return exchange(&to, KEEL_MPI_SEND_BORROWS, &from, status, "MPI_Sendrecv");
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status)
{
    const message_t to = {buf, count, dest, sendtag, datatype, comm, NULL};
    const message_t from = {buf, count, source, recvtag, datatype, comm, NULL};

    return exchange(&to, KEEL_MPI_SEND_COPIES, &from, status, "MPI_Sendrecv_replace");
}
