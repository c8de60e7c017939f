/*
 * Counts of bytes are put by one side only. The sender puts the bytes, a fence, and then the count: what the count covers is there. The
 * receiver puts what it has taken, which is what the sender may write over. All counts lie in the arena and go back with it.
 */
#include "p2p/mpi_channel.h"

#include "mpi_arena.h"
#include "rma/mpi_direct.h"
#include "p2p/mpi_ordered.h"
#include "life/mpi_startup.h"
#include "p2p/mpi_request.h"
#include "p2p/mpi_stream.h"
#include "p2p/mpi_synchronous.h"
#include "p2p/mpi_pending.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    GLANCES = 4, /* ranks a glance looks at */
    PROGRESS =
        8, /* rounds of waiting of which one is Keel's progress: system calls, while a message arrives by stores */
};

static struct {
    uint64_t asked;              /* how many answers were asked for */
    keel_mpi_message_t **coming; /* of each rank: the letter that is not whole; NULL: none */
    int is_answering;
    uint32_t
        amid; /* to whom the program's own message is being written, which nothing may come between; from 1, 0: nobody */
    uint32_t glance; /* whom the next one looks at first */
    unsigned rounds; /* of waiting, since something came */
} box;

void keel_mpi_channel_make(void)
{
    box.coming = calloc(keel_mpi.ranks, sizeof(*box.coming));
    if (box.coming == NULL) {
        keel_mpi_fatal("MPI_Init", "no memory");
    }
    keel_mpi_stream_make();
    keel_mpi_ordered_make();
}

/* ---- receiving ---- */

static void ring_read(uint32_t source, uint64_t from, void *data, size_t bytes)
{
    const char *ring = keel_mpi_arena_at(keel_mpi_arena_ring(source));
    const size_t at = from % KEEL_MPI_RING, first = (bytes < KEEL_MPI_RING - at) ? bytes : KEEL_MPI_RING - at;

    memcpy(data, ring + at, first);
    memcpy((char *)data + first, ring, bytes - first);
}

/* tells a sender what it may write over, when that is a good part of the ring */
static void tell_freed(uint32_t source, const char *call)
{
    keel_mpi_channel_t *channel = keel_mpi_arena_channel(source);

    if (channel->taken - channel->told < KEEL_MPI_RING / 4) {
        return;
    }
    channel->told = channel->taken;
    keel_mpi_put(source, keel_mpi_arena_word(keel_mpi.rank, offsetof(keel_mpi_channel_t, freed)), &channel->told,
                 sizeof(channel->told), call);
    keel_mpi_flush(source, call);
}

/* what has come from one rank; true when that was something */
static int take_from(uint32_t source, const char *call)
{
    keel_mpi_channel_t *channel = keel_mpi_arena_channel(source);
    const uint64_t arrived = __atomic_load_n(&channel->arrived, __ATOMIC_ACQUIRE), before = channel->taken;

    while (channel->taken < arrived) {
        keel_mpi_message_t *letter = box.coming[source];
        uint64_t some;

        if (letter == NULL) {
            keel_mpi_head_t head;

            if (arrived - channel->taken < sizeof(head)) {
                break;
            }
            ring_read(source, channel->taken, &head, sizeof(head));
            channel->taken += sizeof(head);
            box.coming[source] = letter = keel_mpi_message_make(&head);
            keel_mpi_match_deliver(letter);
        }
        some = letter->head.bytes - letter->here;
        some = (some < arrived - channel->taken) ? some : arrived - channel->taken;
        ring_read(source, channel->taken, letter->data + letter->here, some);
        letter->here += some;
        channel->taken += (letter->here == letter->head.bytes)
                              ? some + keel_mpi_padded(letter->head.bytes) - letter->head.bytes
                              : some;
        if (letter->here == letter->head.bytes) {
            box.coming[source] = NULL;
        }
    }
    tell_freed(source, call);
    return channel->taken != before;
}

static uint64_t send_letter(uint32_t rank, keel_mpi_head_t head, const void *data, keel_mpi_send_mode_t how,
                            const char *call);

/* a send may look for what comes, and end here again */
void keel_mpi_channel_send_acks(const char *call)
{
    keel_mpi_ack_t answer;

    if (box.is_answering) {
        return;
    }
    box.is_answering = 1;
    while (keel_mpi_match_take_ack(&answer, box.amid)) {
        (void)send_letter(
            answer.rank, (keel_mpi_head_t){.context = KEEL_MPI_ACK_CONTEXT, .tag = answer.tag, .source = keel_mpi.rank},
            NULL, KEEL_MPI_SEND_COPIES, call);
    }
    box.is_answering = 0;
}

int keel_mpi_channel_poll(const char *call)
{
    int is_news = 0;

    if (keel_mpi_is_replaying() || keel_mpi.is_promised) { /* with the promise nobody relies on being looked at */
        return 0;
    }
    for (uint32_t source = 0; source < keel_mpi.ranks; source++) {
        if (source != keel_mpi.rank) {
            is_news |= take_from(source, call);
        }
    }
    keel_mpi_channel_send_acks(call);
    keel_mpi_stream_push(call);
    keel_mpi_request_finish_orphans();
    return is_news;
}

void keel_mpi_channel_poll_some(const char *call)
{
    if (keel_mpi_is_replaying()) {
        return;
    }
    if (keel_mpi.is_promised) {
        keel_mpi_ordered_poll_some(call);
        return;
    }
    for (unsigned i = 0; i < GLANCES && i < keel_mpi.ranks; i++) {
        const uint32_t source = box.glance;
        const keel_mpi_channel_t *channel = keel_mpi_arena_channel(source);

        box.glance = (source + 1 < keel_mpi.ranks) ? source + 1 : 0;
        if (__atomic_load_n(&channel->arrived, __ATOMIC_RELAXED) != channel->taken) {
            (void)take_from(source, call);
        }
    }
    keel_mpi_channel_send_acks(call);
    keel_mpi_stream_push(call);
}

int keel_mpi_channel_progress(const char *call)
{
    if (keel_mpi.is_promised) {
        return keel_mpi_ordered_poll(call);
    }
    if (!keel_mpi_is_replaying()) {
        keel_mpi_check(keel_progress(keel_mpi.ctx), call);
    }
    return keel_mpi_channel_poll(call);
}

/*
 * A message arrives by stores of its sender, so a waiting rank looks at memory and gives the core away between looks; it asks Keel, which notices
 * deaths by system calls, in some of the rounds only. Where each rank has a core it looks for some time before it gives the core away.
 */
void keel_mpi_channel_progress_or_yield(const char *call)
{
    const int is_news = (keel_mpi.is_promised || ++box.rounds % PROGRESS == 0) ? keel_mpi_channel_progress(call)
                                                                               : keel_mpi_channel_poll(call);

    if (is_news) {
        box.rounds = 0;
    } else if (keel_mpi.is_promised || box.rounds > keel_mpi_direct_spins(keel_mpi.ranks)) {
        sched_yield();
    } else {
        keel_mpi_direct_spin();
    }
}

void keel_mpi_channel_yield(const char *call)
{
    if (!keel_mpi.is_promised) {
        keel_mpi_channel_progress_or_yield(call);
    } else if (!keel_mpi_is_replaying()) {
        keel_mpi_ordered_push_unlogged(call);
        keel_mpi_check(keel_progress(keel_mpi.ctx), call);
        sched_yield();
    }
}

void keel_mpi_channel_post(keel_mpi_receive_t *want, const char *call)
{
    keel_mpi_match_post(want);
    if (keel_mpi.is_promised) {
        keel_mpi_channel_send_acks(call);
    }
}

void keel_mpi_channel_await_more(const keel_mpi_receive_t *want, const char *call)
{
    if (keel_mpi.is_promised && !keel_mpi_is_replaying() && want->source != KEEL_MPI_ANY_RANK &&
        want->source != keel_mpi.rank) {
        keel_mpi_ordered_take(want->source, call);
    } else {
        keel_mpi_channel_progress_or_yield(call);
    }
}

keel_mpi_message_t *keel_mpi_channel_find(const keel_mpi_receive_t *want, int is_taken, int is_waiting,
                                          const char *call)
{
    keel_mpi_message_t *letter;

    if (keel_mpi_is_replaying()) {
        return NULL;
    }
    if (!is_waiting) {
        keel_mpi_channel_progress_or_yield(call);
    }
    while ((letter = keel_mpi_match_peek(want, is_taken)) == NULL && is_waiting) {
        keel_mpi_channel_await_more(want, call);
    }
    if (keel_mpi.is_promised) {
        keel_mpi_channel_send_acks(call);
    }
    return letter;
}

void keel_mpi_channel_await(const keel_mpi_receive_t *want, const char *call)
{
    while (!keel_mpi_receive_is_complete(want)) {
        keel_mpi_channel_await_more(want, call);
    }
}

/* ---- sending ---- */

static void send_to_self(const keel_mpi_head_t *head, const void *data)
{
    keel_mpi_message_t *letter = keel_mpi_message_make(head);

    if (data != NULL) { /* a message of no bytes may have none */
        memcpy(letter->data, data, head->bytes);
    }
    letter->here = head->bytes;
    keel_mpi_match_deliver(letter);
}

static uint64_t send_letter(uint32_t rank, keel_mpi_head_t head, const void *data, keel_mpi_send_mode_t how,
                            const char *call)
{
    uint64_t ticket;

    if (keel_mpi_is_replaying()) {
        return 0;
    }
    if (rank == keel_mpi.rank) {
        send_to_self(&head, data);
        return 0;
    }
    if (keel_mpi.is_promised) {
        return keel_mpi_pending_send(rank, head, data, call);
    }
    if (box.is_answering) {
        return keel_mpi_stream_send(rank, head, data, how, call);
    }
    box.amid = rank + 1;
    ticket = keel_mpi_stream_send(rank, head, data, how, call);
    box.amid = 0;
    keel_mpi_channel_send_acks(call);
    return ticket;
}

uint64_t keel_mpi_channel_send_mode(keel_mpi_send_mode_t how, uint32_t rank, uint64_t context, int64_t tag,
                                    const void *data, size_t bytes, const char *call)
{
    return send_letter(rank, (keel_mpi_head_t){.context = context, .tag = tag, .bytes = bytes, .source = keel_mpi.rank},
                       data, how, call);
}

int keel_mpi_channel_is_sent(uint32_t rank, uint64_t ticket)
{
    return ticket == 0 ||
           (keel_mpi.is_promised ? keel_mpi_ordered_is_sent(rank, ticket) : keel_mpi_stream_is_sent(rank, ticket));
}

void keel_mpi_channel_await_sent(uint32_t rank, uint64_t ticket, const char *call)
{
    if (keel_mpi.is_promised && ticket != 0) {
        keel_mpi_ordered_await_sent(rank, ticket, call);
    }
    while (!keel_mpi_channel_is_sent(rank, ticket)) {
        keel_mpi_channel_progress_or_yield(call);
    }
}

int64_t keel_mpi_channel_send_acked(keel_mpi_send_mode_t how, uint32_t rank, uint64_t context, int64_t tag,
                                    const void *data, size_t bytes, uint64_t *ticket_p, const char *call)
{
    const uint64_t answer =
        (keel_mpi.is_promised && rank != keel_mpi.rank) ? keel_mpi_pending_next_ack_tag(rank) : ++box.asked;

    *ticket_p = send_letter(
        rank,
        (keel_mpi_head_t){.context = context, .tag = tag, .bytes = bytes, .source = keel_mpi.rank, .answer = answer},
        data, how, call);
    return (int64_t)answer;
}

size_t keel_mpi_channel_receive(uint32_t rank, uint64_t context, int64_t tag, void *data, size_t bytes,
                                const char *call)
{
    keel_mpi_receive_t want = {.context = context, .source = rank, .tag = tag};
    uint64_t length = 0;

    if (!keel_mpi_is_replaying()) {
        keel_mpi_channel_post(&want, call);
        keel_mpi_channel_await(&want, call);
        length = (want.letter->head.bytes < bytes) ? want.letter->head.bytes : bytes;
        memcpy(data, want.letter->data, length);
        free(want.letter);
    }
    keel_mpi_startup_result(&length, sizeof(length));
    keel_mpi_startup_result(data, length);
    keel_mpi_request_finish_freed();
    return length;
}

void keel_mpi_channel_restore(void)
{
    keel_mpi_ordered_reset(0); /* the table of blocks is the checkpoint's, which has none of its own */
    keel_mpi_stream_reset();
    box.is_answering = 0; /* a jump may have left it */
    box.amid = 0;
    for (uint32_t rank = 0; rank < keel_mpi.ranks; rank++) {
        box.coming[rank] = NULL; /* in the queue, or a waiter's: forgotten with it */
    }
    keel_mpi_match_restore();
}
