/*
 * Plans, piece by piece, the sources of a share or of a lost image. Each chunk of the output is a
 * chunk of a stripe, and so a sum of other chunks of this stripe (code/rs.h) that members have. A
 * share with a known predecessor equals the predecessor where the stripe did not change. Where
 * little changed, the share is the predecessor plus the old and the new bytes of each change: the
 * coefficients are equal, and addition is its own inverse. Moves no data.
 */
#ifndef KEEL_CKPT_PARITY_PLAN_H_
#define KEEL_CKPT_PARITY_PLAN_H_

#include "ckpt/gather.h"
#include "ckpt/parity.h"

typedef struct keel_plan_member {
    uint32_t rank;
    uint8_t has;
    uint8_t slots[2]; /* slots of the current and of the previous image */
    uint64_t image_size;
} keel_plan_member_t;

typedef struct keel_plan {
    keel_stripes_t stripes;
    uint32_t index; /* index in the group */
    size_t piece_max, map_max;
    keel_plan_member_t *members;
    uint8_t *is_there, *coefficients; /* for the newest planned stripe, by place */

    int is_rebuild;
    unsigned slot;
    uint64_t chunk, position, end; /* the output is planned up to position */
    uint8_t *output;
    const uint8_t *before;      /* share in the other slot, or NULL */
    keel_changes_shape_t shape; /* shape and bytes of the maps, by member */
    uint8_t *changes;
    uint64_t bytes_spared;
} keel_plan_t;

keel_status_t keel_plan_init(keel_plan_t *plan, const keel_parity_group_t *group, size_t piece_max, size_t map_max);
void keel_plan_release(keel_plan_t *plan);
keel_status_t keel_plan_begin(keel_plan_t *plan, const keel_parity_work_t *work, int is_rebuild);
static inline int keel_plan_is_done(const keel_plan_t *plan)
{
    return plan->position == plan->end;
}
/* fills in an empty piece; precondition: the plan is not done */
void keel_plan_next(keel_plan_t *plan, keel_gather_piece_t *piece);

#endif
