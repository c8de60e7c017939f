/*
 * What members of a group tell each other of the images they have made: that it lies in its slot, its size, and what changed
 * in it since the one before. The comparison goes on in the background, a bounded part at a time; the image is told of when
 * it is done. A map is void when it compares with another set than the one that the reader's own share is of.
 */
#ifndef KEEL_CKPT_EXCHANGE_H_
#define KEEL_CKPT_EXCHANGE_H_

#include "ckpt/image_set.h"

/* the own image is to be compared with the one before; 0: there is none of that size, or no memory for a map */
int keel_exchange_compare_begin(keel_image_set_t *set);
int keel_exchange_compare_step(keel_image_set_t *set); /* 1: all is compared, and the group is to be told */
keel_status_t keel_exchange_tell(keel_image_set_t *set);
void keel_exchange_receive(keel_image_set_t *set, const keel_control_in_t *in);
/* of the set in the making: 1: all members that copy an image have told, and it is known where they lie; -1: one could not */
int keel_exchange_gather(keel_image_set_t *set);
/* the share of what serves is there, and all members have told what changed since; scratch says where that lies */
int keel_exchange_has_changes(keel_image_set_t *set);
/* what was told of images to be made is void */
void keel_exchange_forget(keel_image_set_t *set);

#endif
