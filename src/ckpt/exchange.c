/* Announcements of images. */
#include "ckpt/exchange.h"

#include "base/memory.h"
#include "check/plant.h"
#include "peer/control.h"
#include "peer/region.h"

#include <string.h>

#define EXCHANGE_COMPARE (512 * 1024) /* bytes of an image compared in one step */

keel_status_t keel_exchange_announce(keel_image_set_t *set)
{
    const keel_parity_group_t *group = set->group;
    const keel_image_notice_t *image = &set->notices[group->index];
    const size_t length = sizeof(*image) + image->map_bytes;
    keel_image_notice_t *message = keel_alloc(length, "image message");
    keel_status_t status = (message != NULL) ? KEEL_OK : KEEL_ERR_NO_MEMORY;

    if (message != NULL) {
        *message = *image;
        if (image->map_bytes > 0) {
            memcpy(message + 1, set->maps[group->index], image->map_bytes);
        }
    }
    for (uint32_t i = 0; i < group->size && status == KEEL_OK; i++) {
        if (i != group->index && set->lane->peers[group->members[i]].is_up) {
            status = keel_lane_control_send(set->lane, group->members[i], set->notice_type, message, length);
        }
    }
    keel_free(message);
    return status;
}

static keel_changes_shape_t exchange_shape(keel_image_set_t *set)
{
    keel_image_set_list_serving(set);
    return keel_parity_changes_shape(set->parity, set->sizes);
}

int keel_exchange_compare_begin(keel_image_set_t *set)
{
    uint8_t **map = &set->maps[set->group->index];
    keel_changes_shape_t shape;

    if (set->parity == NULL || keel_image_set_serving_number(set) == 0 ||
        keel_image_set_serving(set, set->group->index).size != set->notices[set->group->index].size) {
        return 0;
    }
    shape = exchange_shape(set);
    keel_free(*map);
    *map = (shape.bytes > 0) ? keel_alloc(shape.bytes, "image changes") : NULL;
    set->compared = 0;
    return *map != NULL;
}

int keel_exchange_compare_step(keel_image_set_t *set)
{
    const keel_changes_shape_t shape = exchange_shape(set);
    const uint32_t index = set->group->index;
    keel_image_notice_t *image = &set->notices[index];

    if (!keel_changes_compare(&shape, keel_lane_region_base(set->lane, KEEL_REGION_IMAGE0 + image->slot),
                              keel_lane_region_base(set->lane, KEEL_REGION_IMAGE0 + set->slots_before[index]),
                              image->size, EXCHANGE_COMPARE, &set->compared, set->maps[index])) {
        return 0;
    }
    image->before = keel_image_set_serving_number(set);
    image->map_bytes = (uint32_t)shape.bytes;
    return 1;
}

/* Stores the announcement only. The locations of a set's images change when the set is encoded,
 * not when a member is a set ahead. */
void keel_exchange_receive(void *arg, const keel_control_in_t *in)
{
    keel_image_set_t *set = arg;
    const keel_image_notice_t *image = (const void *)in->payload;
    const unsigned first = KEEL_PLANT(exchange_over_generation) ? 0 : set->first_slot;
    uint8_t **map;
    uint32_t index;

    if (in->length < sizeof(*image) || in->length != sizeof(*image) + image->map_bytes || set->parity == NULL ||
        image->slot < first || image->slot > set->first_slot + 1 ||
        set->groups->of_rank[in->source] != set->groups->of_rank[set->lane->rank]) {
        keel_error(set->lane->message, "malformed image message from rank %u refused", in->source);
        return;
    }
    index = set->groups->index[in->source];
    map = &set->maps[index];
    keel_free(*map);
    *map = (image->map_bytes > 0) ? keel_alloc(image->map_bytes, "image changes") : NULL;
    set->notices[index] = *image;
    if (*map != NULL) {
        memcpy(*map, image + 1, image->map_bytes);
    } else {
        set->notices[index].before = 0;
    }
}

int keel_exchange_gather(keel_image_set_t *set)
{
    int is_complete = 1;

    for (uint32_t i = 0; i < set->count; i++) {
        if (keel_image_set_is_expected(set, i) && set->notices[i].number != set->making.number) {
            is_complete = 0;
        } else if (keel_image_set_is_expected(set, i) && set->notices[i].size == 0) {
            return -1;
        }
    }
    for (uint32_t i = 0; is_complete && i < set->count; i++) {
        if (keel_image_set_is_expected(set, i)) {
            set->making.members[i].slot = set->notices[i].slot;
            set->making.members[i].size = set->notices[i].size;
            /* checksum ranks make no window calls */
            set->making.window_calls = set->notices[i].window_calls;
        }
    }
    return is_complete;
}

int keel_exchange_has_changes(keel_image_set_t *set)
{
    const uint32_t number = keel_image_set_serving_number(set);
    const keel_changes_shape_t shape = exchange_shape(set);

    if (!keel_image_set_is_armed(set) || number == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->making.members[i].size != set->sizes[i] ||
            (keel_image_set_is_expected(set, i) &&
             (set->notices[i].before != number || set->notices[i].map_bytes != shape.bytes))) {
            return 0;
        }
    }
    return 1;
}

void keel_exchange_forget(keel_image_set_t *set)
{
    memset(set->notices, 0, set->count * sizeof(*set->notices));
}
