/* Placement of the copies of a store. */
#include "store/store_place.h"

#include "check/plant.h"

keel_status_t keel_store_place_init(keel_store_place_t *place, const keel_domains_t *domains,
                                    const keel_store_place_params_t *params)
{
    keel_domains_t programs;
    keel_status_t status;

    *place = (keel_store_place_t){.params = *params};
    if (params->ranks == 0 || params->ranks > domains->ranks || domains->level_count == 0 || params->copies == 0 ||
        params->copies > params->ranks || params->copies > KEEL_STORE_COPIES_MAX || params->ranges == 0) {
        return KEEL_ERR_INVALID_PARAM;
    }
    keel_permutation_init(&place->order, params->ranks * params->ranges, params->seed, params->is_consecutive);
    status = keel_domains_first(domains, params->ranks, &programs);
    if (status != KEEL_OK) {
        return status;
    }
    status = KEEL_PLANT(store_place_domains_ignored)
                 ? keel_groups_in_order(params->ranks, params->copies, params->copies - 1, &place->sets)
                 : keel_groups_form(&programs, programs.level_count - 1, params->ranks / params->copies, &place->sets);
    keel_domains_release(&programs);
    return status;
}

void keel_store_place_release(keel_store_place_t *place)
{
    keel_groups_release(&place->sets);
}

keel_store_cell_t keel_store_place_find(const keel_store_place_t *place, uint64_t range, uint32_t copy)
{
    const keel_groups_t *sets = &place->sets;
    const uint64_t ranges = place->params.ranges, location = keel_permute(&place->order, range);
    const uint32_t rank = (uint32_t)(location / ranges), set = sets->of_rank[rank];

    const keel_store_cell_t cell = {.holder = sets->members[set][(sets->index[rank] + copy) % sets->size[set]],
                                    .index = copy * ranges + location % ranges};

    return keel_store_place_is_gone(place, cell.holder)
               ? place->next.moved[(place->next.turn[cell.holder] - 1) * keel_store_place_cells(place) + cell.index]
               : cell;
}

/* The range that was placed in the cell. */
static uint64_t range_placed(const keel_store_place_t *place, uint32_t holder, uint64_t index, uint32_t *copy_p)
{
    const keel_groups_t *sets = &place->sets;
    const uint64_t ranges = place->params.ranges;
    const uint32_t copy = (uint32_t)(index / ranges), set = sets->of_rank[holder];
    const uint32_t member = (sets->index[holder] + sets->size[set] - copy % sets->size[set]) % sets->size[set];

    *copy_p = copy;
    return keel_permute_back(&place->order, sets->members[set][member] * ranges + index % ranges);
}

uint64_t keel_store_place_range(const keel_store_place_t *place, uint32_t holder, uint64_t index, uint32_t *copy_p)
{
    const uint64_t cells = keel_store_place_cells(place);
    const keel_store_cell_t *held = (index < cells) ? NULL : &place->next.held[index - cells];

    if (held == NULL) {
        return range_placed(place, holder, index, copy_p);
    }
    return (held->holder == KEEL_STORE_NO_HOLDER) ? KEEL_STORE_NO_RANGE
                                                  : range_placed(place, held->holder, held->index, copy_p);
}
