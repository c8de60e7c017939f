/*
 * A synchronous send is complete when it was matched, so its sender has to see that whatever the receiver waits for; and the receiver may not look
 * what has come, as its replacement could not do that again. So who waits, with receives open that this does not wait for, leaves a list of
 * them in its arena meanwhile, with a version that is odd while the list holds. Who waits for the end of a synchronous send reads it, and
 * matches its own messages that are not taken yet with the receives, in order. What it finds is so for good where the version is the
 * same before and after: receives of a rank get that rank's messages alone. One from any rank it claims for itself; the receiver, which
 * makes the version even first, finds the claim, or the claim finds the version changed, or both. What nobody has claimed has the version, too,
 * so that a claim never lands on a newer list; and a list stays where it is until the next checkpoint, so that it lands on nothing else.
 *
 * No log has what the sender finds; it looks for its own messages, too, which says so to Keel (keel_set_nondeterministic()): from then on every death, of any
 * rank, is a rollback. The receivers' part is done again as it was.
 */
#include "p2p/mpi_synchronous.h"

#include "mpi_arena.h"
#include "p2p/mpi_ordered.h"
#include "life/mpi_startup.h"
#include "p2p/mpi_pending.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(((keel_mpi_hidden_t *)0)->opened_first) == KEEL_MPI_OPEN_RECEIVES * 32, "room for the list");

/* a receive that is open in a gsync */
typedef struct opened {
    uint64_t context;
    int64_t tag;
    uint64_t source;
    uint64_t
        claim; /* of a receive from any: the list's version << 32, and 1 + the rank whose message it gets; 0: none yet */
} opened_t;

static int is_possible(uint32_t but)
{
    for (const keel_mpi_receive_t *want = keel_mpi_match_first_posted(); want != NULL; want = want->next) {
        if (want->source == KEEL_MPI_ANY_RANK || want->source != but) {
            return 1;
        }
    }
    return 0;
}

/* a block that is large enough; those that there are stay until the next checkpoint, as somebody may read them: in front of the list is where
 * the one before it lies */
static opened_t *room_for(uint64_t count, const char *call)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;

    if (hidden->opened == 0) {
        hidden->opened = offsetof(keel_mpi_hidden_t, opened_first);
        hidden->opened_room = KEEL_MPI_OPEN_RECEIVES;
    }
    if (count > hidden->opened_room) {
        const uint64_t block = keel_mpi_arena_alloc_temporary((2 * count + 1) * sizeof(opened_t), KEEL_MPI_ALIGN);

        if (block == 0) {
            keel_mpi_fatal(call, "more than 1024 receives are open, and no room in the arena for the list of them: "
                                 "KEELMPI_ARENA says how large it is");
        }
        *(uint64_t *)keel_mpi_arena_at(block) = hidden->opened;
        hidden->opened = block + sizeof(opened_t);
        hidden->opened_room = 2 * count;
    }
    return keel_mpi_arena_at(hidden->opened);
}

void keel_mpi_synchronous_enter(uint32_t but, const char *call)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    opened_t *opened;
    uint64_t count = 0, version = hidden->version + 1;

    if (!keel_mpi.is_promised || keel_mpi_is_replaying() || !is_possible(but)) {
        return;
    }
    for (const keel_mpi_receive_t *want = keel_mpi_match_first_posted(); want != NULL; want = want->next) {
        count++;
    }
    opened = room_for(count, call);
    for (const keel_mpi_receive_t *want = keel_mpi_match_first_posted(); want != NULL; want = want->next) {
        opened->context = want->context;
        opened->tag = want->tag;
        opened->source = want->source;
        __atomic_store_n(&opened->claim, version << 32, __ATOMIC_RELAXED);
        opened++;
    }
    hidden->opened_count = count;
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
    keel_mpi_match_claim(keel_mpi_arena_at(hidden->opened + offsetof(opened_t, claim)), sizeof(opened_t));
}

void keel_mpi_synchronous_reset(void)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;

    while (hidden->opened != 0 && hidden->opened != offsetof(keel_mpi_hidden_t, opened_first)) {
        const uint64_t block = hidden->opened - sizeof(opened_t);

        hidden->opened = *(const uint64_t *)keel_mpi_arena_at(block);
        keel_mpi_arena_free(block);
    }
    hidden->opened = hidden->opened_room = hidden->opened_count = 0;
}

/* ---- the sender ---- */

static void look_at(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call)
{
    keel_mpi_check(keel_get(keel_mpi.arena, rank, offset, data, bytes), call);
}

/* true when it is the own rank's now */
static int claim(uint32_t rank, uint64_t offset, opened_t *opened, uint64_t version, const char *call)
{
    const uint64_t nobodys = version << 32, mine = nobodys | ((uint64_t)keel_mpi.rank + 1);

    if (opened->claim == nobodys) {
        keel_mpi_check(keel_atomic(keel_mpi.arena, KEEL_ATOMIC_CSWAP, rank, offset + offsetof(opened_t, claim),
                                   sizeof(mine), mine, nobodys, &opened->claim),
                       call);
        opened->claim = (opened->claim == nobodys) ? mine : opened->claim;
    }
    return opened->claim == mine;
}

/* the receive on the list that this one of the own messages gets, which is used up then */
static int match(uint32_t rank, const uint64_t where[2], opened_t *list, uint64_t version, const keel_mpi_head_t *head,
                 const char *call)
{
    for (uint64_t i = 0; i < where[1]; i++) {
        opened_t *opened = &list[i];
        const keel_mpi_receive_t want = {
            .context = opened->context, .tag = opened->tag, .source = (uint32_t)opened->source};

        if (opened->context != 0 && keel_mpi_match_fits(&want, head) &&
            (want.source != KEEL_MPI_ANY_RANK || claim(rank, where[0] + i * sizeof(*opened), opened, version, call))) {
            opened->context = 0;
            return 1;
        }
    }
    return 0;
}

static uint64_t version_of(uint32_t rank, const char *call)
{
    uint64_t version;

    look_at(rank, offsetof(keel_mpi_hidden_t, version), &version, sizeof(version), call);
    return version;
}

/* which of those that are not known to have been taken is the message that this answer was asked for, from 1; 0: it has been taken */
static size_t place_of(uint32_t rank, uint64_t answer, uint64_t taken)
{
    keel_mpi_head_t head;
    int found;

    for (size_t i = 0; (found = keel_mpi_pending_head(rank, i, taken, &head)) >= 0; i++) {
        if (found && head.answer == answer) {
            return i + 1;
        }
    }
    return 0;
}

/* whether the rank waits with a receive open that this message gets */
static int is_met(uint32_t rank, uint64_t answer, const char *call)
{
    const uint64_t version = version_of(rank, call);
    uint64_t taken, where[2]; /* offset and number of the list's entries */
    keel_mpi_head_t head;
    opened_t *list;
    int is = 0;

    if (version % 2 == 0) {
        return 0;
    }
    look_at(rank, offsetof(keel_mpi_hidden_t, opened), where, sizeof(where), call);
    look_at(rank, keel_mpi_arena_word(keel_mpi.rank, offsetof(keel_mpi_channel_t, taken)), &taken, sizeof(taken), call);
    if (version_of(rank, call) != version) { /* what was read may be of two lists */
        return 0;
    }
    list = malloc(where[1] * sizeof(*list));
    if (list == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    look_at(rank, where[0], list, where[1] * sizeof(*list), call);
    if (version_of(rank, call) == version) {
        for (size_t i = 0, last = place_of(rank, answer, taken); i < last; i++) {
            is = keel_mpi_pending_head(rank, i, taken, &head) > 0 && match(rank, where, list, version, &head, call);
        }
    }
    free(list);
    return is && version_of(rank, call) == version;
}

int keel_mpi_synchronous_is_done(const keel_mpi_receive_t *answer, const char *call)
{
    return keel_mpi_receive_is_complete(answer) || (keel_mpi.is_promised && answer->source != keel_mpi.rank &&
                                                    is_met(answer->source, (uint64_t)answer->tag, call));
}

void keel_mpi_synchronous_await(uint32_t rank, int64_t answer, const char *call)
{
    keel_mpi_receive_t want = {.context = KEEL_MPI_ACK_CONTEXT, .source = rank, .tag = answer};

    if (keel_mpi_is_replaying()) {
        return;
    }
    keel_mpi_channel_post(&want, call);
    do {
        keel_mpi_channel_progress_or_yield(call);
    } while (!keel_mpi_synchronous_is_done(&want, call));
    if (want.letter == NULL) {
        (void)keel_mpi_match_unpost(&want);
    }
    free(want.letter);
}
