/* Piggybacked values: fetched here, and possibly unknown to their sources. */
#include "peer/piggyback.h"
#include "peer/peer.h"

#include "check/plant.h"

#include <string.h>

static keel_piggyback_word_t *piggyback_word(keel_lane_t *lane, uint64_t word)
{
    return &lane->carrier->words[(word * 0x9e3779b97f4a7c15u) >> 58];
}

/* True if the source has the value, or is dead. */
static int is_confirmed(const keel_lane_t *lane, const keel_wire_piggyback_t *found)
{
    const keel_peer_t *peer = &lane->peers[found->source];

    return found->serial == 0 || found->incarnation != peer->accepted || !peer->is_accepted ||
           (int32_t)(peer->answered - found->serial) >= 0;
}

/*
 * A place for a value of @a source: the place of its last value at the word, or of a confirmed
 * value.
 */
static uint32_t piggyback_place(const keel_lane_t *lane, const keel_piggyback_word_t *at, uint64_t word,
                                uint32_t source)
{
    uint32_t place = KEEL_PIGGYBACK_MAX;

    for (uint32_t i = 0; i < KEEL_PIGGYBACK_MAX; i++) {
        if (at->found[i].serial != 0 && at->found[i].source == source && at->word[i] == word) {
            return i;
        }
        place = is_confirmed(lane, &at->found[i]) ? i : place;
    }
    return place;
}

static void piggyback_keep(keel_lane_t *lane, keel_piggyback_word_t *at, const keel_wire_t *request, uint64_t word,
                           const keel_fetched_t *fetched)
{
    uint32_t place = piggyback_place(lane, at, word, request->source);

    if (place == KEEL_PIGGYBACK_MAX) {
        at->missing = keel_larger(at->missing, request->body.atomic.access.phase + 1);
        place = request->sequence % KEEL_PIGGYBACK_MAX;
    }
    at->word[place] = word;
    at->found[place] = (keel_wire_piggyback_t){.source = request->source,
                                               .incarnation = request->source_incarnation,
                                               .serial = request->body.atomic.serial,
                                               .clock = (uint32_t)fetched->clock,
                                               .old = fetched->old};
}

size_t keel_piggyback_add(keel_lane_t *lane, const keel_wire_t *request, uint64_t where, const keel_fetched_t *fetched,
                          keel_wire_body_t *body, void *data)
{
    const uint64_t word = where & ~(uint64_t)7;
    keel_piggyback_word_t *at = piggyback_word(lane, word);

    for (uint32_t i = 0; i < KEEL_PIGGYBACK_MAX && !KEEL_PLANT(piggyback_left_out); i++) {
        if (at->word[i] == word && at->found[i].source != request->source && !is_confirmed(lane, &at->found[i])) {
            memcpy((char *)data + body->reply.piggybacked++ * sizeof(keel_wire_piggyback_t), &at->found[i],
                   sizeof(keel_wire_piggyback_t));
        }
    }
    body->reply.missing = at->missing;
    piggyback_keep(lane, at, request, word, fetched);
    return body->reply.piggybacked * sizeof(keel_wire_piggyback_t);
}

int keel_piggyback_fits(const keel_wire_t *wire, size_t length)
{
    const uint32_t carried = wire->body.reply.piggybacked;

    return carried <= KEEL_PIGGYBACK_MAX && wire->length == length + carried * sizeof(keel_wire_piggyback_t);
}

void keel_piggyback_take(keel_lane_t *lane, keel_peer_t *peer, const keel_wire_t *wire, const void *data, size_t length)
{
    for (uint32_t i = 0; i < wire->body.reply.piggybacked; i++) {
        keel_wire_piggyback_t found;
        keel_piggybacked_t *of;

        memcpy(&found, (const char *)data + length + i * sizeof(found), sizeof(found));
        if (found.source >= lane->size) {
            continue;
        }
        of = &lane->peers[found.source].carried;
        if (of->serial == 0 || found.incarnation > of->incarnation ||
            (found.incarnation == of->incarnation && (int32_t)(found.serial - of->serial) > 0)) {
            *of = (keel_piggybacked_t){
                .incarnation = found.incarnation, .serial = found.serial, .clock = found.clock, .old = found.old};
        }
    }
    peer->missing = keel_larger(peer->missing, wire->body.reply.missing);
}

uint32_t keel_piggyback_fetch_begin(keel_lane_t *lane, uint32_t rank)
{
    keel_fetches_t *fetches = &lane->fetches;

    fetches->serial += (fetches->serial == UINT32_MAX) ? 2 : 1; /* 0 is no serial */
    fetches->rank = rank;
    fetches->open++;
    fetches->answered = KEEL_PLANT(piggyback_confirmed_early) ? fetches->serial : fetches->answered;
    return fetches->serial;
}

void keel_piggyback_fetch_end(keel_lane_t *lane)
{
    keel_fetches_t *fetches = &lane->fetches;

    fetches->open--;
    if (fetches->open == 0) {
        fetches->answered = fetches->serial;
    }
}

const keel_piggybacked_t *keel_piggyback_of(const keel_lane_t *lane, uint32_t rank)
{
    const keel_piggybacked_t *of = &lane->peers[rank].carried;

    return (of->serial != 0 && of->incarnation == lane->peers[rank].incarnation) ? of : NULL;
}
