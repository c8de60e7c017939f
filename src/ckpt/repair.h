/*
 * What a group does about members that were lost: all know from the decision who has what of the generation in use; who
 * lost its image or share computes it from those that have theirs, on its own: of several that were lost together, none
 * waits for another. Nobody reads what a member is still rebuilding, because until the next decision or generation it
 * counts as not there.
 */
#ifndef KEEL_CKPT_REPAIR_H_
#define KEEL_CKPT_REPAIR_H_

#include "ckpt/coordinated.h"

/* a member died: what is computed from its memory is given up until the decision; what it said is void */
void keel_ckpt_member_down(keel_ckpt_t *ckpt, uint32_t rank);
/* from a decision: what a rank has of the generation in use, KEEL_PARITY_HAS_*; only those of the own group count */
void keel_ckpt_member_has(keel_ckpt_t *ckpt, uint32_t rank, unsigned has);
/* begins to compute the own share of a slot from members that have theirs; @a before may be NULL */
keel_status_t keel_ckpt_share(keel_ckpt_t *ckpt, unsigned slot, const uint8_t *has, const keel_parity_before_t *before);

/* survivors: tells a group member's replacement the sizes of the generation in use */
keel_status_t keel_ckpt_send_group(keel_ckpt_t *ckpt, uint32_t rank);
void keel_ckpt_receive_group(keel_ckpt_t *ckpt, const keel_control_in_t *in);
/* replacement: all members that have an image of @a generation have told */
int keel_ckpt_knows_group(const keel_ckpt_t *ckpt, uint32_t generation);
keel_status_t keel_ckpt_rebuild_begin(keel_ckpt_t *ckpt, const keel_generation_t *generation, unsigned slot);
/* the program's start has no image: what was rebuilt before is given up */
void keel_ckpt_rebuild_nothing(keel_ckpt_t *ckpt);
/* KEEL_INPROGRESS, then KEEL_OK with the image in its slot, checked */
keel_status_t keel_ckpt_rebuild_step(keel_ckpt_t *ckpt);
/* who has no share of the generation in use begins to compute it; keel_ckpt_step() goes on, is_armed tells */
keel_status_t keel_ckpt_rearm(keel_ckpt_t *ckpt);

#endif
