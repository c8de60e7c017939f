/* Arrivals and marks, sent and received. */
#include "peer/arrival.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "peer/remote_put.h"

#include "check/plant.h"

/* @a own_open: the value of the slot's word */
static keel_status_t send_mark(keel_lane_t *lane, uint32_t rank, uint64_t own_open)
{
    keel_wire_t wire = {.type = KEEL_WIRE_MARK, .body.mark = {(uint32_t)own_open}};

    return keel_lane_request(lane, rank, &wire, NULL, 0);
}

keel_status_t keel_arrival_open_own(keel_lane_t *lane, uint32_t rank, uint32_t phase)
{
    keel_board_slot_t *slot = keel_access_slot(lane, rank);

    if (slot == NULL) {
        return send_mark(lane, rank, (uint64_t)phase + 1);
    }
    keel_board_set(&slot->own_open, (uint64_t)phase + 1);
    keel_store_fence();
    return KEEL_OK;
}

keel_status_t keel_arrival_close_own(keel_lane_t *lane, uint32_t rank)
{
    keel_board_slot_t *slot = keel_access_slot(lane, rank);

    if (slot == NULL) {
        return send_mark(lane, rank, 0);
    }
    keel_store_word_release(&slot->own_open, 0);
    return KEEL_OK;
}

void keel_arrival_receive_mark(keel_lane_t *lane, const keel_wire_t *wire)
{
    keel_board_set(&lane->board[wire->source].own_open, wire->body.mark.own_open);
}

static void arrival_store(keel_board_slot_t *target, const keel_board_slot_t *source, const keel_usage_t *usage)
{
    if ((usage->classes | usage->waits) != 0 && !KEEL_PLANT(arrival_untold)) {
        keel_usage_store(target, usage);
    }
    if (KEEL_PLANT(arrive_first)) {
        keel_store_word_release(&target->arrive, source->arrive);
    }
    keel_board_set(&target->flags[0], source->flags[0]);
    keel_board_set(&target->flags[1], source->flags[1]);
    keel_board_set(&target->parity_done, source->parity_done);
    keel_board_set(&target->committed, source->committed);
    if (!KEEL_PLANT(tell_no_lost_gets)) {
        keel_board_set(&target->lost_gets, source->lost_gets);
    }
    keel_store_word_release(&target->second, source->second);
    keel_store_word_release(&target->arrive, source->arrive);
}

/* All words are in the header, so no buffer has to outlive the call. */
keel_wire_body_t keel_arrival_body(const keel_board_slot_t *slot)
{
    return (keel_wire_body_t){.arrive = {.arrive = slot->arrive,
                                         .second = (uint32_t)slot->second,
                                         .parity_done = slot->parity_done,
                                         .even_flags = (uint16_t)slot->flags[0],
                                         .odd_flags = (uint16_t)slot->flags[1],
                                         .committed = (uint32_t)slot->committed,
                                         .lost_gets = (uint32_t)slot->lost_gets}};
}

keel_status_t keel_arrival_post(keel_lane_t *lane, uint32_t rank, uint32_t number)
{
    keel_board_slot_t *board = keel_access_slot(lane, rank);
    keel_board_slot_t slot = lane->slot;
    keel_wire_t wire = {.type = KEEL_WIRE_ARRIVE};

    slot.arrive = keel_arrive(lane->rollback, lane->incarnation, number);
    if (board != NULL) {
        arrival_store(board, &slot, &lane->usage);
        return KEEL_OK;
    }
    wire.flags = keel_remote_has_put(lane, rank, number) ? KEEL_WIRE_FLAG_PUT : 0;
    wire.body = keel_arrival_body(&slot);
    if (!KEEL_PLANT(arrival_untold)) {
        wire.body.arrive.usage = keel_usage_pack(&lane->usage, number);
    }
    return keel_lane_request(lane, rank, &wire, NULL, 0);
}

keel_status_t keel_arrival_send(keel_lane_t *lane, uint32_t rank, uint32_t number)
{
    const keel_status_t status = keel_arrival_post(lane, rank, number);

    keel_store_fence();
    keel_lane_ring(lane, rank);
    return status;
}

void keel_arrival_receive(keel_lane_t *lane, const keel_wire_t *wire)
{
    /* rollback number and incarnation (keel_arrive()) */
    const uint64_t epoch = wire->body.arrive.arrive & ~(uint64_t)UINT32_MAX;
    const uint32_t number = (uint32_t)wire->body.arrive.arrive;
    const uint64_t flags = (number & 1) ? wire->body.arrive.odd_flags : wire->body.arrive.even_flags;
    const keel_usage_t usage = keel_usage_unpack(wire->body.arrive.usage, number);
    keel_board_slot_t *slot = &lane->board[wire->source];
    keel_peer_t *peer = &lane->peers[wire->source];

    if (wire->flags & KEEL_WIRE_FLAG_PUT) {
        /* one-sided puts are not in the digest, so the digest is not complete */
        peer->digest = (keel_digest_t){0};
    } else if (peer->digest.records == peer->done &&
               (keel_arrive_call(flags) != KEEL_ARRIVE_CALL_STOP || KEEL_PLANT(stop_ends_phase))) {
        keel_digest_end(&peer->digest, number);
    }
    keel_usage_store(slot, &usage);
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
