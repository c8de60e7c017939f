/*
 * A synchronous send is complete when its message is matched, and the sender has to learn of the
 * match whatever the receiver waits for. The receiver may not poll for messages, since its
 * replacement could not repeat the result. Therefore a rank that waits while it has open receives
 * that the wait does not serve publishes a list of the receives in its arena, with a version that
 * is odd while the list is valid. A rank that waits for the end of a synchronous send reads the
 * list, and matches its own messages that are not taken yet with the receives, in order.
 *
 * Safety. A match is final if the version is the same before and after the read: a receive from a
 * given source gets messages of that source alone. The sender claims a receive from any rank by
 * compare-and-swap. The receiver makes the version even before reading the claims, so either the
 * receiver finds the claim, or the sender finds the version changed, or both. An unclaimed entry
 * holds the version, too, so a claim never lands on a newer list. A list keeps its place until the
 * next checkpoint, so a claim lands on nothing else.
 *
 * Logs. No log has the sender's reads, and the sender also polls for its own messages. Both are
 * declared to Keel (keel_set_nondeterministic()): from then on the death of any rank is a rollback.
 * The receiver's part is replayed unchanged.
 */
#include "p2p/mpi_synchronous.h"

#include "life/mpi_startup.h"
#include "mpi_arena.h"
#include "p2p/mpi_ordered.h"
#include "p2p/mpi_pending.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(((keel_mpi_hidden_t *)0)->open_receives_first) == KEEL_MPI_OPEN_RECEIVES * 32,
               "room for the list");

/* An open receive in a published list. */
typedef struct open_receive {
    uint64_t context;
    int64_t tag;
    uint64_t source;
    /* for a receive from any rank: version of the list << 32, plus 1 + the rank that has claimed
     * the receive; 0: unclaimed */
    uint64_t claim;
} open_receive_t;

static int has_other_receive(uint32_t except)
{
    for (const keel_mpi_receive_t *receive = keel_mpi_match_first_posted(); receive != NULL; receive = receive->next) {
        if (receive->source == KEEL_MPI_ANY_RANK || receive->source != except) {
            return 1;
        }
    }
    return 0;
}

/* Returns room for the list. Older lists stay until the next checkpoint, since other ranks may
 * still read them; the word before a list links to the previous one. */
static open_receive_t *room_for(uint64_t count, const char *call)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;

    if (hidden->open_receives == 0) {
        hidden->open_receives = offsetof(keel_mpi_hidden_t, open_receives_first);
        hidden->open_receive_room = KEEL_MPI_OPEN_RECEIVES;
    }
    if (count > hidden->open_receive_room) {
        const uint64_t block = keel_mpi_arena_alloc_temporary((2 * count + 1) * sizeof(open_receive_t), KEEL_MPI_ALIGN);

        if (block == 0) {
            keel_mpi_fatal(call, "more than 1024 receives are open, and no room in the arena for the list of them: "
                                 "KEELMPI_ARENA says how large it is");
        }
        *(uint64_t *)keel_mpi_arena_at(block) = hidden->open_receives;
        hidden->open_receives = block + sizeof(open_receive_t);
        hidden->open_receive_room = 2 * count;
    }
    return keel_mpi_arena_at(hidden->open_receives);
}

void keel_mpi_synchronous_enter(uint32_t except, const char *call)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    open_receive_t *entry;
    uint64_t count = 0, version = hidden->version + 1;

    if (!keel_mpi.is_deterministic_mode || keel_mpi_is_replaying() || !has_other_receive(except)) {
        return;
    }
    for (const keel_mpi_receive_t *receive = keel_mpi_match_first_posted(); receive != NULL; receive = receive->next) {
        count++;
    }
    entry = room_for(count, call);
    for (const keel_mpi_receive_t *receive = keel_mpi_match_first_posted(); receive != NULL; receive = receive->next) {
        entry->context = receive->context;
        entry->tag = receive->tag;
        entry->source = receive->source;
        __atomic_store_n(&entry->claim, version << 32, __ATOMIC_RELAXED);
        entry++;
    }
    hidden->open_receive_count = count;
    __atomic_store_n(&hidden->version, version, __ATOMIC_RELEASE);
}

void keel_mpi_synchronous_leave(void)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;

    if (hidden->version % 2 == 0) {
        return;
    }
    __atomic_store_n(&hidden->version, hidden->version + 1, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    keel_mpi_match_claim(keel_mpi_arena_at(hidden->open_receives + offsetof(open_receive_t, claim)),
                         sizeof(open_receive_t));
}

void keel_mpi_synchronous_reset(void)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;

    while (hidden->open_receives != 0 && hidden->open_receives != offsetof(keel_mpi_hidden_t, open_receives_first)) {
        const uint64_t block = hidden->open_receives - sizeof(open_receive_t);

        hidden->open_receives = *(const uint64_t *)keel_mpi_arena_at(block);
        keel_mpi_arena_free(block);
    }
    hidden->open_receives = hidden->open_receive_room = hidden->open_receive_count = 0;
}

/* ---- the sender ---- */

static void read_remote(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call)
{
    keel_mpi_check(keel_get(keel_mpi.arena, rank, offset, data, bytes), call);
}

/* True if the entry is now claimed by this rank. */
static int claim(uint32_t rank, uint64_t offset, open_receive_t *entry, uint64_t version, const char *call)
{
    const uint64_t unclaimed = version << 32, mine = unclaimed | ((uint64_t)keel_mpi.rank + 1);

    if (entry->claim == unclaimed) {
        keel_mpi_check(keel_atomic(keel_mpi.arena, KEEL_ATOMIC_CSWAP, rank, offset + offsetof(open_receive_t, claim),
                                   sizeof(mine), mine, unclaimed, &entry->claim),
                       call);
        entry->claim = (entry->claim == unclaimed) ? mine : entry->claim;
    }
    return entry->claim == mine;
}

/* True if a receive on the list gets this message of the own rank; the entry is then used up. */
static int match(uint32_t rank, const uint64_t where[2], open_receive_t *list, uint64_t version,
                 const keel_mpi_head_t *head, const char *call)
{
    for (uint64_t i = 0; i < where[1]; i++) {
        open_receive_t *entry = &list[i];
        const keel_mpi_receive_t receive = {
            .context = entry->context, .tag = entry->tag, .source = (uint32_t)entry->source};

        if (entry->context != 0 && keel_mpi_match_fits(&receive, head) &&
            (receive.source != KEEL_MPI_ANY_RANK || claim(rank, where[0] + i * sizeof(*entry), entry, version, call))) {
            entry->context = 0;
            return 1;
        }
    }
    return 0;
}

static uint64_t version_of(uint32_t rank, const char *call)
{
    uint64_t version;

    read_remote(rank, offsetof(keel_mpi_hidden_t, version), &version, sizeof(version), call);
    return version;
}

/* Position, from 1, of the message with this ack among those not known to be taken; 0: the message
 * has been taken. */
static size_t place_of(uint32_t rank, uint64_t ack, uint64_t taken)
{
    keel_mpi_head_t head;
    int found;

    for (size_t i = 0; (found = keel_mpi_pending_head(rank, i, taken, &head)) >= 0; i++) {
        if (found && head.ack == ack) {
            return i + 1;
        }
    }
    return 0;
}

_Static_assert(offsetof(keel_mpi_hidden_t, open_receive_count) ==
                   offsetof(keel_mpi_hidden_t, open_receives) + sizeof(uint64_t),
               "a get of two words has the offset and the length of the list");

/* True if the rank waits with an open receive that gets the message. */
static int is_met(uint32_t rank, uint64_t ack, const char *call)
{
    const uint64_t version = version_of(rank, call);
    uint64_t taken, where[2]; /* offset and length of the list */
    keel_mpi_head_t head;
    open_receive_t *list;
    int is = 0;

    if (version % 2 == 0) {
        return 0;
    }
    read_remote(rank, offsetof(keel_mpi_hidden_t, open_receives), where, sizeof(where), call);
    read_remote(rank, keel_mpi_arena_word(keel_mpi.rank, offsetof(keel_mpi_channel_t, taken)), &taken, sizeof(taken),
                call);
    if (version_of(rank, call) != version) { /* the offset and the length may belong to two lists */
        return 0;
    }
    list = malloc(where[1] * sizeof(*list));
    if (list == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    read_remote(rank, where[0], list, where[1] * sizeof(*list), call);
    if (version_of(rank, call) == version) {
        for (size_t i = 0, last = place_of(rank, ack, taken); i < last; i++) {
            is = keel_mpi_pending_head(rank, i, taken, &head) > 0 && match(rank, where, list, version, &head, call);
        }
    }
    free(list);
    return is && version_of(rank, call) == version;
}

int keel_mpi_synchronous_is_done(const keel_mpi_receive_t *ack, const char *call)
{
    return keel_mpi_receive_is_complete(ack) || (keel_mpi.is_deterministic_mode && ack->source != keel_mpi.rank &&
                                                 is_met(ack->source, (uint64_t)ack->tag, call));
}

void keel_mpi_synchronous_await(uint32_t rank, int64_t ack, const char *call)
{
    keel_mpi_receive_t receive = {.context = KEEL_MPI_ACK_CONTEXT, .source = rank, .tag = ack};

    if (keel_mpi_is_replaying()) {
        return;
    }
    keel_mpi_channel_post(&receive, call);
    do {
        keel_mpi_channel_progress_or_sleep(call);
    } while (!keel_mpi_synchronous_is_done(&receive, call));
    if (receive.message == NULL) {
        (void)keel_mpi_match_unpost(&receive);
    }
    free(receive.message);
}
