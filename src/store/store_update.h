/*
 * An update: the ranges with changed blocks are pushed as in a submit. All other ranges are
 * announced as kept, and the holders copy these ranges from the version before.
 *
 * Safety. The announcement is a word of its own in the mark, beside the label: a filled cell stays
 * filled when a new process of the rank announces again. Labels never return, so an announcement is
 * never older than the named version. A holder copies before the arrival at the second gsync, when
 * the slot of the version before cannot be overwritten yet.
 */
#ifndef KEEL_STORE_STORE_UPDATE_H_
#define KEEL_STORE_STORE_UPDATE_H_

#include "store/store_push.h"

/* KEEL_OK if the parts are own blocks of the newest version. */
keel_status_t keel_store_update_check(keel_store_h store, const keel_store_part_t *parts, uint64_t count);
/* Makes push->ranges from push->parts: loads what the ranges have beside the changed blocks. Once;
 * no effect in a submit of all blocks. */
keel_status_t keel_store_update_prepare(keel_store_push_t *push);
void keel_store_update_release(keel_store_push_t *push);
/* Fills an own cell that its rank announced as kept. Returns 0 if its bytes may still come. */
int keel_store_update_keep(const struct keel_store *store, const keel_store_push_t *push, uint64_t cell);

#endif
