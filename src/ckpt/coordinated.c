/* Coordinated checkpoints. */
#include "ckpt/coordinated.h"

#include "check/plant.h"
#include "ckpt/group_loss.h"
#include "ckpt/repair.h"
#include "code/rs.h"
#include "peer/members.h"
#include "topo/choose.h"
#include "topo/cover.h"
#include "trace/trace_area.h"

#include <string.h>

_Static_assert(KEEL_CONFIG_PARITIES_MAX == KEEL_RS_PARITIES_MAX, "KEEL_PARITIES allows what codes can do");

/* ---- groups ---- */

static keel_cover_params_t ckpt_cover(const keel_lane_t *lane, const keel_domains_t *domains, uint32_t size)
{
    const keel_config_t *config = lane->config;

    return (keel_cover_params_t){.domains = domains,
                                 .level = config->topo_level,
                                 .programs = (config->checksum_ranks > 0) ? lane->programs : 0,
                                 .group_size = size,
                                 .parities = config->parities,
                                 .parities_max = KEEL_RS_PARITIES_MAX,
                                 .is_group_auto = config->is_group_auto};
}

/* size 0: no parity, by configuration or because the rank is alone */
static keel_status_t ckpt_group_size(const keel_lane_t *lane, const keel_domains_t *domains, uint32_t *size_p)
{
    const uint32_t checksums = lane->config->checksum_ranks;
    uint32_t groups, size = lane->config->group_size;

    if (checksums > 0) {
        groups = checksums / lane->config->parities;
        size = (lane->programs + groups - 1) / groups;
    } else if (lane->config->is_group_auto) {
        const keel_cover_params_t cover = ckpt_cover(lane, domains, size);

        size = keel_cover_auto_size(&cover);
    } else if (size > lane->size) {
        keel_error(lane->message, "KEEL_GROUP_SIZE of %u is impossible: the job has %u ranks", size, lane->size);
        return KEEL_ERR_GROUPS;
    }
    *size_p = (size < 2 && checksums == 0) ? 0 : size;
    return KEEL_OK;
}

/* printed once for a job, not by replacements */
static void ckpt_groups_print(const keel_ckpt_t *ckpt, const keel_domains_t *domains, uint32_t size, const char *note)
{
    const keel_lane_t *lane = ckpt->lane;
    const keel_cover_params_t cover = ckpt_cover(lane, domains, size);
    char remark[KEEL_TOPOLOGY_NOTE_MAX];

    if (!keel_lane_is_leader(lane)) {
        return;
    }
    keel_info(lane->message, "%u groups: %s", ckpt->groups.count, note);
    if (lane->incarnation == 0 && lane->config->shrink == KEEL_SHRINK_NO &&
        keel_cover_has_remark(&cover, &ckpt->groups, remark, sizeof(remark))) {
        keel_warn(lane->message, "%s", remark);
    }
}

static keel_status_t ckpt_groups_place(keel_ckpt_t *ckpt, const keel_domains_t *domains, uint32_t size)
{
    const keel_lane_t *lane = ckpt->lane;
    const keel_config_t *config = lane->config;
    char note[KEEL_TOPOLOGY_NOTE_MAX];
    keel_status_t status;

    if (config->checksum_ranks > 0) {
        status = keel_topology_place_dedicated(domains, config->topo_level, lane->programs, config->parities,
                                               &ckpt->groups, note, sizeof(note));
    } else {
        status =
            keel_topology_place(domains, config->topo_level, size, config->parities, &ckpt->groups, note, sizeof(note));
    }
    if (status != KEEL_OK) {
        keel_error(lane->message, "KEEL_TOPO_LEVEL=%s: %s", config->topo_level, note);
    } else {
        ckpt_groups_print(ckpt, domains, size, note);
    }
    return status;
}

/* size 0: there is no parity */
static keel_status_t ckpt_group_init(keel_ckpt_t *ckpt, const keel_domains_t *domains)
{
    keel_lane_t *lane = ckpt->lane;
    keel_status_t status;
    uint32_t mine, size;

    status = ckpt_group_size(lane, domains, &size);
    if (status != KEEL_OK || size == 0) {
        return status;
    }
    status = ckpt_groups_place(ckpt, domains, size);
    if (status != KEEL_OK) {
        return status;
    }
    if (lane->config->shrink != KEEL_SHRINK_NO) {
        status = keel_group_loss_init(ckpt, domains, size);
        if (status != KEEL_OK) {
            return status;
        }
    }
    mine = ckpt->groups.of_rank[lane->rank];
    ckpt->group = (keel_parity_group_t){.members = ckpt->groups.members[mine],
                                        .size = ckpt->groups.size[mine],
                                        .index = ckpt->groups.index[lane->rank],
                                        .parities = lane->config->parities,
                                        .is_dedicated = lane->config->checksum_ranks > 0};
    keel_lane_set_group(lane, ckpt->group.members, ckpt->group.size);
    return KEEL_OK;
}

keel_status_t keel_ckpt_init(keel_ckpt_t *ckpt, keel_lane_t *lane, const keel_domains_t *domains)
{
    const keel_image_set_params_t set = {.lane = lane,
                                         .groups = &ckpt->groups,
                                         .group = &ckpt->group,
                                         .budget = &ckpt->budget,
                                         .notice_type = KEEL_CONTROL_IMAGE,
                                         .group_type = KEEL_CONTROL_GROUP};
    keel_status_t status;

    memset(ckpt, 0, sizeof(*ckpt));
    ckpt->lane = ckpt->budget.lane = lane;
    keel_interval_init(&ckpt->interval, lane->config, lane->runtime->ops->now_ns(lane->runtime));
    status = ckpt_group_init(ckpt, domains);
    status = (status == KEEL_OK) ? keel_image_set_init(&ckpt->set, &set) : status;
    if (status == KEEL_ERR_INVALID_PARAM) {
        keel_error(lane->message, "a group of %u ranks is too large for KEEL_PARITIES of %u", ckpt->group.size,
                   lane->config->parities);
        status = KEEL_ERR_GROUPS;
    }
    if (status != KEEL_OK) {
        keel_ckpt_release(ckpt);
    }
    return status;
}

void keel_ckpt_release(keel_ckpt_t *ckpt)
{
    keel_image_set_release(&ckpt->set);
    keel_group_loss_release(ckpt);
    keel_groups_release(&ckpt->groups);
}

/* ---- announcements with arrivals ---- */

static uint64_t ckpt_now(const keel_ckpt_t *ckpt)
{
    return ckpt->lane->runtime->ops->now_ns(ckpt->lane->runtime);
}

static void ckpt_announce(keel_ckpt_t *ckpt)
{
    if (keel_image_set_is_safe(&ckpt->set)) {
        keel_lane_announce_parity(ckpt->lane, ckpt->set.making.number);
    } else if (ckpt->set.state.stage == KEEL_SET_FAILED) { /* no rank will use this generation */
        keel_lane_announce_parity(ckpt->lane, KEEL_CKPT_FAILED | ckpt->set.making.number);
    }
}

static int ckpt_has_failed(const keel_ckpt_t *ckpt)
{
    const uint64_t word = KEEL_CKPT_FAILED | ckpt->set.making.number;

    KEEL_EACH_MEMBER(r, ckpt->lane) {
        if ((r == ckpt->lane->rank ? ckpt->lane->slot.parity_done
                                   : keel_board_get(&ckpt->lane->board[r].parity_done)) == word) {
            return 1;
        }
    }
    return 0;
}

void keel_ckpt_request_retry(keel_ckpt_t *ckpt)
{
    ckpt->is_retry_due = 1;
}

int keel_ckpt_is_stop_due(keel_ckpt_t *ckpt)
{
    if (ckpt->lane->config->protect == KEEL_PROTECT_NONE) {
        return 0;
    }
    if (ckpt->set.making.number != 0) {
        return keel_ckpt_is_complete(ckpt) || ckpt_has_failed(ckpt);
    }
    return ckpt->is_retry_due || keel_interval_has_passed(&ckpt->interval, ckpt_now(ckpt));
}

int keel_ckpt_is_due(keel_ckpt_t *ckpt, int is_explicit)
{
    const uint64_t now = ckpt_now(ckpt);

    if (ckpt->lane->config->protect == KEEL_PROTECT_NONE) {
        return 0;
    }
    if (ckpt->set.making.number != 0 && ckpt_has_failed(ckpt)) {
        keel_interval_taken(&ckpt->interval, now, (double)(now - ckpt->set.started_ns) * 1e-9);
        keel_ckpt_abort(ckpt);
        /* the next checkpoint comes at its interval: an immediate one might fail for the same
         * reason */
        ckpt->is_retry_due = 0;
    }
    if (ckpt->set.making.number != 0) {
        return 0;
    }
    return is_explicit || ckpt->is_retry_due || keel_interval_is_due(&ckpt->interval, now);
}

/* ---- a generation ---- */

keel_status_t keel_ckpt_take(keel_ckpt_t *ckpt, const keel_image_meta_t *meta, const keel_part_t *parts, unsigned count)
{
    keel_image_set_t *set = &ckpt->set;
    keel_status_t status = KEEL_OK;

    keel_ckpt_abort(ckpt); /* gives up a generation that failed at some rank */
    ckpt->is_retry_due = 0;
    ckpt->work_ns = 0;
    keel_image_set_begin(set, meta->generation);
    set->making.window_calls = meta->window_calls;
    set->making.resume = meta->resume;
    set->making.sync_counter = meta->sync_counter;
    for (uint32_t i = 0; i < set->count; i++) {
        if (keel_parity_has_image(&ckpt->group, i)) {
            keel_image_set_expect(set, i);
        }
    }
    if (!keel_parity_is_checksum(&ckpt->group)) {
        status = keel_image_set_copy(set, meta, parts, count);
        ckpt->image_bytes = set->notices[ckpt->group.index].size;
        ckpt->copy_ns = ckpt_now(ckpt) - set->started_ns;
        keel_trace_span(ckpt->lane->trace, KEEL_TRACE_COPY, meta->generation, set->started_ns, ckpt->image_bytes);
        ckpt_announce(ckpt);
    }
    return status;
}

void keel_ckpt_step(keel_ckpt_t *ckpt)
{
    uint64_t start;

    if (!keel_image_set_is_rearming(&ckpt->set) && !keel_image_set_is_making(&ckpt->set)) {
        return;
    }
    start = ckpt_now(ckpt);
    keel_image_set_step(&ckpt->set);
    ckpt_announce(ckpt);
    ckpt->work_ns += ckpt_now(ckpt) - start;
}

int keel_ckpt_is_complete(const keel_ckpt_t *ckpt)
{
    const keel_lane_t *lane = ckpt->lane;

    if (!keel_image_set_is_safe(&ckpt->set)) {
        return 0;
    }
    KEEL_EACH_MEMBER(r, lane) {
        if (r != lane->rank && keel_board_get(&lane->board[r].parity_done) != ckpt->set.making.number &&
            !(KEEL_PLANT(coordinated_commit_in_group) && ckpt->group.size > 0 &&
              ckpt->groups.of_rank[r] != ckpt->groups.of_rank[lane->rank])) {
            return 0;
        }
    }
    return 1;
}

/* expected cost of the next generation, without the time to make memory */
static double ckpt_cost_s(const keel_ckpt_t *ckpt)
{
    const uint64_t spent = ckpt->copy_ns + ckpt->work_ns, made = ckpt->set.made_ns;

    return (spent > made) ? (double)(spent - made) * 1e-9 : 0;
}

int keel_ckpt_commit(keel_ckpt_t *ckpt, uint32_t generation)
{
    if (generation == 0 || ckpt->set.making.number != generation || !keel_image_set_use(&ckpt->set)) {
        return 0;
    }
    ckpt->committed++;
    keel_trace_instant(ckpt->lane->trace, KEEL_TRACE_COMMIT, generation, 0, 0);
    keel_lane_announce_committed(ckpt->lane, generation);
    keel_interval_taken(&ckpt->interval, ckpt->set.started_ns, ckpt_cost_s(ckpt));
    return 1;
}

void keel_ckpt_abort(keel_ckpt_t *ckpt)
{
    const uint32_t making = ckpt->set.making.number;

    if (keel_image_set_drop(&ckpt->set)) {
        keel_trace_instant(ckpt->lane->trace, KEEL_TRACE_ABORT, making, 0, 0);
        ckpt->is_retry_due = 1;
        keel_lane_announce_parity(ckpt->lane, ckpt->set.used.number);
    }
}

/* ---- recovery ---- */

keel_status_t keel_ckpt_rebuild_begin(keel_ckpt_t *ckpt, const keel_generation_t *generation, unsigned slot)
{
    ckpt->is_rebuilt = 0;
    keel_repair_adopt(&ckpt->set, generation->number, slot);
    ckpt->set.used.window_calls = generation->window_calls;
    return keel_parity_is_checksum(&ckpt->group) ? KEEL_OK : keel_repair_rebuild_begin(&ckpt->set);
}

void keel_ckpt_rebuild_nothing(keel_ckpt_t *ckpt)
{
    keel_image_set_void(&ckpt->set);
    ckpt->set.used.window_calls = 0;
    keel_lane_announce_parity(ckpt->lane, 0);
    keel_lane_announce_committed(ckpt->lane, 0);
}

keel_status_t keel_ckpt_rebuild_step(keel_ckpt_t *ckpt)
{
    keel_images_t *used = &ckpt->set.used;
    keel_image_meta_t meta = {0};
    keel_status_t status = KEEL_OK;

    if (!keel_parity_is_checksum(&ckpt->group)) {
        status = keel_repair_rebuild_step(&ckpt->set, used->number, &meta);
    }
    if (status == KEEL_OK) {
        ckpt->is_rebuilt = 1;
        used->resume = meta.resume;
        used->sync_counter = meta.sync_counter;
        keel_lane_announce_parity(ckpt->lane, used->number);
        keel_lane_announce_committed(ckpt->lane, used->number);
    }
    return status;
}

void keel_ckpt_adopt_loaded(keel_ckpt_t *ckpt, const keel_generation_t *generation, const keel_image_meta_t *meta)
{
    keel_image_set_t *set = &ckpt->set;

    keel_repair_adopt(set, generation->number - KEEL_PLANT(coordinated_loaded_early), set->first_slot);
    set->used.window_calls = generation->window_calls;
    set->used.resume = meta->resume;
    set->used.sync_counter = meta->sync_counter;
    for (uint32_t i = 0; i < set->count; i++) {
        set->used.members[i] =
            (keel_image_member_t){.position = generation->number, .slot = set->first_slot, .size = set->sizes[i]};
        set->has[i] = KEEL_PARITY_HAS_IMAGE;
    }
    ckpt->is_rebuilt = 1;
}
