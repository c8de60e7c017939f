/*
 * Repair of a group after deaths. A decision tells every member which parts of the set in use the
 * other members have. A member without its image or share computes it from the members that have
 * theirs. Members that were lost together rebuild independently; none waits for another. No member
 * reads a part that is still being rebuilt, since the part counts as missing until the next
 * decision or set.
 */
#ifndef KEEL_CKPT_REPAIR_H_
#define KEEL_CKPT_REPAIR_H_

#include "ckpt/image_set.h"

/* A member died: work that reads its memory stops until the decision, and its announcements are
 * void. */
void keel_repair_member_down(keel_image_set_t *set, uint32_t rank);
/* Records from a decision the parts (KEEL_PARITY_HAS_*) of the set in use that a rank has. Ranks
 * of other groups are ignored. */
void keel_repair_member_has(keel_image_set_t *set, uint32_t rank, unsigned has);

/* survivors: sends the set in use to the replacement of a group member */
keel_status_t keel_repair_send_group(keel_image_set_t *set, uint32_t rank);
/* Replacement, until it has its image: stores a description of the set in use. A repeated
 * description may name another set. */
void keel_repair_receive_group(keel_image_set_t *set, const keel_control_in_t *in);
/* replacement: have all members with an image of set @a number sent its description? */
int keel_repair_knows_group(const keel_image_set_t *set, uint32_t number);
/* replacement: set @a number is in use, and the own share is missing */
void keel_repair_adopt(keel_image_set_t *set, uint32_t number, uint32_t share_slot);
/* begins to compute the own image, after the group has described the set */
keel_status_t keel_repair_rebuild_begin(keel_image_set_t *set);
/* KEEL_INPROGRESS, then KEEL_OK with the image in its slot, verified to be of @a position */
keel_status_t keel_repair_rebuild_step(keel_image_set_t *set, uint32_t position, keel_image_meta_t *meta_p);
/* own image of the set in use */
const void *keel_repair_image(const keel_image_set_t *set, size_t *size_p);
/* Begins to compute a missing own share of the set in use, unless the group has changed since.
 * keel_image_set_step() continues. */
keel_status_t keel_repair_rearm(keel_image_set_t *set);

#endif
