/* A replacement's way back: the decision, its image from the group, its get records, its memory. */
#ifndef KEEL_RECOVERY_REBUILD_H_
#define KEEL_RECOVERY_REBUILD_H_

#include "recovery/recovery.h"

/* A replacement, in keel_init(): waits for the decision. */
keel_status_t keel_rebuild_await_decision(keel_recovery_t *rec);
/* A replacement in a local recovery: fetches image and get records, restores memory, then
 * announces its position. */
keel_status_t keel_rebuild_run(keel_recovery_t *rec, keel_restore_cb_t restore, void *arg);

/* First half of keel_rebuild_run(): obtains the image, NULL in generation 0.
 * KEEL_ERR_ROLLED_BACK after another decision. */
keel_status_t keel_rebuild_peek(keel_recovery_t *rec, const void **image_p, size_t *size_p);

/* ---- also in a rollback ---- */

/* KEEL_OK: go on */
typedef keel_status_t (*keel_rebuild_check_t)(const keel_recovery_t *rec, uint32_t target);
/* Rebuilds the decided generation's image into its slot, as long as @a check allows. */
keel_status_t keel_rebuild_image(keel_recovery_t *rec, keel_rebuild_check_t check, uint32_t target);
/* Copies the rebuilt image to memory. */
keel_status_t keel_rebuild_memory(keel_recovery_t *rec, keel_restore_cb_t restore, void *arg);
/* True if the image is complete in its slot. */
int keel_rebuild_has_image(const keel_recovery_t *rec);
/* The rebuilt image; NULL: generation 0. */
const void *keel_rebuild_result(const keel_recovery_t *rec, size_t *size_p);
/* SC of the own lock in that generation. */
uint64_t keel_rebuild_counter(const keel_recovery_t *rec);

#endif
