/*
 * Planted defects that no condition of shipped code expresses (KEEL_PLANT_CALL of check/plant.h).
 * The copy of the layers with planted defects includes this header first.
 */
#ifndef KEEL_SIM_PLANTED_CALLS_H_
#define KEEL_SIM_PLANTED_CALLS_H_

#define _GNU_SOURCE /* for files/writer.c: a later definition has no effect */

#include "keel/status.h"

#include <stddef.h>
#include <stdint.h>

struct keel_attached;
struct keel_board_slot;
struct keel_context;
struct keel_gather;
struct keel_lane;
struct keel_put_record;
struct keel_record;
struct keel_recovery;
struct keel_replay_part;
struct keel_signal;
struct keel_win;

/* stores the arrival before the words that the arrival vouches for */
void keel_planted_arrival_stored_first(struct keel_board_slot *target, const struct keel_board_slot *source);
/* repeats the fetch from own memory after the puts under its clock */
void keel_planted_fetch_own_late(struct keel_context *ctx, uint32_t clock);
/* gets again, from a live rank on mapped memory, after the record was applied */
void keel_planted_get_live(struct keel_win *win, uint32_t rank, uint64_t offset, char *buffer, size_t length);
/* the same for blocks [first, end) */
void keel_planted_get_blocks_live(struct keel_win *win, uint32_t rank, const struct keel_gather *gather, size_t first,
                                  size_t end);
/* announces the arrival before the records */
void keel_planted_hand_over_arrival_first(struct keel_lane *lane, uint32_t rank, uint32_t number);
/* stores the first put of the run again, after the others */
void keel_planted_hand_over_reordered(struct keel_lane *lane, uint32_t rank, const struct keel_record *records,
                                      size_t length);
/* hands the records of the phase over a second time */
void keel_planted_hand_over_twice(struct keel_recovery *rec, uint32_t rank, uint32_t phase,
                                  keel_status_t (*run)(void *arg, const struct keel_record *records, size_t length),
                                  void *arg);
/* clears the doubt about atomics while the lock is still held */
void keel_planted_lock_doubt_cleared(struct keel_board_slot *slot);
/* disconnects a dead incarnation when the next one is met */
void keel_planted_peer_disconnect_late(struct keel_lane *lane, uint32_t rank);
/* fills the replacement's get log after the records that overwrite the values read */
void keel_planted_position_refill_last(struct keel_recovery *rec, uint32_t rank);
/* closes the number of a put of several blocks before the stores */
void keel_planted_put_record_parts_closed_early(const struct keel_put_record *put, struct keel_board_slot *slot,
                                                int has_number, uint64_t word);
/* sends the signal before the data */
void keel_planted_put_signal_first(struct keel_win *win, uint32_t rank, const struct keel_signal *signal);
/* replays the first put of a piece again, after the others */
void keel_planted_replay_section_reordered(struct keel_lane *lane, const struct keel_replay_part *piece);
/* trims the put logs to all ranks, which the images of those ranks are to cover */
void keel_planted_trim_own_by_demand(struct keel_recovery *rec, uint32_t position);
/* releases a dead rank's lock, which the replacement is to inherit */
void keel_planted_view_lock_released(struct keel_lane *lane, uint32_t rank);
/* copies the present contents of memory that is attached again into the window */
void keel_planted_win_attach_again(struct keel_win *win, const struct keel_attached *piece, const char *memory);

#endif
