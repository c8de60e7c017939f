/* What others say of themselves by messages. */
#include "peer/told.h"

#include "check/plant.h"
#include "peer/store.h"

void keel_told_mark(keel_lane_t *lane, const keel_wire_t *wire)
{
    keel_board_slot_t *slot = &lane->board[wire->source];
    const uint32_t phase = wire->body.mark.phase;

    if (wire->flags & (KEEL_WIRE_FLAG_OPEN | KEEL_WIRE_FLAG_CLOSED)) {
        keel_board_set(&slot->own_open, (wire->flags & KEEL_WIRE_FLAG_OPEN) ? (uint64_t)phase + 1 : 0);
    }
}

void keel_told_kinds(keel_lane_t *lane, const keel_wire_t *wire)
{
    const keel_kinds_t kinds = {.classes = wire->body.usage.classes,
                                .fetched = wire->body.usage.fetched,
                                .in_doubt = wire->body.usage.in_doubt,
                                .begun = wire->body.usage.begun,
                                .waits = wire->body.usage.waits};

    keel_board_tell(&lane->board[wire->source], &kinds);
}

void keel_told_arrive(keel_lane_t *lane, const keel_wire_t *wire)
{
    const uint64_t epoch =
        wire->body.arrive.arrive & ~(uint64_t)UINT32_MAX; /* rollback and incarnation (keel_arrive()) */
    const uint32_t number = (uint32_t)wire->body.arrive.arrive;
    const uint64_t flags = (number & 1) ? wire->body.arrive.odd_flags : wire->body.arrive.even_flags;
    const keel_kinds_t kinds = {.classes = wire->body.arrive.classes,
                                .fetched = (wire->flags & KEEL_WIRE_FLAG_FETCHED) ? number : 0,
                                .in_doubt = (wire->flags & KEEL_WIRE_FLAG_DOUBT) ? number : 0,
                                .waits = (wire->flags & KEEL_WIRE_FLAG_WAITS) ? number + 1 : 0};
    keel_board_slot_t *slot = &lane->board[wire->source];
    keel_peer_t *peer = &lane->peers[wire->source];

    if (wire->flags & KEEL_WIRE_FLAG_PUT) {
        peer->digest = (keel_digest_t){0}; /* it is not of all */
    } else if (peer->digest.records == peer->done &&
               (keel_arrive_call(flags) != KEEL_ARRIVE_CALL_STOP || KEEL_PLANT(stop_ends_phase))) {
        keel_digest_end(&peer->digest, number);
    }
    keel_board_tell(slot, &kinds);
    keel_board_set(&slot->flags[0], wire->body.arrive.even_flags);
    keel_board_set(&slot->flags[1], wire->body.arrive.odd_flags);
    /* The get log may have set a later phase, which the source does not know of. */
    if (slot->lost_gets < wire->body.arrive.lost_gets || KEEL_PLANT(told_lost_gets_overwritten)) {
        keel_board_set(&slot->lost_gets, wire->body.arrive.lost_gets);
    }
    keel_board_set(&slot->parity_done, wire->body.arrive.parity_done);
    keel_board_set(&slot->committed, wire->body.arrive.committed);
    keel_store_word_release(&slot->second, (wire->body.arrive.second != 0) ? epoch | wire->body.arrive.second : 0);
    keel_store_word_release(&slot->arrive, wire->body.arrive.arrive);
}
