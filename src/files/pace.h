/* Spreads the bytes of a file over time (KEEL_FILE_RATE). Pure. */
#ifndef KEEL_FILES_PACE_H_
#define KEEL_FILES_PACE_H_

#include <stdint.h>

#define KEEL_PACE_MAX_NS (UINT64_MAX / 4) /* more than a job takes */

/* Returns the nanoseconds that so many bytes take at least, at @a rate bytes per second; 0: no
 * limit. */
static inline uint64_t keel_pace_ns(uint64_t bytes, uint64_t rate)
{
    const double ns = (rate > 0) ? (double)bytes / (double)rate * 1e9 : 0;

    return (ns < (double)KEEL_PACE_MAX_NS) ? (uint64_t)ns : KEEL_PACE_MAX_NS;
}

#endif
