/* The set of a group that is in the making: its images, its parity (demand.h). */
#ifndef KEEL_CKPT_DEMAND_SET_H_
#define KEEL_CKPT_DEMAND_SET_H_

#include "ckpt/demand.h"

/* images of the members that copy theirs in this gsync replace what they have in the set in use */
void keel_demand_set_begin(keel_demand_t *demand, uint32_t number);
void keel_demand_set_use(keel_demand_t *demand); /* it is complete */
void keel_demand_set_drop(keel_demand_t *demand);
/* begins to compute the own share of a set from members that have theirs; @a before may be NULL */
keel_status_t keel_demand_set_share(keel_demand_t *demand, const keel_demand_set_t *set, const uint8_t *has,
                                    const keel_parity_before_t *before);
/* fills the scratch arrays with the members' slots and sizes */
void keel_demand_set_list(const keel_demand_t *demand, const keel_demand_set_t *set, uint8_t *slots, uint64_t *sizes);

/* copies the own image, which the group is told of when it is compared with the one before */
void keel_demand_take(keel_demand_t *demand, const keel_image_meta_t *meta, const keel_part_t *parts, unsigned count);
void keel_demand_step(keel_demand_t *demand); /* bounded work, from progress */
void keel_demand_receive_image(keel_demand_t *demand, const keel_control_in_t *in);

#endif
