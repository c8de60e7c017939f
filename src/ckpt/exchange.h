/*
 * Announcements of images between the members of a group. An announcement says that an image is
 * complete in its slot, its size, and the blocks that changed since the previous image. The
 * comparison runs in the background in bounded steps, and the announcement follows. A map is
 * ignored if it refers to another set than the reader's own share.
 */
#ifndef KEEL_CKPT_EXCHANGE_H_
#define KEEL_CKPT_EXCHANGE_H_

#include "ckpt/image_set.h"

/* Begins to compare the own image with the previous image. Returns 0 without a previous image of
 * this size, or without memory for a map. */
int keel_exchange_compare_begin(keel_image_set_t *set);
/* 1: the comparison is complete, announce the image */
int keel_exchange_compare_step(keel_image_set_t *set);
keel_status_t keel_exchange_announce(keel_image_set_t *set);
void keel_exchange_receive(void *arg, const keel_control_in_t *in);
/* For the set in the making. 1: all members that copy an image have announced it, and the
 * locations are known. -1: an image could not be made. */
int keel_exchange_gather(keel_image_set_t *set);
/* Returns 1 if the share of the serving set is complete and all members have announced their
 * changes since that set. The scratch arrays then hold the locations of the serving images. */
int keel_exchange_has_changes(keel_image_set_t *set);
/* discards the announcements of images to be made */
void keel_exchange_forget(keel_image_set_t *set);

#endif
