/* Marks of the job, such as that some rank's logs fill up: reports and decisions make them known to
 * all ranks. A mark is a number. */
#ifndef KEEL_RECOVERY_REASONS_H_
#define KEEL_RECOVERY_REASONS_H_

#include <stdint.h>

#define KEEL_REASONS_MAX 16u /* further marks are dropped */

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

/* Returns 1 if the mark is new. */
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
