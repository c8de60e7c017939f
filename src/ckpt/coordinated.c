/* Coordinated checkpoints. */
#include "ckpt/coordinated.h"

#include "base/memory.h"
#include "base/plant.h"
#include "ckpt/exchange.h"
#include "ckpt/repair.h"
#include "peer/region.h"
#include "topo/choose.h"

#include <string.h>

/* 0: no parity, asked for, or alone */
static keel_status_t ckpt_group_size(const keel_lane_t *lane, uint32_t *size_p)
{
    const uint32_t checksums = lane->config->checksum_ranks, groups = checksums / lane->config->parities;
    uint32_t size = lane->config->group_size;

    if (checksums > 0) {
        size = (lane->programs + groups - 1) / groups;
    } else if (size > lane->size) {
        if (!lane->config->is_group_auto) {
            keel_error(lane->message, "KEEL_GROUP_SIZE of %u is impossible: the job has %u ranks", size, lane->size);
            return KEEL_ERR_GROUPS;
        }
        size = lane->size;
    }
    *size_p = (size < 2 && checksums == 0) ? 0 : size;
    return KEEL_OK;
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
    } else if (lane->rank == 0) {
        keel_info(lane->message, "%u groups: %s", ckpt->groups.count, note);
    }
    return status;
}

static keel_status_t ckpt_group_init(keel_ckpt_t *ckpt, const keel_domains_t *domains)
{
    keel_lane_t *lane = ckpt->lane;
    const int is_dedicated = lane->config->checksum_ranks > 0;
    keel_status_t status;
    uint32_t mine, size;

    status = ckpt_group_size(lane, &size);
    if (status != KEEL_OK || size == 0) {
        return status;
    }
    status = ckpt_groups_place(ckpt, domains, size);
    if (status != KEEL_OK) {
        return status;
    }
    mine = ckpt->groups.of_rank[lane->rank];
    ckpt->group = (keel_parity_group_t){.members = ckpt->groups.members[mine],
                                        .size = ckpt->groups.size[mine],
                                        .index = ckpt->groups.index[lane->rank],
                                        .parities = lane->config->parities,
                                        .is_dedicated = is_dedicated};
    status = keel_parity_create(lane, &ckpt->group, &ckpt->parity);
    if (status == KEEL_ERR_INVALID_PARAM) {
        keel_error(lane->message, "a group of %u ranks is too large for KEEL_PARITIES of %u", ckpt->group.size,
                   lane->config->parities);
        status = KEEL_ERR_GROUPS;
    }
    return status;
}

keel_status_t keel_ckpt_init(keel_ckpt_t *ckpt, keel_lane_t *lane, const keel_domains_t *domains)
{
    keel_status_t status;

    memset(ckpt, 0, sizeof(*ckpt));
    ckpt->lane = lane;
    ckpt->is_armed = 1;
    keel_interval_init(&ckpt->interval, lane->config, lane->runtime->ops->now_ns(lane->runtime));
    status = ckpt_group_init(ckpt, domains);
    if (status != KEEL_OK) {
        goto err_release;
    }
    for (unsigned slot = 0; slot < 2; slot++) {
        ckpt->sizes[slot] = keel_alloc((ckpt->group.size + 1) * sizeof(uint64_t), "image sizes");
    }
    ckpt->all = keel_alloc(ckpt->group.size + 1, "group members");
    ckpt->has = keel_alloc(ckpt->group.size + 1, "group members");
    ckpt->maps = keel_alloc((ckpt->group.size + 1) * sizeof(*ckpt->maps), "image changes");
    ckpt->said = keel_alloc((ckpt->group.size + 1) * sizeof(*ckpt->said), "image sizes");
    if (ckpt->sizes[0] == NULL || ckpt->sizes[1] == NULL || ckpt->said == NULL || ckpt->all == NULL ||
        ckpt->has == NULL || ckpt->maps == NULL) {
        status = KEEL_ERR_NO_MEMORY;
        goto err_release;
    }
    memset(ckpt->all, KEEL_PARITY_HAS_ALL, ckpt->group.size);
    memset(ckpt->has, KEEL_PARITY_HAS_ALL, ckpt->group.size);
    return KEEL_OK;

err_release:
    keel_ckpt_release(ckpt);
    return status;
}

void keel_ckpt_release(keel_ckpt_t *ckpt)
{
    if (ckpt->parity != NULL) {
        keel_parity_destroy(ckpt->parity);
    }
    keel_groups_release(&ckpt->groups);
    keel_free(ckpt->sizes[0]);
    keel_free(ckpt->sizes[1]);
    keel_free(ckpt->said);
    keel_free(ckpt->all);
    keel_free(ckpt->has);
    for (uint32_t i = 0; ckpt->maps != NULL && i < ckpt->group.size; i++) {
        keel_free(ckpt->maps[i]);
    }
    keel_free(ckpt->maps);
}

static uint64_t ckpt_now(const keel_ckpt_t *ckpt)
{
    return ckpt->lane->runtime->ops->now_ns(ckpt->lane->runtime);
}

unsigned keel_ckpt_making_slot(const keel_ckpt_t *ckpt)
{
    return (ckpt->used.number == 0) ? 0 : 1 - ckpt->used_slot;
}

/* this rank cannot make the generation, so nobody will have it: said with the next arrival, as a share is */
void keel_ckpt_fail(keel_ckpt_t *ckpt)
{
    ckpt->stage = KEEL_CKPT_FAILED;
    ckpt->lane->slot.parity_done = KEEL_CKPT_CANNOT | ckpt->making.number;
}

static int ckpt_has_failed(const keel_ckpt_t *ckpt)
{
    const uint64_t word = KEEL_CKPT_CANNOT | ckpt->making.number;

    for (uint32_t r = 0; r < ckpt->lane->size; r++) {
        if ((r == ckpt->lane->rank ? ckpt->lane->slot.parity_done
                                   : keel_board_get(&ckpt->lane->board[r].parity_done)) == word) {
            return 1;
        }
    }
    return 0;
}

int keel_ckpt_is_due(keel_ckpt_t *ckpt, int is_explicit)
{
    const uint64_t now = ckpt_now(ckpt);

    if (ckpt->lane->config->protect == KEEL_PROTECT_NONE) {
        return 0;
    }
    if (ckpt->making.number != 0 && ckpt_has_failed(ckpt)) {
        keel_interval_taken(&ckpt->interval, now, (double)(now - ckpt->started_ns) * 1e-9);
        keel_ckpt_abort(ckpt);
        ckpt->is_owed = 0; /* the next one in its turn: it may fail for the same reason */
    }
    if (ckpt->making.number != 0) {
        return 0;
    }
    return is_explicit || ckpt->is_owed || keel_interval_is_due(&ckpt->interval, now);
}

keel_status_t keel_ckpt_region(keel_ckpt_t *ckpt, unsigned region, size_t bytes, void **base_p)
{
    const uint64_t start = ckpt_now(ckpt);
    const keel_status_t status = keel_ckpt_region_beside(ckpt, region, bytes, 0, base_p);

    ckpt->made_ns += ckpt_now(ckpt) - start;
    return status;
}

keel_status_t keel_ckpt_region_beside(keel_ckpt_t *ckpt, unsigned region, size_t bytes, size_t reserve, void **base_p)
{
    const keel_config_t *config = ckpt->lane->config;
    size_t others = reserve;

    *base_p = keel_lane_region_base(ckpt->lane, region);
    if (*base_p != NULL && ckpt->lane->own[region].size >= bytes) {
        return KEEL_OK;
    }
    for (unsigned r = KEEL_REGION_IMAGE0; r < KEEL_REGION_PARITY0 + KEEL_SLOTS; r++) {
        others += (r == region) ? 0 : ckpt->lane->own[r].size;
    }
    if (config->ckpt_size > 0 && others + bytes > config->ckpt_size) {
        if (!ckpt->is_told) {
            keel_error(ckpt->lane->message,
                       "KEEL_CKPT_SIZE of %zu bytes is too small: %zu are needed, %zu of them for an image or parity "
                       "share; what there was before stays in use",
                       config->ckpt_size, others + bytes, bytes);
        }
        ckpt->is_told = 1;
        return KEEL_ERR_BUDGET;
    }
    return keel_lane_region_make(ckpt->lane, region, bytes, NULL, base_p);
}

keel_status_t keel_ckpt_take(keel_ckpt_t *ckpt, const keel_image_meta_t *meta, const keel_part_t *parts, unsigned count)
{
    const uint64_t start = ckpt_now(ckpt);
    const unsigned slot = keel_ckpt_making_slot(ckpt);
    keel_ckpt_image_t image = {.generation = (uint32_t)meta->generation,
                               .slot = slot,
                               .size = keel_image_size(parts, count),
                               .window_calls = meta->window_calls};
    keel_status_t status;
    void *base;

    keel_ckpt_abort(ckpt); /* one that somebody could not make */
    ckpt->making = (keel_generation_t){.number = image.generation,
                                       .window_calls = meta->window_calls,
                                       .in_checkpoint = meta->in_checkpoint,
                                       .sync_counter = meta->sync_counter};
    ckpt->is_owed = 0;
    ckpt->started_ns = start;
    ckpt->work_ns = ckpt->parity_ns = ckpt->made_ns = 0;
    if (keel_ckpt_is_checksum(ckpt)) {
        ckpt->stage = KEEL_CKPT_IMAGES;
        return KEEL_OK;
    }
    status =
        (parts == NULL) ? KEEL_ERR_NO_MEMORY : keel_ckpt_region(ckpt, KEEL_REGION_IMAGE0 + slot, image.size, &base);
    if (status == KEEL_OK) {
        keel_image_write(base, meta, parts, count);
    } else {
        image.size = 0; /* nobody waits for it: the old generation stays in use */
    }
    if (status == KEEL_OK && keel_ckpt_compare_begin(ckpt, image.size)) {
        ckpt->stage = KEEL_CKPT_COMPARING;
    } else {
        keel_ckpt_say_image(ckpt, &image);
    }
    ckpt->image_bytes = image.size;
    ckpt->copy_ns = ckpt_now(ckpt) - start;
    return (status == KEEL_OK && ckpt->stage == KEEL_CKPT_FAILED) ? KEEL_ERR_NO_MEMORY : status;
}

static keel_status_t ckpt_encode(keel_ckpt_t *ckpt, unsigned slot)
{
    const keel_parity_before_t before = {.share = keel_lane_region_base(ckpt->lane, KEEL_REGION_PARITY0 + 1 - slot),
                                         .changes = (const uint8_t *const *)ckpt->maps};

    if (!keel_ckpt_has_share(ckpt)) {
        return KEEL_OK;
    }
    return keel_ckpt_share(ckpt, slot, ckpt->all, keel_ckpt_has_changes(ckpt) ? &before : NULL);
}

static void ckpt_made(keel_ckpt_t *ckpt)
{
    for (uint32_t i = 0; keel_ckpt_has_share(ckpt) && i < ckpt->group.size; i++) {
        ckpt->parity_read += keel_parity_bytes_from(ckpt->parity, i);
    }
    ckpt->parity_spared += keel_ckpt_has_share(ckpt) ? keel_parity_bytes_spared(ckpt->parity) : 0;
    ckpt->parity_moved = keel_ckpt_has_share(ckpt) ? keel_parity_bytes_moved(ckpt->parity) : 0;
    ckpt->encode_ns = ckpt_now(ckpt) - ckpt->encode_started_ns;
    ckpt->stage = KEEL_CKPT_SAFE;
    ckpt->lane->slot.parity_done = ckpt->making.number;
}

static void ckpt_go_on(keel_ckpt_t *ckpt)
{
    keel_status_t status;
    uint64_t start;

    if (ckpt->is_rearming) {
        status = keel_parity_step(ckpt->parity);
        if (status != KEEL_INPROGRESS) {
            ckpt->is_rearming = 0;
            ckpt->is_armed = (status == KEEL_OK);
        }
        return; /* the next generation waits for it: parity does one thing at a time */
    }
    if (ckpt->stage == KEEL_CKPT_COMPARING) {
        keel_ckpt_compare_step(ckpt);
    }
    if (ckpt->stage == KEEL_CKPT_IMAGES && keel_ckpt_lacks_image(ckpt)) {
        keel_ckpt_fail(ckpt);
    }
    if (ckpt->stage == KEEL_CKPT_IMAGES && keel_ckpt_has_images(ckpt)) {
        for (uint32_t i = 0; i < ckpt->group.size; i++) {
            ckpt->sizes[keel_ckpt_making_slot(ckpt)][i] = keel_ckpt_has_image(ckpt, i) ? ckpt->said[i].size : 0;
        }
        if (keel_ckpt_is_checksum(ckpt)) { /* it makes none of these calls */
            ckpt->making.window_calls = ckpt->said[ckpt->group.parities].window_calls;
        }
        ckpt->stage = KEEL_CKPT_ENCODING;
        ckpt->encode_started_ns = ckpt_now(ckpt);
        if (ckpt_encode(ckpt, keel_ckpt_making_slot(ckpt)) != KEEL_OK) {
            keel_ckpt_fail(ckpt);
        }
    }
    if (ckpt->stage == KEEL_CKPT_ENCODING) {
        start = ckpt_now(ckpt);
        status = keel_ckpt_has_share(ckpt) ? keel_parity_step(ckpt->parity) : KEEL_OK;
        ckpt->parity_ns += ckpt_now(ckpt) - start;
        if (status == KEEL_OK) {
            ckpt_made(ckpt);
        } else if (status != KEEL_INPROGRESS) {
            keel_ckpt_fail(ckpt); /* when a member died, recovery gives the generation up */
        }
    }
}

void keel_ckpt_step(keel_ckpt_t *ckpt)
{
    uint64_t start;

    if (!ckpt->is_rearming && (ckpt->stage == KEEL_CKPT_IDLE || ckpt->stage >= KEEL_CKPT_SAFE)) {
        return;
    }
    start = ckpt_now(ckpt);
    ckpt_go_on(ckpt);
    ckpt->work_ns += ckpt_now(ckpt) - start;
}

int keel_ckpt_is_complete(const keel_ckpt_t *ckpt)
{
    const keel_lane_t *lane = ckpt->lane;

    if (ckpt->stage != KEEL_CKPT_SAFE) {
        return 0;
    }
    for (uint32_t r = 0; r < lane->size; r++) {
        if (KEEL_PLANT(commit_in_group) && ckpt->group.size > 0 &&
            ckpt->groups.of_rank[r] != ckpt->groups.of_rank[lane->rank]) {
            continue;
        }
        if (r != lane->rank && keel_board_get(&lane->board[r].parity_done) != ckpt->making.number) {
            return 0;
        }
    }
    return 1;
}

/* what the next generation will cost: its memory is there then */
static double ckpt_cost_s(const keel_ckpt_t *ckpt)
{
    const uint64_t spent = ckpt->copy_ns + ckpt->work_ns;

    return (spent > ckpt->made_ns) ? (double)(spent - ckpt->made_ns) * 1e-9 : 0;
}

int keel_ckpt_commit(keel_ckpt_t *ckpt, uint32_t generation)
{
    const uint64_t now = ckpt_now(ckpt);

    if (ckpt->making.number == 0 || ckpt->making.number != generation) {
        return 0;
    }
    ckpt->used_slot = keel_ckpt_making_slot(ckpt);
    ckpt->used = ckpt->making;
    ckpt->making = (keel_generation_t){0};
    ckpt->stage = KEEL_CKPT_IDLE;
    ckpt->is_armed = 1;
    ckpt->is_rearming = 0;
    memset(ckpt->has, KEEL_PARITY_HAS_ALL, ckpt->group.size);
    ckpt->safe_ns = now - ckpt->started_ns;
    ckpt->committed++;
    ckpt->lane->slot.committed = generation;
    keel_interval_taken(&ckpt->interval, ckpt->started_ns, ckpt_cost_s(ckpt));
    return 1;
}

void keel_ckpt_abort(keel_ckpt_t *ckpt)
{
    if (ckpt->making.number == 0) {
        return;
    }
    if (!ckpt->is_rearming && ckpt->parity != NULL) {
        keel_parity_cancel(ckpt->parity);
    }
    ckpt->making = (keel_generation_t){0};
    ckpt->stage = KEEL_CKPT_IDLE;
    ckpt->is_owed = 1;
    ckpt->lane->slot.parity_done = ckpt->used.number;
    ckpt->aborted++;
}

void keel_ckpt_forget_images(keel_ckpt_t *ckpt)
{
    for (uint32_t i = 0; i < ckpt->group.size; i++) {
        if (ckpt->said[i].generation != ckpt->used.number) {
            ckpt->said[i] = (keel_ckpt_image_t){0};
        }
    }
}

const void *keel_ckpt_image(keel_ckpt_t *ckpt, size_t *size_p)
{
    *size_p = keel_lane_region_size(ckpt->lane, ckpt->lane->rank, KEEL_REGION_IMAGE0 + ckpt->used_slot);
    return keel_lane_region_base(ckpt->lane, KEEL_REGION_IMAGE0 + ckpt->used_slot);
}
