/* What is told of images. */
#include "ckpt/exchange.h"

#include "base/memory.h"
#include "peer/control.h"
#include "peer/region.h"

#include <string.h>

#define CKPT_COMPARE (512 * 1024) /* bytes of an image compared with those before it in one step */

void keel_ckpt_say_image(keel_ckpt_t *ckpt, const keel_ckpt_image_t *image)
{
    const size_t length = sizeof(*image) + image->map_bytes;
    keel_ckpt_image_t *message = keel_alloc(length, "image message");
    keel_status_t status = (message != NULL) ? KEEL_OK : KEEL_ERR_NO_MEMORY;

    if (message != NULL) {
        *message = *image;
        if (image->map_bytes > 0) {
            memcpy(message + 1, ckpt->maps[ckpt->group.index], image->map_bytes);
        }
    }
    for (uint32_t i = 0; i < ckpt->group.size && status == KEEL_OK; i++) {
        uint32_t member = ckpt->group.members[i];

        if (i != ckpt->group.index && ckpt->lane->peers[member].is_up) {
            status = keel_lane_control_send(ckpt->lane, member, KEEL_CONTROL_IMAGE, message, length);
        }
    }
    keel_free(message);
    if (status != KEEL_OK || image->size == 0) {
        keel_ckpt_fail(ckpt);
        return;
    }
    ckpt->said[ckpt->group.index] = *image;
    ckpt->stage = KEEL_CKPT_IMAGES;
}

int keel_ckpt_compare_begin(keel_ckpt_t *ckpt, uint64_t size)
{
    const uint64_t *sizes = ckpt->sizes[ckpt->used_slot];
    uint8_t **map = &ckpt->maps[ckpt->group.index];
    keel_changes_shape_t shape;

    if (ckpt->used.number == 0 || ckpt->group.size == 0 || sizes[ckpt->group.index] != size) {
        return 0;
    }
    shape = keel_parity_changes_shape(ckpt->parity, sizes);
    keel_free(*map);
    *map = (shape.bytes > 0) ? keel_alloc(shape.bytes, "image changes") : NULL;
    ckpt->compared = 0;
    return *map != NULL;
}

void keel_ckpt_compare_step(keel_ckpt_t *ckpt)
{
    const uint64_t *sizes = ckpt->sizes[ckpt->used_slot];
    const keel_changes_shape_t shape = keel_parity_changes_shape(ckpt->parity, sizes);
    const unsigned slot = keel_ckpt_making_slot(ckpt);
    keel_ckpt_image_t image = {.generation = ckpt->making.number,
                               .slot = slot,
                               .size = sizes[ckpt->group.index],
                               .before = ckpt->used.number,
                               .map_bytes = (uint32_t)shape.bytes,
                               .window_calls = ckpt->making.window_calls};

    if (keel_changes_compare(&shape, keel_lane_region_base(ckpt->lane, KEEL_REGION_IMAGE0 + slot),
                             keel_lane_region_base(ckpt->lane, KEEL_REGION_IMAGE0 + 1 - slot), image.size, CKPT_COMPARE,
                             &ckpt->compared, ckpt->maps[ckpt->group.index])) {
        keel_ckpt_say_image(ckpt, &image);
    }
}

void keel_ckpt_receive_image(keel_ckpt_t *ckpt, const keel_control_in_t *in)
{
    const keel_ckpt_image_t *image = (const void *)in->payload;
    uint8_t **map;
    uint32_t index;

    if (in->length < sizeof(*image) || in->length != sizeof(*image) + image->map_bytes || ckpt->group.size == 0 ||
        image->slot > 1 || ckpt->groups.of_rank[in->source] != ckpt->groups.of_rank[ckpt->lane->rank]) {
        keel_error(ckpt->lane->message, "malformed image message from rank %u refused", in->source);
        return;
    }
    /* only noted: the sizes of a slot change when its generation is encoded, not when somebody is a generation ahead */
    index = ckpt->groups.index[in->source];
    map = &ckpt->maps[index];
    keel_free(*map);
    *map = (image->map_bytes > 0) ? keel_alloc(image->map_bytes, "image changes") : NULL;
    ckpt->said[index] = *image;
    if (*map != NULL) {
        memcpy(*map, image + 1, image->map_bytes);
    } else {
        ckpt->said[index].before = 0;
    }
}

int keel_ckpt_has_images(const keel_ckpt_t *ckpt)
{
    for (uint32_t i = 0; i < ckpt->group.size; i++) {
        if (keel_ckpt_has_image(ckpt, i) && ckpt->said[i].generation != ckpt->making.number) {
            return 0;
        }
    }
    return 1;
}

int keel_ckpt_lacks_image(const keel_ckpt_t *ckpt)
{
    for (uint32_t i = 0; i < ckpt->group.size; i++) {
        if (keel_ckpt_has_image(ckpt, i) && ckpt->said[i].generation == ckpt->making.number &&
            ckpt->said[i].size == 0) {
            return 1;
        }
    }
    return 0;
}

int keel_ckpt_has_changes(const keel_ckpt_t *ckpt)
{
    const keel_changes_shape_t shape = keel_parity_changes_shape(ckpt->parity, ckpt->sizes[ckpt->used_slot]);

    if (!ckpt->is_armed || ckpt->used.number == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < ckpt->group.size; i++) {
        if (keel_ckpt_has_image(ckpt, i) &&
            (ckpt->said[i].before != ckpt->used.number || ckpt->said[i].map_bytes != shape.bytes ||
             ckpt->said[i].size != ckpt->sizes[ckpt->used_slot][i])) {
            return 0;
        }
    }
    return 1;
}
