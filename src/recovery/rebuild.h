/* A replacement's way back: the decision, its image from the group, its get records, its memory. */
#ifndef KEEL_RECOVERY_REBUILD_H_
#define KEEL_RECOVERY_REBUILD_H_

#include "recovery/recovery.h"

/* replacement: waits for the decision, in init */
keel_status_t keel_rebuild_await_decision(keel_recovery_t *rec);
/* replacement, local recovery: image, get records; restore; then announces its position */
keel_status_t keel_rebuild_run(keel_recovery_t *rec, keel_restore_cb_t restore, void *arg);

/* the first half of that: the image is here, NULL in generation 0; KEEL_ERR_ROLLED_BACK where another thing has been decided since */
keel_status_t keel_rebuild_peek(keel_recovery_t *rec, const void **image_p, size_t *size_p);

/* ---- of a rollback, too ---- */

/* KEEL_OK: go on */
typedef keel_status_t (*keel_rebuild_check_t)(const keel_recovery_t *rec, uint32_t target);
/* the image of the generation decided into its slot, as long as @a check allows */
keel_status_t keel_rebuild_image(keel_recovery_t *rec, keel_rebuild_check_t check, uint32_t target);
/* and from there to where it belongs */
keel_status_t keel_rebuild_memory(keel_recovery_t *rec, keel_restore_cb_t restore, void *arg);
/* it is there already, all of it */
int keel_rebuild_has_image(const keel_recovery_t *rec);
/* that image, NULL: of generation 0 */
const void *keel_rebuild_result(const keel_recovery_t *rec, size_t *size_p);
/* SC of the own lock at that generation */
uint64_t keel_rebuild_counter(const keel_recovery_t *rec);

#endif
