/* Values that others await from a rank that is lost (protocol.md, Awaited values): which are known, and which are fetched again. */
#ifndef KEEL_RECOVERY_PENDING_FETCH_H_
#define KEEL_RECOVERY_PENDING_FETCH_H_

#include "recovery/view.h"

/* what rank @a p found that awaits one value from @a r, as the service side there has told another; NULL: nobody who lives knows */
const found_value_t *keel_pending_fetch_piggybacked(const keel_recovery_t *rec, uint32_t r, uint32_t p);
/* a program that does not wait: @a p may fetch again what others have found already, and nobody can tell; @a lost: ranks that are */
int keel_pending_fetch_is_undecidable(const keel_recovery_t *rec, uint32_t r, uint32_t p, uint32_t lost);
/* @a r comes back alone: what those that await values from it are told, and when they hand over */
void keel_pending_fetch_decide(const keel_recovery_t *rec, decision_t *d, uint32_t r);

#endif
