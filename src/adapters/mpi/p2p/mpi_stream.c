/*
 * A message is a head, its data, and padding to the next cache line. A message without room on the
 * ring stays pending at the sender, together with all later ones to the same rank. Every wait
 * pushes pending messages that find room. Progress needs nothing more: a receiver that waits for
 * such a message empties the ring, and the sender's next call sends the rest. Pending messages are
 * not state: there are none at a checkpoint, and a rollback drops them.
 *
 * An offered message (mpi_fetch.h) is a head and an offer, and stays pending until it is fetched.
 */
#include "p2p/mpi_stream.h"

#include "mpi_arena.h"
#include "p2p/mpi_channel.h"
#include "p2p/mpi_fetch.h"
#include "p2p/mpi_spin.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOGETHER = 4096,   /* a message of up to so many bytes goes out in one put with its head */
    PART = 64 << 10,   /* bytes put at one time: the receiver takes a part while the next is put */
    FLUSH_INTERVAL = 8 /* parts stored for each call of Keel, which notices deaths */
};

static const char padding[KEEL_MPI_ALIGN];

/* The part of a message ahead of the data: on the ring KEEL_MPI_STREAM_HEAD bytes of the head, and
 * the offer, if any. */
typedef struct prefix {
    keel_mpi_head_t head;
    keel_mpi_offer_t offer;
} prefix_t;

enum { PREFIX_MAX = KEEL_MPI_STREAM_HEAD + sizeof(keel_mpi_offer_t) };

/* A message of which some bytes are not on the ring yet, or that is not fetched yet. */
typedef struct pending {
    struct pending *next;
    prefix_t prefix;
    const char *data; /* the program's buffer, or the copy */
    void *copy;       /* NULL: no copy */
    uint64_t ticket;
    uint64_t done;    /* bytes on the ring */
    uint64_t offered; /* number among the messages offered to the rank; 0: data by the ring */
} pending_t;

static struct {
    pending_t *first, *last; /* in order; NULL: none */
    pending_t *unwritten;    /* the first with bytes that are not on the ring; NULL: none */
    uint64_t queued, begun;  /* messages ever queued, and those of them that went out */
} * queues;                  /* for each rank */
static size_t pending_count; /* over all ranks */
static struct {
    char *arena; /* the rank's arena, mapped here; NULL: put by Keel's calls */
    int is_found;
} * homes;                    /* for each rank */
static unsigned stores;       /* parts stored to mapped rings */
static uint64_t copied_bytes; /* bytes in copies */

void keel_mpi_stream_make(void)
{
    queues = calloc(keel_mpi.ranks, sizeof(*queues));
    homes = calloc(keel_mpi.ranks, sizeof(*homes));
    if (queues == NULL || homes == NULL) {
        keel_mpi_fatal("MPI_Init", "no memory");
    }
}

/* ---- the ring ---- */

static char *arena_of(uint32_t rank, const char *call)
{
    if (!homes[rank].is_found) {
        homes[rank].arena = keel_mpi_arena_mapped(rank, call);
        homes[rank].is_found = 1;
    }
    return homes[rank].arena;
}

/* Stores the bytes to mapped memory, and then their count. Right in a rollback as other direct
 * accesses are (mpi_direct.c): the ring and its counts lie in the arena. */
static void ring_store(char *arena, uint64_t at, uint64_t ring, const void *data, size_t first, size_t bytes,
                       uint64_t sent)
{
    memcpy(arena + ring + at, data, first);
    memcpy(arena + ring, (const char *)data + first, bytes - first);
    __atomic_store_n(
        (uint64_t *)(void *)(arena + keel_mpi_arena_word(keel_mpi.rank, offsetof(keel_mpi_channel_t, arrived))), sent,
        __ATOMIC_RELEASE);
}

static void ring_write(uint32_t rank, const void *data, size_t bytes, const char *call)
{
    keel_mpi_channel_t *channel = keel_mpi_arena_channel(rank);
    const uint64_t ring = keel_mpi_arena_ring(keel_mpi.rank), at = channel->sent & (keel_mpi.ring - 1);
    const size_t first = (bytes < keel_mpi.ring - at) ? bytes : keel_mpi.ring - at;
    char *arena = arena_of(rank, call);

    if (arena != NULL) {
        channel->sent += bytes;
        ring_store(arena, at, ring, data, first, bytes, channel->sent);
        if (++stores % FLUSH_INTERVAL == 0) {
            keel_mpi_flush(rank, call);
        }
    } else {
        keel_mpi_put(rank, ring + at, data, first, call);
        keel_mpi_put(rank, ring, (const char *)data + first, bytes - first, call);
        keel_mpi_fence(call);
        channel->sent += bytes;
        keel_mpi_put(rank, keel_mpi_arena_word(keel_mpi.rank, offsetof(keel_mpi_channel_t, arrived)), &channel->sent,
                     sizeof(channel->sent), call);
        keel_mpi_flush(rank, call);
    }
    keel_mpi_spin_wake(rank, call);
}

static size_t ring_room(uint32_t rank)
{
    const keel_mpi_channel_t *channel = keel_mpi_arena_channel(rank);

    return keel_mpi.ring - (size_t)(channel->sent - __atomic_load_n(&channel->freed, __ATOMIC_ACQUIRE));
}

/* Returns the number of bytes written: a part, as far as the ring had room. */
static size_t write_some(uint32_t rank, const void *data, size_t bytes, const char *call)
{
    const size_t room = ring_room(rank), limit = (room < PART) ? room : PART, some = (bytes < limit) ? bytes : limit;

    if (some > 0) {
        ring_write(rank, data, some, call);
    }
    return some;
}

static void write_all(uint32_t rank, const void *data, size_t bytes, const char *call)
{
    size_t done = 0;

    while (done < bytes) {
        const size_t some = write_some(rank, (const char *)data + done, bytes - done, call);

        done += some;
        if (some == 0) {
            keel_mpi_channel_progress_or_sleep(call);
        }
    }
}

static size_t prefix_bytes(const prefix_t *prefix)
{
    return KEEL_MPI_STREAM_HEAD + (prefix->head.is_chain != KEEL_MPI_OFFER_NONE ? sizeof(prefix->offer) : 0);
}

/* Copies the prefix as on the ring. */
static void prefix_copy(const prefix_t *prefix, char *to)
{
    memcpy(to, &prefix->head, KEEL_MPI_STREAM_HEAD);
    if (prefix->head.is_chain != KEEL_MPI_OFFER_NONE) {
        memcpy(to + KEEL_MPI_STREAM_HEAD, &prefix->offer, sizeof(prefix->offer));
    }
}

/* Bytes of the message's data on the ring. */
static size_t data_bytes(const prefix_t *prefix)
{
    return (prefix->head.is_chain == KEEL_MPI_OFFER_DATA) ? 0 : prefix->head.bytes;
}

/* Bytes of the message on the ring. */
static size_t message_bytes(const prefix_t *prefix)
{
    const size_t bytes = prefix_bytes(prefix) + data_bytes(prefix);

    return bytes + keel_mpi_stream_padding(bytes);
}

/* Waits for room, and makes progress meanwhile. */
static void write_message(uint32_t rank, const prefix_t *prefix, const void *data, const char *call)
{
    const size_t before = prefix_bytes(prefix), bytes = data_bytes(prefix);

    if (bytes <= TOGETHER) {
        char together[PREFIX_MAX + TOGETHER + sizeof(padding)];

        prefix_copy(prefix, together);
        if (bytes > 0) {
            memcpy(together + before, data, bytes);
        }
        memset(together + before + bytes, 0, message_bytes(prefix) - before - bytes);
        write_all(rank, together, message_bytes(prefix), call);
    } else {
        char first[PREFIX_MAX];

        prefix_copy(prefix, first);
        write_all(rank, first, before, call);
        write_all(rank, data, bytes, call);
        write_all(rank, padding, message_bytes(prefix) - before - bytes, call);
    }
}

/*
 * Stores a short message without an offer to a mapped ring with room for all of it in one place.
 * Returns 0, and stores nothing, otherwise. The line of the next message is fetched meanwhile.
 */
static int store_message(uint32_t rank, const keel_mpi_head_t *head, const void *data, const char *call)
{
    keel_mpi_channel_t *channel = keel_mpi_arena_channel(rank);
    const size_t before = KEEL_MPI_STREAM_HEAD, bytes = before + head->bytes;
    const size_t total = bytes + keel_mpi_stream_padding(bytes), at = channel->sent & (keel_mpi.ring - 1);
    char *arena = arena_of(rank, call), *to;

    if (arena == NULL || head->bytes > TOGETHER || total > keel_mpi.ring - at || total > ring_room(rank)) {
        return 0;
    }
    to = arena + keel_mpi_arena_ring(keel_mpi.rank) + at;
    memcpy(to, head, KEEL_MPI_STREAM_HEAD);
    if (head->bytes > 0) {
        memcpy(to + before, data, head->bytes);
    }
    channel->sent += total;
    __atomic_store_n(
        (uint64_t *)(void *)(arena + keel_mpi_arena_word(keel_mpi.rank, offsetof(keel_mpi_channel_t, arrived))),
        channel->sent, __ATOMIC_RELEASE);
    __builtin_prefetch(to + total, 1);
    if (++stores % FLUSH_INTERVAL == 0) {
        keel_mpi_flush(rank, call);
    }
    keel_mpi_spin_wake(rank, call);
    return 1;
}

/* ---- pending messages ---- */

static void pending_copy(pending_t *pending, const char *call)
{
    pending->copy = malloc(pending->prefix.head.bytes + 1);
    if (pending->copy == NULL) {
        keel_mpi_fatal(call, "no memory for a message that the receiver's ring has no room for");
    }
    if (pending->prefix.head.bytes > 0) {
        memcpy(pending->copy, pending->data, pending->prefix.head.bytes);
    }
    keel_mpi_fetch_move(&pending->data, pending->copy);
    copied_bytes += pending->prefix.head.bytes;
}

static uint64_t pending_add(uint32_t rank, const prefix_t *prefix, const void *data, int is_copied, const char *call)
{
    pending_t *pending = malloc(sizeof(*pending));

    if (pending == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    *pending = (pending_t){.prefix = *prefix, .data = data, .ticket = ++queues[rank].queued};
    if (is_copied) {
        pending_copy(pending, call);
    }
    if (prefix->head.is_chain == KEEL_MPI_OFFER_DATA) {
        pending->prefix.offer = keel_mpi_fetch_offer(&pending->data);
        pending->offered = ++keel_mpi_arena_channel(rank)->offered;
    }
    *(queues[rank].first != NULL ? &queues[rank].last->next : &queues[rank].first) = pending;
    queues[rank].last = pending;
    if (queues[rank].unwritten == NULL) {
        queues[rank].unwritten = pending;
    }
    pending_count++;
    return pending->ticket;
}

static void pending_drop(uint32_t rank)
{
    pending_t *pending = queues[rank].first;

    queues[rank].first = pending->next;
    queues[rank].begun++;
    pending_count--;
    copied_bytes -= (pending->copy != NULL) ? pending->prefix.head.bytes : 0;
    free(pending->copy);
    free(pending);
}

void keel_mpi_stream_copy(uint32_t rank, uint64_t ticket, const char *call)
{
    /* mostly the newest */
    pending_t *pending = (queues[rank].first != NULL) ? queues[rank].last : NULL;

    if (pending != NULL && pending->ticket != ticket) {
        pending = queues[rank].first;
    }
    while (pending != NULL && pending->ticket != ticket) {
        pending = pending->next;
    }
    if (pending != NULL && pending->copy == NULL) {
        pending_copy(pending, call);
    }
}

/* True if all of the message is on the ring. */
static int pending_write(uint32_t rank, pending_t *pending, const char *call)
{
    const uint64_t prefix = prefix_bytes(&pending->prefix), data = prefix + data_bytes(&pending->prefix),
                   end = message_bytes(&pending->prefix);
    char first[PREFIX_MAX];
    uint64_t some = 1;

    prefix_copy(&pending->prefix, first);
    while (some > 0 && pending->done < end) {
        const uint64_t at = pending->done;

        some = (at < prefix) ? write_some(rank, first + at, prefix - at, call)
               : (at < data) ? write_some(rank, pending->data + (at - prefix), data - at, call)
                             : write_some(rank, padding, end - at, call);
        pending->done += some;
    }
    return pending->done == end;
}

static int is_fetched(uint32_t rank, const pending_t *pending)
{
    return __atomic_load_n(&keel_mpi_arena_channel(rank)->offered_done, __ATOMIC_ACQUIRE) >= pending->offered;
}

static void push(uint32_t rank, const char *call)
{
    while (queues[rank].unwritten != NULL && pending_write(rank, queues[rank].unwritten, call)) {
        queues[rank].unwritten = queues[rank].unwritten->next;
    }
    while (queues[rank].first != queues[rank].unwritten && is_fetched(rank, queues[rank].first)) {
        pending_drop(rank);
    }
}

void keel_mpi_stream_push(const char *call)
{
    for (uint32_t rank = 0; pending_count > 0 && rank < keel_mpi.ranks; rank++) {
        push(rank, call);
    }
}

void keel_mpi_stream_await_all(const char *call)
{
    while (pending_count > 0) {
        keel_mpi_channel_progress_or_sleep(call);
    }
}

void keel_mpi_stream_throttle(const char *call)
{
    while (copied_bytes > keel_mpi.bytes) {
        keel_mpi_channel_progress_or_sleep(call);
    }
}

int keel_mpi_stream_is_sent(uint32_t rank, uint64_t ticket)
{
    return queues[rank].begun >= ticket;
}

void keel_mpi_stream_reset(void)
{
    for (uint32_t rank = 0; pending_count > 0 && rank < keel_mpi.ranks; rank++) {
        while (queues[rank].first != NULL) {
            pending_drop(rank);
        }
        queues[rank].unwritten = NULL;
    }
    /* a replacement may have its arena elsewhere */
    memset(homes, 0, keel_mpi.ranks * sizeof(*homes));
}

void keel_mpi_stream_unmake(void)
{
    keel_mpi_stream_reset();
    free(queues);
    free(homes);
    queues = NULL;
    homes = NULL;
}

static keel_mpi_offer_kind_t offer_kind(uint32_t rank, const void *data, size_t bytes, int is_copied, const char *call)
{
    /* a copy is on the heap */
    if (!keel_mpi_fetch_is_due(is_copied ? NULL : data, bytes) || keel_mpi_arena_mapped(rank, call) == NULL) {
        return KEEL_MPI_OFFER_NONE;
    }
    return (__atomic_load_n(&keel_mpi_arena_channel(rank)->is_readable, __ATOMIC_RELAXED) != 0) ? KEEL_MPI_OFFER_DATA
                                                                                                : KEEL_MPI_OFFER_TEST;
}

uint64_t keel_mpi_stream_send(uint32_t rank, keel_mpi_head_t head, const void *data, keel_mpi_send_mode_t mode,
                              const char *call)
{
    const int must_queue = queues[rank].unwritten != NULL;
    prefix_t prefix = {.head = head};
    uint64_t ticket;

    if (!must_queue &&
        (mode == KEEL_MPI_SEND_BLOCKS ||
         !keel_mpi_fetch_is_due(mode == KEEL_MPI_SEND_COPIES ? NULL : data, head.bytes)) &&
        store_message(rank, &head, data, call)) {
        return 0;
    }
    if (must_queue || mode != KEEL_MPI_SEND_BLOCKS || message_bytes(&prefix) > ring_room(rank)) {
        prefix.head.is_chain = offer_kind(rank, data, head.bytes, mode == KEEL_MPI_SEND_COPIES, call);
    }
    if (prefix.head.is_chain == KEEL_MPI_OFFER_TEST) {
        prefix.offer = keel_mpi_fetch_offer(NULL);
    }
    if (!must_queue && prefix.head.is_chain != KEEL_MPI_OFFER_DATA &&
        (mode == KEEL_MPI_SEND_BLOCKS || message_bytes(&prefix) <= ring_room(rank))) {
        write_message(rank, &prefix, data, call);
        return 0;
    }
    ticket = pending_add(rank, &prefix, data, mode == KEEL_MPI_SEND_COPIES, call);
    push(rank, call);
    while (mode == KEEL_MPI_SEND_BLOCKS && !keel_mpi_stream_is_sent(rank, ticket)) {
        keel_mpi_channel_progress_or_sleep(call);
    }
    return keel_mpi_stream_is_sent(rank, ticket) ? 0 : ticket;
}
