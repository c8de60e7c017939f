/*
 * Piece by piece, where a share or a lost image comes from. Each of its chunks is a chunk of some stripe, and that a sum of
 * other chunks of the stripe (code/rs.h) which members have. A share whose predecessor is known is that predecessor where
 * nothing of a stripe changed; where little did it is the predecessor plus, for each change, what was and what is now (the
 * coefficients are the same, and adding is its own inverse). Moves nothing.
 */
#ifndef KEEL_CKPT_PARITY_PLAN_H_
#define KEEL_CKPT_PARITY_PLAN_H_

#include "ckpt/gather.h"
#include "ckpt/parity.h"

typedef struct keel_plan_member {
    uint32_t rank;
    uint8_t has;
    uint8_t slots[2]; /* of its image now, and before */
    uint64_t image_size;
} keel_plan_member_t;

typedef struct keel_plan {
    keel_stripes_t stripes;
    uint32_t index; /* in the group */
    size_t piece_max, map_max;
    keel_plan_member_t *members;
    uint8_t *is_there, *coefficients; /* of the stripe planned last, by place */

    int is_rebuild;
    unsigned slot;
    uint64_t chunk, position, end; /* output bytes from position on are not planned */
    uint8_t *output;
    const uint8_t *before;      /* the share in the other slot, or NULL; then */
    keel_changes_shape_t shape; /* and maps, by member */
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
/* fills in an empty piece; unless it is done */
void keel_plan_next(keel_plan_t *plan, keel_gather_piece_t *piece);

#endif
