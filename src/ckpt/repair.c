/* Repair of a group. */
#include "ckpt/repair.h"

#include "base/memory.h"
#include "peer/control.h"
#include "peer/region.h"

#include <string.h>

/* a group's word on the generation in use, for a replacement */
typedef struct group_message {
    uint32_t generation;
    uint32_t slot;
    uint64_t sizes[];
} group_message_t;

static int repair_is_member(const keel_ckpt_t *ckpt, uint32_t rank)
{
    return ckpt->group.size > 0 && ckpt->groups.of_rank[rank] == ckpt->groups.of_rank[ckpt->lane->rank];
}

void keel_ckpt_member_down(keel_ckpt_t *ckpt, uint32_t rank)
{
    if (!repair_is_member(ckpt, rank)) {
        return;
    }
    ckpt->said[ckpt->groups.index[rank]] = (keel_ckpt_image_t){0};
    if (ckpt->is_rearming) {
        keel_parity_cancel(ckpt->parity);
        ckpt->is_rearming = 0;
    }
}

void keel_ckpt_member_has(keel_ckpt_t *ckpt, uint32_t rank, unsigned has)
{
    if (repair_is_member(ckpt, rank)) {
        ckpt->has[ckpt->groups.index[rank]] = (uint8_t)has;
    }
}

keel_status_t keel_ckpt_send_group(keel_ckpt_t *ckpt, uint32_t rank)
{
    const size_t length = sizeof(group_message_t) + ckpt->group.size * sizeof(uint64_t);
    group_message_t *message;
    keel_status_t status;

    if (ckpt->used.number == 0 || !repair_is_member(ckpt, rank)) {
        return KEEL_OK;
    }
    message = keel_alloc(length, "group message");
    if (message == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    message->generation = ckpt->used.number;
    message->slot = ckpt->used_slot;
    memcpy(message->sizes, ckpt->sizes[ckpt->used_slot], ckpt->group.size * sizeof(uint64_t));
    status = keel_lane_control_send(ckpt->lane, rank, KEEL_CONTROL_GROUP, message, length);
    keel_free(message);
    return status;
}

void keel_ckpt_receive_group(keel_ckpt_t *ckpt, const keel_control_in_t *in)
{
    const group_message_t *message = (const void *)in->payload;

    if (in->length != sizeof(*message) + ckpt->group.size * sizeof(uint64_t) || message->slot > 1 ||
        !repair_is_member(ckpt, in->source)) {
        keel_error(ckpt->lane->message, "malformed group message from rank %u refused", in->source);
        return;
    }
    memcpy(ckpt->sizes[message->slot], message->sizes, ckpt->group.size * sizeof(uint64_t));
    ckpt->said[ckpt->groups.index[in->source]] =
        (keel_ckpt_image_t){.generation = message->generation,
                            .slot = message->slot,
                            .size = message->sizes[ckpt->groups.index[in->source]]};
}

int keel_ckpt_knows_group(const keel_ckpt_t *ckpt, uint32_t generation)
{
    for (uint32_t i = 0; i < ckpt->group.size; i++) {
        if (i != ckpt->group.index && (ckpt->has[i] & KEEL_PARITY_HAS_IMAGE) &&
            ckpt->said[i].generation != generation) {
            return 0;
        }
    }
    return 1;
}

keel_status_t keel_ckpt_rebuild_begin(keel_ckpt_t *ckpt, const keel_generation_t *generation, unsigned slot)
{
    keel_status_t status;
    void *image;

    ckpt->used = *generation;
    ckpt->used_slot = slot;
    ckpt->is_armed = 0;
    if (keel_ckpt_is_checksum(ckpt)) {
        return KEEL_OK;
    }
    status = keel_ckpt_region(ckpt, KEEL_REGION_IMAGE0 + slot, ckpt->sizes[slot][ckpt->group.index], &image);
    if (status == KEEL_OK) {
        const keel_parity_work_t work = {
            .slot = slot, .image_sizes = ckpt->sizes[slot], .has = ckpt->has, .output = image};

        status = keel_parity_rebuild(ckpt->parity, &work);
    }
    return status;
}

void keel_ckpt_rebuild_nothing(keel_ckpt_t *ckpt)
{
    ckpt->used = (keel_generation_t){0};
    ckpt->used_slot = 0;
    ckpt->is_armed = 1;
    ckpt->lane->slot.parity_done = ckpt->lane->slot.committed = 0;
}

static keel_status_t repair_image(keel_ckpt_t *ckpt, keel_image_meta_t *meta_p)
{
    keel_status_t status;
    const char *why;

    if (keel_ckpt_is_checksum(ckpt)) {
        return KEEL_OK;
    }
    status = keel_parity_step(ckpt->parity);
    if (status != KEEL_OK) {
        return status;
    }
    status = keel_image_check(keel_lane_region_base(ckpt->lane, KEEL_REGION_IMAGE0 + ckpt->used_slot),
                              ckpt->sizes[ckpt->used_slot][ckpt->group.index], meta_p, &why);
    if (status != KEEL_OK) {
        keel_error(ckpt->lane->message, "rebuilt image of generation %u is refused: %s", ckpt->used.number, why);
        return status;
    }
    if (meta_p->rank != ckpt->lane->rank || meta_p->generation != ckpt->used.number) {
        keel_error(ckpt->lane->message, "rebuilt image is of rank %u generation %lu", meta_p->rank, meta_p->generation);
        return KEEL_ERR_CORRUPT;
    }
    return KEEL_OK;
}

keel_status_t keel_ckpt_rebuild_step(keel_ckpt_t *ckpt)
{
    keel_image_meta_t meta = {0};
    keel_status_t status = repair_image(ckpt, &meta);

    if (status != KEEL_OK) {
        return status;
    }
    ckpt->said[ckpt->group.index] = (keel_ckpt_image_t){.generation = ckpt->used.number,
                                                        .slot = ckpt->used_slot,
                                                        .size = ckpt->sizes[ckpt->used_slot][ckpt->group.index]};
    ckpt->used.in_checkpoint = meta.in_checkpoint;
    ckpt->used.sync_counter = meta.sync_counter;
    ckpt->lane->slot.parity_done = ckpt->used.number;
    ckpt->lane->slot.committed = ckpt->used.number;
    return KEEL_OK;
}

keel_status_t keel_ckpt_share(keel_ckpt_t *ckpt, unsigned slot, const uint8_t *has, const keel_parity_before_t *before)
{
    keel_parity_work_t work = {.slot = slot, .image_sizes = ckpt->sizes[slot], .has = has, .before = before};
    keel_status_t status;

    status = keel_ckpt_region(ckpt, KEEL_REGION_PARITY0 + slot, keel_parity_share_size(&ckpt->group, ckpt->sizes[slot]),
                              &work.output);
    return (status == KEEL_OK) ? keel_parity_encode(ckpt->parity, &work) : status;
}

keel_status_t keel_ckpt_rearm(keel_ckpt_t *ckpt)
{
    keel_status_t status;

    if (ckpt->is_armed || ckpt->is_rearming || ckpt->used.number == 0 || ckpt->group.size == 0) {
        return KEEL_OK;
    }
    if (!keel_ckpt_has_share(ckpt)) {
        ckpt->is_armed = 1;
        return KEEL_OK;
    }
    status = keel_ckpt_share(ckpt, ckpt->used_slot, ckpt->has, NULL);
    ckpt->is_rearming = (status == KEEL_OK);
    return status;
}
