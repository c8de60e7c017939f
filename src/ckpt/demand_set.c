/* Making a set. */
#include "ckpt/demand_set.h"

#include "base/memory.h"
#include "base/plant.h"
#include "base/reached.h"
#include "peer/control.h"
#include "peer/region.h"

#include <string.h>

#define DEMAND_COMPARE (512 * 1024) /* bytes of an image compared in one step */

static uint64_t demand_now(const keel_demand_t *demand)
{
    return demand->ckpt->lane->runtime->ops->now_ns(demand->ckpt->lane->runtime);
}

static unsigned demand_other_slot(unsigned slot)
{
    return (slot == KEEL_SLOTS_COORDINATED) ? KEEL_SLOTS_COORDINATED + 1 : KEEL_SLOTS_COORDINATED;
}

/* what serves of a member: its own image, or that of the generation */
static keel_demand_member_t demand_serving(const keel_demand_t *demand, uint32_t index)
{
    const keel_ckpt_t *ckpt = demand->ckpt;

    if (demand->used.number != 0 && demand->used.members[index].position != 0) {
        return demand->used.members[index];
    }
    return (keel_demand_member_t){.slot = ckpt->used_slot,
                                  .size = (ckpt->used.number == 0) ? 0 : ckpt->sizes[ckpt->used_slot][index]};
}

void keel_demand_set_list(const keel_demand_t *demand, const keel_demand_set_t *set, uint8_t *slots, uint64_t *sizes)
{
    for (uint32_t i = 0; i < demand->size; i++) {
        slots[i] = (uint8_t)set->members[i].slot;
        sizes[i] = set->members[i].size;
    }
}

void keel_demand_set_begin(keel_demand_t *demand, uint32_t number)
{
    const keel_ckpt_t *ckpt = demand->ckpt;

    for (uint32_t i = 0; i < demand->size; i++) {
        demand->making.members[i] = demand_serving(demand, i);
        if (demand->pending[ckpt->group.members[i]].position == number) {
            demand->making.members[i] = (keel_demand_member_t){.position = number};
        }
    }
    demand->making.number = number;
    demand->making.share_slot =
        (demand->used.number == 0) ? KEEL_SLOTS_COORDINATED : demand_other_slot(demand->used.share_slot);
    demand->started_ns = demand_now(demand);
    /* a generation that was never completed is in the way until the next one */
    demand->stage = (ckpt->making.number != 0) ? KEEL_DEMAND_FAILED : KEEL_DEMAND_IMAGES;
}

void keel_demand_set_use(keel_demand_t *demand)
{
    const keel_demand_set_t made = demand->making;

    demand->making = demand->used;
    demand->making.number = 0;
    demand->used = made;
    demand->stage = KEEL_DEMAND_IDLE;
    demand->is_armed = 1;
    memset(demand->has, KEEL_PARITY_HAS_ALL, demand->size);
    demand->committed += made.members[demand->ckpt->group.index].position == made.number;
    demand->safe_ns = demand_now(demand) - demand->started_ns;
}

void keel_demand_set_drop(keel_demand_t *demand)
{
    if (demand->making.number == 0) {
        return;
    }
    if (!demand->is_rearming) {
        keel_parity_cancel(demand->parity);
    }
    if (demand->making.members[demand->ckpt->group.index].position == demand->making.number &&
        demand->stage != KEEL_DEMAND_FAILED && demand->asked == 0) {
        demand->asked = demand->making.number; /* a death came between: it is wanted still */
    }
    demand->making.number = 0;
    demand->stage = KEEL_DEMAND_IDLE;
    demand->aborted++;
}

/* ---- the own image ---- */

/* the largest coordinated checkpoint of this process still has to fit beside it */
static size_t demand_reserve(const keel_demand_t *demand, size_t image, size_t share)
{
    const keel_lane_t *lane = demand->ckpt->lane;
    size_t reserve = 0;

    for (unsigned slot = 0; slot < KEEL_SLOTS_COORDINATED; slot++) {
        const size_t has_image = lane->own[KEEL_REGION_IMAGE0 + slot].size;
        const size_t has_share = lane->own[KEEL_REGION_PARITY0 + slot].size;

        reserve += (image > has_image) ? image - has_image : 0;
        reserve += (share > has_share) ? share - has_share : 0;
    }
    return reserve;
}

static void demand_say_image(keel_demand_t *demand, const keel_ckpt_image_t *image)
{
    const keel_ckpt_t *ckpt = demand->ckpt;
    const uint8_t *map = demand->maps[ckpt->group.index];
    const size_t length = sizeof(*image) + image->map_bytes;
    keel_ckpt_image_t *message = keel_alloc(length, "image message");
    keel_status_t status = (message != NULL) ? KEEL_OK : KEEL_ERR_NO_MEMORY;

    if (message != NULL) {
        *message = *image;
        if (image->map_bytes > 0) {
            memcpy(message + 1, map, image->map_bytes);
        }
    }
    for (uint32_t i = 0; i < demand->size && status == KEEL_OK; i++) {
        if (i != ckpt->group.index && ckpt->lane->peers[ckpt->group.members[i]].is_up) {
            status =
                keel_lane_control_send(ckpt->lane, ckpt->group.members[i], KEEL_CONTROL_DEMAND_IMAGE, message, length);
        }
    }
    keel_free(message);
    demand->said[ckpt->group.index] = *image;
    demand->stage = (status == KEEL_OK && image->size > 0) ? KEEL_DEMAND_IMAGES : KEEL_DEMAND_FAILED;
}

static int demand_compare_begin(keel_demand_t *demand, uint64_t size)
{
    uint8_t **map = &demand->maps[demand->ckpt->group.index];
    keel_changes_shape_t shape;

    if (demand->ckpt->used.number == 0 && demand->used.number == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < demand->size; i++) {
        demand->sizes[i] = demand_serving(demand, i).size;
    }
    if (demand->sizes[demand->ckpt->group.index] != size) {
        return 0;
    }
    shape = keel_parity_changes_shape(demand->parity, demand->sizes);
    keel_free(*map);
    *map = (shape.bytes > 0) ? keel_alloc(shape.bytes, "image changes") : NULL;
    demand->compared = 0;
    return *map != NULL;
}

void keel_demand_take(keel_demand_t *demand, const keel_image_meta_t *meta, const keel_part_t *parts, unsigned count)
{
    const keel_ckpt_t *ckpt = demand->ckpt;
    const keel_demand_member_t serving = demand_serving(demand, ckpt->group.index);
    keel_ckpt_image_t image = {.generation = (uint32_t)meta->generation,
                               .slot = KEEL_PLANT(demand_over_generation) ? ckpt->used_slot
                                       : (serving.position != 0)          ? demand_other_slot(serving.slot)
                                                                          : KEEL_SLOTS_COORDINATED,
                               .size = keel_image_size(parts, count),
                               .window_calls = meta->window_calls};
    keel_status_t status = (parts == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
    void *base;

    demand->taken++;
    demand->asked = 0;
    if (demand->stage == KEEL_DEMAND_FAILED) {
        status = KEEL_ERR_STATE;
    }
    if (status == KEEL_OK) {
        const size_t data = ckpt->group.size - ckpt->group.parities;
        const size_t share = ckpt->group.is_dedicated ? 0 : image.size / data * ckpt->group.parities;

        status = keel_ckpt_region_beside(demand->ckpt, KEEL_REGION_IMAGE0 + image.slot, image.size,
                                         demand_reserve(demand, image.size, share), &base);
    }
    if (status != KEEL_OK) {
        image.size = 0; /* the image before stays in use */
        demand_say_image(demand, &image);
        return;
    }
    KEEL_REACHED(demand_image);
    keel_image_write(base, meta, parts, count);
    if (demand_compare_begin(demand, image.size)) {
        demand->said[ckpt->group.index] = image;
        demand->stage = KEEL_DEMAND_COMPARING;
    } else {
        demand_say_image(demand, &image);
    }
}

static void demand_compare_step(keel_demand_t *demand)
{
    const uint32_t index = demand->ckpt->group.index;
    const keel_lane_t *lane = demand->ckpt->lane;
    const keel_demand_member_t serving = demand_serving(demand, index);
    keel_ckpt_image_t image = demand->said[index];
    keel_changes_shape_t shape;

    for (uint32_t i = 0; i < demand->size; i++) {
        demand->sizes[i] = demand_serving(demand, i).size;
    }
    shape = keel_parity_changes_shape(demand->parity, demand->sizes);
    if (keel_changes_compare(&shape, lane->own[KEEL_REGION_IMAGE0 + image.slot].base,
                             lane->own[KEEL_REGION_IMAGE0 + serving.slot].base, image.size, DEMAND_COMPARE,
                             &demand->compared, demand->maps[index])) {
        image.before = 1;
        image.map_bytes = (uint32_t)shape.bytes;
        demand_say_image(demand, &image);
    }
}

void keel_demand_receive_image(keel_demand_t *demand, const keel_control_in_t *in)
{
    const keel_ckpt_t *ckpt = demand->ckpt;
    const keel_ckpt_image_t *image = (const void *)in->payload;
    uint8_t **map;
    uint32_t index;

    if (in->length < sizeof(*image) || in->length != sizeof(*image) + image->map_bytes || demand->parity == NULL ||
        (image->slot < KEEL_SLOTS_COORDINATED && !KEEL_PLANT(demand_over_generation)) || image->slot >= KEEL_SLOTS ||
        ckpt->groups.of_rank[in->source] != ckpt->groups.of_rank[ckpt->lane->rank]) {
        keel_error(ckpt->lane->message, "malformed demand image message from rank %u refused", in->source);
        return;
    }
    index = ckpt->groups.index[in->source];
    map = &demand->maps[index];
    keel_free(*map);
    *map = (image->map_bytes > 0) ? keel_alloc(image->map_bytes, "image changes") : NULL;
    demand->said[index] = *image;
    if (*map != NULL) {
        memcpy(*map, image + 1, image->map_bytes);
    } else {
        demand->said[index].before = 0;
    }
}

/* ---- parity ---- */

/* 1: all members that copied theirs have told; -1: one could not */
static int demand_has_images(keel_demand_t *demand)
{
    for (uint32_t i = 0; i < demand->size; i++) {
        keel_demand_member_t *member = &demand->making.members[i];

        if (member->position != demand->making.number) {
            continue;
        }
        if (demand->said[i].generation != demand->making.number) {
            return 0;
        }
        if (demand->said[i].size == 0) {
            return -1;
        }
        member->slot = demand->said[i].slot;
        member->size = demand->said[i].size;
        /* checksum ranks make no window calls, and may be the only ones left */
        demand->pending[demand->ckpt->group.members[i]].window_calls = demand->said[i].window_calls;
    }
    return 1;
}

keel_status_t keel_demand_set_share(keel_demand_t *demand, const keel_demand_set_t *set, const uint8_t *has,
                                    const keel_parity_before_t *before)
{
    keel_ckpt_t *ckpt = demand->ckpt;
    keel_parity_work_t work = {.slot = set->share_slot,
                               .image_slots = demand->slots,
                               .image_sizes = demand->sizes,
                               .has = has,
                               .before = before};
    keel_status_t status;
    size_t bytes;

    keel_demand_set_list(demand, set, demand->slots, demand->sizes);
    bytes = keel_parity_share_size(&ckpt->group, demand->sizes);
    status = keel_ckpt_region_beside(ckpt, KEEL_REGION_PARITY0 + set->share_slot, bytes,
                                     demand_reserve(demand, demand->sizes[ckpt->group.index], bytes), &work.output);
    return (status == KEEL_OK) ? keel_parity_encode(demand->parity, &work) : status;
}

/* the share in use and all maps can be built on */
static int demand_has_changes(const keel_demand_t *demand)
{
    if (demand->used.number == 0 && demand->ckpt->used.number == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < demand->size; i++) {
        demand->sizes[i] = demand_serving(demand, i).size;
        if (demand->making.members[i].size != demand->sizes[i]) {
            return 0;
        }
    }
    for (uint32_t i = 0; i < demand->size; i++) {
        if (demand->making.members[i].position == demand->making.number &&
            (!demand->said[i].before ||
             demand->said[i].map_bytes != keel_parity_changes_shape(demand->parity, demand->sizes).bytes)) {
            return 0;
        }
    }
    return 1;
}

static keel_status_t demand_encode(keel_demand_t *demand)
{
    const keel_ckpt_t *ckpt = demand->ckpt;
    const unsigned slot = (demand->used.number != 0) ? demand->used.share_slot : ckpt->used_slot;
    uint8_t *slots_before = demand->slots + demand->size + 1;
    const uint8_t **maps;
    keel_parity_before_t before;
    keel_status_t status;

    if (!keel_ckpt_has_share(ckpt)) {
        return KEEL_OK;
    }
    if (!demand_has_changes(demand)) {
        return keel_demand_set_share(demand, &demand->making, ckpt->all, NULL);
    }
    maps = keel_alloc((demand->size + 1) * sizeof(*maps), "demand changes");
    if (maps == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < demand->size; i++) {
        slots_before[i] = (uint8_t)demand_serving(demand, i).slot;
        maps[i] = (demand->making.members[i].position == demand->making.number) ? demand->maps[i] : NULL;
    }
    before = (keel_parity_before_t){.image_slots = slots_before,
                                    .share = keel_lane_region_base(ckpt->lane, KEEL_REGION_PARITY0 + slot),
                                    .changes = maps};
    status = keel_demand_set_share(demand, &demand->making, ckpt->all, &before);
    keel_free(maps);
    return status;
}

static void demand_images_step(keel_demand_t *demand)
{
    const int has_images = demand_has_images(demand);

    const int is_unarmed = (!demand->ckpt->is_armed && !demand->ckpt->is_rearming) || !demand->is_armed;

    if (has_images < 0 || (has_images > 0 && is_unarmed)) { /* a share that is not coming back */
        demand->stage = KEEL_DEMAND_FAILED;
    } else if (has_images > 0 && demand->ckpt->is_armed && demand->is_armed) {
        demand->ckpt->encode_started_ns = demand_now(demand);
        demand->stage = (demand_encode(demand) == KEEL_OK) ? KEEL_DEMAND_ENCODING : KEEL_DEMAND_FAILED;
    }
}

static void demand_encode_step(keel_demand_t *demand)
{
    keel_ckpt_t *ckpt = demand->ckpt;
    const keel_status_t status = keel_ckpt_has_share(ckpt) ? keel_parity_step(demand->parity) : KEEL_OK;

    if (status == KEEL_INPROGRESS) {
        return;
    }
    demand->stage = (status == KEEL_OK) ? KEEL_DEMAND_SAFE : KEEL_DEMAND_FAILED;
    ckpt->encode_ns = demand_now(demand) - ckpt->encode_started_ns;
    if (status == KEEL_OK && keel_ckpt_has_share(ckpt)) {
        for (uint32_t i = 0; i < demand->size; i++) {
            ckpt->parity_read += keel_parity_bytes_from(demand->parity, i);
        }
        ckpt->parity_spared += keel_parity_bytes_spared(demand->parity);
    }
}

void keel_demand_step(keel_demand_t *demand)
{
    keel_status_t status;

    if (demand->parity == NULL) {
        return;
    }
    if (demand->is_rearming) {
        status = keel_parity_step(demand->parity);
        if (status != KEEL_INPROGRESS) {
            demand->is_rearming = 0;
            demand->is_armed = (status == KEEL_OK);
        }
        return; /* parity does one thing at a time */
    }
    switch (demand->stage) {
    case KEEL_DEMAND_COMPARING:
        demand_compare_step(demand);
        break;
    case KEEL_DEMAND_IMAGES:
        demand_images_step(demand);
        break;
    case KEEL_DEMAND_ENCODING:
        demand_encode_step(demand);
        break;
    default:
        break;
    }
}
