/*
 * Sending never waits for the receiver, which may itself wait for a third rank. A message without
 * room on the receiver's ring stays in the sender's arena, as long messages do, and the receiver
 * fetches it. If the arena has no room either, the sender keeps a copy, as well as copies of all
 * later messages to the same rank, and the call returns. Every wait (mpi_ordered.c) also waits for
 * these receivers to take entries, and then sends pending messages that have room.
 *
 * Progress. A rank that waits for a message of a source takes all messages of the source in order
 * until the awaited one arrives, so the rank never blocks its own source. Room in the arena may
 * depend on other ranks, which may wait for that very message. With a full arena a message
 * therefore goes in parts through the ring, which the receiver alone empties. The receiver
 * announces each quarter of the ring that it has taken, so a sender without known room for a part
 * learns of room at the latest when all parts are taken.
 *
 * Replay. The order and place of sends depend on the entries that the sender knows to be taken and
 * on its table of blocks. The sender learns of taken entries from the heads of messages and from
 * words that it waits for. Keel logs each wait, as well as the first of several words to be met and
 * the value of each (keel_wait()). A replacement therefore has the same messages pending at the
 * same points and makes the same puts in the same order. Beyond its predecessor's death it may wait
 * for other ranks first; no rank has seen anything of that part. No other rank needs the copies: a
 * checkpoint is taken when there are none (mpi_restart.c), and a rollback drops them.
 *
 * Format. An entry of the ring is a head and the data of a short message or of a part. A head with
 * a node gives the offset of the message in the sender's arena. The last entry that the ring has
 * room for starts a chain of nodes. Each node of the chain, once the count covers another entry,
 * gives the offset of the next node, or KEEL_MPI_ON_THE_RING. The sender learns of free ring space
 * from the receiver's own messages and from the word that a receiver sets after taking a node or a
 * quarter of the ring.
 */
#include "p2p/mpi_pending.h"

#include "p2p/mpi_ordered.h"
#include "p2p/mpi_peer.h"

#include <stdlib.h>
#include <string.h>

/* A part leaves room for two heads. More than three quarters of the ring are free when all but a
 * quarter has been announced. */
enum { SHORT = 4096, PART = 16 << 10 };

static struct {
    size_t count; /* pending messages and their bytes */
    uint64_t bytes;
} total;

/* ---- messages sent ---- */

static void queue_add(keel_mpi_peer_t *peer, keel_mpi_sent_t sent, const char *call)
{
    if (peer->count == peer->room) {
        const size_t room = 2 * peer->room + 64;
        keel_mpi_sent_t *grown = malloc(room * sizeof(*grown));

        if (grown == NULL) {
            keel_mpi_fatal(call, "no memory");
        }
        for (size_t i = 0; i < peer->count; i++) {
            grown[i] = peer->sent[(peer->first + i) % peer->room];
        }
        free(peer->sent);
        peer->sent = grown;
        peer->room = room;
        peer->first = 0;
    }
    peer->sent[(peer->first + peer->count++) % peer->room] = sent;
}

static void queue_free(keel_mpi_peer_t *peer)
{
    while (peer->count > 0) {
        keel_mpi_sent_t *sent = &peer->sent[peer->first];

        if (peer->known_taken < sent->free_at) {
            if (peer->known_taken >= sent->number && sent->arena_bytes > sizeof(keel_mpi_node_t)) {
                /* the receiver reads only the link once more */
                keel_mpi_arena_shrink(sent->node, sizeof(keel_mpi_node_t));
                peer->arena_bytes -= sent->arena_bytes - sizeof(keel_mpi_node_t);
                sent->arena_bytes = sizeof(keel_mpi_node_t);
            }
            return;
        }
        peer->reusable = sent->ring_end;
        peer->arena_bytes -= sent->arena_bytes;
        if (sent->node != 0) {
            keel_mpi_arena_free(sent->node);
        }
        peer->first = (peer->first + 1) % peer->room;
        peer->count--;
    }
}

/* Frees the nodes that peers are known to have taken; true if that freed any bytes. */
static int nodes_free(void)
{
    size_t before = 0, after = 0;

    for (uint32_t rank = 0; rank < keel_mpi.ranks; rank++) {
        before += keel_mpi_peers[rank].arena_bytes;
        queue_free(&keel_mpi_peers[rank]);
        after += keel_mpi_peers[rank].arena_bytes;
    }
    return after < before;
}

int keel_mpi_pending_head(uint32_t rank, size_t i, uint64_t taken, keel_mpi_head_t *head_p)
{
    const keel_mpi_peer_t *peer = &keel_mpi_peers[rank];
    const keel_mpi_pending_t *pending = peer->pending;

    if (i < peer->count) {
        const keel_mpi_sent_t *sent = &peer->sent[(peer->first + i) % peer->room];

        *head_p = sent->head;
        return !sent->is_part && sent->number > taken;
    }
    for (i -= peer->count; pending != NULL && i > 0; i--) {
        pending = pending->next;
    }
    if (pending == NULL) {
        return -1;
    }
    *head_p = pending->head;
    return 1;
}

/* ---- sending as far as there is room ---- */

static size_t ring_room(const keel_mpi_peer_t *peer)
{
    return KEEL_MPI_RING - (size_t)(peer->written - peer->reusable);
}

static void ring_write(uint32_t rank, const void *data, size_t bytes, const char *call)
{
    keel_mpi_peer_t *peer = &keel_mpi_peers[rank];
    const uint64_t ring = keel_mpi_arena_ring(keel_mpi.rank), at = peer->written % KEEL_MPI_RING;
    const size_t first = (bytes < KEEL_MPI_RING - at) ? bytes : KEEL_MPI_RING - at;

    keel_mpi_put(rank, ring + at, data, first, call);
    keel_mpi_put(rank, ring, (const char *)data + first, bytes - first, call);
    peer->written += bytes;
}

/* Announces the entry just put: raises the count of entries to cover it. */
static void announce(uint32_t rank, keel_mpi_sent_t sent, const char *call)
{
    keel_mpi_channel_t *channel = keel_mpi_arena_channel(rank);
    keel_mpi_peer_t *peer = &keel_mpi_peers[rank];

    sent.number = ++channel->sent;
    sent.ring_end = peer->written;
    sent.free_at = sent.number + sent.head.is_chain;
    peer->arena_bytes += sent.arena_bytes;
    queue_add(peer, sent, call);
    keel_mpi_fence(call);
    keel_mpi_put(rank, keel_mpi_arena_word(keel_mpi.rank, offsetof(keel_mpi_channel_t, arrived)), &sent.number,
                 sizeof(sent.number), call);
    keel_mpi_flush(rank, call);
}

/* Puts the head and as much data as head.part says, in one put. */
static void send_by_ring(uint32_t rank, keel_mpi_head_t head, const char *data, uint64_t done, const char *call)
{
    char together[sizeof(head) + PART];
    const size_t bytes = head.part, padded = keel_mpi_padded(bytes);

    memcpy(together, &head, sizeof(head));
    if (bytes > 0) {
        memcpy(together + sizeof(head), data + done, bytes);
        memset(together + sizeof(head) + bytes, 0, padded - bytes);
    }
    ring_write(rank, together, sizeof(head) + padded, call);
    announce(rank, (keel_mpi_sent_t){.is_part = done + bytes < head.bytes, .head = head}, call);
}

/* False if the arena has no room even after freeing all nodes known to be taken. */
static int send_by_node(uint32_t rank, keel_mpi_head_t head, const void *data, const char *call)
{
    const size_t bytes = sizeof(keel_mpi_node_t) + head.bytes;
    keel_mpi_peer_t *peer = &keel_mpi_peers[rank];
    uint64_t offset;
    keel_mpi_node_t *node;

    while ((offset = keel_mpi_arena_alloc_temporary(bytes, KEEL_MPI_ALIGN)) == 0) {
        if (!nodes_free()) {
            return 0;
        }
    }
    node = keel_mpi_arena_at(offset);
    head.node = offset;
    head.is_chain = peer->last != 0 || ring_room(peer) < 2 * sizeof(head);
    node->next = KEEL_MPI_ON_THE_RING;
    node->head = head;
    if (head.bytes > 0) {
        memcpy(node->data, data, head.bytes);
    }
    if (peer->last != 0) {
        ((keel_mpi_node_t *)keel_mpi_arena_at(peer->last))->next = offset;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    } else {
        ring_write(rank, &head, sizeof(head), call);
    }
    peer->last = head.is_chain ? offset : 0;
    announce(rank, (keel_mpi_sent_t){.node = offset, .arena_bytes = bytes, .head = head}, call);
    return 1;
}

static int has_room(const keel_mpi_peer_t *peer, uint64_t bytes)
{
    return peer->last == 0 && ring_room(peer) >= 2 * sizeof(keel_mpi_head_t) + keel_mpi_padded(bytes);
}

/* True if all of the message is in flight. */
static int send_some(uint32_t rank, keel_mpi_head_t head, const char *data, uint64_t *done, const char *call)
{
    keel_mpi_peer_t *peer = &keel_mpi_peers[rank];

    queue_free(peer);
    head.taken = keel_mpi_arena_channel(rank)->taken;
    if (peer->last != 0 && peer->known_taken == keel_mpi_arena_channel(rank)->sent) {
        peer->last = 0; /* the peer has taken all entries: the ring is empty */
    }
    if (*done == 0 && (head.bytes > SHORT || !has_room(peer, head.bytes)) && send_by_node(rank, head, data, call)) {
        return 1;
    }
    do {
        head.part = (uint32_t)((head.bytes - *done < PART) ? head.bytes - *done : PART);
        if (!has_room(peer, head.part)) {
            return 0;
        }
        send_by_ring(rank, head, data, *done, call);
        *done += head.part;
    } while (*done < head.bytes);
    return 1;
}

/* ---- messages without room ---- */

static void pending_drop(keel_mpi_peer_t *peer)
{
    keel_mpi_pending_t *pending = peer->pending;

    peer->pending = pending->next;
    peer->begun++;
    total.count--;
    total.bytes -= pending->head.bytes;
    free(pending);
}

static void push(uint32_t rank, const char *call)
{
    keel_mpi_peer_t *peer = &keel_mpi_peers[rank];

    while (peer->pending != NULL &&
           send_some(rank, peer->pending->head, peer->pending->data, &peer->pending->done, call)) {
        pending_drop(peer);
    }
}

size_t keel_mpi_pending_push(const char *call)
{
    for (uint32_t rank = 0; total.count > 0 && rank < keel_mpi.ranks; rank++) {
        push(rank, call);
    }
    return total.count;
}

static uint64_t pending_add(keel_mpi_peer_t *peer, const keel_mpi_head_t *head, const void *data, uint64_t done,
                            const char *call)
{
    keel_mpi_pending_t *pending = malloc(sizeof(*pending) + head->bytes);

    if (pending == NULL) {
        keel_mpi_fatal(call, "no memory for a message that the arena has no room for: "
                             "KEELMPI_ARENA says how large it is");
    }
    pending->next = NULL;
    pending->head = *head;
    pending->done = done;
    if (head->bytes > 0) {
        memcpy(pending->data, data, head->bytes);
    }
    *(peer->pending != NULL ? &peer->pending_last->next : &peer->pending) = pending;
    peer->pending_last = pending;
    total.count++;
    total.bytes += head->bytes;
    return ++peer->queued;
}

uint64_t keel_mpi_pending_send(uint32_t rank, keel_mpi_head_t head, const void *data, const char *call)
{
    keel_mpi_peer_t *peer = &keel_mpi_peers[rank];
    uint64_t done = 0;

    keel_mpi_arena_channel(rank)->announced++;
    push(rank, call);
    if (peer->pending == NULL && send_some(rank, head, data, &done, call)) {
        return 0;
    }
    return pending_add(peer, &head, data, done, call);
}

uint64_t keel_mpi_pending_next_ack_tag(uint32_t rank)
{
    return keel_mpi_arena_channel(rank)->announced + 1;
}

size_t keel_mpi_pending_count(void)
{
    return total.count;
}

int keel_mpi_pending_is_sent(uint32_t rank, uint64_t ticket)
{
    return keel_mpi_peers[rank].begun >= ticket;
}

int keel_mpi_pending_is_over_limit(void)
{
    return total.bytes > keel_mpi.bytes;
}

int keel_mpi_pending_has_collective(void)
{
    for (uint32_t rank = 0; total.count > 0 && rank < keel_mpi.ranks; rank++) {
        for (const keel_mpi_pending_t *pending = keel_mpi_peers[rank].pending; pending != NULL;
             pending = pending->next) {
            if (pending->head.context % 2 != 0 && pending->head.context != KEEL_MPI_ACK_CONTEXT) {
                return 1;
            }
        }
    }
    return 0;
}

void keel_mpi_pending_reset(uint32_t rank, int frees_blocks)
{
    keel_mpi_peer_t *peer = &keel_mpi_peers[rank];

    for (size_t i = 0; frees_blocks && i < peer->count; i++) {
        const keel_mpi_sent_t *sent = &peer->sent[(peer->first + i) % peer->room];

        if (sent->node != 0) {
            keel_mpi_arena_free(sent->node);
        }
    }
    while (peer->pending != NULL) {
        pending_drop(peer);
    }
    free(peer->sent);
}
