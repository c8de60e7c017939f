/* Compares a step of a rehearsal with what an earlier process of the rank did, and says what differs. */
#ifndef KEEL_REHEARSAL_REHEARSE_COMPARE_H_
#define KEEL_REHEARSAL_REHEARSE_COMPARE_H_

#include "rehearsal/rehearse.h"

/* whether those of the step of @a phase are what an earlier process of this rank had; what is not is said */
int keel_rehearse_is_same(keel_context_h ctx, const keel_rehearse_lines_t *before, const keel_rehearse_lines_t *step,
                          char kind, uint32_t phase, int *is_known_p);
/* what to look for */
void keel_rehearse_say_hint(keel_context_h ctx, uint32_t phase);

#endif
