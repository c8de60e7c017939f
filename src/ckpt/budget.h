/* Memory for images and shares, limited by KEEL_CKPT_SIZE for all sets together. */
#ifndef KEEL_CKPT_BUDGET_H_
#define KEEL_CKPT_BUDGET_H_

#include "peer/peer.h"

typedef struct keel_budget {
    keel_lane_t *lane;
    int is_reported; /* the error "too small" was reported */
} keel_budget_t;

/* Provides a region of at least @a bytes such that @a reserve more bytes stay free within the
 * budget. A larger existing region is kept. */
keel_status_t keel_budget_region(keel_budget_t *budget, unsigned region, size_t bytes, size_t reserve, void **base_p);
/* bytes missing from the slots below @a first to hold an image and a share of these sizes each */
size_t keel_budget_reserve(const keel_budget_t *budget, unsigned first, size_t image, size_t share);

#endif
