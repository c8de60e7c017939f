/* Positions and the progress of hand-overs (protocol/recovery.md). */
#ifndef KEEL_RECOVERY_POSITION_H_
#define KEEL_RECOVERY_POSITION_H_

#include "recovery/recovery.h"

/* Announces the arrival at gsync @a number to all live ranks. */
keel_status_t keel_position_arrive(keel_recovery_t *rec, uint32_t number);
/* True if all ranks have arrived at @a number or are beyond, or a decision released it. */
int keel_position_may_leave(keel_recovery_t *rec, uint32_t number);
int keel_position_is_released(const keel_recovery_t *rec, uint32_t number);
int keel_position_is_handed_over(const keel_recovery_t *rec);
int keel_position_lost_hand_over(const keel_recovery_t *rec, uint32_t rank);
/* In a replacement at the front: announces that all ranks have handed over to it. */
void keel_position_announce_complete(keel_recovery_t *rec);
/* True if @a rank is a replacement, or the process itself, and lacks hand-overs of the front
 * phase. */
int keel_position_is_incomplete(const keel_recovery_t *rec, uint32_t rank);
/* True if an atomic at @a rank has to wait for hand-overs, because its order matters. */
int keel_position_blocks_atomic(const keel_recovery_t *rec, uint32_t rank, unsigned op, int fetches);
void keel_position_leave(keel_recovery_t *rec, uint32_t number);
/* Announces the own position to all ranks; a replacement does so at every step of its way. */
void keel_position_announce(keel_recovery_t *rec);
void keel_position_receive(void *arg, const keel_control_in_t *in);
/* Ends the replay of critical sections: the process goes live towards all ranks, which have
 * everything in its logs, and tells them. */
void keel_position_go_live_caught_up(keel_recovery_t *rec);
/* True if accesses to @a rank cannot count as complete yet: the rank is dead, and other ranks
 * may not know and read its memory. */
int keel_position_is_undecided(const keel_recovery_t *rec, uint32_t rank);
/* True if puts to @a rank have to wait. Before the decision on a death no put is logged that may
 * have to be replayed; afterwards puts wait while the rank is held without a possible hand-over. */
int keel_position_blocks_puts(const keel_recovery_t *rec, uint32_t rank);
/* Events of another rank. */
void keel_position_replay_event(keel_recovery_t *rec, uint32_t rank, keel_replay_event_t event);
void keel_position_complete_event(keel_recovery_t *rec, uint32_t rank, keel_complete_event_t event);
void keel_position_rank_died(keel_recovery_t *rec, uint32_t rank);
/* Does hand-overs that are due, and sets the mode of accesses towards each peer. */
void keel_position_step(keel_recovery_t *rec);

#endif
