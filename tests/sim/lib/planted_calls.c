/* Planted defects that no condition of shipped code expresses. */
#include "planted_calls.h"

#include "check/plant.h"
#include "engine/context.h"
#include "epoch/wait.h"
#include "oplog/get_log_replay.h"
#include "order/flush.h"
#include "peer/access.h"
#include "peer/arrival.h"
#include "peer/lockword.h"
#include "peer/served.h"
#include "peer/store.h"
#include "recovery/recovery.h"
#include "rma/put_record.h"
#include "sync/replay.h"
#include "window/win_attached.h"
#include "window/window.h"

#include <keel/keel.h>
#include <string.h>

void keel_planted_arrival_stored_first(keel_board_slot_t *target, const keel_board_slot_t *source)
{
    keel_store_word_release(&target->arrive, source->arrive);
}

void keel_planted_fetch_own_late(keel_context_h ctx, uint32_t clock)
{
    (void)keel_wait_replay_until(ctx, clock);
}

void keel_planted_get_live(keel_win_h win, uint32_t rank, uint64_t offset, char *buffer, size_t length)
{
    const char *now = keel_access_at(&win->ctx->lane, rank, win->region);

    if (now != NULL && win->ctx->lane.peers[rank].mode == KEEL_PEER_LIVE && length > 0) {
        memcpy(buffer, now + offset, length);
    }
}

void keel_planted_get_blocks_live(keel_win_h win, uint32_t rank, const keel_gather_t *gather, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const keel_block_t block = keel_gather_block(gather, i);

        keel_planted_get_live(win, rank, block.offset, block.buffer, block.length);
    }
}

void keel_planted_hand_over_arrival_first(keel_lane_t *lane, uint32_t rank, uint32_t number)
{
    (void)keel_arrival_send(lane, rank, number);
}

void keel_planted_hand_over_reordered(keel_lane_t *lane, uint32_t rank, const keel_record_t *records, size_t length)
{
    keel_records_t run = keel_records_of(records, length);
    const keel_record_t *record;

    while ((record = keel_records_next(&run)) != NULL) {
        if (keel_where_op(record->where) == KEEL_RECORD_PUT) {
            keel_store_bytes(keel_access_at(lane, rank, keel_where_region(record->where)) +
                                 keel_where_offset(record->where),
                             record + 1, record->length);
            return;
        }
    }
}

void keel_planted_hand_over_twice(keel_recovery_t *rec, uint32_t rank, uint32_t phase,
                                  keel_status_t (*run)(void *arg, const keel_record_t *records, size_t length),
                                  void *arg)
{
    uint64_t count = 0;

    (void)keel_put_log_for_phase(rec->puts, rank, phase, rec->lane->ops->max_data, run, arg, &count);
}

void keel_planted_lock_doubt_cleared(keel_board_slot_t *slot)
{
    keel_board_set(&slot->atomics, 0);
}

void keel_planted_peer_disconnect_late(keel_lane_t *lane, uint32_t rank)
{
    lane->ops->disconnect(lane->transport, rank);
}

void keel_planted_position_refill_last(keel_recovery_t *rec, uint32_t rank)
{
    (void)keel_get_log_refill(rec->gets, rank);
}

void keel_planted_put_record_parts_closed_early(const keel_put_record_t *put, keel_board_slot_t *slot, int has_number,
                                                uint64_t word)
{
    if (put->data == NULL && has_number) {
        keel_store_word_release(&slot->done, word);
    }
}

void keel_planted_put_signal_first(keel_win_h win, uint32_t rank, const keel_signal_t *signal)
{
    const keel_status_t status =
        (signal->op == KEEL_SIGNAL_ADD)
            ? keel_atomic(win, KEEL_ATOMIC_ADD, rank, signal->offset, sizeof(signal->value), signal->value, 0, NULL)
            : keel_put(win, rank, signal->offset, &signal->value, sizeof(signal->value));

    if (status == KEEL_OK) {
        (void)keel_flush_one(win->ctx, rank);
    }
}

void keel_planted_replay_section_reordered(keel_lane_t *lane, const keel_replay_part_t *piece)
{
    keel_records_t run = keel_records_of(piece->records, piece->length);
    const keel_record_t *record;

    while ((record = keel_records_next(&run)) != NULL) {
        if (keel_where_op(record->where) == KEEL_RECORD_PUT) {
            (void)keel_lane_apply_record(lane, record, record + 1);
            return;
        }
    }
}

void keel_planted_trim_own_by_demand(keel_recovery_t *rec, uint32_t position)
{
    for (uint32_t r = 0; r < rec->lane->size; r++) {
        keel_put_log_trim_image(rec->puts, r, position, rec->phase);
    }
}

void keel_planted_view_lock_released(keel_lane_t *lane, uint32_t rank)
{
    const keel_locker_t dead = {.rank = rank, .ranks = lane->size};

    keel_lock_release(keel_lane_locks(lane), &dead);
}

void keel_planted_win_attach_again(keel_win_h win, const keel_attached_t *piece, const char *memory)
{
    memcpy((char *)win->base + piece->offset, memory, piece->bytes);
}
