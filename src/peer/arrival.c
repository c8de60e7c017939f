/* Sends arrivals and marks. */
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

static void arrival_store(keel_board_slot_t *target, const keel_board_slot_t *source, const keel_usage_t *usage)
{
    if ((usage->classes | usage->waits) != 0 && !KEEL_PLANT(arrival_without_usage)) {
        keel_usage_store(target, usage);
    }
    KEEL_PLANT_CALL(arrival_stored_first, target, source);
    keel_board_set(&target->flags[0], source->flags[0]);
    keel_board_set(&target->flags[1], source->flags[1]);
    keel_board_set(&target->parity_done, source->parity_done);
    keel_board_set(&target->committed, source->committed);
    if (!KEEL_PLANT(arrival_lost_gets_left_out)) {
        keel_board_set(&target->lost_gets, source->lost_gets);
    }
    keel_store_word_release(&target->image_copied, source->image_copied);
    keel_store_word_release(&target->arrive, source->arrive);
}

/* All words are in the header, so no buffer has to outlive the call. */
keel_wire_body_t keel_arrival_body(const keel_board_slot_t *slot)
{
    return (keel_wire_body_t){.arrive = {.arrive = slot->arrive,
                                         .image_copied = (uint32_t)slot->image_copied,
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
    if (!KEEL_PLANT(arrival_without_usage)) {
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
