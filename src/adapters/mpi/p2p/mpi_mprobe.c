/* MPI_Probe, and MPI_Mprobe and its variants, which remove the message from the unexpected queue
 * and give it to the caller. */
#include "life/mpi_startup.h"
#include "mpi_table.h"
#include "p2p/mpi_request.h"

#include <stdlib.h>
#include <string.h>

enum { HANDLE_FIRST = 0x50000000 }; /* as in mpi_group.c */

typedef struct {
    keel_mpi_comm_t *comm;
    keel_mpi_receive_t receive;
    keel_mpi_head_t head;
} matched_t;

static keel_mpi_table_t messages;
static intptr_t made;

static MPI_Message message_make(keel_mpi_comm_t *comm, keel_mpi_message_t *arrived, const keel_mpi_head_t *head,
                                const char *call)
{
    const MPI_Message handle = (MPI_Message)(HANDLE_FIRST + 16 * (made++ % (HANDLE_FIRST / 64)));
    matched_t *matched = malloc(sizeof(*matched));

    if (matched == NULL || !keel_mpi_table_add(&messages, (uintptr_t)handle, matched)) {
        keel_mpi_fatal(call, "no memory");
    }
    *matched = (matched_t){.comm = keel_mpi_comm_hold(comm), .receive = {.message = arrived}, .head = *head};
    return handle;
}

static void message_end(matched_t *matched)
{
    keel_mpi_comm_release(matched->comm);
    free(matched);
}

int keel_mpi_mprobe_is_open(void)
{
    for (size_t i = 0; i < messages.size; i++) {
        if (messages.entries[i].object != NULL) {
            return 1;
        }
    }
    return 0;
}

void keel_mpi_mprobe_drop(void)
{
    for (size_t i = 0; i < messages.size; i++) {
        matched_t *matched = messages.entries[i].object;

        if (matched != NULL) {
            free(matched->receive.message);
            message_end(matched);
        }
    }
    free(messages.entries);
    messages = (keel_mpi_table_t){0};
}

/* @a message NULL: the message stays in the queue. */
static int probe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status,
                 int is_waiting, const char *call)
{
    struct {
        keel_mpi_head_t head;
        uint64_t is_there;
    } found = {0};
    const int is_taken = message != NULL;
    keel_mpi_message_t *arrived;
    keel_mpi_receive_t receive;
    MPI_Message none;
    int code;
    KEEL_MPI_COMM(comm_ptr, comm, call)

    code = keel_mpi_message_check(comm_ptr, 0, keel_mpi_layout_of(MPI_BYTE), source, 1, tag, call);
    if (code != MPI_SUCCESS) {
        return code;
    }
    message = is_taken ? message : &none;
    *flag = 1;
    if (source == MPI_PROC_NULL) {
        *message = MPI_MESSAGE_NO_PROC;
        return PMPI_Recv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_SELF, status);
    }
    receive = keel_mpi_receive_of(comm_ptr, source, tag);
    arrived = keel_mpi_channel_find(&receive, is_taken, is_waiting, call);
    if (arrived != NULL) {
        found.head = arrived->head;
        found.is_there = 1;
    }
    keel_mpi_startup_result(&found, sizeof(found));
    *flag = (int)found.is_there;
    *message = MPI_MESSAGE_NULL;
    if (found.is_there) {
        *message = is_taken ? message_make(comm_ptr, arrived, &found.head, call) : MPI_MESSAGE_NULL;
        keel_mpi_status_set(status, (int)keel_mpi_comm_peer_index(comm_ptr, (uint32_t)found.head.source),
                            (int)found.head.tag, found.head.bytes);
    }
    return MPI_SUCCESS;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int flag;

    return probe(source, tag, comm, &flag, NULL, status, 1, "MPI_Probe");
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return probe(source, tag, comm, flag, NULL, status, 0, "MPI_Iprobe");
}

/* As in mpi_group.c. */
#undef MPI_Message_c2f
#undef MPI_Message_f2c
MPI_Fint MPI_Message_c2f(MPI_Message message);
MPI_Message MPI_Message_f2c(MPI_Fint message);
MPI_Fint MPI_Message_c2f(MPI_Message message)
{
    return (keel_mpi_table_find(&messages, (uintptr_t)message) != NULL) ? (MPI_Fint)(intptr_t)message
                                                                        : PMPI_Message_c2f(message);
}

MPI_Message MPI_Message_f2c(MPI_Fint message)
{
    return (message >= HANDLE_FIRST) ? (MPI_Message)(intptr_t)message : PMPI_Message_f2c(message);
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    int flag;

    return probe(source, tag, comm, &flag, message, status, 1, "MPI_Mprobe");
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    return probe(source, tag, comm, flag, message, status, 0, "MPI_Improbe");
}

int MPI_Mrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    const keel_mpi_layout_t *layout;
    matched_t *matched;
    int code;

    keel_mpi_begin("MPI_Mrecv");
    if (*message == MPI_MESSAGE_NO_PROC) {
        *message = MPI_MESSAGE_NULL;
        return PMPI_Recv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_SELF, status);
    }
    matched = keel_mpi_table_find(&messages, (uintptr_t)*message);
    layout = keel_mpi_layout_of(type);
    if (matched == NULL || layout == NULL || count < 0) {
        return keel_mpi_raise(MPI_COMM_WORLD, matched == NULL ? MPI_ERR_REQUEST : MPI_ERR_ARG, "MPI_Mrecv",
                              "no message, no datatype, or a negative count");
    }
    keel_mpi_table_remove(&messages, (uintptr_t)*message);
    *message = MPI_MESSAGE_NULL;
    code = keel_mpi_receive_deliver(matched->comm, &matched->receive, buf, (size_t)count, layout, status, "MPI_Mrecv");
    if (code != MPI_SUCCESS) {
        code = keel_mpi_raise(keel_mpi_comm_handle(matched->comm), code, "MPI_Mrecv",
                              "a message that is longer than the buffer");
    }
    message_end(matched);
    return code;
}

/* The message has arrived already, so the call receives at once. */
int MPI_Imrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    MPI_Status status;
    const int code = MPI_Mrecv(buf, count, type, message, &status);

    *request = MPI_REQUEST_NULL;
    return (code == MPI_SUCCESS) ? keel_mpi_request_received(&status, request) : code;
}
