/*
 * Commit of a coordinated image: all ranks have theirs of this generation, and its parity [F 6.1]. Rank 0 sees that first, and its
 * arrivals tell the others; or a decision does, after a death. From then on nobody goes back to an older one: images that were
 * asked for are of no use any more, and what was logged before it is dropped [F 6.2].
 */
#ifndef KEEL_RECOVERY_COMMIT_H_
#define KEEL_RECOVERY_COMMIT_H_

#include <stdint.h>

typedef struct keel_recovery keel_recovery_t;

/* rank 0 has said that the generation that is being made is complete */
int keel_commit_is_known(const keel_recovery_t *rec);
/* does nothing when it is not @a generation that is being made */
void keel_commit(keel_recovery_t *rec, uint32_t generation);

#endif
