/* Groups without gone ranks. */
#include "ckpt/group_loss.h"

#include "base/memory.h"
#include "check/plant.h"
#include "peer/region.h"
#include "topo/remaining.h"

#include <string.h>

/* Every rank is an element of its own: the groups regard no hosts. */
static keel_status_t loss_flat(uint32_t elements, keel_domains_t *flat)
{
    uint32_t *node = keel_alloc(elements * sizeof(*node), "nodes");
    keel_status_t status = KEEL_ERR_NO_MEMORY;

    if (node != NULL) {
        for (uint32_t element = 0; element < elements; element++) {
            node[element] = element;
        }
        status = keel_domains_of_nodes(elements, node, flat);
        keel_free(node);
    }
    return status;
}

keel_status_t keel_group_loss_init(keel_ckpt_t *ckpt, const keel_domains_t *domains, uint32_t size)
{
    const keel_config_t *config = ckpt->lane->config;
    keel_group_loss_t *loss = &ckpt->loss;
    keel_status_t status = KEEL_OK;

    loss->params = (keel_place_params_t){.group_size = size, .parities = config->parities};
    if (strcmp(config->topo_level, "none") == 0) {
        status = loss_flat(domains->ranks, &loss->flat);
    } else {
        status = keel_groups_reach(domains, &ckpt->groups, config->parities, &loss->params.level);
        if (loss->params.level == domains->level_count) {
            loss->params.level = 0; /* the groups keep no level */
        }
    }
    loss->domains = (loss->flat.level_count > 0) ? &loss->flat : domains;
    return status;
}

void keel_group_loss_release(keel_ckpt_t *ckpt)
{
    keel_domains_release(&ckpt->loss.flat);
}

keel_status_t keel_group_loss_apply(keel_ckpt_t *ckpt, keel_demand_t *demand, const uint32_t *order, uint32_t known,
                                    uint32_t count)
{
    const uint32_t before = ckpt->group.index, rank = ckpt->lane->rank;
    const keel_group_loss_t *loss = &ckpt->loss;
    keel_groups_t groups, old;
    keel_status_t status;

    if (ckpt->groups.count == 0 || known == count) {
        return KEEL_OK; /* there is no parity */
    }
    status = keel_groups_lose(loss->domains, &ckpt->groups, order, KEEL_PLANT(group_loss_at_once) ? count - 1 : known,
                              count, &loss->params, &groups);
    if (status != KEEL_OK) {
        return status;
    }
    old = ckpt->groups;
    ckpt->groups = groups;
    ckpt->group = (keel_parity_group_t){0};
    if (groups.count > 0) {
        const uint32_t mine = groups.of_rank[rank];

        ckpt->group = (keel_parity_group_t){.members = groups.members[mine],
                                            .size = groups.size[mine],
                                            .index = groups.index[rank],
                                            .parities = ckpt->lane->config->parities};
    }
    status = keel_image_set_regroup(&ckpt->set, before);
    status = (status == KEEL_OK) ? keel_demand_regroup(demand, before) : status;
    keel_lane_change_group(ckpt->lane, ckpt->group.members, ckpt->group.size);
    keel_groups_release(&old);
    return status;
}
