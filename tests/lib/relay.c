/* Tokens that wander over the ranks. Every rank walks through all hops of a step in the same order
 * and executes its own. */
#include "relay.h"

#include "life.h"
#include "many.h"
#include "sim/random.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct hop {
    keel_random_t random; /* draws of the holder's accesses */
    uint64_t number;      /* step << 16 | number */
    uint32_t holder;
    unsigned token;
    int is_own; /* this rank is the holder and makes the accesses */
    int has_piece;
    uint32_t *last_rank; /* place of the last write with the token */
    unsigned *last_slot;
    uint64_t written[RELAY_SLOTS]; /* a bit a rank: put there in this hop */
} hop_t;

static void relay_point(relay_t *relay, const hop_t *hop, const char *what, uint32_t rank, unsigned slot)
{
    if (relay->host->point != NULL) {
        relay->host->point(relay->host);
    }
    if (relay->host->note != NULL) {
        snprintf(relay->note, sizeof(relay->note), "step %u hop %u token %u: %s %u slot %u",
                 (unsigned)(hop->number >> 16), (unsigned)(hop->number & 0xffff), hop->token, what, rank, slot);
        relay->host->note(relay->host, relay->note);
    }
}

static void relay_words(uint64_t seed, uint64_t *words)
{
    for (unsigned i = 0; i < RELAY_WORDS; i++) {
        words[i] = (seed == 0) ? 0 : keel_random_mix(seed + i);
    }
}

static keel_status_t relay_compare(relay_t *relay, const hop_t *hop, uint32_t rank, unsigned slot,
                                   const uint64_t *words)
{
    uint64_t expected[RELAY_WORDS];
    char text[160];

    relay_words(relay->held[rank][hop->token][slot], expected);
    if (memcmp(words, expected, sizeof(expected)) != 0) {
        snprintf(text, sizeof(text),
                 "rank %u.%u step %u hop %u: slot %u of token %u at rank %u is not what has to be there",
                 relay->host->rank, relay->host->incarnation, (unsigned)(hop->number >> 16),
                 (unsigned)(hop->number & 0xffff), slot, hop->token, rank);
        relay->host->flaw(relay->host, text);
        return KEEL_ERR_CORRUPT;
    }
    relay->hash = keel_random_mix(relay->hash ^ words[0]);
    return KEEL_OK;
}

/* Two puts to the same bytes have no order within an epoch. */
static keel_status_t relay_write(relay_t *relay, hop_t *hop, uint32_t rank, unsigned slot)
{
    const size_t at = offsetof(relay_area_t, slot[hop->token][slot]);
    const uint64_t bit = 1ull << rank;
    uint64_t words[RELAY_WORDS];

    relay_words(relay->held[rank][hop->token][slot], words);
    relay_point(relay, hop, "write", rank, slot);
    if (rank == relay->host->rank) {
        memcpy(relay->area->slot[hop->token][slot], words, sizeof(words));
        return KEEL_OK;
    }
    if (hop->written[slot] & bit) {
        TRY(keel_fence(relay->host->ctx));
        memset(hop->written, 0, sizeof(hop->written));
    }
    hop->written[slot] |= bit;
    return play_did(relay->host, PLAY_DID_PUT, rank,
                    keel_put(relay->win, rank, relay->offset + at, words, sizeof(words)));
}

static keel_status_t relay_read(relay_t *relay, const hop_t *hop, uint32_t rank, unsigned slot)
{
    const size_t at = offsetof(relay_area_t, slot[hop->token][slot]);
    uint64_t words[RELAY_WORDS];

    relay_point(relay, hop, "read", rank, slot);
    if (rank == relay->host->rank) {
        memcpy(words, relay->area->slot[hop->token][slot], sizeof(words));
    } else {
        TRY(play_did(relay->host, PLAY_DID_GET, rank,
                     keel_get(relay->win, rank, relay->offset + at, words, sizeof(words))));
    }
    return relay_compare(relay, hop, rank, slot, words);
}

/* Half of the accesses are at the holder itself or at the next holder, where other ranks access,
 * too. */
static uint32_t hop_rank(hop_t *hop, const relay_t *relay, uint32_t next)
{
    const uint32_t any = keel_random_below(&hop->random, relay->ranks);

    return keel_random_chance(&hop->random, 512) ? any : keel_random_chance(&hop->random, 512) ? hop->holder : next;
}

/* Flushes: earlier puts have no order with the next access. */
static keel_status_t hop_order(relay_t *relay, const hop_t *hop, uint32_t rank)
{
    const int is_all = (int)(keel_random_mix(hop->number) & 1);

    return play_did(relay->host, PLAY_DID_FLUSH, is_all ? PLAY_ALL : rank,
                    is_all ? keel_flush_all(relay->host->ctx) : keel_flush(relay->host->ctx, rank));
}

static keel_status_t hop_read(relay_t *relay, hop_t *hop, uint32_t rank, unsigned slot)
{
    if (!hop->is_own) {
        return KEEL_OK;
    }
    TRY(hop_order(relay, hop, rank));
    return relay_read(relay, hop, rank, slot);
}

/* not a real atomic: the addition of a double */
#define RELAY_SUM KEEL_ATOMIC_LAST

static uint64_t atomic_result(keel_atomic_op_t op, uint64_t was, uint64_t operand, uint64_t compare)
{
    double sum, value;

    switch (op) {
    case RELAY_SUM:
        memcpy(&sum, &was, sizeof(sum));
        memcpy(&value, &operand, sizeof(value));
        sum += value;
        memcpy(&was, &sum, sizeof(was));
        return was;
    case KEEL_ATOMIC_ADD:
        return was + operand;
    case KEEL_ATOMIC_AND:
        return was & operand;
    case KEEL_ATOMIC_OR:
        return was | operand;
    case KEEL_ATOMIC_XOR:
        return was ^ operand;
    case KEEL_ATOMIC_SWAP:
    case KEEL_ATOMIC_SET:
        return operand;
    default:
        return (compare == was) ? operand : was;
    }
}

static keel_status_t atomic_do(relay_t *relay, keel_atomic_op_t op, uint32_t rank, size_t at, size_t size,
                               uint64_t operand, uint64_t compare, uint64_t *found)
{
    if (op == RELAY_SUM) {
        return keel_accumulate(relay->win, KEEL_OP_SUM, KEEL_TYPE_DOUBLE, rank, at, &operand, 1, NULL);
    }
    return keel_atomic(relay->win, op, rank, at, size, operand, compare, found);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* An atomic on the token's word at @a rank, drawn by @a draw. All ranks know the word's value.
 * Programs with pieces use all operations and sizes. */
static keel_status_t hop_atomic(relay_t *relay, const hop_t *hop, uint32_t rank, uint64_t draw)
{
    static const keel_atomic_op_t ops[] = {KEEL_ATOMIC_ADD,   KEEL_ATOMIC_ADD, KEEL_ATOMIC_XOR, KEEL_ATOMIC_SWAP,
                                           KEEL_ATOMIC_CSWAP, KEEL_ATOMIC_AND, KEEL_ATOMIC_OR};
    const size_t at = relay->offset + offsetof(relay_area_t, word[hop->token]);
    const keel_atomic_op_t drawn = ops[draw % ((relay->room > 0) ? sizeof(ops) / sizeof(ops[0]) : 5)];
    static const keel_atomic_op_t changing[] = {RELAY_SUM,        RELAY_SUM,         KEEL_ATOMIC_SET, KEEL_ATOMIC_SET,
                                                KEEL_ATOMIC_SWAP, KEEL_ATOMIC_CSWAP, KEEL_ATOMIC_ADD};
    const keel_atomic_op_t op = relay->changes        ? changing[draw % (sizeof(changing) / sizeof(changing[0]))]
                                : (relay->posted > 0) ? (keel_atomic_op_t)(relay->posted - 1)
                                                      : drawn;
    const size_t size = (relay->room > 0 && !relay->changes && (draw >> 34 & 1)) ? 4 : 8;
    const uint64_t mask = (size == 4) ? UINT32_MAX : UINT64_MAX, whole = relay->word[rank][hop->token];
    const uint64_t random = keel_random_mix(draw) & mask, was = whole & mask;
    /* sums of the doubles are rounded */
    const uint64_t operand = !relay->changes           ? random
                             : (op == KEEL_ATOMIC_ADD) ? random & 0xffff
                                                       : bits_of((double)(random >> 12 | 1));
    const int may_fetch = op != RELAY_SUM && op != KEEL_ATOMIC_SET;
    const int fetches = (relay->posted == 0)
                            ? (may_fetch && (draw >> 32 & 1)) || op == KEEL_ATOMIC_SWAP || op == KEEL_ATOMIC_CSWAP
                            : relay->fetches && rank != hop->holder && (draw >> 32 & 1);
    const uint64_t compare = (was + (draw >> 33 & 1)) & mask; /* half of the comparisons fail */
    uint64_t found = was;
    char text[160];

    relay->word[rank][hop->token] = (whole & ~mask) | (atomic_result(op, was, operand, compare) & mask);
    if (!hop->is_own) {
        return KEEL_OK;
    }
    TRY(hop_order(relay, hop, rank));
    relay_point(relay, hop, "atomic at", rank, 0);
    TRY(play_did(relay->host, PLAY_DID_PUT | (fetches ? PLAY_DID_GET : 0), rank,
                 atomic_do(relay, op, rank, at, size, operand, compare, fetches ? &found : NULL)));
    if (found != was) {
        snprintf(text, sizeof(text), "rank %u.%u step %u hop %u: an atomic at rank %u finds %llx instead of %llx",
                 relay->host->rank, relay->host->incarnation, (unsigned)(hop->number >> 16),
                 (unsigned)(hop->number & 0xffff), rank, (unsigned long long)found, (unsigned long long)was);
        relay->host->flaw(relay->host, text);
        return KEEL_ERR_CORRUPT;
    }
    return KEEL_OK;
}

/* An addition by any holder, in any order. */
static keel_status_t hop_add(relay_t *relay, const hop_t *hop, uint32_t rank, uint64_t draw)
{
    const keel_atomic_op_t op = relay->changes        ? RELAY_SUM
                                : (relay->posted > 0) ? (keel_atomic_op_t)(relay->posted - 1)
                                                      : KEEL_ATOMIC_ADD;
    /* any size; the sum is the same in every order */
    const uint64_t operand = relay->changes ? bits_of((double)((1ull << (draw >> 8) % 40) + (draw & 7))) : draw;
    const size_t at = relay->offset + offsetof(relay_area_t, sum);

    relay->sum[rank] = atomic_result(op, relay->sum[rank], operand, 0);
    if (!hop->is_own) {
        return KEEL_OK;
    }
    relay_point(relay, hop, "adds at", rank, 0);
    if (relay->seed % 4 == 3 && relay->posted > 0 && !relay->fetches && many_is_known(op) && op != KEEL_ATOMIC_SET) {
        return play_did(relay->host, PLAY_DID_PUT,
                        rank, /* from the words to the end of `beside`, which stays unchanged */
                        many_atomics(relay->win, op, rank, relay->offset + offsetof(relay_area_t, word),
                                     sizeof(operand), operand, RELAY_TOKENS, RELAY_TOKENS + 5, NULL, NULL));
    }
    return play_did(relay->host, PLAY_DID_PUT, rank, atomic_do(relay, op, rank, at, sizeof(operand), operand, 0, NULL));
}

static unsigned char *relay_wanted(const relay_t *relay, uint32_t rank, unsigned token)
{
    return relay->wanted + ((size_t)rank * RELAY_TOKENS + token) * relay->room;
}

static keel_status_t relay_compare_piece(relay_t *relay, const hop_t *hop, uint32_t rank, const unsigned char *bytes,
                                         piece_t piece)
{
    const unsigned char *wanted = relay_wanted(relay, rank, hop->token) + piece.offset;
    char text[160];

    if (memcmp(bytes, wanted, piece.length) != 0) {
        uint32_t at = 0;

        for (; bytes[at] == wanted[at]; at++) {
        }
        snprintf(text, sizeof(text),
                 "rank %u.%u step %u hop %u: piece %u+%u of token %u at rank %u is not what has to be there at byte %u",
                 relay->host->rank, relay->host->incarnation, (unsigned)(hop->number >> 16),
                 (unsigned)(hop->number & 0xffff), piece.offset, piece.length, hop->token, rank, piece.offset + at);
        relay->host->flaw(relay->host, text);
        return KEEL_ERR_CORRUPT;
    }
    relay->hash = play_hash(relay->hash, bytes, piece.length);
    return KEEL_OK;
}

/* Reads a piece, writes a piece, or both. */
static keel_status_t hop_piece(relay_t *relay, const hop_t *hop, uint32_t next, int *is_next_alone)
{
    keel_random_t random = {keel_random_mix(hop->random.state ^ 0x7069656365)};
    const uint32_t any = keel_random_below(&random, relay->ranks);
    const uint32_t rank = keel_random_chance(&random, 400) ? any : next;
    pieces_access_t access = {.to = relay->got, .from = relay->fresh};
    pieces_t pieces = relay->pieces;

    pieces_draw(&random, relay->room, &access);
    if (access.puts) {
        play_fill(relay->fresh, access.put.length, keel_random_next(&random));
        *is_next_alone &= (rank == next || rank == hop->holder);
    }
    if (hop->is_own) {
        pieces.at += (size_t)hop->token * relay->room;
        pieces.own += (size_t)hop->token * relay->room;
        TRY(hop_order(relay, hop, rank));
        TRY(pieces_do(&pieces, rank, &access));
    }
    if (hop->is_own && access.gets) {
        TRY(relay_compare_piece(relay, hop, rank, relay->got, access.get));
    }
    if (access.puts) {
        memcpy(relay_wanted(relay, rank, hop->token) + access.put.offset, relay->fresh, access.put.length);
    }
    return KEEL_OK;
}

/* The reads and writes of the holder; in half of the hops the holder first reads the last write of
 * its predecessor. All ranks know the values written. */
static keel_status_t hop_accesses(relay_t *relay, hop_t *hop, uint32_t next)
{
    const unsigned count = keel_random_below(&hop->random, 5);
    int is_next_alone = 1;

    if (*hop->last_rank != UINT32_MAX && keel_random_chance(&hop->random, 512)) {
        TRY(hop_read(relay, hop, *hop->last_rank, *hop->last_slot));
    }

    for (unsigned i = 0; i < count; i++) {
        const uint32_t rank = hop_rank(hop, relay, next);
        const unsigned slot = keel_random_below(&hop->random, RELAY_SLOTS);
        const uint64_t draw = keel_random_mix(hop->random.state ^ 0x61746f6d);

        if (relay->has_atomics && (draw >> 40) % 3 == 0) {
            is_next_alone &= (rank == next || rank == hop->holder);
            TRY((draw >> 39 & 1) ? hop_atomic(relay, hop, rank, draw) : hop_add(relay, hop, rank, draw));
        }
        if (keel_random_chance(&hop->random, 600)) {
            relay->held[rank][hop->token][slot] = keel_random_next(&hop->random) | 1;
            *hop->last_rank = rank;
            *hop->last_slot = slot;
            is_next_alone &= (rank == next || rank == hop->holder);
            if (hop->is_own) {
                TRY(relay_write(relay, hop, rank, slot));
            }
        } else {
            TRY(hop_read(relay, hop, rank, slot));
        }
    }
    if (hop->has_piece) {
        TRY(hop_piece(relay, hop, next, &is_next_alone));
    }
    if (!hop->is_own) {
        return KEEL_OK;
    }
    relay_point(relay, hop, "completes, next is", next, 0);
    return is_next_alone ? keel_fence(relay->host->ctx) : keel_flush_all(relay->host->ctx);
}

static keel_status_t hop_do(relay_t *relay, hop_t *hop, uint32_t next, int is_first, int is_last)
{
    const size_t at = relay->offset + offsetof(relay_area_t, flag[hop->token]);
    const uint64_t flag = hop->number + 2;
    uint64_t before;

    if (hop->is_own && !is_first) {
        relay_point(relay, hop, "waits", hop->holder, 0);
        TRY(keel_wait_until(relay->win, at, sizeof(flag), (hop->number & 1) ? KEEL_COMPARE_EQ : KEEL_COMPARE_GE,
                            hop->number + 1));
    }
    TRY(hop_accesses(relay, hop, next));
    if (hop->is_own && !is_last) {
        relay_point(relay, hop, "passes it to", next, 0);
        if (relay->has_atomics && relay->posted == 0 && (!relay->changes || relay->seed % 8 == 0) &&
            (keel_random_mix(flag) & 1)) {
            TRY(play_did(relay->host, PLAY_DID_PUT | PLAY_DID_GET, next,
                         keel_atomic(relay->win, KEEL_ATOMIC_SWAP, next, at, sizeof(flag), flag, 0, &before)));
        } else {
            TRY(play_did(relay->host, PLAY_DID_PUT, next, keel_put(relay->win, next, at, &flag, sizeof(flag))));
        }
        if (hop->random.state & 2) {
            TRY(keel_flush(relay->host->ctx, next));
        }
    }
    return KEEL_OK;
}

/* Makes the accesses of a step (is_real), or only computes their effect. */
static keel_status_t relay_walk(relay_t *relay, uint64_t step, int is_real)
{
    keel_random_t random = {keel_random_mix(relay->seed ^ (step * 0x9e37) ^ 0x746f6b656e)};
    const unsigned hops = 1 + keel_random_below(&random, 12), tokens = 1 + keel_random_below(&random, RELAY_TOKENS);
    uint32_t holder[RELAY_TOKENS], last_rank[RELAY_TOKENS], next;
    unsigned last_slot[RELAY_TOKENS] = {0}, first = 0;

    relay->known = UINT64_MAX; /* the walk may end in the middle */
    for (unsigned t = 0; t < tokens; t++) {
        holder[t] = keel_random_below(&random, relay->ranks);
        last_rank[t] = UINT32_MAX;
    }
    if (relay->room > 0) {
        first = (unsigned)(keel_random_mix(random.state) % (hops * tokens));
    }
    /* tokens take turns: all have the same number of hops */
    for (unsigned i = 0; i < hops * tokens; i++) {
        hop_t hop = {.number = step << 16 | (i / tokens),
                     .token = i % tokens,
                     .holder = holder[i % tokens],
                     .has_piece = relay->room > 0 && i >= first && i < first + RELAY_PIECES,
                     .last_rank = &last_rank[i % tokens],
                     .last_slot = &last_slot[i % tokens]};

        next = (hop.holder + 1 + keel_random_below(&random, relay->ranks - 1)) % relay->ranks;
        hop.random.state = keel_random_next(&random);
        hop.is_own = is_real && hop.holder == relay->host->rank;
        TRY(hop_do(relay, &hop, next, i < tokens, i + tokens >= hops * tokens));
        holder[hop.token] = next;
    }
    relay->known = step + 1;
    return KEEL_OK;
}

int relay_is_step(const relay_t *relay, uint64_t step)
{
    return keel_random_mix(relay->seed ^ (step << 20) ^ 0x72656c6179) % 3 != 0;
}

/* Computes the contents after the next step. */
static keel_status_t relay_forward(relay_t *relay)
{
    if (relay_is_step(relay, relay->known)) {
        return relay_walk(relay, relay->known, 0);
    }
    relay->known++;
    return KEEL_OK;
}

static void relay_go_back(relay_t *relay, uint64_t step)
{
    if (relay->known > step) {
        memset(relay->held, 0, sizeof(relay->held));
        memset(relay->word, 0, sizeof(relay->word));
        memset(relay->sum, 0, sizeof(relay->sum));
        if (relay->room > 0) {
            memset(relay->wanted, 0, (size_t)relay->ranks * RELAY_TOKENS * relay->room);
        }
        relay->known = 0;
    }
}

keel_status_t relay_step(relay_t *relay, uint64_t step)
{
    relay_go_back(relay, step);
    while (relay->known < step) {
        TRY(relay_forward(relay));
    }
    return relay_is_step(relay, step) ? relay_walk(relay, step, 1) : KEEL_OK;
}

keel_status_t relay_check(relay_t *relay, uint64_t steps)
{
    hop_t hop = {.number = steps << 16};
    int is_right = 1;

    relay_go_back(relay, steps);
    while (relay->known < steps) {
        TRY(relay_forward(relay));
    }
    for (hop.token = 0; hop.token < RELAY_TOKENS; hop.token++) {
        for (unsigned slot = 0; slot < RELAY_SLOTS; slot++) {
            TRY(relay_compare(relay, &hop, relay->host->rank, slot, relay->area->slot[hop.token][slot]));
        }
        if (relay->room > 0) {
            TRY(relay_compare_piece(relay, &hop, relay->host->rank, relay->pieces.own + (size_t)hop.token * relay->room,
                                    (piece_t){.length = relay->room}));
        }
        is_right &= relay->area->word[hop.token] == relay->word[relay->host->rank][hop.token];
    }
    if (!is_right || relay->area->sum != relay->sum[relay->host->rank]) {
        relay->host->flaw(relay->host, "an atomic was lost or came twice");
        return KEEL_ERR_CORRUPT;
    }
    return KEEL_OK;
}
