/*
 * What members of a group tell each other of the images they have made: that it lies in its slot, its size, and what changed
 * in it since the generation in use. The comparison goes on behind the program, a bounded part at a time; the image is told
 * of when it is done. A message is void when the generation it compared with is not the one the reader's own share is of.
 */
#ifndef KEEL_CKPT_EXCHANGE_H_
#define KEEL_CKPT_EXCHANGE_H_

#include "ckpt/coordinated.h"

/* the own image is to be compared with the one before; 0: there is none of that size, or no memory for a map */
int keel_ckpt_compare_begin(keel_ckpt_t *ckpt, uint64_t size);
void keel_ckpt_compare_step(keel_ckpt_t *ckpt); /* tells of the image at the end */
/* without a comparison; size 0: it could not be made */
void keel_ckpt_say_image(keel_ckpt_t *ckpt, const keel_ckpt_image_t *image);
void keel_ckpt_receive_image(keel_ckpt_t *ckpt, const keel_control_in_t *in);
/* of the generation in the making: all members have told; some member could not make it */
int keel_ckpt_has_images(const keel_ckpt_t *ckpt);
int keel_ckpt_lacks_image(const keel_ckpt_t *ckpt);
/* the share of the generation in use is there, and all members have told what changed since */
int keel_ckpt_has_changes(const keel_ckpt_t *ckpt);

#endif
