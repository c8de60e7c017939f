/*
 * Piggybacked values. If a target dies, its reply to a fetching atomic may be lost, while another
 * rank may have found the effect of that atomic. So each reply piggybacks the values found at the
 * same word by others and not confirmed by them.
 *
 * Safety (protocol/awaited.md). The service side applies an atomic, keeps the value found,
 * and replies, under one lock. So a later reply about the word has all earlier unconfirmed values,
 * or says that some are missing. Each request of a source confirms replies up to a serial, and no
 * fetch with a pending reply is below that serial. A rank keeps the newest piggybacked value of
 * each source: a source that awaits a value has no later fetch, or the value counts as unknown
 * (recovery/view).
 */
#ifndef KEEL_PEER_PIGGYBACK_H_
#define KEEL_PEER_PIGGYBACK_H_

#include "wire/record.h"
#include "wire/wire.h"

#define KEEL_PIGGYBACK_MAX   4u  /* with a reply */
#define KEEL_PIGGYBACK_WORDS 64u /* hash buckets of words */

struct keel_lane;
struct keel_peer;

/* a value of another rank, piggybacked to this one */
typedef struct keel_piggybacked {
    uint32_t incarnation, serial; /* 0: no value */
    uint32_t clock;
    uint32_t reserved;
    uint64_t old;
} keel_piggybacked_t;

/* fetches of this rank */
typedef struct keel_fetches {
    uint32_t serial;   /* of the last fetch */
    uint32_t rank;     /* target of the last fetch */
    uint32_t open;     /* number of fetches under way */
    uint32_t answered; /* no fetch up to that serial is under way */
} keel_fetches_t;

/* values found here at words of one bucket */
typedef struct keel_piggyback_word {
    uint64_t word[KEEL_PIGGYBACK_MAX];
    keel_wire_piggyback_t found[KEEL_PIGGYBACK_MAX]; /* serial 0: none */
    uint32_t missing;                                /* last phase without room for a value, + 1 */
} keel_piggyback_word_t;

typedef struct keel_piggyback {
    keel_piggyback_word_t words[KEEL_PIGGYBACK_WORDS];
} keel_piggyback_t;

/*
 * Service side, with the lane's lock: the request has found @a fetched at @a where. Keeps the
 * value, writes the unconfirmed values of others to @a data (room for KEEL_PIGGYBACK_MAX) behind
 * it, counts them in the reply's body, and returns their bytes.
 */
size_t keel_piggyback_add(struct keel_lane *lane, const keel_wire_t *request, uint64_t where,
                          const keel_fetched_t *fetched, keel_wire_body_t *body, void *data);
/* Source: takes the values behind the reply's own value of @a length bytes. */
void keel_piggyback_take(struct keel_lane *lane, struct keel_peer *peer, const keel_wire_t *wire, const void *data,
                         size_t length);
/* True if the message has as many values behind its own one of @a length bytes as it says. */
int keel_piggyback_fits(const keel_wire_t *wire, size_t length);
/* Begin: returns the serial of a new fetch. End: the fetch has ended, or its target died. */
uint32_t keel_piggyback_fetch_begin(struct keel_lane *lane, uint32_t rank);
void keel_piggyback_fetch_end(struct keel_lane *lane);
/* The newest piggybacked value of @a rank, NULL if none is here. */
const keel_piggybacked_t *keel_piggyback_of(const struct keel_lane *lane, uint32_t rank);

#endif
