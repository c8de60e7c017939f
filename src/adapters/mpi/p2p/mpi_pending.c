/*
 * Who sends may not wait for a receiver that waits for another: a message that the receiver's ring has no room for stays in the sender's arena, as
 * long ones do, and is fetched. Where the arena has no room for it either a copy stays with the sender, and so does what is sent
 * to the same rank after it; the call returns. All that waits (mpi_ordered.c) waits for those ranks to take something, too, and sends what
 * there is room for then.
 *
 * That ends. A rank that waits for a message of another takes all that this one sends, in its order, until it has it; so it never stands in
 * the way of what it waits for. Room in the arena may be given by other ranks alone, which may wait for that very message. So where the
 * arena is full a message goes in parts by the ring, which the receiver alone empties: who has taken a quarter of it says so, so that a
 * sender that knows of no room for a part learns of some as soon as it has been taken, if all is taken at the latest.
 *
 * What is sent when, and how, is a matter of what the sender knows to have been taken, and of its table of blocks. It knows that by
 * the heads of messages that it took and by words that it waited for: a wait for one is logged, and so is which of several came first
 * and what each held (keel_wait()). So a replacement has the same messages left at the same places, and makes the same puts in the same
 * order; beyond its predecessor's death it may wait for others first, and nobody has seen anything of that. The copies are not state that
 * anybody else needs: a checkpoint is taken when there are none (mpi_restart.c), and a rollback drops them.
 *
 * An entry of the ring is a head, and the data of a short message or a part. A head with a node says where at the sender the message lies; the last
 * that the ring has room for says that those behind it lie in a chain of nodes, each of which says, when the count says that there is
 * another, where that is, or that it is on the ring again. What of it is free the sender learns by the receiver's own messages, and by the
 * word that a receiver sets when it has taken a node or a quarter of the ring.
 */
#include "p2p/mpi_pending.h"

#include "p2p/mpi_peer.h"
#include "p2p/mpi_ordered.h"

#include <stdlib.h>
#include <string.h>

/* a part leaves room for two heads, and more than three quarters of the ring are free when all but a quarter has been told */
enum { SHORT = 4096, PART = 16 << 10 };

static struct {
    size_t count; /* of messages that are unsent, and what they take */
    uint64_t bytes;
} left;

/* ---- what was sent ---- */

static void queue_add(keel_mpi_peer_t *line, keel_mpi_sent_t sent, const char *call)
{
    if (line->count == line->room) {
        const size_t room = 2 * line->room + 64;
        keel_mpi_sent_t *grown = malloc(room * sizeof(*grown));

        if (grown == NULL) {
            keel_mpi_fatal(call, "no memory");
        }
        for (size_t i = 0; i < line->count; i++) {
            grown[i] = line->sent[(line->first + i) % line->room];
        }
        free(line->sent);
        line->sent = grown;
        line->room = room;
        line->first = 0;
    }
    line->sent[(line->first + line->count++) % line->room] = sent;
}

static void queue_free(keel_mpi_peer_t *line)
{
    while (line->count > 0) {
        keel_mpi_sent_t *sent = &line->sent[line->first];

        if (line->known < sent->free_at) {
            if (line->known >= sent->number &&
                sent->kept > sizeof(keel_mpi_node_t)) { /* only its link is read once more */
                keel_mpi_arena_shrink(sent->node, sizeof(keel_mpi_node_t));
                line->kept -= sent->kept - sizeof(keel_mpi_node_t);
                sent->kept = sizeof(keel_mpi_node_t);
            }
            return;
        }
        line->reusable = sent->ring_end;
        line->kept -= sent->kept;
        if (sent->node != 0) {
            keel_mpi_arena_free(sent->node);
        }
        line->first = (line->first + 1) % line->room;
        line->count--;
    }
}

/* what of the others' it is known that they have taken; true when that gave something back */
static int nodes_free(void)
{
    size_t before = 0, after = 0;

    for (uint32_t rank = 0; rank < keel_mpi.ranks; rank++) {
        before += keel_mpi_peers[rank].kept;
        queue_free(&keel_mpi_peers[rank]);
        after += keel_mpi_peers[rank].kept;
    }
    return after < before;
}

int keel_mpi_pending_head(uint32_t rank, size_t i, uint64_t taken, keel_mpi_head_t *head_p)
{
    const keel_mpi_peer_t *line = &keel_mpi_peers[rank];
    const keel_mpi_pending_t *unsent = line->unsent;

    if (i < line->count) {
        const keel_mpi_sent_t *sent = &line->sent[(line->first + i) % line->room];

        *head_p = sent->head;
        return !sent->is_part && sent->number > taken;
    }
    for (i -= line->count; unsent != NULL && i > 0; i--) {
        unsent = unsent->next;
    }
    if (unsent == NULL) {
        return -1;
    }
    *head_p = unsent->head;
    return 1;
}

/* ---- sending what there is room for ---- */

static size_t ring_room(const keel_mpi_peer_t *line)
{
    return KEEL_MPI_RING - (size_t)(line->written - line->reusable);
}

static void ring_write(uint32_t rank, const void *data, size_t bytes, const char *call)
{
    keel_mpi_peer_t *line = &keel_mpi_peers[rank];
    const uint64_t ring = keel_mpi_arena_ring(keel_mpi.rank), at = line->written % KEEL_MPI_RING;
    const size_t first = (bytes < KEEL_MPI_RING - at) ? bytes : KEEL_MPI_RING - at;

    keel_mpi_put(rank, ring + at, data, first, call);
    keel_mpi_put(rank, ring, (const char *)data + first, bytes - first, call);
    line->written += bytes;
}

/* what was put is told: the count of entries covers it */
static void tell(uint32_t rank, keel_mpi_sent_t sent, const char *call)
{
    keel_mpi_channel_t *channel = keel_mpi_arena_channel(rank);
    keel_mpi_peer_t *line = &keel_mpi_peers[rank];

    sent.number = ++channel->sent;
    sent.ring_end = line->written;
    sent.free_at = sent.number + sent.head.is_chain;
    line->kept += sent.kept;
    queue_add(line, sent, call);
    keel_mpi_fence(call);
    keel_mpi_put(rank, keel_mpi_arena_word(keel_mpi.rank, offsetof(keel_mpi_channel_t, arrived)), &sent.number,
                 sizeof(sent.number), call);
    keel_mpi_flush(rank, call);
}

/* one put: the head, and so much of the data */
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
    tell(rank, (keel_mpi_sent_t){.is_part = done + bytes < head.bytes, .head = head}, call);
}

/* false: the arena has no room, though all that is known to have been taken is given back */
static int send_by_node(uint32_t rank, keel_mpi_head_t head, const void *data, const char *call)
{
    const size_t bytes = sizeof(keel_mpi_node_t) + head.bytes;
    keel_mpi_peer_t *line = &keel_mpi_peers[rank];
    uint64_t offset;
    keel_mpi_node_t *node;

    while ((offset = keel_mpi_arena_alloc_temporary(bytes, KEEL_MPI_ALIGN)) == 0) {
        if (!nodes_free()) {
            return 0;
        }
    }
    node = keel_mpi_arena_at(offset);
    head.node = offset;
    head.is_chain = line->last != 0 || ring_room(line) < 2 * sizeof(head);
    node->next = KEEL_MPI_ON_THE_RING;
    node->head = head;
    if (head.bytes > 0) {
        memcpy(node->data, data, head.bytes);
    }
    if (line->last != 0) {
        ((keel_mpi_node_t *)keel_mpi_arena_at(line->last))->next = offset;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    } else {
        ring_write(rank, &head, sizeof(head), call);
    }
    line->last = head.is_chain ? offset : 0;
    tell(rank, (keel_mpi_sent_t){.node = offset, .kept = bytes, .head = head}, call);
    return 1;
}

static int has_room(const keel_mpi_peer_t *line, uint64_t bytes)
{
    return line->last == 0 && ring_room(line) >= 2 * sizeof(keel_mpi_head_t) + keel_mpi_padded(bytes);
}

/* true: all of it is on its way */
static int send_some(uint32_t rank, keel_mpi_head_t head, const char *data, uint64_t *done, const char *call)
{
    keel_mpi_peer_t *line = &keel_mpi_peers[rank];

    queue_free(line);
    head.taken = keel_mpi_arena_channel(rank)->taken;
    if (line->last != 0 && line->known == keel_mpi_arena_channel(rank)->sent) {
        line->last = 0; /* it has taken all: the ring is empty */
    }
    if (*done == 0 && (head.bytes > SHORT || !has_room(line, head.bytes)) && send_by_node(rank, head, data, call)) {
        return 1;
    }
    do {
        head.part = (uint32_t)((head.bytes - *done < PART) ? head.bytes - *done : PART);
        if (!has_room(line, head.part)) {
            return 0;
        }
        send_by_ring(rank, head, data, *done, call);
        *done += head.part;
    } while (*done < head.bytes);
    return 1;
}

/* ---- what there was no room for ---- */

static void unsent_drop(keel_mpi_peer_t *line)
{
    keel_mpi_pending_t *unsent = line->unsent;

    line->unsent = unsent->next;
    line->begun++;
    left.count--;
    left.bytes -= unsent->head.bytes;
    free(unsent);
}

static void push(uint32_t rank, const char *call)
{
    keel_mpi_peer_t *line = &keel_mpi_peers[rank];

    while (line->unsent != NULL && send_some(rank, line->unsent->head, line->unsent->data, &line->unsent->done, call)) {
        unsent_drop(line);
    }
}

size_t keel_mpi_pending_push(const char *call)
{
    for (uint32_t rank = 0; left.count > 0 && rank < keel_mpi.ranks; rank++) {
        push(rank, call);
    }
    return left.count;
}

static uint64_t unsent_add(keel_mpi_peer_t *line, const keel_mpi_head_t *head, const void *data, uint64_t done,
                           const char *call)
{
    keel_mpi_pending_t *unsent = malloc(sizeof(*unsent) + head->bytes);

    if (unsent == NULL) {
        keel_mpi_fatal(call, "no memory for a message that the arena has no room for: "
                             "KEELMPI_ARENA says how large it is");
    }
    unsent->next = NULL;
    unsent->head = *head;
    unsent->done = done;
    if (head->bytes > 0) {
        memcpy(unsent->data, data, head->bytes);
    }
    *(line->unsent != NULL ? &line->unsent_last->next : &line->unsent) = unsent;
    line->unsent_last = unsent;
    left.count++;
    left.bytes += head->bytes;
    return ++line->queued;
}

uint64_t keel_mpi_pending_send(uint32_t rank, keel_mpi_head_t head, const void *data, const char *call)
{
    keel_mpi_peer_t *line = &keel_mpi_peers[rank];
    uint64_t done = 0;

    keel_mpi_arena_channel(rank)->told++;
    push(rank, call);
    if (line->unsent == NULL && send_some(rank, head, data, &done, call)) {
        return 0;
    }
    return unsent_add(line, &head, data, done, call);
}

uint64_t keel_mpi_pending_next_ack_tag(uint32_t rank)
{
    return keel_mpi_arena_channel(rank)->told + 1;
}

size_t keel_mpi_pending_count(void)
{
    return left.count;
}

int keel_mpi_pending_is_sent(uint32_t rank, uint64_t ticket)
{
    return keel_mpi_peers[rank].begun >= ticket;
}

int keel_mpi_pending_is_over_limit(void)
{
    return left.bytes > keel_mpi.bytes;
}

int keel_mpi_pending_has_collective(void)
{
    for (uint32_t rank = 0; left.count > 0 && rank < keel_mpi.ranks; rank++) {
        for (const keel_mpi_pending_t *unsent = keel_mpi_peers[rank].unsent; unsent != NULL; unsent = unsent->next) {
            if (unsent->head.context % 2 != 0 && unsent->head.context != KEEL_MPI_ACK_CONTEXT) {
                return 1;
            }
        }
    }
    return 0;
}

void keel_mpi_pending_reset(uint32_t rank, int gives)
{
    keel_mpi_peer_t *line = &keel_mpi_peers[rank];

    for (size_t i = 0; gives && i < line->count; i++) {
        const keel_mpi_sent_t *sent = &line->sent[(line->first + i) % line->room];

        if (sent->node != 0) {
            keel_mpi_arena_free(sent->node);
        }
    }
    while (line->unsent != NULL) {
        unsent_drop(line);
    }
    free(line->sent);
}
