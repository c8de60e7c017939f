/*
 * Groups of a job that goes on without gone ranks (protocol/shrink.md). The groups follow from the
 * groups of the start and the order of the gone alone. A share of the set in use belongs to the
 * groups before, so the set has no share until the next generation.
 */
#ifndef KEEL_CKPT_GROUP_LOSS_H_
#define KEEL_CKPT_GROUP_LOSS_H_

#include "ckpt/coordinated.h"
#include "ckpt/demand.h"

/* Keeps the requirements of the placement of groups of @a size. */
keel_status_t keel_group_loss_init(keel_ckpt_t *ckpt, const keel_domains_t *domains, uint32_t size);
void keel_group_loss_release(keel_ckpt_t *ckpt);
/*
 * Forms the groups without the gone ranks and makes the sets of images of this process anew.
 * Precondition: every rank that goes on has its image of the set in use, and no set is in the
 * making.
 * @param order  all gone ranks in their order, @a count of them; the groups are without the first
 *               @a known already.
 */
keel_status_t keel_group_loss_apply(keel_ckpt_t *ckpt, keel_demand_t *demand, const uint32_t *order, uint32_t known,
                                    uint32_t count);

#endif
