/* Receives arrivals and marks. */
#include "peer/arrival_receive.h"
#include "peer/usage.h"

#include "check/plant.h"

void keel_arrival_receive_mark(keel_lane_t *lane, const keel_wire_t *wire)
{
    keel_board_set(&lane->board[wire->source].own_open, wire->body.mark.own_open);
}

void keel_arrival_receive(keel_lane_t *lane, const keel_wire_t *wire)
{
    /* keel_arrive() */
    const uint64_t rollback_and_incarnation = wire->body.arrive.arrive & ~(uint64_t)UINT32_MAX;
    const uint32_t number = (uint32_t)wire->body.arrive.arrive;
    const uint64_t flags = (number & 1) ? wire->body.arrive.odd_flags : wire->body.arrive.even_flags;
    const keel_usage_t usage = keel_usage_unpack(wire->body.arrive.usage, number);
    keel_board_slot_t *slot = &lane->board[wire->source];
    keel_peer_t *peer = &lane->peers[wire->source];

    if (wire->flags & KEEL_WIRE_FLAG_PUT) {
        /* one-sided puts are not in the digest, so the digest is not complete */
        peer->digest = (keel_digest_t){0};
    } else if (peer->digest.records == peer->done &&
               (keel_arrive_call(flags) != KEEL_ARRIVE_CALL_STOP || KEEL_PLANT(arrival_receive_stop_ends_phase))) {
        keel_digest_end(&peer->digest, number);
    }
    keel_usage_store(slot, &usage);
    keel_board_set(&slot->flags[0], wire->body.arrive.even_flags);
    keel_board_set(&slot->flags[1], wire->body.arrive.odd_flags);
    /* The get log may have set a later phase, which the source does not know of. */
    if (slot->lost_gets < wire->body.arrive.lost_gets || KEEL_PLANT(arrival_receive_lost_gets_taken_back)) {
        keel_board_set(&slot->lost_gets, wire->body.arrive.lost_gets);
    }
    keel_board_set(&slot->parity_done, wire->body.arrive.parity_done);
    keel_board_set(&slot->committed, wire->body.arrive.committed);
    keel_store_word_release(&slot->image_copied, (wire->body.arrive.image_copied != 0)
                                                     ? rollback_and_incarnation | wire->body.arrive.image_copied
                                                     : 0);
    keel_store_word_release(&slot->arrive, wire->body.arrive.arrive);
}
