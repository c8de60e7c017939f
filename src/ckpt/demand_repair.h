/* Demand checkpoints: what a replacement is told of its group's set, and rebuilds of it. */
#ifndef KEEL_CKPT_DEMAND_REPAIR_H_
#define KEEL_CKPT_DEMAND_REPAIR_H_

#include "ckpt/demand.h"

keel_status_t keel_demand_send_group(keel_demand_t *demand, uint32_t rank);
void keel_demand_receive_group(keel_demand_t *demand, const keel_control_in_t *in);
int keel_demand_knows_group(const keel_demand_t *demand);
/* replacement: computes its image of the set, when there is one of its own; the generation is rebuilt already */
keel_status_t keel_demand_rebuild_begin(keel_demand_t *demand);
/* KEEL_INPROGRESS, then KEEL_OK with the image in its slot, checked */
keel_status_t keel_demand_rebuild_step(keel_demand_t *demand);
const void *keel_demand_image(const keel_demand_t *demand, size_t *size_p);
keel_status_t keel_demand_rearm(keel_demand_t *demand);

#endif
