/* Memory for images and shares within KEEL_CKPT_SIZE, which is for all sets together. */
#ifndef KEEL_CKPT_BUDGET_H_
#define KEEL_CKPT_BUDGET_H_

#include "peer/peer.h"

typedef struct keel_budget {
    keel_lane_t *lane;
    int is_told; /* said once that it is too small */
} keel_budget_t;

/* a region of at least @a bytes, when @a reserve more stay free; a larger one is kept */
keel_status_t keel_budget_region(keel_budget_t *budget, unsigned region, size_t bytes, size_t reserve, void **base_p);
/* what slots before @a first lack for an image and a share of these sizes each */
size_t keel_budget_reserve(const keel_budget_t *budget, unsigned first, size_t image, size_t share);

#endif
