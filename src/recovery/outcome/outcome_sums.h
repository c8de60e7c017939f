/* The end of a job with deaths: each rank announces its sums with KEEL_CONTROL_FINISHED. */
#ifndef KEEL_RECOVERY_OUTCOME_SUMS_H_
#define KEEL_RECOVERY_OUTCOME_SUMS_H_

#include "peer/peer.h"

typedef struct keel_recovery keel_recovery_t;

void keel_outcome_finish(keel_recovery_t *rec);
void keel_outcome_receive_finished(keel_recovery_t *rec, const keel_control_in_t *in);
/* Sets the limit of the logs in bytes; 0: no logs. Call before keel_outcome_finish(). */
void keel_outcome_set_log_most(keel_recovery_t *rec, uint64_t bytes);
/* The leader: true if the line at the end needs sums from @a rank. */
int keel_outcome_awaits(const keel_recovery_t *rec, uint32_t rank);
/* The leader: prints the line with the sums, if a rank has died. */
void keel_outcome_end(keel_recovery_t *rec);

#endif
