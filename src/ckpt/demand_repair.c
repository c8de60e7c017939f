/* Demand checkpoints: what a replacement is told of its group's set, and rebuilds of it. */
#include "ckpt/demand_repair.h"
#include "ckpt/demand_set.h"

#include "base/memory.h"
#include "peer/control.h"

#include <string.h>

/* a group's word on the set in use, for a replacement */
typedef struct set_message {
    uint32_t number;
    uint32_t share_slot;
    keel_demand_member_t members[];
} set_message_t;

static int repair_is_member(const keel_demand_t *demand, uint32_t rank)
{
    const keel_groups_t *groups = &demand->ckpt->groups;

    return demand->parity != NULL && groups->of_rank[rank] == groups->of_rank[demand->ckpt->lane->rank];
}

keel_status_t keel_demand_send_group(keel_demand_t *demand, uint32_t rank)
{
    const size_t length = sizeof(set_message_t) + demand->size * sizeof(keel_demand_member_t);
    set_message_t *message;
    keel_status_t status;

    if (demand->used.number == 0 || !repair_is_member(demand, rank)) {
        return KEEL_OK;
    }
    message = keel_alloc(length, "group message");
    if (message == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    message->number = demand->used.number;
    message->share_slot = demand->used.share_slot;
    memcpy(message->members, demand->used.members, demand->size * sizeof(keel_demand_member_t));
    status = keel_lane_control_send(demand->ckpt->lane, rank, KEEL_CONTROL_DEMAND_GROUP, message, length);
    keel_free(message);
    return status;
}

void keel_demand_receive_group(keel_demand_t *demand, const keel_control_in_t *in)
{
    const set_message_t *message = (const void *)in->payload;
    int is_right = in->length == sizeof(*message) + demand->size * sizeof(keel_demand_member_t) &&
                   repair_is_member(demand, in->source) && message->share_slot >= KEEL_SLOTS_COORDINATED &&
                   message->share_slot < KEEL_SLOTS;

    for (uint32_t i = 0; is_right && i < demand->size; i++) {
        is_right = message->members[i].slot < KEEL_SLOTS &&
                   (message->members[i].position == 0 || message->members[i].slot >= KEEL_SLOTS_COORDINATED);
    }
    if (!is_right) {
        keel_error(demand->ckpt->lane->message, "malformed group message from rank %u refused", in->source);
        return;
    }
    demand->told[demand->ckpt->groups.index[in->source]] = message->number;
    demand->used.share_slot = message->share_slot;
    memcpy(demand->used.members, message->members, demand->size * sizeof(keel_demand_member_t));
}

int keel_demand_knows_group(const keel_demand_t *demand)
{
    if (demand->parity == NULL || demand->used.number == 0) {
        return 1;
    }
    for (uint32_t i = 0; i < demand->size; i++) {
        if (i != demand->ckpt->group.index && (demand->has[i] & KEEL_PARITY_HAS_IMAGE) &&
            demand->told[i] != demand->used.number) {
            return 0;
        }
    }
    return 1;
}

static int repair_has_own(const keel_demand_t *demand)
{
    return demand->parity != NULL && demand->used.number != 0 && !keel_ckpt_is_checksum(demand->ckpt) &&
           demand->starts[demand->ckpt->lane->rank].position != 0;
}

keel_status_t keel_demand_rebuild_begin(keel_demand_t *demand)
{
    const keel_demand_member_t *own = &demand->used.members[demand->ckpt->group.index];
    keel_parity_work_t work = {.slot = demand->used.share_slot,
                               .image_slots = demand->slots,
                               .image_sizes = demand->sizes,
                               .has = demand->has};
    keel_status_t status;

    if (!repair_has_own(demand)) {
        return KEEL_OK;
    }
    keel_parity_cancel(demand->parity);
    keel_demand_set_list(demand, &demand->used, demand->slots, demand->sizes);
    status = keel_ckpt_region(demand->ckpt, KEEL_REGION_IMAGE0 + own->slot, own->size, &work.output);
    return (status == KEEL_OK) ? keel_parity_rebuild(demand->parity, &work) : status;
}

keel_status_t keel_demand_rebuild_step(keel_demand_t *demand)
{
    const keel_lane_t *lane = demand->ckpt->lane;
    keel_image_meta_t meta;
    keel_status_t status;
    const void *image;
    const char *why;
    size_t size;

    if (!repair_has_own(demand)) {
        demand->is_rebuilt = 1;
        return KEEL_OK;
    }
    status = keel_parity_step(demand->parity);
    if (status != KEEL_OK) {
        return status;
    }
    image = keel_demand_image(demand, &size);
    status = keel_image_check(image, size, &meta, &why);
    if (status != KEEL_OK) {
        keel_error(lane->message, "rebuilt demand image of position %u is refused: %s",
                   demand->starts[lane->rank].position, why);
        return status;
    }
    if (meta.rank != lane->rank || meta.generation != demand->starts[lane->rank].position) {
        keel_error(lane->message, "rebuilt demand image is of rank %u position %lu", meta.rank, meta.generation);
        return KEEL_ERR_CORRUPT;
    }
    demand->is_rebuilt = 1;
    return KEEL_OK;
}

const void *keel_demand_image(const keel_demand_t *demand, size_t *size_p)
{
    const keel_demand_member_t *own = &demand->used.members[demand->ckpt->group.index];

    *size_p = own->size;
    return demand->ckpt->lane->own[KEEL_REGION_IMAGE0 + own->slot].base;
}

keel_status_t keel_demand_rearm(keel_demand_t *demand)
{
    keel_status_t status;

    if (demand->parity == NULL || demand->is_armed || demand->is_rearming || demand->used.number == 0) {
        return KEEL_OK;
    }
    if (!keel_ckpt_has_share(demand->ckpt)) {
        demand->is_armed = 1;
        return KEEL_OK;
    }
    status = keel_demand_set_share(demand, &demand->used, demand->has, NULL);
    demand->is_rearming = (status == KEEL_OK);
    /* the others of the group may have lost too much of the set: then a death there is a rollback */
    return (status == KEEL_ERR_INVALID_PARAM || status == KEEL_ERR_BUDGET) ? KEEL_OK : status;
}
