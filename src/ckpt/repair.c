/* Repair of a group. */
#include "ckpt/repair.h"

#include "base/memory.h"
#include "check/plant.h"
#include "peer/control.h"
#include "peer/region.h"

#include <string.h>

/* description of the set in use, for a replacement */
typedef struct group_message {
    uint32_t number;
    uint32_t share_slot;
    keel_image_member_t members[];
} group_message_t;

static int repair_is_member(const keel_image_set_t *set, uint32_t rank)
{
    return set->parity != NULL && set->groups->of_rank[rank] == set->groups->of_rank[set->lane->rank];
}

void keel_repair_member_down(keel_image_set_t *set, uint32_t rank)
{
    if (!repair_is_member(set, rank)) {
        return;
    }
    if (!KEEL_PLANT(repair_known_to_dead)) {
        set->group_announced[set->groups->index[rank]] = 0;
    }
    set->notices[set->groups->index[rank]] = (keel_image_notice_t){0};
    keel_image_set_stop(set);
}

void keel_repair_member_has(keel_image_set_t *set, uint32_t rank, unsigned has)
{
    if (repair_is_member(set, rank)) {
        set->has[set->groups->index[rank]] = (uint8_t)has;
    }
}

keel_status_t keel_repair_send_group(keel_image_set_t *set, uint32_t rank)
{
    const size_t length = sizeof(group_message_t) + set->count * sizeof(keel_image_member_t);
    group_message_t *message;
    keel_status_t status;

    if (set->used.number == 0 || !repair_is_member(set, rank)) {
        return KEEL_OK;
    }
    message = keel_alloc(length, "group message");
    if (message == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    message->number = set->used.number;
    message->share_slot = set->used.share_slot;
    memcpy(message->members, set->used.members, set->count * sizeof(keel_image_member_t));
    status = keel_lane_control_send(set->lane, rank, set->group_type, message, length);
    keel_free(message);
    return status;
}

/* Makes @a slot the slot of the set in use. The description of the set in the other slot is kept
 * in making. */
static void repair_use_slot(keel_image_set_t *set, uint32_t slot)
{
    keel_image_member_t *members = set->used.members;

    if (set->used.share_slot != slot) {
        set->used.members = set->making.members;
        set->making.members = members;
        set->used.share_slot = slot;
    }
}

void keel_repair_receive_group(keel_image_set_t *set, const keel_control_in_t *in)
{
    const group_message_t *message = (const void *)in->payload;
    const unsigned first = set->first_slot, last = first + 1;
    int is_right = in->length == sizeof(*message) + set->count * sizeof(keel_image_member_t) &&
                   repair_is_member(set, in->source) && message->share_slot >= first && message->share_slot <= last;

    for (uint32_t i = 0; is_right && i < set->count; i++) {
        is_right = message->members[i].slot <= last &&
                   (message->members[i].position == 0 || message->members[i].slot >= first);
    }
    if (!is_right) {
        keel_error(set->lane->message, "malformed group message from rank %u refused", in->source);
        return;
    }
    set->group_announced[set->groups->index[in->source]] = message->number;
    repair_use_slot(set, message->share_slot);
    memcpy(set->used.members, message->members, set->count * sizeof(keel_image_member_t));
}

int keel_repair_knows_group(const keel_image_set_t *set, uint32_t number)
{
    for (uint32_t i = 0; number != 0 && i < set->group->size; i++) {
        if (i != set->group->index && (set->has[i] & KEEL_PARITY_HAS_IMAGE) && set->group_announced[i] != number) {
            return 0;
        }
    }
    return 1;
}

void keel_repair_adopt(keel_image_set_t *set, uint32_t number, uint32_t share_slot)
{
    keel_image_set_stop(set);
    repair_use_slot(set, share_slot);
    set->used.number = number;
    keel_image_set_on(set, KEEL_SET_LOST);
}

keel_status_t keel_repair_rebuild_begin(keel_image_set_t *set)
{
    const keel_image_member_t *own = &set->used.members[set->group->index];
    keel_parity_work_t work = {
        .slot = set->used.share_slot, .image_slots = set->slots, .image_sizes = set->sizes, .has = set->has};
    keel_status_t status;

    keel_parity_cancel(set->parity);
    keel_image_set_list(set, &set->used);
    status = keel_image_set_region(set, KEEL_REGION_IMAGE0 + own->slot, own->size, 0, &work.output);
    return (status == KEEL_OK) ? keel_parity_rebuild(set->parity, &work) : status;
}

keel_status_t keel_repair_rebuild_step(keel_image_set_t *set, uint32_t position, keel_image_meta_t *meta_p)
{
    keel_status_t status = keel_parity_step(set->parity);
    const void *image;
    const char *why;
    size_t size;

    if (status != KEEL_OK) {
        return status;
    }
    image = keel_repair_image(set, &size);
    status = keel_image_check(image, size, meta_p, &why);
    if (status != KEEL_OK) {
        keel_error(set->lane->message, "rebuilt image of position %u is refused: %s", position, why);
        return status;
    }
    if (meta_p->rank != set->lane->rank || meta_p->generation != position) {
        keel_error(set->lane->message, "rebuilt image is of rank %u position %u instead of %u", meta_p->rank,
                   meta_p->generation, position);
        return KEEL_ERR_CORRUPT;
    }
    return KEEL_OK;
}

const void *keel_repair_image(const keel_image_set_t *set, size_t *size_p)
{
    const keel_image_member_t *own = &set->used.members[set->group->index];

    *size_p = own->size;
    return keel_lane_region_base(set->lane, KEEL_REGION_IMAGE0 + own->slot);
}

keel_status_t keel_repair_rearm(keel_image_set_t *set)
{
    keel_status_t status;

    if (set->state.share != KEEL_SHARE_LACKING || set->used.number == 0 || set->is_regrouped) {
        return KEEL_OK;
    }
    if (set->parity == NULL || !keel_parity_has_share(set->group)) {
        keel_image_set_on(set, KEEL_SET_REARM);
        keel_image_set_on(set, KEEL_SET_REARMED);
        return KEEL_OK;
    }
    status = keel_image_set_share(set, &set->used, set->has, NULL);
    if (status == KEEL_OK) {
        keel_image_set_on(set, KEEL_SET_REARM);
    }
    return status;
}
