/*
 * Failures that come one after the other and still hit a group together, because it has not been made complete again: of
 * elements that fail alone, and of failures of any two levels. Pure computation.
 */
#ifndef KEEL_TOOLS_TOPO_OVERLAP_H_
#define KEEL_TOOLS_TOPO_OVERLAP_H_

#include "tools/topo/failures.h"

#include <keel/status.h>

#define KEEL_OVERLAP_PARITIES_MAX 64

/* a level as one group sees it */
typedef struct keel_overlap_level {
    const keel_hazard_t *hazard;
    uint64_t elements; /* that hold members, at most */
    uint64_t share;    /* members on each of them, at most */
} keel_overlap_level_t;

/*
 * At most how often a day a failure that leaves a group of its members no more than @a parities dead finds so many others
 * dead, by failures in the window_s before it, that together they are more.
 * @return KEEL_ERR_INVALID_PARAM for more than KEEL_OVERLAP_PARITIES_MAX parities, KEEL_ERR_NO_MEMORY.
 */
keel_status_t keel_overlap_rate(const keel_overlap_level_t *levels, uint32_t level_count, uint64_t parities,
                                double window_s, double *rate_p);

#endif
