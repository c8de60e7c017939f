/* Tokens that wander over the ranks. Every rank walks through all hops of a step in one order and does its own. */
#include "relay.h"

#include "sim/random.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define TRY(_call)                       \
    do {                                 \
        keel_status_t _status = (_call); \
        if (_status != KEEL_OK) {        \
            return _status;              \
        }                                \
    } while (0)

typedef struct hop {
    keel_random_t random; /* of what its holder does */
    uint64_t number;      /* step << 16 | number */
    uint32_t holder;
    unsigned token;
    int is_own;          /* this rank is the holder, and does it */
    uint32_t *last_rank; /* what was last written with the token */
    unsigned *last_slot;
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

static keel_status_t relay_write(relay_t *relay, const hop_t *hop, uint32_t rank, unsigned slot)
{
    const size_t at = offsetof(relay_area_t, slot[hop->token][slot]);
    uint64_t words[RELAY_WORDS];

    relay_words(relay->held[rank][hop->token][slot], words);
    relay_point(relay, hop, "write", rank, slot);
    if (rank == relay->host->rank) {
        memcpy(relay->area->slot[hop->token][slot], words, sizeof(words));
        return KEEL_OK;
    }
    return keel_put(relay->win, rank, relay->offset + at, words, sizeof(words));
}

static keel_status_t relay_read(relay_t *relay, const hop_t *hop, uint32_t rank, unsigned slot)
{
    const size_t at = offsetof(relay_area_t, slot[hop->token][slot]);
    uint64_t words[RELAY_WORDS];

    relay_point(relay, hop, "read", rank, slot);
    if (rank == relay->host->rank) {
        memcpy(words, relay->area->slot[hop->token][slot], sizeof(words));
    } else {
        TRY(keel_get(relay->win, rank, relay->offset + at, words, sizeof(words)));
    }
    return relay_compare(relay, hop, rank, slot, words);
}

/* half of the accesses are at the holder itself and at whoever gets the token next, where others meet them */
static uint32_t hop_rank(hop_t *hop, const relay_t *relay, uint32_t next)
{
    const uint32_t any = keel_random_below(&hop->random, relay->ranks);

    return keel_random_chance(&hop->random, 512) ? any : keel_random_chance(&hop->random, 512) ? hop->holder : next;
}

static keel_status_t hop_read(relay_t *relay, hop_t *hop, uint32_t rank, unsigned slot)
{
    if (!hop->is_own) {
        return KEEL_OK;
    }
    if (keel_random_mix(hop->number) & 1) { /* a get of what was put before it is in no order without that */
        TRY(keel_flush_all(relay->host->ctx));
    } else {
        TRY(keel_flush(relay->host->ctx, rank));
    }
    return relay_read(relay, hop, rank, slot);
}

/* what the holder reads and writes, half of the time what the one before it wrote first; all ranks know what it writes */
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

    if (hop->is_own && !is_first) {
        relay_point(relay, hop, "waits", hop->holder, 0);
        TRY(keel_wait_until(relay->win, at, sizeof(flag), (hop->number & 1) ? KEEL_COMPARE_EQ : KEEL_COMPARE_GE,
                            hop->number + 1));
    }
    TRY(hop_accesses(relay, hop, next));
    if (hop->is_own && !is_last) {
        relay_point(relay, hop, "passes it to", next, 0);
        TRY(keel_put(relay->win, next, at, &flag, sizeof(flag)));
        if (hop->random.state & 2) {
            TRY(keel_flush(relay->host->ctx, next));
        }
    }
    return KEEL_OK;
}

/* does the accesses, or only finds out what they leave behind */
static keel_status_t relay_walk(relay_t *relay, uint64_t step, int is_real)
{
    keel_random_t random = {keel_random_mix(relay->seed ^ (step * 0x9e37) ^ 0x746f6b656e)};
    const unsigned hops = 1 + keel_random_below(&random, 12), tokens = 1 + keel_random_below(&random, RELAY_TOKENS);
    uint32_t holder[RELAY_TOKENS], last_rank[RELAY_TOKENS], next;
    unsigned last_slot[RELAY_TOKENS] = {0};

    relay->known = UINT64_MAX; /* it may end in the middle */
    for (unsigned t = 0; t < tokens; t++) {
        holder[t] = keel_random_below(&random, relay->ranks);
        last_rank[t] = UINT32_MAX;
    }
    for (unsigned i = 0; i < hops * tokens; i++) { /* each token in its turn: each has as many hops */
        hop_t hop = {.number = step << 16 | (i / tokens),
                     .token = i % tokens,
                     .holder = holder[i % tokens],
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

/* finds out what is held after one step more */
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

    relay_go_back(relay, steps);
    while (relay->known < steps) {
        TRY(relay_forward(relay));
    }
    for (hop.token = 0; hop.token < RELAY_TOKENS; hop.token++) {
        for (unsigned slot = 0; slot < RELAY_SLOTS; slot++) {
            TRY(relay_compare(relay, &hop, relay->host->rank, slot, relay->area->slot[hop.token][slot]));
        }
    }
    return KEEL_OK;
}
