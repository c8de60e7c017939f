/*
 * What a group does about members that were lost: all know from the decision who has what of the set in use; who lost its
 * image or share computes it from those that have theirs, on its own: of several that were lost together, none waits for
 * another. Nobody reads what a member is still rebuilding, because until the next decision or set it counts as not there.
 */
#ifndef KEEL_CKPT_REPAIR_H_
#define KEEL_CKPT_REPAIR_H_

#include "ckpt/image_set.h"

/* a member died: what is computed from its memory is given up until the decision; what it said is void */
void keel_repair_member_down(keel_image_set_t *set, uint32_t rank);
/* from a decision: what a rank has of the set in use, KEEL_PARITY_HAS_*; only those of the own group count */
void keel_repair_member_has(keel_image_set_t *set, uint32_t rank, unsigned has);

/* survivors: tells a group member's replacement of the set in use */
keel_status_t keel_repair_send_group(keel_image_set_t *set, uint32_t rank);
/* by the replacement, until it has its image: told twice, it may come when the set is another */
void keel_repair_receive_group(keel_image_set_t *set, const keel_control_in_t *in);
/* replacement: all members that have an image of set @a number have told */
int keel_repair_knows_group(const keel_image_set_t *set, uint32_t number);
/* replacement: this set is in use, and its share is not there */
void keel_repair_adopt(keel_image_set_t *set, uint32_t number, uint32_t share_slot);
/* computes its image of it, when the group has told of it */
keel_status_t keel_repair_rebuild_begin(keel_image_set_t *set);
/* KEEL_INPROGRESS, then KEEL_OK with the image in its slot, checked to be of @a position */
keel_status_t keel_repair_rebuild_step(keel_image_set_t *set, uint32_t position, keel_image_meta_t *meta_p);
/* the own image of the set in use */
const void *keel_repair_image(const keel_image_set_t *set, size_t *size_p);
/* who has no share of the set in use begins to compute it; keel_image_set_step() goes on */
keel_status_t keel_repair_rearm(keel_image_set_t *set);

#endif
