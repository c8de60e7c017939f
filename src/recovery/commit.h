/*
 * Commit of a coordinated image: all ranks have their image of the generation, with its parity [F
 * 6.1]. The leader notices first, and its arrivals announce the commit; after a death a decision
 * does. From then on no rank returns to an older generation: requested demand images are of no use
 * any more, and log records from before the image are dropped [F 6.2].
 */
#ifndef KEEL_RECOVERY_COMMIT_H_
#define KEEL_RECOVERY_COMMIT_H_

#include <stdint.h>

typedef struct keel_recovery keel_recovery_t;

/* True if the leader has announced that the generation in the making is complete. */
int keel_commit_is_known(const keel_recovery_t *rec);
/* Commits the generation in the making; no effect if @a generation is another one. */
void keel_commit(keel_recovery_t *rec, uint32_t generation);

#endif
