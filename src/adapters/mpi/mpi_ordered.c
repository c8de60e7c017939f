/*
 * What a replacement does again has to be the same. So no call looks how much has come: who waits for a message waits for the count of the
 * sender's messages to be one more than those it has taken, by a wait that Keel logs, and takes that one. Who sends may not wait for a
 * receiver that waits for another: a message that the ring has no room for stays in the sender's arena, as long ones do, and is fetched.
 *
 * An entry of the ring is a head, and the data of a short message. A head with a node says where at the sender the message lies; the last that
 * the ring has room for says that those behind it lie in a chain of nodes, each of which says, when the count says that there is another, where
 * that is, or that it is on the ring again. What of it is free the sender learns by the receiver's own messages, and by the word that a
 * receiver sets when it has taken a node, for which it waits when its arena is full: never by how things stand.
 */
#include "mpi_ordered.h"

#include "mpi_arena.h"
#include "mpi_prefix.h"
#include "mpi_synchronous.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define ON_THE_RING ((uint64_t)1) /* of a node: the next message is there; no offset of a block */

enum { SHORT = 4096, GLANCES = 100 };

typedef struct node {
    uint64_t next;
    keel_mpi_head_t head;
    char data[];
} node_t;

typedef struct sent {
    uint64_t number;   /* of the message, from 1 */
    uint64_t ring_end; /* what of the ring is free when it is taken */
    uint64_t node;     /* 0: none */
    size_t kept;       /* bytes of the arena */
    keel_mpi_head_t head;
    uint64_t
        free_at; /* number of the message by whose taking the node is free: one of a chain is read once more for what is behind it */
} sent_t;

/* of a rank, both ways; as it begins at each checkpoint */
typedef struct line {
    uint64_t written, reusable; /* bytes of the ring there */
    uint64_t known;             /* how many messages that rank is known to have taken */
    uint64_t last;              /* node of the last message, when the next one is told by it; 0: by the ring */
    sent_t *sent;               /* not known to have been taken: a queue in a circle */
    size_t first, count, room;
    size_t kept;     /* bytes of the arena that those of the queue have */
    uint64_t read;   /* bytes of the ring here */
    uint64_t follow; /* node there that tells where the next message is; 0: the ring does */
} line_t;

static line_t *lines;
static unsigned glances; /* since a receive is open, or the last look */

static keel_mpi_channel_t *channel_of(uint32_t rank)
{
    return &keel_mpi_arena_channels()[rank];
}

uint64_t keel_mpi_ordered_word(uint32_t rank, size_t member)
{
    return sizeof(keel_mpi_hidden_t) + rank * sizeof(keel_mpi_channel_t) + member;
}

static size_t padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

void keel_mpi_ordered_make(void)
{
    lines = calloc(keel_mpi.ranks, sizeof(*lines));
    if (lines == NULL) {
        keel_mpi_refuse("MPI_Init", "no memory");
    }
}

void keel_mpi_ordered_reset(int gives)
{
    glances = 0;
    if (keel_mpi.is_promised && gives) {
        keel_mpi_synchronous_reset();
    }
    for (uint32_t rank = 0; keel_mpi.is_promised && rank < keel_mpi.ranks; rank++) {
        line_t *line = &lines[rank];

        for (size_t i = 0; gives && i < line->count; i++) {
            const sent_t *sent = &line->sent[(line->first + i) % line->room];

            if (sent->node != 0) {
                keel_mpi_arena_give(sent->node);
            }
        }
        free(line->sent);
        *line = (line_t){.known = channel_of(rank)->sent};
    }
}

/* ---- waiting ---- */

static int is_logged(void)
{
    return keel_mpi.phase == KEEL_MPI_RUNS || keel_mpi.waits;
}

/* until a word of the own arena that @a rank puts is that large; before the restart point what is waited for stands in the record */
static void await(uint32_t rank, uint64_t offset, uint64_t value, const char *call)
{
    const uint64_t *word = keel_mpi_arena_at(offset);

    keel_mpi_synchronous_enter(rank, call);
    if (is_logged()) {
        keel_mpi_check(keel_wait_until(keel_mpi.arena, offset, sizeof(*word), KEEL_COMPARE_GE, value), call);
    }
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value) {
        keel_mpi_check(keel_progress(keel_mpi.ctx), call);
        sched_yield();
    }
    keel_mpi_synchronous_leave();
}

/* ---- sending ---- */

static void queue_add(line_t *line, sent_t sent, const char *call)
{
    if (line->count == line->room) {
        const size_t room = 2 * line->room + 64;
        sent_t *grown = malloc(room * sizeof(*grown));

        if (grown == NULL) {
            keel_mpi_refuse(call, "no memory");
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

static void queue_free(line_t *line)
{
    while (line->count > 0) {
        sent_t *sent = &line->sent[line->first];

        if (line->known < sent->free_at) {
            if (line->known >= sent->number && sent->kept > sizeof(node_t)) { /* only its link is read once more */
                keel_mpi_arena_shrink(sent->node, sizeof(node_t));
                line->kept -= sent->kept - sizeof(node_t);
                sent->kept = sizeof(node_t);
            }
            return;
        }
        line->reusable = sent->ring_end;
        line->kept -= sent->kept;
        if (sent->node != 0) {
            keel_mpi_arena_give(sent->node);
        }
        line->first = (line->first + 1) % line->room;
        line->count--;
    }
}

static size_t ring_room(const line_t *line)
{
    return KEEL_MPI_RING - (size_t)(line->written - line->reusable);
}

static void ring_write(uint32_t rank, const void *data, size_t bytes, const char *call)
{
    line_t *line = &lines[rank];
    const uint64_t ring = keel_mpi_arena_ring(keel_mpi.rank), at = line->written % KEEL_MPI_RING;
    const size_t first = (bytes < KEEL_MPI_RING - at) ? bytes : KEEL_MPI_RING - at;

    keel_mpi_put(rank, ring + at, data, first, call);
    keel_mpi_put(rank, ring, (const char *)data + first, bytes - first, call);
    line->written += bytes;
}

/* what of the others' it is known that they have taken; true when that gave something back */
static int nodes_free(void)
{
    size_t before = 0, after = 0;

    for (uint32_t rank = 0; rank < keel_mpi.ranks; rank++) {
        before += lines[rank].kept;
        queue_free(&lines[rank]);
        after += lines[rank].kept;
    }
    return after < before;
}

/* the first message of a line that lies in the arena and is not known to have been taken; 0: there is none */
static uint64_t node_awaited(const line_t *line)
{
    for (size_t i = 0; i < line->count; i++) {
        const sent_t *sent = &line->sent[(line->first + i) % line->room];

        if (sent->node != 0 && sent->number > line->known) {
            return sent->number;
        }
    }
    return 0;
}

/* who will take something next cannot be known, and one of them may be waiting for another one that takes it first. No log has who it was. */
static void await_any(keel_word_t *words, unsigned count, const char *call)
{
    keel_status_t status = KEEL_INPROGRESS;

    keel_mpi_synchronous_enter(KEEL_MPI_ANY_RANK, call);
    if (is_logged()) {
        keel_mpi_check(keel_wait(keel_mpi.ctx, KEEL_WAIT_ANY, words, count, NULL), call);
        keel_mpi_synchronous_leave();
        return;
    }
    while (status == KEEL_INPROGRESS) {
        unsigned met = 0;

        for (unsigned i = 0; i < count; i++) {
            const uint64_t *word = keel_mpi_arena_at(words[i].offset);

            words[i].is_met = __atomic_load_n(word, __ATOMIC_ACQUIRE) >= words[i].value;
            met += words[i].is_met != 0;
        }
        status = (met > 0) ? KEEL_OK : keel_progress(keel_mpi.ctx);
        keel_mpi_check(status, call);
        status = (met > 0) ? KEEL_OK : KEEL_INPROGRESS;
        sched_yield();
    }
    keel_mpi_synchronous_leave();
}

/* waits for one that lies in the arena: the receiver says when it has taken such a one. False: nobody is to take any. */
static int node_reclaim(const char *call)
{
    keel_word_t *words = calloc(keel_mpi.ranks, sizeof(*words));
    uint32_t *ranks = calloc(keel_mpi.ranks, sizeof(*ranks));
    unsigned count = 0;

    if (words == NULL || ranks == NULL) {
        keel_mpi_refuse(call, "no memory");
    }
    for (uint32_t rank = 0; rank < keel_mpi.ranks; rank++) {
        const uint64_t number = node_awaited(&lines[rank]);

        if (number != 0) {
            words[count] = (keel_word_t){.win = keel_mpi.arena,
                                         .offset = keel_mpi_ordered_word(rank, offsetof(keel_mpi_channel_t, freed)),
                                         .size = sizeof(number),
                                         .compare = KEEL_COMPARE_GE,
                                         .value = number,
                                         .is_met = 1};
            ranks[count++] = rank;
        }
    }
    if (count == 1) {
        await(ranks[0], words[0].offset, words[0].value, call);
    } else if (count > 1) {
        await_any(words, count, call);
    }
    for (unsigned i = 0; i < count; i++) {
        lines[ranks[i]].known = words[i].is_met ? words[i].value : lines[ranks[i]].known;
    }
    free(words);
    free(ranks);
    return count > 0;
}

static uint64_t node_make(const keel_mpi_head_t *head, const void *data, const char *call)
{
    const size_t bytes = sizeof(node_t) + head->bytes;
    uint64_t offset;
    node_t *node;

    while ((offset = keel_mpi_arena_take_passing(bytes, KEEL_MPI_ALIGN)) == 0) {
        if (!nodes_free() && !node_reclaim(call)) {
            keel_mpi_refuse(call, "no room in the arena for a message, though all that were sent have been taken: "
                                  "KEELMPI_ARENA says how large it is");
        }
    }
    node = keel_mpi_arena_at(offset);
    node->next = ON_THE_RING;
    node->head = *head;
    if (head->bytes > 0) {
        memcpy(node->data, data, head->bytes);
    }
    return offset;
}

/* short ones are one put, with their heads */
static void send_by_ring(uint32_t rank, const keel_mpi_head_t *head, const void *data, const char *call)
{
    char together[sizeof(*head) + SHORT];

    memcpy(together, head, sizeof(*head));
    if (head->node == 0 && head->bytes > 0) {
        memcpy(together + sizeof(*head), data, head->bytes);
        memset(together + sizeof(*head) + head->bytes, 0, padded(head->bytes) - head->bytes);
    }
    ring_write(rank, together, sizeof(*head) + (head->node == 0 ? padded(head->bytes) : 0), call);
}

void keel_mpi_ordered_send(uint32_t rank, keel_mpi_head_t head, const void *data, const char *call)
{
    keel_mpi_channel_t *channel = channel_of(rank);
    line_t *line = &lines[rank];
    const int is_short = head.bytes <= SHORT;
    uint64_t node = 0, said;
    size_t kept;

    queue_free(line);
    head.taken = channel->taken;
    if (line->last != 0 && line->known == channel->sent) { /* it has taken all: back to the ring, which is empty */
        line->last = 0;
    }
    if (line->last != 0 || !is_short || ring_room(line) < 2 * sizeof(head) + padded(head.bytes)) {
        head.node = 1;
        head.is_chain = line->last != 0 || ring_room(line) < 2 * sizeof(head);
        head.node = node = node_make(&head, data, call);
    }
    if (line->last != 0) {
        ((node_t *)keel_mpi_arena_at(line->last))->next = node;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    } else {
        send_by_ring(rank, &head, data, call);
    }
    line->last = head.is_chain ? node : 0;
    kept = (node != 0) ? sizeof(node_t) + head.bytes : 0;
    line->kept += kept;
    said = ++channel->sent;
    queue_add(line,
              (sent_t){.number = said,
                       .ring_end = line->written,
                       .node = node,
                       .kept = kept,
                       .head = head,
                       .free_at = said + head.is_chain},
              call);
    keel_mpi_fence(call);
    keel_mpi_put(rank, keel_mpi_ordered_word(keel_mpi.rank, offsetof(keel_mpi_channel_t, arrived)), &said, sizeof(said),
                 call);
    keel_mpi_flush(rank, call);
}

int keel_mpi_ordered_sent(uint32_t rank, uint64_t number, keel_mpi_head_t *head_p)
{
    const line_t *line = &lines[rank];

    for (size_t i = 0; i < line->count; i++) {
        const sent_t *sent = &line->sent[(line->first + i) % line->room];

        if (sent->number == number) {
            *head_p = sent->head;
            return 1;
        }
    }
    return 0;
}

/* ---- taking ---- */

static void ring_read(uint32_t source, void *data, size_t bytes)
{
    line_t *line = &lines[source];
    const char *ring = keel_mpi_arena_at(keel_mpi_arena_ring(source));
    const size_t at = line->read % KEEL_MPI_RING, first = (bytes < KEEL_MPI_RING - at) ? bytes : KEEL_MPI_RING - at;

    memcpy(data, ring + at, first);
    memcpy((char *)data + first, ring, bytes - first);
    line->read += bytes;
}

/* where it lies: its node, or 0: next on the ring */
static uint64_t head_read(uint32_t source, keel_mpi_head_t *head_p, const char *call)
{
    line_t *line = &lines[source];
    uint64_t next = ON_THE_RING;

    if (line->follow != 0) {
        keel_mpi_check(keel_get(keel_mpi.arena, source, line->follow, &next, sizeof(next)), call);
    }
    if (next == ON_THE_RING) {
        ring_read(source, head_p, sizeof(*head_p));
        return head_p->node;
    }
    keel_mpi_check(keel_get(keel_mpi.arena, source, next + offsetof(node_t, head), head_p, sizeof(*head_p)), call);
    return next;
}

/* the next message, which has come */
static void take(uint32_t source, const char *call)
{
    keel_mpi_channel_t *channel = channel_of(source);
    line_t *line = &lines[source];
    char padding[8];
    keel_mpi_head_t head;
    const uint64_t node = head_read(source, &head, call);
    keel_mpi_letter_t *letter = keel_mpi_letter_make(&head);

    if (node == 0) {
        ring_read(source, letter->data, head.bytes);
        ring_read(source, padding, padded(head.bytes) - head.bytes);
    } else if (head.bytes > 0) {
        keel_mpi_check(keel_get(keel_mpi.arena, source, node + sizeof(node_t), letter->data, head.bytes), call);
    }
    letter->here = head.bytes;
    line->follow = head.is_chain ? node : 0;
    line->known = (head.taken > line->known) ? head.taken : line->known;
    channel->taken++;
    if (node != 0) {
        keel_mpi_put(source, keel_mpi_ordered_word(keel_mpi.rank, offsetof(keel_mpi_channel_t, freed)), &channel->taken,
                     sizeof(channel->taken), call);
        keel_mpi_flush(source, call);
    }
    keel_mpi_letter_deliver(letter);
}

void keel_mpi_ordered_take(uint32_t source, const char *call)
{
    await(source, keel_mpi_ordered_word(source, offsetof(keel_mpi_channel_t, arrived)), channel_of(source)->taken + 1,
          call);
    take(source, call);
    keel_mpi_channel_answer(call);
}

void keel_mpi_ordered_take_all(const char *call)
{
    for (uint32_t source = 0; source < keel_mpi.ranks; source++) {
        const keel_mpi_channel_t *channel = channel_of(source);
        const uint64_t arrived = __atomic_load_n(&channel->arrived, __ATOMIC_ACQUIRE);

        while (channel->taken < arrived) {
            take(source, call);
        }
    }
}

void keel_mpi_ordered_say(const char *call)
{
    if (keel_mpi.is_promised && is_logged()) {
        keel_mpi_check(keel_set_nondeterministic(keel_mpi.ctx), call);
    }
}

void keel_mpi_ordered_glance(const char *call)
{
    if (keel_mpi_letter_posted() == NULL) {
        glances = 0;
    } else if (++glances == GLANCES) {
        glances = 0;
        (void)keel_mpi_ordered_look(call);
    }
}

int keel_mpi_ordered_look(const char *call)
{
    int is_news = 0;

    if (keel_mpi_is_replay()) {
        return 0;
    }
    keel_mpi_ordered_say(call);
    keel_mpi_check(keel_progress(keel_mpi.ctx), call);
    for (uint32_t source = 0; source < keel_mpi.ranks; source++) {
        const keel_mpi_channel_t *channel = channel_of(source);

        while (channel->taken < __atomic_load_n(&channel->arrived, __ATOMIC_ACQUIRE)) {
            take(source, call);
            is_news = 1;
        }
    }
    keel_mpi_channel_answer(call);
    return is_news;
}
