/* Messages between processes: in order for each pair; messages of the dead arrive until the
 * receiver has the news. */
#include "barrier.h"

#include <stdlib.h>

/* Appends a message to the queue; a message to a dead rank is dropped, and may be written
 * to. */
message_t *message_send(world_t *world, process_t *from, int to, message_type_t type)
{
    static message_t dropped;
    peer_t *peer = &from->peer[to];
    message_t *message;

    if (!peer->is_up) {
        return &dropped;
    }
    message = calloc(1, sizeof(*message));
    if ((message == NULL) || (to == from->rank)) {
        flaw(world, "rank %d sends to itself", to);
    }
    message->type = type;
    message->incarnation = peer->incarnation;
    message->rollbacks = from->rollbacks;
    if (peer->queue.last != NULL) {
        peer->queue.last->next = message;
    } else {
        peer->queue.first = message;
    }
    peer->queue.last = message;
    return message;
}

void queue_drop(queue_t *queue)
{
    message_t *message, *next;

    for (message = queue->first; message != NULL; message = next) {
        next = message->next;
        free(message);
    }
    queue->first = queue->last = NULL;
}

/* Keeps a drawn number of the first messages: the sender died amid sending. */
void queue_cut(queue_t *queue, keel_random_t *random)
{
    message_t *message, **link;
    uint32_t kept = 0;

    for (message = queue->first; message != NULL; message = message->next) {
        ++kept;
    }
    kept = keel_random_below(random, kept + 1);
    queue->last = NULL;
    for (link = &queue->first; kept > 0; --kept) {
        queue->last = *link;
        link = &(*link)->next;
    }
    while ((message = *link) != NULL) {
        *link = message->next;
        free(message);
    }
}

/* a receiver that has not heard of the sender's life yet lets the message wait */
int message_is_deliverable(world_t *world, const process_t *from, int to)
{
    const message_t *message = from->peer[to].queue.first;
    const process_t *receiver = world->current[to];
    const peer_t *peer = &receiver->peer[from->rank];

    if (message == NULL) {
        return 0;
    }
    if (!receiver->is_alive || (receiver->incarnation != message->incarnation)) {
        return 1;
    }
    return (peer->incarnation > from->incarnation) || ((peer->incarnation == from->incarnation) && peer->is_up);
}

static void message_take_value(process_t *process, int from, const message_t *message)
{
    if ((message->rollbacks != process->rollbacks) || !process->awaits_value || (message->phase != process->phase) ||
        (message->idx != process->gets) || process->in_gsync) {
        return;
    }
    process->awaits_value = 0;
    get_log_add(&process->peer[from].gets, (get_record_t){message->phase, message->idx, message->value});
    process->digest = digest_mix(process->digest, message->value);
    ++process->gets;
    ++process->next;
}

static void message_take_get(world_t *world, process_t *process, int from, const message_t *message)
{
    const uint32_t value = process->memory[message->cell];
    message_t *answer;

    if (message->rollbacks == process->rollbacks) {
        get_log_add(&process->peer[from].served, (get_record_t){message->phase, message->idx, value});
        answer = message_send(world, process, from, MESSAGE_VALUE);
        answer->phase = message->phase;
        answer->idx = message->idx;
        answer->value = value;
    }
}

static void message_take_records(process_t *process, int from, const message_t *message)
{
    peer_t *peer = &process->peer[from];
    int i;

    for (i = 0; i < message->logged->count; ++i) {
        get_log_add(&peer->gets, message->logged->record[i]);
    }
    for (i = 0; i < message->own->count; ++i) {
        get_log_add(&peer->served, message->own->record[i]);
    }
    peer->gave_records = 1;
}

static void message_take(world_t *world, process_t *process, int from, const message_t *message)
{
    peer_t *peer = &process->peer[from];

    switch (message->type) {
    case MESSAGE_PUT:
        if (message->rollbacks == process->rollbacks) {
            process->memory[message->cell] = message->value;
        }
        break;
    case MESSAGE_GET:
        message_take_get(world, process, from, message);
        break;
    case MESSAGE_VALUE:
        message_take_value(process, from, message);
        break;
    case MESSAGE_WORD:
        word_take(world, process, message->slot, message->idx, &message->word);
        break;
    case MESSAGE_REPORT:
        if ((peer->report == NULL) || (peer->report->view <= message->report->view)) {
            peer->report = message->report;
        }
        view_combine(world, process);
        break;
    case MESSAGE_DECISION:
        view_adopt(world, process, message->decision);
        break;
    case MESSAGE_POSITION:
        peer->told = message->phase;
        peer->told_front = message->is_front;
        peer_judge(world, process, from);
        break;
    case MESSAGE_HANDED:
        if ((message->rollbacks == process->rollbacks) && (message->phase > peer->handed)) {
            peer->handed = message->phase;
        }
        break;
    case MESSAGE_JOIN:
        process->late |= 1u << from;
        ++world->counts.joins;
        if (process->state != FRESH) {
            position_announce(world, process, from);
        }
        break;
    case MESSAGE_RECORDS:
        message_take_records(process, from, message);
        if (world->options->hunt == 3) {
            world_aim(world, from, 200);
        }
        break;
    }
}

void message_deliver(world_t *world, process_t *from, int to)
{
    queue_t *queue = &from->peer[to].queue;
    message_t *message = queue->first;
    process_t *process = world->current[to];
    message_t taken = *message;

    queue->first = message->next;
    if (queue->first == NULL) {
        queue->last = NULL;
    }
    free(message);
    if (process->is_alive && (process->incarnation == taken.incarnation) &&
        (process->peer[from->rank].incarnation <= from->incarnation)) {
        message_take(world, process, from->rank, &taken);
    }
}
