/*
 * Gathers and exchanges of groups (groups/collective).
 *
 * Short data travels over intermediate members, in as many steps as the group's count has bits: to
 * a root up a binomial tree, to all by doubling, from each to each by Bruck's algorithm, where
 * round k moves all data with bit k in its remaining distance by 2^k. Long data goes directly to
 * its destination.
 */
#include "groups/collective.h"
#include "engine/threads.h"

#include "base/memory.h"
#include "check/plant.h"

#include <string.h>

enum {
    GATHER_SHORT = 1024, /* bytes of a member, at most */
    ALLTOALL_SHORT = 256
};

/* The buffers of a call, and the part of each that this turn moves. */
typedef struct exchange {
    const char *in;
    char *out;
    size_t bytes;   /* for, or of, each member */
    size_t in_step; /* distance between the inputs for two members; 0: all get the same */
    unsigned to;    /* index of the only receiver; count: every member receives */
    size_t at, part;
} exchange_t;

static void store_piece(const exchange_t *e, unsigned from, const void *what)
{
    memcpy(e->out + from * e->bytes + e->at, what, e->part);
}

/* ---- over intermediate members ---- */

/*
 * Gathers up the tree. The pieces hold the subtree's data by number, side by side: the member's own
 * first.
 */
static keel_status_t gather_turn(keel_group_h group, const exchange_t *e)
{
    const unsigned number = keel_group_number(group, e->to), count = group->count;
    char *pieces = keel_group_pieces(group);
    keel_status_t status = KEEL_OK;
    unsigned round = 0;
    uint64_t bit = 1;

    memcpy(pieces + number * e->part, e->in + e->at, e->part);
    for (; bit < count && (number & bit) == 0 && status == KEEL_OK; bit *= 2, round++) {
        if (number + bit < count && !(KEEL_PLANT(gathers_early) && number == 0 && bit * 2 >= count)) {
            status = keel_group_await(group, keel_group_flag_tree(round));
        }
    }
    if (number != 0 && status == KEEL_OK) {
        const size_t below = (bit < count - number) ? bit : count - number;

        return keel_group_send(group, keel_group_member(group, e->to, number - bit), number * e->part,
                               pieces + number * e->part, below * e->part, keel_group_flag_tree(round));
    }
    for (unsigned i = 0; i < count && status == KEEL_OK; i++) {
        store_piece(e, keel_group_member(group, e->to, i), pieces + i * e->part);
    }
    return status;
}

/* Gathers to all. Piece j is the data of the member j further on. */
static keel_status_t allgather_turn(keel_group_h group, const exchange_t *e)
{
    const unsigned count = group->count;
    char *pieces = keel_group_pieces(group);
    keel_status_t status = KEEL_OK;
    unsigned round = 0;

    memcpy(pieces, e->in + e->at, e->part);
    for (uint64_t far = 1; far < count && status == KEEL_OK; far *= 2, round++) {
        const uint64_t known = (far < count - far) ? far : count - far;

        status = keel_group_send(group, (unsigned)((group->index + count - far) % count), far * e->part, pieces,
                                 known * e->part, keel_group_flag_tree(round));
        status = (status == KEEL_OK) ? keel_group_await(group, keel_group_flag_tree(round)) : status;
    }
    for (unsigned i = 0; i < count && status == KEEL_OK; i++) {
        store_piece(e, (group->index + i) % count, pieces + i * e->part);
    }
    return status;
}

/* Count of the numbers below @a count with that bit set. */
static uint64_t numbers_with(unsigned count, uint64_t bit)
{
    const uint64_t whole = count / (2 * bit) * bit, rest = count % (2 * bit);

    return whole + (rest > bit ? rest - bit : 0);
}

/* Bytes a member in a turn: each round has its own place in the pieces. */
static size_t alltoall_part(keel_group_h group, size_t bytes)
{
    uint64_t places = 0;
    size_t most;

    for (uint64_t bit = 1; bit < group->count; bit *= 2) {
        places += numbers_with(group->count, bit);
    }
    most = (places == 0) ? bytes : group->count * group->piece / places;
    return (bytes < most) ? bytes : most;
}

/*
 * Runs Bruck's rounds. @a held: data by remaining distance, afterwards by travelled distance; @a
 * sent: send buffer of a round.
 */
static keel_status_t alltoall_rounds(keel_group_h group, const exchange_t *e, char *held, char *sent)
{
    const char *received = keel_group_pieces(group);
    keel_status_t status = KEEL_OK;
    uint64_t at = 0;
    unsigned round = 0;

    for (uint64_t bit = 1; bit < group->count && status == KEEL_OK; bit *= 2, round++) {
        size_t length = 0;

        for (uint64_t i = bit; i < group->count; i = (i + 1) | bit) {
            memcpy(sent + length, held + i * e->part, e->part);
            length += e->part;
        }
        status = keel_group_send(group, (unsigned)((group->index + bit) % group->count), at, sent, length,
                                 keel_group_flag_tree(round));
        status = (status == KEEL_OK) ? keel_group_await(group, keel_group_flag_tree(round)) : status;
        for (uint64_t i = bit; i < group->count && status == KEEL_OK; i = (i + 1) | bit, at += e->part) {
            memcpy(held + i * e->part, received + at, e->part);
        }
    }
    return status;
}

static char *alltoall_memory(keel_group_h group, size_t bytes)
{
    if (group->held_bytes < bytes) {
        keel_free(group->held);
        group->held = keel_alloc(bytes, "exchanges of a group");
        group->held_bytes = (group->held != NULL) ? bytes : 0;
    }
    return group->held;
}

static keel_status_t alltoall_turn(keel_group_h group, const exchange_t *e)
{
    const unsigned count = group->count, own = group->index;
    char *held = alltoall_memory(group, 2 * count * e->part);
    keel_status_t status;

    if (held == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (unsigned i = 0; i < count; i++) {
        memcpy(held + i * e->part, e->in + (own + i) % count * e->in_step + e->at, e->part);
    }
    status = alltoall_rounds(group, e, held, held + count * e->part);
    for (unsigned i = 0; i < count && status == KEEL_OK; i++) {
        store_piece(e, (own + count - i) % count, held + i * e->part);
    }
    return status;
}

/* ---- directly to the receiver ---- */

static uint64_t flag_from(unsigned member)
{
    return offsetof(keel_group_memory_t, from) + member * sizeof(uint64_t);
}

static int is_given(const exchange_t *e, keel_group_h group, unsigned member)
{
    return e->to == group->count || e->to == member;
}

static keel_status_t exchange_turn(keel_group_h group, const exchange_t *e)
{
    const unsigned own = group->index;
    keel_status_t status = KEEL_OK;

    if (is_given(e, group, own)) {
        store_piece(e, own, e->in + own * e->in_step + e->at);
    }
    for (unsigned d = 1; d < group->count && status == KEEL_OK; d++) {
        const unsigned to = (own + d) % group->count;

        if (is_given(e, group, to)) {
            status = keel_group_send(group, to, own * group->piece, e->in + to * e->in_step + e->at, e->part,
                                     flag_from(own));
        }
    }
    for (unsigned d = 1; d < group->count && status == KEEL_OK && is_given(e, group, own); d++) {
        const unsigned from = (own + group->count - d) % group->count;

        status = keel_group_await(group, flag_from(from));
        if (status == KEEL_OK) {
            store_piece(e, from, keel_group_pieces(group) + from * group->piece);
        }
    }
    return status;
}

/* ---- calls ---- */

typedef keel_status_t (*exchange_turn_t)(keel_group_h group, const exchange_t *e);

static keel_status_t run(keel_group_h group, exchange_t *e, size_t most, exchange_turn_t turn)
{
    keel_status_t status = KEEL_OK;

    for (e->at = 0; e->at < e->bytes && status == KEEL_OK; e->at += e->part) {
        e->part = (e->bytes - e->at < most) ? e->bytes - e->at : most;
        keel_group_memory_of(group)->turn++;
        status = turn(group, e);
        status = (status == KEEL_OK) ? keel_group_meet(group) : status;
    }
    return status;
}

keel_status_t keel_group_gather(keel_group_h group, unsigned root, const void *in, void *out, size_t bytes)
{
    KEEL_INSIDE((group != NULL) ? group->ctx : NULL);
    exchange_t e = {.in = in, .out = out, .bytes = bytes, .to = root};
    const int has_out = group != NULL && (group->index != root || bytes == 0);
    const keel_status_t status = keel_group_begin(group, root, (bytes > 0) ? in : group, has_out ? group : out);

    return (status == KEEL_OK) ? run(group, &e, group->piece, (bytes <= GATHER_SHORT) ? gather_turn : exchange_turn)
                               : status;
}

keel_status_t keel_group_allgather(keel_group_h group, const void *in, void *out, size_t bytes)
{
    KEEL_INSIDE((group != NULL) ? group->ctx : NULL);
    exchange_t e = {.in = in, .out = out, .bytes = bytes};
    const keel_status_t status = keel_group_begin(group, 0, (bytes > 0) ? in : group, (bytes > 0) ? out : group);

    return (status == KEEL_OK) ? run(group, &e, group->piece, allgather_turn) : status;
}

keel_status_t keel_group_alltoall(keel_group_h group, const void *in, void *out, size_t bytes)
{
    KEEL_INSIDE((group != NULL) ? group->ctx : NULL);
    exchange_t e = {.in = in, .out = out, .bytes = bytes, .in_step = bytes};
    const keel_status_t status = keel_group_begin(group, 0, (bytes > 0) ? in : group, (bytes > 0) ? out : group);

    if (status != KEEL_OK) {
        return status;
    }
    e.to = group->count;
    return (bytes <= ALLTOALL_SHORT) ? run(group, &e, alltoall_part(group, bytes), alltoall_turn)
                                     : run(group, &e, group->piece, exchange_turn);
}
