/*
 * Message matching. Once its head has arrived, a message goes to the first matching posted receive,
 * in the order of posting. Other messages wait in the unexpected queue, in the order of their
 * heads.
 */
#include "p2p/mpi_match.h"

#include "mpi_arena.h"

#include <stdlib.h>
#include <string.h>

static struct {
    keel_mpi_message_t *first, **last; /* the unexpected queue, in the order of heads */
    keel_mpi_receive_t *posted, **posted_last;
    /* acks to send; the code that takes a message does not send, since it is not reentrant */
    keel_mpi_ack_t *acks;
    size_t ack_count, ack_room;
} queues = {.last = &queues.first, .posted_last = &queues.posted};

int keel_mpi_match_fits(const keel_mpi_receive_t *receive, const keel_mpi_head_t *head)
{
    return receive->context == head->context &&
           (receive->source == KEEL_MPI_ANY_RANK || receive->source == head->source) &&
           (receive->tag == head->tag || (receive->tag == KEEL_MPI_ANY_TAG && head->tag >= 0));
}

static void message_enqueue(keel_mpi_message_t *message)
{
    message->next = NULL;
    *queues.last = message;
    queues.last = &message->next;
}

static void message_dequeue(keel_mpi_message_t **at)
{
    keel_mpi_message_t *message = *at;

    *at = message->next;
    if (message->next == NULL) {
        queues.last = at;
    }
}

static void receive_dequeue(keel_mpi_receive_t **at)
{
    keel_mpi_receive_t *receive = *at;

    *at = receive->next;
    if (receive->next == NULL) {
        queues.posted_last = at;
    }
}

static keel_mpi_message_t *message_make(const keel_mpi_head_t *head, char *place)
{
    keel_mpi_message_t *message = malloc(sizeof(*message) + (place == NULL ? head->bytes : 0));

    if (message == NULL) {
        keel_mpi_fatal("MPI_Recv", "no memory for a message");
    }
    message->next = NULL;
    message->head = *head;
    message->received = 0;
    message->place = (place == NULL) ? message->data : place;
    return message;
}

keel_mpi_message_t *keel_mpi_message_make(const keel_mpi_head_t *head)
{
    return message_make(head, NULL);
}

keel_mpi_message_t *keel_mpi_message_make_placed(const keel_mpi_head_t *head)
{
    const keel_mpi_receive_t *receive = queues.posted;

    while (receive != NULL && !keel_mpi_match_fits(receive, head)) {
        receive = receive->next;
    }
    return message_make(head, (receive != NULL && head->bytes <= receive->room) ? receive->place : NULL);
}

/* Queues the ack for a matched message, if its sender asked for an ack. */
static void queue_ack(keel_mpi_message_t *message)
{
    if (message->head.ack == 0) {
        return;
    }
    if (queues.ack_count == queues.ack_room) {
        queues.ack_room = 2 * queues.ack_room + 16;
        queues.acks = realloc(queues.acks, queues.ack_room * sizeof(*queues.acks));
        if (queues.acks == NULL) {
            keel_mpi_fatal("MPI_Recv", "no memory for an answer");
        }
    }
    queues.acks[queues.ack_count++] = (keel_mpi_ack_t){(uint32_t)message->head.source, (int64_t)message->head.ack};
    message->head.ack = 0;
}

void keel_mpi_match_deliver(keel_mpi_message_t *message)
{
    for (keel_mpi_receive_t **at = &queues.posted; *at != NULL; at = &(*at)->next) {
        if (keel_mpi_match_fits(*at, &message->head)) {
            (*at)->message = message;
            receive_dequeue(at);
            queue_ack(message);
            return;
        }
    }
    if (keel_mpi.is_deterministic_mode &&
        message->head.context == KEEL_MPI_ACK_CONTEXT) { /* the sender has already seen the match */
        free(message);
        return;
    }
    message_enqueue(message);
}

const keel_mpi_receive_t *keel_mpi_match_first_posted(void)
{
    return queues.posted;
}

void keel_mpi_match_claim(const uint64_t *claims, size_t stride)
{
    for (keel_mpi_receive_t *receive = queues.posted; receive != NULL; receive = receive->next) {
        const uint32_t claim = (uint32_t)*claims;

        if (claim != 0 && receive->source == KEEL_MPI_ANY_RANK) {
            receive->source = claim - 1;
        }
        claims += stride / sizeof(*claims);
    }
}

int keel_mpi_match_take_ack(keel_mpi_ack_t *ack_p, uint32_t except)
{
    for (size_t i = queues.ack_count; i-- > 0;) {
        if (queues.acks[i].rank + 1 != except) {
            *ack_p = queues.acks[i];
            queues.acks[i] = queues.acks[--queues.ack_count];
            return 1;
        }
    }
    return 0;
}

void keel_mpi_match_post(keel_mpi_receive_t *receive)
{
    receive->message = NULL;
    receive->next = NULL;
    for (keel_mpi_message_t **at = &queues.first; *at != NULL; at = &(*at)->next) {
        if (keel_mpi_match_fits(receive, &(*at)->head)) {
            receive->message = *at;
            message_dequeue(at);
            queue_ack(receive->message);
            return;
        }
    }
    *queues.posted_last = receive;
    queues.posted_last = &receive->next;
}

int keel_mpi_match_unpost(keel_mpi_receive_t *receive)
{
    for (keel_mpi_receive_t **at = &queues.posted; *at != NULL; at = &(*at)->next) {
        if (*at == receive) {
            receive_dequeue(at);
            return 1;
        }
    }
    return 0;
}

keel_mpi_message_t *keel_mpi_match_peek(const keel_mpi_receive_t *receive, int is_taken)
{
    for (keel_mpi_message_t **at = &queues.first; *at != NULL; at = &(*at)->next) {
        keel_mpi_message_t *message = *at;

        if (keel_mpi_match_fits(receive, &message->head)) {
            /* an incomplete message hides later messages, since messages are taken in
             * order */
            if (message->received < message->head.bytes) {
                return NULL;
            }
            if (is_taken) {
                message_dequeue(at);
                queue_ack(message);
            }
            return message;
        }
    }
    return NULL;
}

void keel_mpi_match_save(const char *call)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    size_t bytes = 0, at = 0;

    if (hidden->saved != 0) {
        keel_mpi_arena_free(hidden->saved);
        hidden->saved = hidden->saved_bytes = 0;
    }
    for (const keel_mpi_message_t *message = queues.first; message != NULL; message = message->next) {
        bytes += sizeof(message->head) + keel_mpi_padded(message->head.bytes);
    }
    if (bytes == 0) {
        return;
    }
    hidden->saved = keel_mpi_arena_alloc(bytes, KEEL_MPI_ALIGN, call);
    hidden->saved_bytes = bytes;
    for (const keel_mpi_message_t *message = queues.first; message != NULL; message = message->next) {
        char *place = (char *)keel_mpi_arena_at(hidden->saved) + at;

        memcpy(place, &message->head, sizeof(message->head));
        memcpy(place + sizeof(message->head), message->place, message->head.bytes);
        at += sizeof(message->head) + keel_mpi_padded(message->head.bytes);
    }
}

void keel_mpi_match_restore(void)
{
    const keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    size_t at = 0;

    while (queues.first != NULL) {
        keel_mpi_message_t *message = queues.first;

        message_dequeue(&queues.first);
        free(message);
    }
    queues.posted = NULL;
    queues.posted_last = &queues.posted;
    queues.ack_count = 0;
    while (at < hidden->saved_bytes) {
        const char *place = (const char *)keel_mpi_arena_at(hidden->saved) + at;
        keel_mpi_head_t head;
        keel_mpi_message_t *message;

        memcpy(&head, place, sizeof(head));
        message = keel_mpi_message_make(&head);
        memcpy(message->place, place + sizeof(head), head.bytes);
        message->received = head.bytes;
        message_enqueue(message);
        at += sizeof(head) + keel_mpi_padded(head.bytes);
    }
}
