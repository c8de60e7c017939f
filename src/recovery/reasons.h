/* Reasons of rollbacks that were reported to the user: each reason once a job, by the first
 * decision that has it. A reason is the digest of a text. */
#ifndef KEEL_RECOVERY_REASONS_H_
#define KEEL_RECOVERY_REASONS_H_

#include <stdint.h>

#define KEEL_REASONS_MAX 16u /* further reasons are not reported */

typedef struct keel_reasons {
    uint32_t digests[KEEL_REASONS_MAX]; /* 0: end of the list */
} keel_reasons_t;

static inline int keel_reasons_has(const keel_reasons_t *reasons, uint32_t reason)
{
    int has = 0;

    for (uint32_t i = 0; i < KEEL_REASONS_MAX; i++) {
        has |= reasons->digests[i] == reason;
    }
    return has;
}

/* Returns 1 if the reason is new. */
static inline int keel_reasons_add(keel_reasons_t *reasons, uint32_t reason)
{
    for (uint32_t i = 0; reason != 0 && i < KEEL_REASONS_MAX && reasons->digests[i] != reason; i++) {
        if (reasons->digests[i] == 0) {
            reasons->digests[i] = reason;
            return 1;
        }
    }
    return 0;
}

static inline void keel_reasons_merge(keel_reasons_t *reasons, const keel_reasons_t *other)
{
    for (uint32_t i = 0; i < KEEL_REASONS_MAX; i++) {
        (void)keel_reasons_add(reasons, other->digests[i]);
    }
}

#endif
