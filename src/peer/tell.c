/* Words of this process on the boards of others. */
#include "peer/tell.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "peer/remote_put.h"

#include "check/plant.h"

static keel_status_t lane_send_mark(keel_lane_t *lane, uint32_t rank, uint32_t phase, unsigned flags)
{
    keel_wire_t wire = {.type = KEEL_WIRE_MARK, .flags = (uint16_t)flags, .body.mark = {phase}};

    return keel_lane_request(lane, rank, &wire, NULL, 0);
}

keel_status_t keel_lane_tell_kinds(keel_lane_t *lane, uint32_t rank, const keel_kinds_t *kinds)
{
    keel_board_slot_t *slot = keel_access_slot(lane, rank);
    keel_wire_t wire = {.type = KEEL_WIRE_USAGE,
                        .body.usage = {kinds->classes, kinds->fetched, kinds->in_doubt, kinds->begun, kinds->waits}};

    if (slot == NULL) {
        return keel_lane_request(lane, rank, &wire, NULL, 0);
    }
    keel_board_tell(slot, kinds);
    return KEEL_OK;
}

void keel_lane_say_kinds(keel_lane_t *lane, const keel_kinds_t *kinds)
{
    lane->kinds = *kinds;
    keel_board_tell(&lane->board[lane->rank], kinds);
}

keel_status_t keel_lane_open_own(keel_lane_t *lane, uint32_t rank, uint32_t phase)
{
    keel_board_slot_t *slot = keel_access_slot(lane, rank);

    if (slot == NULL) {
        return lane_send_mark(lane, rank, phase, KEEL_WIRE_FLAG_OPEN);
    }
    keel_board_set(&slot->own_open, (uint64_t)phase + 1);
    keel_store_fence();
    return KEEL_OK;
}

keel_status_t keel_lane_close_own(keel_lane_t *lane, uint32_t rank, uint32_t phase)
{
    keel_board_slot_t *slot = keel_access_slot(lane, rank);

    if (slot == NULL) {
        return lane_send_mark(lane, rank, phase, KEEL_WIRE_FLAG_CLOSED);
    }
    keel_store_word_release(&slot->own_open, 0);
    return KEEL_OK;
}

static void board_store(keel_board_slot_t *target, const keel_board_slot_t *source, const keel_kinds_t *kinds)
{
    if ((kinds->classes | kinds->waits) != 0 && !KEEL_PLANT(arrival_untold)) {
        keel_board_tell(target, kinds);
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

/* all of it in the header, so that no buffer has to outlive the call */
keel_wire_body_t keel_lane_arrive_body(const keel_board_slot_t *slot)
{
    return (keel_wire_body_t){.arrive = {.arrive = slot->arrive,
                                         .second = (uint32_t)slot->second,
                                         .parity_done = slot->parity_done,
                                         .even_flags = (uint16_t)slot->flags[0],
                                         .odd_flags = (uint16_t)slot->flags[1],
                                         .committed = (uint32_t)slot->committed,
                                         .lost_gets = (uint32_t)slot->lost_gets}};
}

keel_status_t keel_lane_board_post(keel_lane_t *lane, uint32_t rank, uint32_t arrive)
{
    keel_board_slot_t *board = keel_access_slot(lane, rank);
    keel_board_slot_t slot = lane->slot;
    keel_wire_t wire = {.type = KEEL_WIRE_ARRIVE};

    slot.arrive = keel_arrive(lane->rollback, lane->incarnation, arrive);
    if (board != NULL) {
        board_store(board, &slot, &lane->kinds);
        return KEEL_OK;
    }
    wire.flags = keel_remote_has_put(lane, rank, arrive) ? KEEL_WIRE_FLAG_PUT : 0;
    wire.body = keel_lane_arrive_body(&slot);
    if (!KEEL_PLANT(arrival_untold)) {
        wire.flags |= (lane->kinds.fetched == arrive) ? KEEL_WIRE_FLAG_FETCHED : 0;
        wire.flags |= (lane->kinds.in_doubt == arrive && !KEEL_PLANT(tell_no_doubt)) ? KEEL_WIRE_FLAG_DOUBT : 0;
        wire.flags |= (lane->kinds.waits == arrive + 1 && !KEEL_PLANT(tell_no_waits)) ? KEEL_WIRE_FLAG_WAITS : 0;
        wire.body.arrive.classes = lane->kinds.classes;
    }
    return keel_lane_request(lane, rank, &wire, NULL, 0);
}

keel_status_t keel_lane_board_send(keel_lane_t *lane, uint32_t rank, uint32_t arrive)
{
    const keel_status_t status = keel_lane_board_post(lane, rank, arrive);

    keel_store_fence();
    keel_lane_ring(lane, rank);
    return status;
}
