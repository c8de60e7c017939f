/*
 * Compares a step of a rehearsal with the same step of an earlier process of the rank and reports
 * the differences.
 */
#ifndef KEEL_REHEARSAL_REHEARSE_COMPARE_H_
#define KEEL_REHEARSAL_REHEARSE_COMPARE_H_

#include "rehearsal/rehearse.h"

/*
 * True if the step of @a phase equals the step of an earlier process of this rank. Reports each
 * difference. *is_known_p is 0 if no earlier process ran that step.
 */
int keel_rehearse_is_same(keel_context_h ctx, const keel_rehearse_lines_t *before, const keel_rehearse_lines_t *step,
                          char kind, uint32_t phase, int *is_known_p);
/* Prints a hint at the likely causes of a difference. */
void keel_rehearse_print_hint(keel_context_h ctx, uint32_t phase);

#endif
