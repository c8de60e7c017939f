/* Demand checkpoints: the transitions from one set to the next. */
#include "ckpt/demand.h"

#include "base/memory.h"
#include "check/plant.h"
#include "check/reached.h"
#include "ckpt/exchange.h"
#include "ckpt/repair.h"
#include "peer/members.h"
#include "trace/trace_area.h"

#include <string.h>

keel_status_t keel_demand_init(keel_demand_t *demand, keel_ckpt_t *ckpt)
{
    const uint32_t ranks = ckpt->lane->size;
    const keel_image_set_params_t set = {.lane = ckpt->lane,
                                         .groups = &ckpt->groups,
                                         .group = &ckpt->group,
                                         .below = &ckpt->set,
                                         .budget = &ckpt->budget,
                                         .first_slot = KEEL_SLOTS_COORDINATED,
                                         .notice_type = KEEL_CONTROL_DEMAND_IMAGE,
                                         .group_type = KEEL_CONTROL_DEMAND_GROUP};
    keel_status_t status = KEEL_ERR_NO_MEMORY;

    memset(demand, 0, sizeof(*demand));
    demand->ckpt = ckpt;
    demand->is_rebuilt = 1;
    demand->starts = keel_alloc(ranks * sizeof(*demand->starts), "demand images");
    demand->pending = keel_alloc(ranks * sizeof(*demand->pending), "demand images");
    demand->group_pending = keel_alloc((ckpt->groups.count + 1) * sizeof(*demand->group_pending), "demand groups");
    if (demand->starts != NULL && demand->pending != NULL && demand->group_pending != NULL) {
        status = keel_image_set_init(&demand->set, &set);
    }
    if (status != KEEL_OK) {
        keel_demand_release(demand);
    }
    return status;
}

void keel_demand_release(keel_demand_t *demand)
{
    keel_image_set_release(&demand->set);
    keel_free(demand->starts);
    keel_free(demand->pending);
    keel_free(demand->group_pending);
    memset(demand, 0, sizeof(*demand));
}

keel_status_t keel_demand_regroup(keel_demand_t *demand, uint32_t before)
{
    uint32_t *pending = keel_alloc((demand->ckpt->groups.count + 1) * sizeof(*pending), "demand groups");

    if (pending == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    keel_free(demand->group_pending);
    demand->group_pending = pending;
    return keel_image_set_regroup(&demand->set, before);
}

static uint32_t demand_group(const keel_demand_t *demand)
{
    return demand->ckpt->groups.of_rank[demand->ckpt->lane->rank];
}

/* ---- announcements with arrivals, and their consequences ---- */

unsigned keel_demand_flags(const keel_demand_t *demand, int may_copy)
{
    const keel_ckpt_t *ckpt = demand->ckpt;

    if (demand->set.parity == NULL) {
        return 0;
    }
    if (demand->group_pending[demand_group(demand)] != 0) {
        return keel_image_set_is_safe(&demand->set)           ? KEEL_ARRIVE_SHARED
               : (demand->set.state.stage == KEEL_SET_FAILED) ? KEEL_ARRIVE_CANNOT
                                                              : 0;
    }
    if (!may_copy || demand->asked <= demand->starts[ckpt->lane->rank].position ||
        demand->asked <= ckpt->set.used.number || ckpt->set.making.number != 0 ||
        !keel_image_set_is_armed(&ckpt->set) || !keel_image_set_is_armed(&demand->set) ||
        keel_parity_is_checksum(&ckpt->group)) {
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

/* ---- the own group's set ---- */

static void demand_begin(keel_demand_t *demand, uint32_t number)
{
    const keel_ckpt_t *ckpt = demand->ckpt;

    keel_image_set_begin(&demand->set, number);
    for (uint32_t i = 0; i < demand->set.count; i++) {
        if (demand->pending[ckpt->group.members[i]].position == number) {
            keel_image_set_expect(&demand->set, i);
        }
    }
    /* an incomplete generation occupies the machine until the next generation */
    if (ckpt->set.making.number != 0) {
        keel_image_set_refuse(&demand->set);
    }
}

static int demand_is_own(const keel_demand_t *demand)
{
    return demand->set.making.number != 0 && keel_image_set_is_expected(&demand->set, demand->ckpt->group.index);
}

static void demand_use(keel_demand_t *demand)
{
    const int is_own = demand_is_own(demand);

    demand->committed += (uint64_t)(keel_image_set_use(&demand->set) && is_own);
}

static void demand_drop(keel_demand_t *demand)
{
    if (demand_is_own(demand) && demand->set.state.stage != KEEL_SET_FAILED && demand->asked == 0) {
        /* a death interrupted the set: the request stands */
        demand->asked = demand->set.making.number;
    }
    (void)keel_image_set_drop(&demand->set);
}

void keel_demand_take(keel_demand_t *demand, const keel_image_meta_t *meta, const keel_part_t *parts, unsigned count)
{
    const keel_lane_t *lane = demand->set.lane;
    const uint64_t begun_ns = lane->runtime->ops->now_ns(lane->runtime);

    demand->taken++;
    demand->asked = 0;
    demand->set.making.sync_counter = meta->sync_counter;
    if (keel_image_set_copy(&demand->set, meta, parts, count) == KEEL_OK) {
        KEEL_REACHED(demand_image);
        keel_trace_span(lane->trace, KEEL_TRACE_DEMAND, meta->generation, begun_ns, keel_image_size(parts, count));
    }
}

void keel_demand_step(keel_demand_t *demand)
{
    keel_image_set_t *set = &demand->set;
    const keel_set_stage_t stage = set->state.stage;

    keel_image_set_step(set);
    for (uint32_t i = 0; set->state.stage > stage && set->state.stage > KEEL_SET_IMAGES && i < set->count; i++) {
        if (keel_image_set_is_expected(set,
                                       /* checksum ranks make no window calls, and may be the
                                        * only survivors */
                                       i)) {
            demand->pending[demand->ckpt->group.members[i]].window_calls = set->making.window_calls;
        }
    }
}

/* ---- all groups' sets ---- */

/* puts the set of a group into use if all members have announced their shares, or gives the set
 * up if a member cannot make its share */
static void demand_conclude_group(keel_demand_t *demand, uint32_t group, uint32_t number)
{
    const keel_groups_t *groups = &demand->ckpt->groups;
    const int is_own = (group == demand_group(demand));
    unsigned all = KEEL_ARRIVE_SHARED, any = 0;

    for (uint32_t i = 0; i < groups->size[group]; i++) {
        const unsigned flags = demand_flags_of(demand, groups->members[group][i], number);

        all &= flags;
        any |= flags;
    }
    if (any & KEEL_ARRIVE_CANNOT) {
        demand->group_pending[group] = 0;
        for (uint32_t i = 0; i < groups->size[group]; i++) {
            demand->pending[groups->members[group][i]].position = 0;
        }
        if (is_own) {
            demand_drop(demand);
        }
    } else if ((all & KEEL_ARRIVE_SHARED) || KEEL_PLANT(demand_unshared)) {
        if (is_own) {
            demand_use(demand);
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

    if (demand->set.parity == NULL) {
        return;
    }
    for (uint32_t g = 0; g < groups->count; g++) {
        if (demand->group_pending[g] != 0) {
            demand_conclude_group(demand, g, number);
        }
    }
    if (is_checkpoint) {
        keel_demand_abort(demand);
        return;
    }
    KEEL_EACH_MEMBER(r, demand->ckpt->lane) {
        const uint32_t group = groups->of_rank[r];

        if ((demand_flags_of(demand, r, number) & KEEL_ARRIVE_IMAGE) &&
            (demand->group_pending[group] == 0 || demand->group_pending[group] == number)) {
            demand->pending[r] = (keel_demand_start_t){.position = number, .window_calls = window_calls};
            demand->group_pending[group] = number;
            demand->copied_at = number;
        }
    }
    if (demand->group_pending[demand_group(demand)] == number) {
        demand_begin(demand, number);
    }
}

int keel_demand_is_late(const keel_demand_t *demand, uint32_t number)
{
    const keel_ckpt_t *ckpt = demand->ckpt;
    const keel_set_stage_t stage = demand->set.state.stage;
    const int has_announced = demand->pending[ckpt->lane->rank].position != 0 && stage != KEEL_SET_COMPARING;

    if (demand->set.making.number == 0 || number < demand->set.making.number + KEEL_DEMAND_BACKGROUND_GSYNCS ||
        (has_announced && KEEL_PLANT(demand_image_unawaited))) {
        return 0;
    }
    /* a member that has announced its image waits until the announcement has arrived at all
     * members */
    for (uint32_t i = 0; i < demand->set.count && has_announced; i++) {
        const uint32_t member = ckpt->group.members[i];

        if (i != ckpt->group.index && ckpt->lane->peers[member].is_up && !keel_lane_is_flushed(ckpt->lane, member)) {
            return 1;
        }
    }
    return stage == KEEL_SET_COMPARING || stage == KEEL_SET_ENCODING;
}

void keel_demand_abort(keel_demand_t *demand)
{
    if (demand->set.parity == NULL) {
        return;
    }
    KEEL_EACH_RANK(r, demand->ckpt->lane) {
        demand->pending[r].position = 0;
    }
    memset(demand->group_pending, 0, demand->ckpt->groups.count * sizeof(*demand->group_pending));
    demand_drop(demand);
}

void keel_demand_reset(keel_demand_t *demand)
{
    keel_demand_abort(demand);
    if (demand->set.parity == NULL) {
        return;
    }
    keel_image_set_void(&demand->set);
    demand->is_rebuilt = 1;
    memset(demand->starts, 0, demand->ckpt->lane->size * sizeof(*demand->starts));
    memset(demand->set.group_announced, 0, demand->set.count * sizeof(*demand->set.group_announced));
    memset(demand->set.has, KEEL_PARITY_HAS_ALL, demand->set.count);
}

void keel_demand_forget(keel_demand_t *demand)
{
    keel_demand_reset(demand);
    demand->asked = 0;
    keel_exchange_forget(&demand->set);
}

/* ---- recovery ---- */

/* is the set in the making in use by the decision, because a rank has left the gsync that
 * completed it? */
static int demand_is_decided(const keel_demand_t *demand, const keel_demand_start_t *starts)
{
    for (uint32_t i = 0; i < demand->set.count; i++) {
        if (demand->set.making.number != 0 && keel_image_set_is_expected(&demand->set, i) &&
            starts[demand->ckpt->group.members[i]].position == demand->set.making.number) {
            return 1;
        }
    }
    return 0;
}

/* a replacement has lost its part of the set described by @a starts */
static void demand_adopt_set(keel_demand_t *demand, const keel_demand_start_t *starts)
{
    uint32_t number = 0;

    for (uint32_t i = 0; i < demand->set.count; i++) {
        const uint32_t position = starts[demand->ckpt->group.members[i]].position;

        number = (position > number) ? position : number;
    }
    demand->is_rebuilt = (number == 0);
    if (number == 0) {
        keel_image_set_void(&demand->set);
    } else {
        keel_repair_adopt(&demand->set, number, demand->set.used.share_slot);
    }
}

void keel_demand_adopt(keel_demand_t *demand, const keel_demand_start_t *starts, int is_fresh)
{
    if (demand->set.parity == NULL) {
        return;
    }
    if (!is_fresh && demand_is_decided(demand, starts)) {
        KEEL_REACHED(demand_by_decision);
        demand_use(demand);
    }
    keel_demand_abort(demand);
    KEEL_EACH_RANK(r, demand->ckpt->lane) {
        if (starts[r].position > demand->starts[r].position && !is_fresh) {
            demand->on_image(demand->arg, r, starts[r].position);
        }
        demand->starts[r] = starts[r];
    }
    if (is_fresh) {
        demand_adopt_set(demand, starts);
    }
}

static int demand_has_own(const keel_demand_t *demand)
{
    return demand->set.used.number != 0 && !keel_parity_is_checksum(&demand->ckpt->group) &&
           demand->starts[demand->ckpt->lane->rank].position != 0;
}

keel_status_t keel_demand_rebuild_begin(keel_demand_t *demand)
{
    return demand_has_own(demand) ? keel_repair_rebuild_begin(&demand->set) : KEEL_OK;
}

keel_status_t keel_demand_rebuild_step(keel_demand_t *demand)
{
    keel_status_t status = KEEL_OK;
    keel_image_meta_t meta = {0};

    if (demand_has_own(demand)) {
        status = keel_repair_rebuild_step(&demand->set, demand->starts[demand->ckpt->lane->rank].position, &meta);
        demand->set.used.sync_counter = (status == KEEL_OK && !KEEL_PLANT(demand_uncounted)) ? meta.sync_counter : 0;
    }
    demand->is_rebuilt |= (status == KEEL_OK);
    return status;
}

keel_status_t keel_demand_rearm(keel_demand_t *demand)
{
    const keel_status_t status = keel_repair_rearm(&demand->set);

    /* The other members may have lost too much of the set. The next death in the group then
     * leads to a rollback. */
    return (status == KEEL_ERR_INVALID_PARAM || status == KEEL_ERR_BUDGET) ? KEEL_OK : status;
}
