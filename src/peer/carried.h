/*
 * Values that were fetched and may not have been told: if the target dies, its answer to one is lost, and another may have found what that
 * one did. So each answer carries what others found at the same word before, and have not said that they have.
 *
 * Safety (protocol.md, Awaited values). The service side applies an atomic, keeps what it found, and answers, under one lock. So who is answered
 * about a word later is told all of it, or that some is missing. A source says with each request up to which of its fetches
 * it has been answered, and nothing that it awaits is below that. Who was told keeps the newest of each source: one that awaits a value has
 * fetched nothing after it, or it counts as not told (recovery/view).
 */
#ifndef KEEL_PEER_CARRIED_H_
#define KEEL_PEER_CARRIED_H_

#include "wire/record.h"
#include "wire/wire.h"

#define KEEL_CARRIED_MOST  4u  /* with an answer */
#define KEEL_CARRIED_WORDS 64u /* words that are told apart */

struct keel_lane;
struct keel_peer;

/* what of a process was carried here */
typedef struct keel_carried {
    uint32_t incarnation, serial; /* 0: nothing */
    uint32_t clock;
    uint32_t reserved;
    uint64_t old;
} keel_carried_t;

/* of this process */
typedef struct keel_fetches {
    uint32_t serial;   /* of the last one */
    uint32_t rank;     /* and its target */
    uint32_t open;     /* those under way */
    uint32_t answered; /* up to that serial none is */
} keel_fetches_t;

/* what was found here at words of one hash */
typedef struct keel_carrier_word {
    uint64_t word[KEEL_CARRIED_MOST];
    keel_wire_carried_t found[KEEL_CARRIED_MOST]; /* serial 0: none */
    uint32_t missing;                             /* 1 + the last phase in which there was no room for one */
} keel_carrier_word_t;

typedef struct keel_carrier {
    keel_carrier_word_t words[KEEL_CARRIED_WORDS];
} keel_carrier_t;

/* service side, under the lane's lock: @a fetched was found at @a where by the request; what others found there goes behind it, to @a data, which
 * has room for KEEL_CARRIED_MOST, and the answer's body says so; bytes of it */
size_t keel_carried_with(struct keel_lane *lane, const keel_wire_t *request, uint64_t where,
                         const keel_fetched_t *fetched, keel_wire_body_t *body, void *data);
/* the asker: what came behind the value, of @a length bytes */
void keel_carried_take(struct keel_lane *lane, struct keel_peer *peer, const keel_wire_t *wire, const void *data,
                       size_t length);
/* whether so many come behind a value of @a length bytes */
int keel_carried_fits(const keel_wire_t *wire, size_t length);
/* a fetch begins; it has ended, or its target died */
uint32_t keel_carried_begin(struct keel_lane *lane, uint32_t rank);
void keel_carried_end(struct keel_lane *lane);
/* of the newest fetch of @a rank, as it names it: what was found; NULL: nobody has carried it here */
const keel_carried_t *keel_carried_of(const struct keel_lane *lane, uint32_t rank);

#endif
