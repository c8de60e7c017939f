/*
 * Ops table of the transport, and the served lane. Requests are first in, first out for each pair.
 * The scheduler delivers them to the target's service side, whatever the target does. The target's
 * progress() delivers replies. Delivery reads a request's data from the sender's buffer, which must
 * be unchanged since send().
 */
#include "sim/world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SIM_MAX_DATA      ((size_t)4 << 10) /* small: the layer above cuts longer messages */
#define SIM_QUEUE_MAX     50000             /* maximum requests in flight between two ranks */
#define SIM_FALSE_SUSPECT 0x7fff            /* one in about this many calls of progress() */
#define SIM_PROGRESS_MAX  8
#define SIM_POLL_ROUNDS   200 /* rounds of a wait before the first sleep */
#define SIM_SLEEP_MIN_US  20  /* of the first sleep; each further sleep is longer */
#define SIM_SLEEP_MAX_US  400

/* ---- queues ---- */

void sim_link_init(sim_link_t *link, sim_process_t *owner, uint32_t peer)
{
    link->owner = owner;
    link->peer = peer;
    link->requests.tail = &link->requests.head;
    link->replies.tail = &link->replies.head;
    link->channel_idx = link->oplink_idx = link->reply_idx = -1;
}

static void sim_message_free(sim_message_t *message)
{
    if (message->is_copied) {
        free(message->data);
    }
    free(message);
}

static void sim_queue_append(sim_queue_t *queue, sim_message_t *message)
{
    *queue->tail = message;
    queue->tail = &message->next;
    ++queue->count;
}

static sim_message_t *sim_queue_pop(sim_queue_t *queue)
{
    sim_message_t *message = queue->head;

    queue->head = message->next;
    if (queue->head == NULL) {
        queue->tail = &queue->head;
    }
    --queue->count;
    return message;
}

/* drops all messages after the first @a keep */
static void sim_queue_cut(sim_queue_t *queue, unsigned keep)
{
    sim_message_t **at = &queue->head;
    sim_message_t *message, *next;
    unsigned i;

    for (i = 0; (i < keep) && (*at != NULL); ++i) {
        at = &(*at)->next;
    }
    message = *at;
    *at = NULL;
    queue->tail = at;
    for (; message != NULL; message = next) {
        next = message->next;
        --queue->count;
        sim_message_free(message);
    }
}

/* the target is still connected to the predecessor */
static int sim_is_early(const sim_link_t *link)
{
    const sim_process_t *connected = link->target->links[link->owner->rank].target;

    return (connected != NULL) && (connected->incarnation < link->owner->incarnation);
}

static void sim_channel_update(sim_link_t *link)
{
    keel_sim_t *sim = link->owner->sim;
    sim_link_t *moved;
    const int wanted = (link->requests.count > 0) && (link->target != NULL) && (link->target->state != SIM_DEAD) &&
                       (link->target->state != SIM_HUNG) && !sim_is_cut(link->owner, link->target) &&
                       !sim_is_early(link);

    if (wanted && (link->channel_idx < 0)) {
        link->channel_idx = sim_list_add(&sim->channels, link);
    } else if (!wanted && (link->channel_idx >= 0)) {
        moved = sim_list_remove(&sim->channels, (unsigned)link->channel_idx);
        if (moved != NULL) {
            moved->channel_idx = link->channel_idx;
        }
        link->channel_idx = -1;
    }
}

static void sim_reply_update(sim_link_t *link)
{
    sim_list_t *in = (link->reply_target != NULL) ? &link->reply_target->reply_in : NULL;
    sim_link_t *moved;

    if ((link->replies.count > 0) && (link->reply_idx < 0)) {
        link->reply_idx = sim_list_add(in, link);
    } else if ((link->replies.count == 0) && (link->reply_idx >= 0)) {
        moved = sim_list_remove(in, (unsigned)link->reply_idx);
        if (moved != NULL) {
            moved->reply_idx = link->reply_idx;
        }
        link->reply_idx = -1;
    }
}

void sim_requests_drop(sim_link_t *link, unsigned keep)
{
    sim_queue_cut(&link->requests, keep);
    sim_channel_update(link);
}

/* @a process is connected to another incarnation of @a peer, or to none */
void sim_channels_update(sim_process_t *process, uint32_t peer)
{
    sim_process_t *from;

    for (from = process->sim->rank[peer]; from != NULL; from = from->earlier) {
        if (from->links[process->rank].target == process) {
            sim_channel_update(&from->links[process->rank]);
        }
    }
}

void sim_requests_stop(sim_link_t *link)
{
    sim_channel_update(link);
}

void sim_replies_drop(sim_link_t *link, unsigned keep)
{
    sim_queue_cut(&link->replies, keep);
    sim_reply_update(link);
}

static void sim_message_check(keel_sim_t *sim, const sim_link_t *link, const sim_message_t *message)
{
    if ((message->data_len > 0) && (sim_sum(message->data, message->data_len) != message->sum)) {
        keel_sim_flaw(sim, "rank %u.%u changed the buffer of a send to %u before it was acknowledged",
                      link->owner->rank, link->owner->incarnation, link->peer);
    }
}

void sim_requests_own(sim_link_t *link)
{
    sim_message_t *message;
    void *copy;

    for (message = link->requests.head; message != NULL; message = message->next) {
        sim_message_check(link->owner->sim, link, message);
        if (!message->is_copied && (message->data_len > 0)) {
            copy = sim_new(message->data_len);
            memcpy(copy, message->data, message->data_len);
            message->data = copy;
            message->is_copied = 1;
        }
    }
}

static sim_message_t *sim_message_make(const void *header, size_t header_len, const void *data, size_t data_len)
{
    sim_message_t *message = sim_new(sizeof(*message));

    memcpy(message->header, header, header_len);
    message->header_len = (uint32_t)header_len;
    message->data = (void *)data;
    message->data_len = data_len;
    message->sum = (data_len > 0) ? sim_sum(data, data_len) : 0;
    return message;
}

/* ---- delivery, on the scheduler's stack ---- */

static void sim_enter_service(keel_sim_t *sim, sim_process_t *process)
{
    sim->current = process;
    sim->in_handler = 1;
    process->in_service = 1;
}

static void sim_leave_service(keel_sim_t *sim, sim_process_t *process)
{
    process->in_service = 0;
    sim->in_handler = 0;
    sim->current = NULL;
    if (sim_chance(sim, 512)) {
        sim_wake(process);
    }
}

void sim_channel_deliver(keel_sim_t *sim, sim_link_t *link)
{
    sim_process_t *target = link->target;
    sim_message_t *message;
    void *data = NULL;

    if ((target == NULL) || !target->is_open) { /* the target has left */
        sim_requests_drop(link, 0);
        return;
    }
    if (target->held > 0) {
        return;
    }
    message = sim_queue_pop(&link->requests);
    sim_ops_before(link, message->behind);
    sim_channel_update(link);
    sim_message_check(sim, link, message);
    if (message->data_len > 0) {
        data = sim_new(message->data_len); /* exact length, for sanitizers */
        memcpy(data, message->data, message->data_len);
    }
    keel_sim_trace(sim, "request %u.%u -> %u.%u, %u + %zu bytes", link->owner->rank, link->owner->incarnation,
                   target->rank, target->incarnation, message->header_len, message->data_len);
    sim_enter_service(sim, target);
    if ((target->params.on_request(target->params.arg, message->header, message->header_len, data, message->data_len) &
         KEEL_SERVED_NOTIFY) &&
        sim->options.is_noticing && (target->params.on_notify != NULL)) {
        target->params.on_notify(target->params.arg);
    }
    sim_leave_service(sim, target);
    if (target->idle_idx < 0) {
        target->idle_idx = sim_list_add(&sim->idles, target);
    }
    free(data);
    sim_message_free(message);
}

void sim_service_update(sim_process_t *process)
{
    sim_process_t *from;

    for (from = process->sim->all; from != NULL; from = from->all_next) {
        if (from->links[process->rank].target == process) {
            sim_channel_update(&from->links[process->rank]);
        }
    }
    if (process->state == SIM_HUNG) {
        sim_idle_cancel(process);
    } else if (process->is_open && (process->idle_idx < 0)) {
        process->idle_idx = sim_list_add(&process->sim->idles, process);
    }
}

void sim_idle_cancel(sim_process_t *process)
{
    sim_process_t *moved;

    if (process->idle_idx >= 0) {
        moved = sim_list_remove(&process->sim->idles, (unsigned)process->idle_idx);
        if (moved != NULL) {
            moved->idle_idx = process->idle_idx;
        }
        process->idle_idx = -1;
    }
}

void sim_idle_call(keel_sim_t *sim, sim_process_t *process)
{
    if (process->held > 0) {
        return;
    }
    sim_idle_cancel(process);
    if (process->is_open && (process->params.on_idle != NULL)) {
        sim_enter_service(sim, process);
        process->is_held = process->params.on_idle(process->params.arg, process->is_held);
        sim_leave_service(sim, process);
        if (process->is_held) { /* the next call is late */
            process->idle_idx = sim_list_add(&sim->idles, process);
        }
    }
}

static void sim_reply_deliver(sim_process_t *process, sim_link_t *link)
{
    sim_message_t *message = sim_queue_pop(&link->replies);

    sim_reply_update(link);
    keel_sim_trace(process->sim, "reply %u.%u -> %u.%u, %u + %zu bytes", link->owner->rank, link->owner->incarnation,
                   process->rank, process->incarnation, message->header_len, message->data_len);
    process->params.on_reply(process->params.arg, message->header, message->header_len, message->data,
                             message->data_len);
    sim_message_free(message);
}

/* ---- ops ---- */

static keel_status_t sim_send(keel_transport_t *transport, uint32_t peer, const void *header, size_t header_len,
                              const void *data, size_t data_len)
{
    sim_process_t *process = sim_process_of(transport);
    sim_link_t *link = &process->links[peer];
    sim_message_t *message;

    sim_point(process->sim, "send");
    keel_sim_store_fence(process->sim);
    if (process->in_service) {
        keel_sim_flaw(process->sim, "rank %u.%u: send() from the service side", process->rank, process->incarnation);
        return KEEL_ERR_STATE;
    }
    if ((header_len > KEEL_TRANSPORT_HEADER_MAX) || (data_len > process->sim->transport_ops.max_data)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    if (link->target == NULL) {
        return KEEL_ERR_UNREACHABLE;
    }
    if (link->requests.count >= SIM_QUEUE_MAX) {
        keel_sim_flaw(process->sim, "rank %u.%u sends to %u without end", process->rank, process->incarnation, peer);
        return KEEL_ERR_NO_MEMORY;
    }
    message = sim_message_make(header, header_len, data, data_len);
    message->behind = link->ops_issued;
    sim_queue_append(&link->requests, message);
    sim_channel_update(link);
    sim_point(process->sim, "send");
    return KEEL_OK;
}

/* incarnation of @a peer that sent requests: connected, or faster to connect */
static sim_process_t *sim_requester(const sim_process_t *process, uint32_t peer)
{
    sim_process_t *asker = process->links[peer].target;

    if (asker == NULL) {
        asker = process->sim->rank[peer];
        if (asker->links[process->rank].target != process) {
            return NULL;
        }
    }
    return asker;
}

static keel_status_t sim_reply_room(keel_transport_t *transport, uint32_t peer, size_t data_len, void **room_p)
{
    static _Thread_local unsigned char room[SIM_MAX_DATA];
    sim_process_t *process = sim_process_of(transport);

    if (!process->in_service) {
        keel_sim_flaw(process->sim, "rank %u.%u: reply_room() outside of on_request", process->rank,
                      process->incarnation);
        return KEEL_ERR_STATE;
    }
    if (sim_requester(process, peer) == NULL) {
        return KEEL_ERR_UNREACHABLE;
    }
    memset(room, 0x5a, sizeof(room)); /* old contents must not be relied on */
    *room_p = room;
    return (data_len <= process->sim->transport_ops.max_data) ? KEEL_OK : KEEL_ERR_INVALID_PARAM;
}

static keel_status_t sim_reply(keel_transport_t *transport, uint32_t peer, const void *header, size_t header_len,
                               const void *data, size_t data_len)
{
    sim_process_t *process = sim_process_of(transport);
    sim_link_t *link = &process->links[peer];
    sim_process_t *asker = sim_requester(process, peer);
    sim_message_t *message;

    if (!process->in_service) {
        keel_sim_flaw(process->sim, "rank %u.%u: reply() outside of on_request and on_idle", process->rank,
                      process->incarnation);
        return KEEL_ERR_STATE;
    }
    if ((header_len > KEEL_TRANSPORT_HEADER_MAX) || (data_len > process->sim->transport_ops.max_data)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    if (asker == NULL) {
        return KEEL_ERR_UNREACHABLE;
    }
    if (!asker->is_open || sim_is_cut(process, asker)) {
        return KEEL_OK; /* dead or gone: the reply is lost */
    }
    if (link->reply_target != asker) {
        sim_replies_drop(link, 0);
        link->reply_target = asker;
    }
    message = sim_message_make(header, header_len, NULL, 0);
    if (data_len > 0) {
        message->data = sim_new(data_len);
        memcpy(message->data, data, data_len);
        message->data_len = data_len;
        message->is_copied = 1;
    }
    sim_queue_append(&link->replies, message);
    sim_reply_update(link);
    sim_wake(asker);
    return KEEL_OK;
}

static unsigned sim_progress(keel_transport_t *transport)
{
    sim_process_t *process = sim_process_of(transport);
    keel_sim_t *sim = process->sim;
    unsigned budget, handled;
    uint32_t suspect;

    sim_point(sim, "progress");
    process->polls++;
    process->polls_longest = (process->polls > process->polls_longest) ? process->polls : process->polls_longest;
    budget = sim_below(sim, SIM_PROGRESS_MAX);
    handled = sim_ops_complete(process, budget);
    for (; (handled < budget) && (process->reply_in.count > 0); ++handled) {
        sim_reply_deliver(process, process->reply_in.item[sim_below(sim, process->reply_in.count)]);
    }
    if (sim->options.no_arbiter) {
        handled += sim_break_ended(process);
    } else if (process->suspect != 0) {
        suspect = process->suspect - 1;
        process->suspect = 0;
        sim_break(process, suspect);
        ++handled;
    }
    if ((keel_random_next(&sim->random) & SIM_FALSE_SUSPECT) == 0) { /* no death */
        process->suspect = 1 + sim_below(sim, sim->options.ranks);
    }
    if ((handled == 0) && sim_chance(sim, 256)) {
        sim_give_way(process, SIM_READY, 0);
    }
    return handled;
}

/* a store wakes no peer: a ring may be lost, and here every ring is lost */
static void sim_ring(keel_transport_t *transport, uint32_t peer)
{
}

/* polls for some rounds, then sleeps ever longer */
static void sim_wait(keel_transport_t *transport, unsigned round, unsigned timeout_us, int is_reply_due)
{
    sim_process_t *process = sim_process_of(transport);
    keel_sim_t *sim = process->sim;
    uint64_t timeout_ns;

    if ((round > 0) && (round <= SIM_POLL_ROUNDS)) {
        return;
    }
    if (timeout_us > SIM_SLEEP_MAX_US) {
        timeout_us = SIM_SLEEP_MAX_US;
    }
    if (timeout_us > SIM_SLEEP_MIN_US + (round - SIM_POLL_ROUNDS)) {
        timeout_us = SIM_SLEEP_MIN_US + (round - SIM_POLL_ROUNDS);
    }
    timeout_ns = ((uint64_t)timeout_us + 1) * 1000;
    process->where = "wait";
    process->waits += (round > 0);
    process->polls = 0;
    if ((process->reply_in.count > 0) || (process->done_head != NULL) || (round == 0) || sim_chance(sim, 16)) {
        sim_give_way(process, SIM_READY, 0);
        return;
    }
    keel_sim_store_fence(sim); /* a sleep is a system call */
    sim_due(process, sim_event_next_due(process));
    sim_give_way(process, SIM_WAITING, sim->now_ns + timeout_ns);
}

const keel_transport_ops_t sim_transport_ops = {
    .name = "sim",
    .describe = "simulator: virtual time, random order, deaths at any step",
    .open = sim_open,
    .close = sim_close,
    .address = sim_address_get,
    .connect = sim_connect,
    .disconnect = sim_disconnect,
    .mem_alloc = sim_mem_alloc,
    .mem_free = sim_mem_free,
    .mem_expose = sim_mem_expose,
    .mem_pack = sim_mem_pack,
    .key_open = sim_key_open,
    .key_close = sim_key_close,
    .key_ptr = sim_key_ptr,
    .key_is_atomic = sim_key_is_atomic,
    .put = sim_put,
    .get = sim_get,
    .atomic = sim_atomic,
    .put_record = sim_put_record,
    .fence = sim_fence,
    .flush = sim_flush,
    .send = sim_send,
    .reply_room = sim_reply_room,
    .reply = sim_reply,
    .max_data = SIM_MAX_DATA,
    .progress = sim_progress,
    .wait = sim_wait,
    .ring = sim_ring,
};
