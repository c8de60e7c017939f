/*
 * Each count of bytes has a single writer. The sender puts the bytes, a fence, and then the count,
 * so the bytes covered by a count are there. The receiver puts the number of bytes taken; the
 * sender may overwrite these. All counts lie in the arena and roll back with the arena.
 */
#include "p2p/mpi_channel.h"

#include "life/mpi_startup.h"
#include "mpi_arena.h"
#include "p2p/mpi_fetch.h"
#include "p2p/mpi_ordered.h"
#include "p2p/mpi_pending.h"
#include "p2p/mpi_request.h"
#include "p2p/mpi_spin.h"
#include "p2p/mpi_stream.h"
#include "p2p/mpi_synchronous.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    FETCH_DEFAULT = 128 << 10,
    PLACED_MIN = 4096,    /* a copy of fewer bytes costs less than the search for a receive */
    SOURCES_PER_POLL = 4, /* ranks polled by a call of keel_mpi_channel_poll_some() */
    /* rounds of waiting per call of Keel's progress: progress is a system call, which takes as long
     * as ten rounds, while messages arrive by stores */
    PROGRESS = 64,
    LOOKS = 50,        /* at the word of one sender, in a round of a wait for its message */
    CORE_INTERVAL = 16 /* messages sent between two looks at the own core */
};

static struct {
    uint64_t acks_requested;       /* tags of acks given out */
    keel_mpi_message_t **incoming; /* for each rank the incomplete message; NULL: none */
    int is_sending_acks;
    /* 1 + the rank that a message of the program is being written to; no other bytes may come
     * between. 0: none */
    uint32_t sending_to;
    uint32_t next_source; /* first rank of the next poll */
    unsigned idle_rounds; /* rounds of waiting since the last arrival */
    unsigned rounds;      /* all rounds of waiting: Keel's work goes on in short waits, too */
    unsigned sends;       /* messages sent, for CORE_INTERVAL */
    uint32_t core;        /* at the last look */
} state;

/* Bytes from which the receiver fetches a message. */
static size_t fetch_bytes(void)
{
    const char *text = getenv("KEELMPI_FETCH");
    const size_t bytes = (text != NULL) ? keel_mpi_parse_bytes(text) : FETCH_DEFAULT;

    if (bytes == 0 && strcmp(text, "0") != 0) {
        keel_mpi_fatal("MPI_Init", "KEELMPI_FETCH is no number of bytes");
    }
    return bytes;
}

void keel_mpi_channel_make(void)
{
    state.incoming = calloc(keel_mpi.ranks, sizeof(*state.incoming));
    if (state.incoming == NULL) {
        keel_mpi_fatal("MPI_Init", "no memory");
    }
    keel_mpi_spin_make();
    keel_mpi_fetch_make(fetch_bytes());
    keel_mpi_stream_make();
    keel_mpi_ordered_make();
}

/* ---- receiving ---- */

static void ring_read(uint32_t source, uint64_t from, void *data, size_t bytes)
{
    const char *ring = keel_mpi_arena_at(keel_mpi_arena_ring(source));
    const size_t at = from & (keel_mpi.ring - 1), first = (bytes < keel_mpi.ring - at) ? bytes : keel_mpi.ring - at;

    memcpy(data, ring + at, first);
    memcpy((char *)data + first, ring, bytes - first);
}

/* Puts a word of the own channel at the source, which may wait for the word. */
static void put_word(uint32_t source, size_t member, uint64_t value, const char *call)
{
    keel_mpi_put(source, keel_mpi_arena_word(keel_mpi.rank, member), &value, sizeof(value), call);
    keel_mpi_flush(source, call);
    keel_mpi_spin_wake(source, call);
}

/* Announces to the sender the bytes free again, once they are a good part of the ring. */
static void announce_freed(uint32_t source, const char *call)
{
    keel_mpi_channel_t *channel = keel_mpi_arena_channel(source);

    if (channel->taken - channel->announced < keel_mpi.ring / 4) {
        return;
    }
    channel->announced = channel->taken;
    put_word(source, offsetof(keel_mpi_channel_t, freed), channel->announced, call);
}

/* Fetches the data of an offer. False if the sender has died or was rolled back: this rank will
 * learn of that. */
static int fetch(uint32_t source, const keel_mpi_offer_t *offer, keel_mpi_message_t *message, const char *call)
{
    int error = keel_mpi_fetch_data(offer, message->place, message->head.bytes);

    if (error == EFAULT) { /* the sender may have moved the data meanwhile, which it does once */
        error = keel_mpi_fetch_data(offer, message->place, message->head.bytes);
    }
    if (error == EPERM || (error == EFAULT && keel_mpi_fetch_test(offer) == 0)) {
        keel_mpi_fatal(call, "a message cannot be read from the memory of its sender: set KEELMPI_FETCH=0");
    }
    if (error != 0) {
        return 0;
    }
    message->received = message->head.bytes;
    put_word(source, offsetof(keel_mpi_channel_t, offered_done), ++keel_mpi_arena_channel(source)->fetched, call);
    return 1;
}

/* Takes the next head, which has arrived in part or whole, and delivers its message. False if that
 * is not possible yet. */
static int take_head(uint32_t source, uint64_t arrived, const char *call)
{
    keel_mpi_channel_t *channel = keel_mpi_arena_channel(source);
    keel_mpi_head_t head = {0};
    keel_mpi_offer_t offer;
    keel_mpi_message_t *message;
    uint32_t kind;
    size_t bytes = KEEL_MPI_STREAM_HEAD;

    if (arrived - channel->taken < bytes) {
        return 0;
    }
    ring_read(source, channel->taken, &head, KEEL_MPI_STREAM_HEAD);
    kind = head.is_chain;
    head.is_chain = 0;
    if (kind != KEEL_MPI_OFFER_NONE) {
        bytes += sizeof(offer);
        if (arrived - channel->taken < bytes) {
            return 0;
        }
        ring_read(source, channel->taken + KEEL_MPI_STREAM_HEAD, &offer, sizeof(offer));
    }
    keel_mpi_spin_heard(source, head.part);
    message = (head.bytes >= PLACED_MIN) ? keel_mpi_message_make_placed(&head) : keel_mpi_message_make(&head);
    if (kind == KEEL_MPI_OFFER_DATA && !fetch(source, &offer, message, call)) {
        free(message);
        return 0;
    }
    if (kind == KEEL_MPI_OFFER_TEST && keel_mpi_fetch_test(&offer) == 0) {
        put_word(source, offsetof(keel_mpi_channel_t, is_readable), 1, call);
    }
    channel->taken += bytes;
    if (kind == KEEL_MPI_OFFER_DATA) {
        channel->taken += keel_mpi_stream_padding(channel->taken);
    } else {
        state.incoming[source] = message;
    }
    keel_mpi_match_deliver(message);
    return 1;
}

/* Takes all bytes that have arrived from a rank; true if there were any. */
static int take_messages(uint32_t source, const char *call)
{
    keel_mpi_channel_t *channel = keel_mpi_arena_channel(source);
    const uint64_t arrived = __atomic_load_n(&channel->arrived, __ATOMIC_ACQUIRE), before = channel->taken;

    while (channel->taken < arrived) {
        keel_mpi_message_t *message;
        uint64_t some;

        if (state.incoming[source] == NULL && !take_head(source, arrived, call)) {
            break;
        }
        message = state.incoming[source];
        if (message == NULL) {
            continue; /* fetched */
        }
        some = message->head.bytes - message->received;
        some = (some < arrived - channel->taken) ? some : arrived - channel->taken;
        ring_read(source, channel->taken, message->place + message->received, some);
        message->received += some;
        channel->taken += some;
        if (message->received == message->head.bytes) {
            channel->taken += keel_mpi_stream_padding(channel->taken); /* perhaps not sent yet */
            state.incoming[source] = NULL;
        }
    }
    announce_freed(source, call);
    return channel->taken != before;
}

static uint64_t send_message(uint32_t rank, keel_mpi_head_t head, const void *data, keel_mpi_send_mode_t mode,
                             const char *call);

/* A send may poll and call this function again. */
void keel_mpi_channel_send_acks(const char *call)
{
    keel_mpi_ack_t ack;

    if (state.is_sending_acks) {
        return;
    }
    state.is_sending_acks = 1;
    while (keel_mpi_match_take_ack(&ack, state.sending_to)) {
        (void)send_message(ack.rank,
                           (keel_mpi_head_t){.context = KEEL_MPI_ACK_CONTEXT, .tag = ack.tag, .source = keel_mpi.rank},
                           NULL, KEEL_MPI_SEND_COPIES, call);
    }
    state.is_sending_acks = 0;
}

int keel_mpi_channel_poll(const char *call)
{
    int is_progress = 0;

    if (keel_mpi_is_replaying() || keel_mpi.is_deterministic_mode) {
        /* in deterministic mode no rank relies on this rank to poll */
        return 0;
    }
    for (uint32_t source = 0; source < keel_mpi.ranks; source++) {
        if (source != keel_mpi.rank) {
            is_progress |= take_messages(source, call);
        }
    }
    keel_mpi_channel_send_acks(call);
    keel_mpi_stream_push(call);
    keel_mpi_request_finish_orphans();
    return is_progress;
}

void keel_mpi_channel_poll_some(const char *call)
{
    if (keel_mpi_is_replaying()) {
        return;
    }
    if (keel_mpi.is_deterministic_mode) {
        keel_mpi_ordered_poll_some(call);
        return;
    }
    for (unsigned i = 0; i < SOURCES_PER_POLL && i < keel_mpi.ranks; i++) {
        const uint32_t source = state.next_source;
        const keel_mpi_channel_t *channel = keel_mpi_arena_channel(source);

        state.next_source = (source + 1 < keel_mpi.ranks) ? source + 1 : 0;
        if (__atomic_load_n(&channel->arrived, __ATOMIC_RELAXED) != channel->taken) {
            (void)take_messages(source, call);
        }
    }
    keel_mpi_channel_send_acks(call);
    keel_mpi_stream_push(call);
}

int keel_mpi_channel_progress(const char *call)
{
    if (keel_mpi.is_deterministic_mode) {
        return keel_mpi_ordered_poll(call);
    }
    if (!keel_mpi_is_replaying()) {
        keel_mpi_check(keel_progress(keel_mpi.ctx), call);
    }
    return keel_mpi_channel_poll(call);
}

/*
 * Messages arrive by stores of their senders, so a waiting rank looks at memory and spins, yields
 * the core or sleeps between looks (mpi_spin.h). Only every PROGRESSth round asks Keel, since Keel
 * notices deaths by system calls.
 */
static void progress_or_pause(void (*pause)(unsigned round), const char *call)
{
    const int is_progress =
        (keel_mpi.is_deterministic_mode || ++state.rounds % PROGRESS == 0 || keel_mpi_spin_has_slept())
            ? keel_mpi_channel_progress(call)
            : keel_mpi_channel_poll(call);

    state.idle_rounds++;
    if (is_progress) {
        state.idle_rounds = 0;
    } else if (keel_mpi.is_deterministic_mode) {
        sched_yield();
    } else {
        pause(state.idle_rounds);
    }
}

void keel_mpi_channel_progress_or_yield(const char *call)
{
    progress_or_pause(keel_mpi_spin_yield, call);
}

void keel_mpi_channel_progress_or_sleep(const char *call)
{
    progress_or_pause(keel_mpi_spin_wait, call);
}

void keel_mpi_channel_end_wait(void)
{
    state.idle_rounds = 0;
}

void keel_mpi_channel_yield(const char *call)
{
    if (!keel_mpi.is_deterministic_mode) {
        keel_mpi_channel_progress_or_yield(call);
    } else if (!keel_mpi_is_replaying()) {
        keel_mpi_ordered_push_unlogged(call);
        keel_mpi_check(keel_progress(keel_mpi.ctx), call);
        sched_yield();
    }
}

void keel_mpi_channel_post(keel_mpi_receive_t *receive, const char *call)
{
    keel_mpi_match_post(receive);
    if (keel_mpi.is_deterministic_mode) {
        keel_mpi_channel_send_acks(call);
    }
}

/* Looks at the word of one sender, which a look at all senders would delay, and at the line of its
 * next message, so that both lines are on the way at once. Takes what has arrived; true if there is
 * anything. Every PROGRESSth round is left to keel_mpi_channel_progress_or_sleep(). */
static int take_from(uint32_t source, const char *call)
{
    const keel_mpi_channel_t *channel = keel_mpi_arena_channel(source);
    const char *next =
        (const char *)keel_mpi_arena_at(keel_mpi_arena_ring(source)) + (channel->taken & (keel_mpi.ring - 1));

    for (unsigned i = 0; i < LOOKS && __atomic_load_n(&channel->arrived, __ATOMIC_RELAXED) == channel->taken; i++) {
        __builtin_prefetch(next);
    }
    if ((state.rounds + 1) % PROGRESS == 0 || keel_mpi_is_replaying() || !take_messages(source, call)) {
        return 0;
    }
    state.rounds++;
    state.idle_rounds = 0;
    keel_mpi_channel_send_acks(call);
    keel_mpi_stream_push(call);
    return 1;
}

void keel_mpi_channel_await_more(const keel_mpi_receive_t *receive, const char *call)
{
    const int is_of_other = receive->source != KEEL_MPI_ANY_RANK && receive->source != keel_mpi.rank;

    if (is_of_other && keel_mpi.is_deterministic_mode && !keel_mpi_is_replaying()) {
        keel_mpi_ordered_take(receive->source, call);
    } else if (!is_of_other || keel_mpi.is_deterministic_mode || !take_from(receive->source, call)) {
        keel_mpi_channel_progress_or_sleep(call);
    }
}

keel_mpi_message_t *keel_mpi_channel_find(const keel_mpi_receive_t *receive, int is_taken, int is_waiting,
                                          const char *call)
{
    keel_mpi_message_t *message;

    if (keel_mpi_is_replaying()) {
        return NULL;
    }
    if (!is_waiting) {
        keel_mpi_channel_progress_or_yield(call);
    }
    while ((message = keel_mpi_match_peek(receive, is_taken)) == NULL && is_waiting) {
        keel_mpi_channel_await_more(receive, call);
    }
    if (keel_mpi.is_deterministic_mode) {
        keel_mpi_channel_send_acks(call);
    }
    return message;
}

void keel_mpi_channel_await(const keel_mpi_receive_t *receive, const char *call)
{
    while (!keel_mpi_receive_is_complete(receive)) {
        keel_mpi_channel_await_more(receive, call);
    }
}

/* ---- sending ---- */

static void send_to_self(const keel_mpi_head_t *head, const void *data)
{
    keel_mpi_message_t *message = keel_mpi_message_make(head);

    if (data != NULL) { /* data may be NULL if the message is empty */
        memcpy(message->place, data, head->bytes);
    }
    message->received = head->bytes;
    keel_mpi_match_deliver(message);
}

static uint64_t send_message(uint32_t rank, keel_mpi_head_t head, const void *data, keel_mpi_send_mode_t mode,
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
    if (keel_mpi.is_deterministic_mode) {
        return keel_mpi_pending_send(rank, head, data, call);
    }
    if (state.sends++ % CORE_INTERVAL == 0) {
        state.core = keel_mpi_spin_own_core();
    }
    head.part = state.core;
    if (state.is_sending_acks) {
        return keel_mpi_stream_send(rank, head, data, mode, call);
    }
    state.sending_to = rank + 1;
    ticket = keel_mpi_stream_send(rank, head, data, mode, call);
    state.sending_to = 0;
    keel_mpi_channel_send_acks(call);
    return ticket;
}

uint64_t keel_mpi_channel_send_mode(keel_mpi_send_mode_t mode, uint32_t rank, uint64_t context, int64_t tag,
                                    const void *data, size_t bytes, const char *call)
{
    return send_message(rank,
                        (keel_mpi_head_t){.context = context, .tag = tag, .bytes = bytes, .source = keel_mpi.rank},
                        data, mode, call);
}

int keel_mpi_channel_is_sent(uint32_t rank, uint64_t ticket)
{
    return ticket == 0 || (keel_mpi.is_deterministic_mode ? keel_mpi_ordered_is_sent(rank, ticket)
                                                          : keel_mpi_stream_is_sent(rank, ticket));
}

void keel_mpi_channel_await_sent(uint32_t rank, uint64_t ticket, const char *call)
{
    if (keel_mpi.is_deterministic_mode && ticket != 0) {
        keel_mpi_ordered_await_sent(rank, ticket, call);
    }
    while (!keel_mpi_channel_is_sent(rank, ticket)) {
        keel_mpi_channel_progress_or_sleep(call);
    }
}

int64_t keel_mpi_channel_send_acked(keel_mpi_send_mode_t mode, uint32_t rank, uint64_t context, int64_t tag,
                                    const void *data, size_t bytes, uint64_t *ticket_p, const char *call)
{
    const uint64_t ack = (keel_mpi.is_deterministic_mode && rank != keel_mpi.rank) ? keel_mpi_pending_next_ack_tag(rank)
                                                                                   : ++state.acks_requested;

    *ticket_p = send_message(
        rank, (keel_mpi_head_t){.context = context, .tag = tag, .bytes = bytes, .source = keel_mpi.rank, .ack = ack},
        data, mode, call);
    return (int64_t)ack;
}

size_t keel_mpi_channel_receive(uint32_t rank, uint64_t context, int64_t tag, void *data, size_t bytes,
                                const char *call)
{
    keel_mpi_receive_t receive = {.context = context, .source = rank, .tag = tag, .place = data, .room = bytes};
    uint64_t length = 0;

    if (!keel_mpi_is_replaying()) {
        keel_mpi_channel_post(&receive, call);
        keel_mpi_channel_await(&receive, call);
        length = (receive.message->head.bytes < bytes) ? receive.message->head.bytes : bytes;
        if (receive.message->place != data) {
            memcpy(data, receive.message->place, length);
        }
        free(receive.message);
    }
    keel_mpi_startup_result(&length, sizeof(length));
    keel_mpi_startup_result(data, length);
    keel_mpi_request_finish_freed();
    return length;
}

void keel_mpi_channel_restore(void)
{
    /* the table of blocks is the checkpoint's, which has none of these blocks */
    keel_mpi_ordered_reset(0);
    keel_mpi_stream_reset();
    keel_mpi_spin_forget();
    state.is_sending_acks = 0; /* may be set after a jump to the restart point */
    state.sending_to = 0;
    for (uint32_t rank = 0; rank < keel_mpi.ranks; rank++) {
        /* the message is in the queue or belongs to a receive, and both are dropped */
        state.incoming[rank] = NULL;
        /* the peer may be another process, with other permissions */
        keel_mpi_arena_channel(rank)->is_readable = 0;
    }
    keel_mpi_match_restore();
}
