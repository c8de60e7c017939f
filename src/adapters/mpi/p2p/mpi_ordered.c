/*
 * Replay. A replacement must repeat the calls of its predecessor exactly, so no call looks how many
 * messages have arrived. A rank that waits for a message waits until the sender's count of entries
 * exceeds the number taken by one, by a wait that Keel logs, and takes that entry. A rank with
 * pending sends (mpi_pending.c) also waits, likewise logged, for its receivers to take entries, and
 * sends more meanwhile.
 *
 * Gsync. No rank sends during a gsync. A rank with pending sends therefore enters a gsync only
 * after all receivers of pending messages have arrived at it; before that a receiver may need one
 * of the messages to get there. The rank reads the receivers' arrivals by gets and meanwhile tests
 * the counts of entries taken. Both are logged, a test once while its result stays the same. Every
 * receiver arrives, because each rank keeps sending until then.
 */
#include "p2p/mpi_ordered.h"

#include "life/mpi_startup.h"
#include "p2p/mpi_peer.h"
#include "p2p/mpi_pending.h"
#include "p2p/mpi_synchronous.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { POLL_INTERVAL = 100, ANNOUNCE_AT = KEEL_MPI_RING / 4, TESTS_MAX = 4096 };

keel_mpi_peer_t *keel_mpi_peers;
static unsigned calls_since_poll; /* calls since a receive was opened or since the last poll */

void keel_mpi_ordered_make(void)
{
    keel_mpi_peers = calloc(keel_mpi.ranks, sizeof(*keel_mpi_peers));
    if (keel_mpi_peers == NULL) {
        keel_mpi_fatal("MPI_Init", "no memory");
    }
}

void keel_mpi_ordered_reset(int frees_blocks)
{
    calls_since_poll = 0;
    if (keel_mpi.is_deterministic_mode && frees_blocks) {
        keel_mpi_synchronous_reset();
    }
    for (uint32_t rank = 0; keel_mpi.is_deterministic_mode && rank < keel_mpi.ranks; rank++) {
        keel_mpi_peer_t *peer = &keel_mpi_peers[rank];

        keel_mpi_pending_reset(rank, frees_blocks);
        free(peer->incoming);
        *peer = (keel_mpi_peer_t){.known_taken = keel_mpi_arena_channel(rank)->sent};
    }
}

/* ---- waiting ---- */

static int is_logged(void)
{
    return keel_mpi.phase == KEEL_MPI_RUNS || keel_mpi.waits;
}

static uint64_t load(uint64_t offset)
{
    return __atomic_load_n((const uint64_t *)keel_mpi_arena_at(offset), __ATOMIC_ACQUIRE);
}

static keel_word_t word_of(uint64_t offset, uint64_t value)
{
    return (keel_word_t){
        .win = keel_mpi.arena, .offset = offset, .size = sizeof(value), .compare = KEEL_COMPARE_GE, .value = value};
}

/* Looks at the words without a log: before the restart point the startup record has the results. */
static unsigned poll_words(keel_word_t *words, unsigned count, const char *call)
{
    unsigned met = 0;

    keel_mpi_check(keel_progress(keel_mpi.ctx), call);
    for (unsigned i = 0; i < count; i++) {
        words[i].seen = load(words[i].offset);
        words[i].is_met = words[i].seen >= words[i].value;
        met += words[i].is_met != 0;
    }
    sched_yield();
    return met;
}

/* Tests which of the words are met. @a waits: waits until one is. */
static void test_or_wait(keel_word_t *words, unsigned count, int waits, const char *call)
{
    keel_status_t status;

    if (is_logged()) {
        status = waits ? keel_wait(keel_mpi.ctx, KEEL_WAIT_ANY, words, count, NULL)
                       : keel_test(keel_mpi.ctx, KEEL_WAIT_ANY, words, count, NULL);
        keel_mpi_check((status == KEEL_INPROGRESS) ? KEEL_OK : status, call);
    } else {
        while (poll_words(words, count, call) == 0 && waits) {
        }
    }
}

/* Tests whether the word (NULL: none) is met or a receiver of pending messages has taken more.
 * @a waits: waits for either. Then sends the pending messages that have room. True if the word is
 * met. */
static int test_or_wait_and_push(const keel_word_t *word, int waits, const char *call)
{
    keel_word_t *words = calloc((size_t)keel_mpi.ranks + 1, sizeof(*words));
    uint32_t *ranks = calloc((size_t)keel_mpi.ranks + 1, sizeof(*ranks));
    unsigned count = 0;
    int is_met;

    if (words == NULL || ranks == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    for (uint32_t rank = 0; rank < keel_mpi.ranks; rank++) {
        if (keel_mpi_peers[rank].pending != NULL) {
            words[count] = word_of(keel_mpi_arena_word(rank, offsetof(keel_mpi_channel_t, freed)),
                                   keel_mpi_peers[rank].known_taken + 1);
            ranks[count++] = rank;
        }
    }
    if (word != NULL) {
        words[count] = *word;
    }
    test_or_wait(words, count + (word != NULL), waits, call);
    for (unsigned i = 0; i < count; i++) {
        if (words[i].is_met) {
            keel_mpi_peers[ranks[i]].known_taken = words[i].seen;
        }
    }
    is_met = word != NULL && words[count].is_met;
    free(words);
    free(ranks);
    (void)keel_mpi_pending_push(call);
    return is_met;
}

/* Waits until a word of the own arena, which @a rank puts, reaches the value. */
static void await(uint32_t rank, uint64_t offset, uint64_t value, const char *call)
{
    const keel_word_t word = word_of(offset, value);

    keel_mpi_synchronous_enter(rank, call);
    while (keel_mpi_pending_count() > 0) {
        if (test_or_wait_and_push(&word, 1, call)) {
            keel_mpi_synchronous_leave();
            return;
        }
    }
    if (is_logged()) {
        keel_mpi_check(keel_wait_until(keel_mpi.arena, offset, sizeof(value), KEEL_COMPARE_GE, value), call);
    }
    while (load(offset) < value) {
        keel_mpi_check(keel_progress(keel_mpi.ctx), call);
        sched_yield();
    }
    keel_mpi_synchronous_leave();
}

/* ---- pending sends ---- */

int keel_mpi_ordered_is_sent(uint32_t rank, uint64_t ticket)
{
    return !keel_mpi_pending_is_over_limit() || keel_mpi_pending_is_sent(rank, ticket);
}

void keel_mpi_ordered_await_sent(uint32_t rank, uint64_t ticket, const char *call)
{
    keel_mpi_synchronous_enter(KEEL_MPI_ANY_RANK, call);
    while (!keel_mpi_ordered_is_sent(rank, ticket)) {
        (void)test_or_wait_and_push(NULL, 1, call);
    }
    keel_mpi_synchronous_leave();
}

void keel_mpi_ordered_throttle(const char *call)
{
    if (!keel_mpi_pending_is_over_limit() || keel_mpi_is_replaying()) {
        return;
    }
    keel_mpi_synchronous_enter(KEEL_MPI_ANY_RANK, call);
    while (keel_mpi_pending_is_over_limit() && keel_mpi_pending_has_collective()) {
        (void)test_or_wait_and_push(NULL, 1, call);
    }
    keel_mpi_synchronous_leave();
}

/* Reads all counts that peers have announced. */
static void read_freed(void)
{
    for (uint32_t rank = 0; rank < keel_mpi.ranks; rank++) {
        keel_mpi_peer_t *peer = &keel_mpi_peers[rank];
        const uint64_t freed = load(keel_mpi_arena_word(rank, offsetof(keel_mpi_channel_t, freed)));

        peer->known_taken = (freed > peer->known_taken) ? freed : peer->known_taken;
    }
}

int keel_mpi_ordered_has_pending(void)
{
    return keel_mpi_pending_count() > 0;
}

void keel_mpi_ordered_push(const char *call)
{
    if (keel_mpi_pending_count() > 0) {
        read_freed();
        (void)keel_mpi_pending_push(call);
    }
}

void keel_mpi_ordered_push_unlogged(const char *call)
{
    if (keel_mpi_pending_count() > 0 && !keel_mpi_is_replaying()) {
        keel_mpi_ordered_set_nondeterministic(call);
        keel_mpi_ordered_push(call);
    }
}

static int all_have_arrived(uint64_t gsyncs, const char *call)
{
    uint64_t theirs = gsyncs;

    for (uint32_t rank = 0; rank < keel_mpi.ranks && theirs >= gsyncs; rank++) {
        if (keel_mpi_peers[rank].pending != NULL) {
            keel_mpi_check(keel_get(keel_mpi.arena, rank, offsetof(keel_mpi_hidden_t, gsyncs), &theirs, sizeof(theirs)),
                           call);
        }
    }
    return theirs >= gsyncs;
}

void keel_mpi_ordered_arrive(const char *call)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    /* tests in vain since the last read of the arrivals, and their limit, which doubles */
    unsigned tests = 0, tests_limit = 1;

    if (!keel_mpi.is_deterministic_mode || keel_mpi_is_replaying()) {
        return;
    }
    __atomic_store_n(&hidden->gsyncs, hidden->gsyncs + 1, __ATOMIC_RELEASE);
    while (keel_mpi_pending_count() > 0) {
        (void)test_or_wait_and_push(NULL, 0, call);
        sched_yield();
        if (++tests >= tests_limit) {
            if (all_have_arrived(hidden->gsyncs, call)) {
                return;
            }
            tests = 0;
            tests_limit = (tests_limit < TESTS_MAX) ? 2 * tests_limit : tests_limit;
        }
    }
}

/* ---- taking ---- */

static void ring_read(uint32_t source, void *data, size_t bytes)
{
    keel_mpi_peer_t *peer = &keel_mpi_peers[source];
    const char *ring = keel_mpi_arena_at(keel_mpi_arena_ring(source));
    const size_t at = peer->read % KEEL_MPI_RING, first = (bytes < KEEL_MPI_RING - at) ? bytes : KEEL_MPI_RING - at;

    memcpy(data, ring + at, first);
    memcpy((char *)data + first, ring, bytes - first);
    peer->read += bytes;
}

/* Reads the head of the next entry. Returns the message's node at the sender, or 0 if the data
 * follows on the ring. */
static uint64_t head_read(uint32_t source, keel_mpi_head_t *head_p, const char *call)
{
    keel_mpi_peer_t *peer = &keel_mpi_peers[source];
    uint64_t next = KEEL_MPI_ON_THE_RING;

    if (peer->follow != 0) {
        keel_mpi_check(keel_get(keel_mpi.arena, source, peer->follow, &next, sizeof(next)), call);
    }
    if (next == KEEL_MPI_ON_THE_RING) {
        ring_read(source, head_p, sizeof(*head_p));
        return head_p->node;
    }
    keel_mpi_check(keel_get(keel_mpi.arena, source, next + offsetof(keel_mpi_node_t, head), head_p, sizeof(*head_p)),
                   call);
    return next;
}

/* Announces the number of entries taken to the sender: after each node, and after a good part of
 * the ring. */
static void announce(uint32_t source, int is_node, const char *call)
{
    const keel_mpi_channel_t *channel = keel_mpi_arena_channel(source);
    keel_mpi_peer_t *peer = &keel_mpi_peers[source];

    if (is_node || peer->read - peer->announced >= ANNOUNCE_AT) {
        peer->announced = peer->read;
        keel_mpi_put(source, keel_mpi_arena_word(keel_mpi.rank, offsetof(keel_mpi_channel_t, freed)), &channel->taken,
                     sizeof(channel->taken), call);
        keel_mpi_flush(source, call);
    }
}

/* Takes the next entry, which has arrived: a message or a part of one. Delivers the message when it
 * is whole. */
static void take(uint32_t source, const char *call)
{
    keel_mpi_peer_t *peer = &keel_mpi_peers[source];
    char padding[8];
    keel_mpi_head_t head;
    const uint64_t node = head_read(source, &head, call);
    keel_mpi_message_t *message = (peer->incoming != NULL) ? peer->incoming : keel_mpi_message_make(&head);

    if (node == 0) {
        ring_read(source, message->place + message->received, head.part);
        ring_read(source, padding, keel_mpi_padded(head.part) - head.part);
        message->received += head.part;
    } else {
        if (head.bytes > 0) {
            keel_mpi_check(keel_get(keel_mpi.arena, source, node + sizeof(keel_mpi_node_t), message->place, head.bytes),
                           call);
        }
        message->received = head.bytes;
    }
    peer->incoming = (message->received < head.bytes) ? message : NULL;
    peer->follow = head.is_chain ? node : 0;
    peer->known_taken = (head.taken > peer->known_taken) ? head.taken : peer->known_taken;
    keel_mpi_arena_channel(source)->taken++;
    announce(source, node != 0, call);
    if (peer->incoming == NULL) {
        keel_mpi_match_deliver(message);
    }
}

void keel_mpi_ordered_take(uint32_t source, const char *call)
{
    await(source, keel_mpi_arena_word(source, offsetof(keel_mpi_channel_t, arrived)),
          keel_mpi_arena_channel(source)->taken + 1, call);
    take(source, call);
    keel_mpi_channel_send_acks(call);
}

void keel_mpi_ordered_take_all(const char *call)
{
    for (uint32_t source = 0; source < keel_mpi.ranks; source++) {
        const keel_mpi_channel_t *channel = keel_mpi_arena_channel(source);
        const uint64_t arrived = __atomic_load_n(&channel->arrived, __ATOMIC_ACQUIRE);

        while (channel->taken < arrived) {
            take(source, call);
        }
    }
}

void keel_mpi_ordered_set_nondeterministic(const char *call)
{
    if (keel_mpi.is_deterministic_mode && is_logged()) {
        keel_mpi_check(keel_set_nondeterministic(keel_mpi.ctx), call);
    }
}

void keel_mpi_ordered_poll_some(const char *call)
{
    if (keel_mpi_match_first_posted() == NULL && keel_mpi_pending_count() == 0) {
        calls_since_poll = 0;
    } else if (++calls_since_poll == POLL_INTERVAL) {
        calls_since_poll = 0;
        (void)keel_mpi_ordered_poll(call);
    }
}

int keel_mpi_ordered_poll(const char *call)
{
    int is_progress = 0;

    if (keel_mpi_is_replaying()) {
        return 0;
    }
    keel_mpi_ordered_set_nondeterministic(call);
    keel_mpi_check(keel_progress(keel_mpi.ctx), call);
    keel_mpi_ordered_push(call);
    for (uint32_t source = 0; source < keel_mpi.ranks; source++) {
        const keel_mpi_channel_t *channel = keel_mpi_arena_channel(source);

        while (channel->taken < __atomic_load_n(&channel->arrived, __ATOMIC_ACQUIRE)) {
            take(source, call);
            is_progress = 1;
        }
    }
    keel_mpi_channel_send_acks(call);
    return is_progress;
}
