/* Reasons of rollbacks that somebody was told: each once a job, by the decision that is the first to give it. Digests of their texts. */
#ifndef KEEL_RECOVERY_SAID_H_
#define KEEL_RECOVERY_SAID_H_

#include <stdint.h>

#define KEEL_SAID_MAX 16u /* those behind it are not said */

typedef struct keel_said {
    uint32_t reasons[KEEL_SAID_MAX]; /* 0: no more */
} keel_said_t;

static inline int keel_said_has(const keel_said_t *said, uint32_t reason)
{
    int has = 0;

    for (uint32_t i = 0; i < KEEL_SAID_MAX; i++) {
        has |= said->reasons[i] == reason;
    }
    return has;
}

/* true: it was not there, and is now */
static inline int keel_said_add(keel_said_t *said, uint32_t reason)
{
    for (uint32_t i = 0; reason != 0 && i < KEEL_SAID_MAX && said->reasons[i] != reason; i++) {
        if (said->reasons[i] == 0) {
            said->reasons[i] = reason;
            return 1;
        }
    }
    return 0;
}

static inline void keel_said_join(keel_said_t *said, const keel_said_t *other)
{
    for (uint32_t i = 0; i < KEEL_SAID_MAX; i++) {
        (void)keel_said_add(said, other->reasons[i]);
    }
}

#endif
