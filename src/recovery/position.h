/* Positions and the hand-over (protocol.md, A death). */
#ifndef KEEL_RECOVERY_POSITION_H_
#define KEEL_RECOVERY_POSITION_H_

#include "recovery/recovery.h"

/* announces the arrival at gsync @a number to all that are live */
keel_status_t keel_position_arrive(keel_recovery_t *rec, uint32_t number);
/* all have arrived at @a number or are beyond it, or the decision released it */
int keel_position_may_leave(keel_recovery_t *rec, uint32_t number);
int keel_position_is_released(const keel_recovery_t *rec, uint32_t number);
int keel_position_is_handed_over(const keel_recovery_t *rec);
int keel_position_lost_hand_over(const keel_recovery_t *rec, uint32_t rank);
/* a replacement at the front tells when all have handed over to it */
void keel_position_announce_complete(keel_recovery_t *rec);
/* a replacement, this process included, to which not all have handed over yet what they did in the front phase */
int keel_position_is_incomplete(const keel_recovery_t *rec, uint32_t rank);
/* an atomic there has to wait for them: its order matters */
int keel_position_blocks_atomic(const keel_recovery_t *rec, uint32_t rank, unsigned op, int fetches);
void keel_position_leave(keel_recovery_t *rec, uint32_t number);
/* says this process's position to all; a replacement does so at every step of its way */
void keel_position_announce(keel_recovery_t *rec);
void keel_position_receive(void *arg, const keel_control_in_t *in);
/* a replacement that has replayed its critical sections: live towards everybody, who has all that it logged, and is told */
void keel_position_go_live_caught_up(keel_recovery_t *rec);
/* whether what was done to @a rank cannot count as complete yet: it is dead, and others may not know and read its memory */
int keel_position_is_undecided(const keel_recovery_t *rec, uint32_t rank);
/* whether puts to @a rank have to wait: before a death is decided nothing is logged that may have to be replayed; afterwards
 * while it is held and nothing can be handed over to it */
int keel_position_blocks_puts(const keel_recovery_t *rec, uint32_t rank);
/* what has become of a rank, or was heard of it */
void keel_position_replay_event(keel_recovery_t *rec, uint32_t rank, keel_replay_event_t event);
void keel_position_complete_event(keel_recovery_t *rec, uint32_t rank, keel_complete_event_t event);
void keel_position_rank_died(keel_recovery_t *rec, uint32_t rank);
/* hands over to whom it is due and sets what accesses towards each peer do */
void keel_position_step(keel_recovery_t *rec);

#endif
