/* What others say of themselves by messages. */
#include "peer/told.h"

#include "peer/store.h"

void keel_told_mark(keel_lane_t *lane, const keel_wire_t *wire)
{
    keel_board_slot_t *slot = &lane->board[wire->source];
    const uint32_t phase = wire->body.mark.phase;

    if (wire->flags & KEEL_WIRE_FLAG_ATOMICS) {
        keel_board_mark(slot, phase, (wire->flags & KEEL_WIRE_FLAG_DOUBT) != 0);
    } else if (wire->flags & KEEL_WIRE_FLAG_WAITS) {
        keel_board_set(&slot->waits, (uint64_t)phase + 2);
    } else if (wire->flags & (KEEL_WIRE_FLAG_OPEN | KEEL_WIRE_FLAG_CLOSED)) {
        keel_board_set(&slot->own_open, (wire->flags & KEEL_WIRE_FLAG_OPEN) ? (uint64_t)phase + 1 : 0);
    }
}

void keel_told_arrive(keel_lane_t *lane, const keel_wire_t *wire)
{
    keel_board_slot_t *slot = &lane->board[wire->source];
    keel_peer_t *peer = &lane->peers[wire->source];

    if (wire->flags & KEEL_WIRE_FLAG_PUT) {
        peer->digest = (keel_digest_t){0}; /* it is not of all */
    } else if (peer->digest.records == peer->done) {
        keel_digest_end(&peer->digest, (uint32_t)wire->body.arrive.arrive);
    }
    keel_board_set(&slot->flags[0], wire->body.arrive.even_flags);
    keel_board_set(&slot->flags[1], wire->body.arrive.odd_flags);
    if (slot->lost_gets < wire->body.arrive.lost_gets) { /* may also have been set here, by the get log */
        keel_board_set(&slot->lost_gets, wire->body.arrive.lost_gets);
    }
    keel_board_set(&slot->parity_done, wire->body.arrive.parity_done);
    keel_board_set(&slot->committed, wire->body.arrive.committed);
    keel_store_word_release(&slot->second, wire->body.arrive.second);
    keel_store_word_release(&slot->arrive, wire->body.arrive.arrive);
}
