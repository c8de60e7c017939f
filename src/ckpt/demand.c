/* Demand checkpoints: what leads from one set to the next. */
#include "ckpt/demand.h"

#include "base/memory.h"
#include "base/plant.h"
#include "base/reached.h"
#include "ckpt/demand_set.h"

#include <string.h>

keel_status_t keel_demand_init(keel_demand_t *demand, keel_ckpt_t *ckpt)
{
    const uint32_t ranks = ckpt->lane->size, size = ckpt->group.size;
    keel_status_t status = KEEL_OK;

    memset(demand, 0, sizeof(*demand));
    demand->ckpt = ckpt;
    demand->size = size;
    demand->is_armed = demand->is_rebuilt = 1;
    demand->starts = keel_alloc(ranks * sizeof(*demand->starts), "demand images");
    demand->pending = keel_alloc(ranks * sizeof(*demand->pending), "demand images");
    demand->group_pending = keel_alloc((ckpt->groups.count + 1) * sizeof(*demand->group_pending), "demand groups");
    demand->used.members = keel_alloc((size + 1) * sizeof(*demand->used.members), "demand members");
    demand->making.members = keel_alloc((size + 1) * sizeof(*demand->making.members), "demand members");
    demand->said = keel_alloc((size + 1) * sizeof(*demand->said), "demand members");
    demand->maps = keel_alloc((size + 1) * sizeof(*demand->maps), "demand members");
    demand->has = keel_alloc(size + 1, "demand members");
    demand->slots = keel_alloc(2 * (size + 1), "demand members");
    demand->sizes = keel_alloc((size + 1) * sizeof(*demand->sizes), "demand members");
    demand->told = keel_alloc((size + 1) * sizeof(*demand->told), "demand members");
    if (demand->starts == NULL || demand->pending == NULL || demand->group_pending == NULL ||
        demand->used.members == NULL || demand->making.members == NULL || demand->said == NULL ||
        demand->maps == NULL || demand->has == NULL || demand->slots == NULL || demand->sizes == NULL ||
        demand->told == NULL) {
        status = KEEL_ERR_NO_MEMORY;
    } else if (size > 0) {
        status = keel_parity_create(ckpt->lane, &ckpt->group, &demand->parity);
    }
    if (status != KEEL_OK) {
        keel_demand_release(demand);
        return status;
    }
    memset(demand->has, KEEL_PARITY_HAS_ALL, size);
    return KEEL_OK;
}

void keel_demand_release(keel_demand_t *demand)
{
    keel_parity_destroy(demand->parity);
    for (uint32_t i = 0; demand->maps != NULL && i < demand->size; i++) {
        keel_free(demand->maps[i]);
    }
    keel_free(demand->starts);
    keel_free(demand->pending);
    keel_free(demand->group_pending);
    keel_free(demand->used.members);
    keel_free(demand->making.members);
    keel_free(demand->said);
    keel_free(demand->maps);
    keel_free(demand->has);
    keel_free(demand->slots);
    keel_free(demand->sizes);
    keel_free(demand->told);
    memset(demand, 0, sizeof(*demand));
}

static uint32_t demand_group(const keel_demand_t *demand)
{
    return demand->ckpt->groups.of_rank[demand->ckpt->lane->rank];
}

/* ---- what is said with arrivals, and follows from it ---- */

unsigned keel_demand_flags(const keel_demand_t *demand, int may_copy)
{
    const keel_ckpt_t *ckpt = demand->ckpt;

    if (demand->parity == NULL) {
        return 0;
    }
    if (demand->group_pending[demand_group(demand)] != 0) {
        return (demand->stage == KEEL_DEMAND_SAFE)     ? KEEL_ARRIVE_SHARED
               : (demand->stage == KEEL_DEMAND_FAILED) ? KEEL_ARRIVE_CANNOT
                                                       : 0;
    }
    if (!may_copy || demand->asked <= demand->starts[ckpt->lane->rank].position || demand->asked <= ckpt->used.number ||
        ckpt->making.number != 0 || !ckpt->is_armed || !demand->is_armed || keel_ckpt_is_checksum(ckpt)) {
        return 0;
    }
    return KEEL_ARRIVE_IMAGE;
}

static unsigned demand_flags_of(const keel_demand_t *demand, uint32_t rank, uint32_t number)
{
    const keel_lane_t *lane = demand->ckpt->lane;

    return (unsigned)((rank == lane->rank) ? lane->slot.flags[number & 1]
                                           : keel_board_get(&lane->board[rank].flags[number & 1]));
}

/* the set of a group is complete, or will not be */
static void demand_settle_group(keel_demand_t *demand, uint32_t group, uint32_t number)
{
    const keel_groups_t *groups = &demand->ckpt->groups;
    const int is_own = (group == demand_group(demand));
    unsigned all = KEEL_ARRIVE_SHARED, any = 0;

    for (uint32_t i = 0; i < groups->size[group]; i++) {
        const unsigned flags = demand_flags_of(demand, groups->members[group][i], number);

        all &= flags;
        any |= flags;
    }
    if (KEEL_PLANT(demand_unshared)) {
        all = KEEL_ARRIVE_SHARED;
    }
    if (any & KEEL_ARRIVE_CANNOT) {
        demand->group_pending[group] = 0;
        for (uint32_t i = 0; i < groups->size[group]; i++) {
            demand->pending[groups->members[group][i]].position = 0;
        }
        if (is_own) {
            keel_demand_set_drop(demand);
        }
    } else if (all & KEEL_ARRIVE_SHARED) {
        if (is_own) {
            keel_demand_set_use(demand);
        }
        demand->group_pending[group] = 0;
        for (uint32_t i = 0; i < groups->size[group]; i++) {
            const uint32_t r = groups->members[group][i];

            if (demand->pending[r].position != 0) {
                demand->starts[r] = demand->pending[r];
                demand->pending[r].position = 0;
                demand->on_image(demand->arg, r, demand->starts[r].position);
            }
        }
    }
}

void keel_demand_leave(keel_demand_t *demand, uint32_t number, int is_checkpoint, uint32_t window_calls)
{
    const keel_groups_t *groups = &demand->ckpt->groups;
    const uint32_t ranks = demand->ckpt->lane->size;

    if (demand->parity == NULL) {
        return;
    }
    for (uint32_t g = 0; g < groups->count; g++) {
        if (demand->group_pending[g] != 0) {
            demand_settle_group(demand, g, number);
        }
    }
    if (is_checkpoint) {
        keel_demand_abort(demand);
        return;
    }
    for (uint32_t r = 0; r < ranks; r++) {
        const uint32_t group = groups->of_rank[r];

        if ((demand_flags_of(demand, r, number) & KEEL_ARRIVE_IMAGE) &&
            (demand->group_pending[group] == 0 || demand->group_pending[group] == number)) {
            demand->pending[r] = (keel_demand_start_t){.position = number, .window_calls = window_calls};
            demand->group_pending[group] = number;
            demand->copied_at = number;
        }
    }
    if (demand->group_pending[demand_group(demand)] == number) {
        keel_demand_set_begin(demand, number);
    }
}

int keel_demand_is_late(const keel_demand_t *demand, uint32_t number)
{
    const keel_ckpt_t *ckpt = demand->ckpt;

    if (demand->making.number == 0 || number < demand->making.number + KEEL_DEMAND_BEHIND) {
        return 0;
    }
    for (uint32_t i = 0; i < demand->size; i++) { /* who has told of its image knows that the others have heard */
        const uint32_t member = ckpt->group.members[i];

        if (demand->pending[ckpt->lane->rank].position != 0 && i != ckpt->group.index &&
            ckpt->lane->peers[member].is_up && !keel_lane_is_flushed(ckpt->lane, member) &&
            !KEEL_PLANT(image_unheard)) {
            return 1;
        }
    }
    return demand->stage == KEEL_DEMAND_COMPARING || demand->stage == KEEL_DEMAND_ENCODING;
}

void keel_demand_abort(keel_demand_t *demand)
{
    if (demand->parity == NULL) {
        return;
    }
    for (uint32_t r = 0; r < demand->ckpt->lane->size; r++) {
        demand->pending[r].position = 0;
    }
    memset(demand->group_pending, 0, demand->ckpt->groups.count * sizeof(*demand->group_pending));
    keel_demand_set_drop(demand);
}

void keel_demand_reset(keel_demand_t *demand)
{
    keel_demand_abort(demand);
    if (demand->parity == NULL) {
        return;
    }
    if (demand->is_rearming) {
        keel_parity_cancel(demand->parity);
    }
    demand->is_rearming = 0;
    demand->is_armed = demand->is_rebuilt = 1;
    demand->used.number = 0;
    memset(demand->starts, 0, demand->ckpt->lane->size * sizeof(*demand->starts));
    memset(demand->used.members, 0, demand->size * sizeof(*demand->used.members));
    memset(demand->told, 0, demand->size * sizeof(*demand->told));
    memset(demand->has, KEEL_PARITY_HAS_ALL, demand->size);
}

void keel_demand_forget(keel_demand_t *demand)
{
    keel_demand_reset(demand);
    demand->asked = 0;
    for (uint32_t i = 0; demand->parity != NULL && i < demand->size; i++) {
        demand->said[i] = (keel_ckpt_image_t){0};
    }
}

/* ---- recovery ---- */

static int demand_is_member(const keel_demand_t *demand, uint32_t rank)
{
    return demand->parity != NULL && demand->ckpt->groups.of_rank[rank] == demand_group(demand);
}

void keel_demand_member_down(keel_demand_t *demand, uint32_t rank)
{
    if (!demand_is_member(demand, rank)) {
        return;
    }
    if (!KEEL_PLANT(told_by_dead)) {
        demand->told[demand->ckpt->groups.index[rank]] = 0;
    }
    demand->said[demand->ckpt->groups.index[rank]] = (keel_ckpt_image_t){0};
    if (demand->is_rearming) {
        keel_parity_cancel(demand->parity);
        demand->is_rearming = 0;
    }
}

void keel_demand_member_has(keel_demand_t *demand, uint32_t rank, unsigned has)
{
    if (demand_is_member(demand, rank)) {
        demand->has[demand->ckpt->groups.index[rank]] = (uint8_t)has;
    }
}

/* the set in the making is complete, as somebody knew */
static int demand_is_decided(const keel_demand_t *demand, const keel_demand_start_t *starts)
{
    for (uint32_t i = 0; i < demand->size; i++) {
        if (demand->making.number != 0 && demand->making.members[i].position == demand->making.number &&
            starts[demand->ckpt->group.members[i]].position == demand->making.number) {
            return 1;
        }
    }
    return 0;
}

void keel_demand_adopt(keel_demand_t *demand, const keel_demand_start_t *starts, int is_fresh)
{
    if (demand->parity == NULL) {
        return;
    }
    if (!is_fresh && demand_is_decided(demand, starts)) {
        KEEL_REACHED(demand_by_decision);
        keel_demand_set_use(demand);
    }
    keel_demand_abort(demand);
    for (uint32_t r = 0; r < demand->ckpt->lane->size; r++) {
        if (starts[r].position > demand->starts[r].position && !is_fresh) {
            demand->on_image(demand->arg, r, starts[r].position);
        }
        demand->starts[r] = starts[r];
    }
    if (is_fresh) {
        demand->used.number = 0;
        for (uint32_t i = 0; i < demand->size; i++) {
            const uint32_t position = starts[demand->ckpt->group.members[i]].position;

            demand->used.number = (position > demand->used.number) ? position : demand->used.number;
        }
        demand->is_armed = demand->is_rebuilt = (demand->used.number == 0);
    }
}
