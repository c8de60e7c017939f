/*
 * Failures that come one after the other and hit a group together, since the group was not complete
 * again: of elements that fail alone, and of failures of any two levels. Pure computation.
 */
#ifndef KEEL_TOOLS_TOPO_OVERLAP_H_
#define KEEL_TOOLS_TOPO_OVERLAP_H_

#include "tools/topo/failures.h"

#include <keel/status.h>

#define KEEL_OVERLAP_PARITIES_MAX 64

/* A level in the view of one group. */
typedef struct keel_overlap_level {
    const keel_hazard_t *hazard;
    uint64_t elements; /* elements with members, at most */
    uint64_t share;    /* members on each element, at most */
} keel_overlap_level_t;

/*
 * Upper bound on the rate, per day, of failures that kill at most @a parities members of a group by
 * themselves, but more together with failures in the window_s before.
 * @return KEEL_ERR_INVALID_PARAM for more than KEEL_OVERLAP_PARITIES_MAX parities,
 * KEEL_ERR_NO_MEMORY.
 */
keel_status_t keel_overlap_rate(const keel_overlap_level_t *levels, uint32_t level_count, uint64_t parities,
                                double window_s, double *rate_p);

#endif
