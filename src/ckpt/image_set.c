/* The machine: life of a set from its start to its end. */
#include "ckpt/image_set.h"

#include "base/memory.h"
#include "check/plant.h"
#include "ckpt/exchange.h"
#include "peer/control.h"
#include "peer/region.h"
#include "trace/trace_area.h"

#include <assert.h>
#include <string.h>

/* These planted defects cause transitions that are otherwise illegal. The oracle has to notice
 * the consequences. */
static int set_is_planted(void)
{
    return KEEL_PLANT(coordinated_commit_in_group) || KEEL_PLANT(demand_unshared) || KEEL_PLANT(adopt_no_abort) ||
           KEEL_PLANT(adopt_other_vector);
}

void keel_image_set_on(keel_image_set_t *set, keel_set_event_t event)
{
    const int is_legal = keel_set_state_next(set->state, event, &set->state);

    assert(is_legal || set_is_planted());
    (void)is_legal;
}

void keel_image_set_refuse(keel_image_set_t *set)
{
    if (set->state.stage != KEEL_SET_FAILED) {
        keel_image_set_on(set, KEEL_SET_REFUSED);
    }
}

/* ---- memory ---- */

keel_status_t keel_image_set_init(keel_image_set_t *set, const keel_image_set_params_t *params)
{
    const uint32_t count = (params->group->size > 0) ? params->group->size : 1;
    keel_status_t status = KEEL_OK;

    *set = (keel_image_set_t){.lane = params->lane,
                              .groups = params->groups,
                              .group = params->group,
                              .below = params->below,
                              .budget = params->budget,
                              .first_slot = params->first_slot,
                              .notice_type = params->notice_type,
                              .group_type = params->group_type,
                              .count = count};
    set->used.members = keel_alloc(count * sizeof(*set->used.members), "images");
    set->making.members = keel_alloc(count * sizeof(*set->making.members), "images");
    set->notices = keel_alloc(count * sizeof(*set->notices), "images");
    set->maps = keel_alloc(count * sizeof(*set->maps), "image changes");
    set->has = keel_alloc(count, "images");
    set->group_announced = keel_alloc(count * sizeof(*set->group_announced), "images");
    set->sizes = keel_alloc(count * sizeof(*set->sizes), "images");
    set->slots = keel_alloc(count, "images");
    set->slots_before = keel_alloc(count, "images");
    set->changes = keel_alloc(count * sizeof(*set->changes), "image changes");
    if (set->used.members == NULL || set->making.members == NULL || set->notices == NULL || set->maps == NULL ||
        set->has == NULL || set->group_announced == NULL || set->sizes == NULL || set->slots == NULL ||
        set->slots_before == NULL || set->changes == NULL) {
        status = KEEL_ERR_NO_MEMORY;
    } else if (params->group->size > 0) {
        status = keel_parity_create(params->lane, params->group, &set->parity);
    }
    if (status != KEEL_OK) {
        keel_image_set_release(set);
        return status;
    }
    memset(set->has, KEEL_PARITY_HAS_ALL, count);
    keel_lane_control_handle(set->lane, (keel_control_type_t)set->notice_type, keel_exchange_receive, set);
    return KEEL_OK;
}

void keel_image_set_release(keel_image_set_t *set)
{
    keel_parity_destroy(set->parity);
    for (uint32_t i = 0; set->maps != NULL && i < set->count; i++) {
        keel_free(set->maps[i]);
    }
    keel_free(set->used.members);
    keel_free(set->making.members);
    keel_free(set->notices);
    keel_free(set->maps);
    keel_free(set->has);
    keel_free(set->group_announced);
    keel_free(set->sizes);
    keel_free(set->slots);
    keel_free(set->slots_before);
    keel_free(set->changes);
    memset(set, 0, sizeof(*set));
}

/* The images, with the members of the new group, of which only this process is known. */
static void set_keep_own(const keel_image_set_t *set, keel_images_t *images, const keel_images_t *old, uint32_t before)
{
    keel_image_member_t *members = images->members;

    *images = *old;
    images->members = members;
    for (uint32_t i = 0; i < set->count; i++) {
        members[i] = (keel_image_member_t){.slot = set->first_slot};
    }
    members[set->group->index] = old->members[before];
}

keel_status_t keel_image_set_regroup(keel_image_set_t *set, uint32_t before)
{
    keel_image_set_t old = *set;
    const keel_image_set_params_t params = {.lane = old.lane,
                                            .groups = old.groups,
                                            .group = old.group,
                                            .below = old.below,
                                            .budget = old.budget,
                                            .first_slot = old.first_slot,
                                            .notice_type = old.notice_type,
                                            .group_type = old.group_type};
    const keel_status_t status = keel_image_set_init(set, &params);

    if (status == KEEL_OK) {
        set_keep_own(set, &set->used, &old.used, before);
        set->making.share_slot = old.making.share_slot;
        set->is_regrouped = set->used.number != 0 && !KEEL_PLANT(image_set_share_kept);
        if (set->used.number != 0) {
            keel_image_set_on(set, KEEL_SET_LOST);
        }
        set->aborted = old.aborted;
        set->parity_read = old.parity_read;
        set->parity_spared = old.parity_spared;
    }
    keel_image_set_release(&old);
    return status;
}

static uint64_t set_now(const keel_image_set_t *set)
{
    return set->lane->runtime->ops->now_ns(set->lane->runtime);
}

keel_status_t keel_image_set_region(keel_image_set_t *set, unsigned region, size_t bytes, size_t reserve, void **base_p)
{
    const uint64_t start = set_now(set);
    const keel_status_t status = keel_budget_region(set->budget, region, bytes, reserve, base_p);

    set->made_ns += set_now(set) - start;
    return status;
}

/* a set on top of another set leaves room for the largest image and share of the set below */
static size_t set_reserve(const keel_image_set_t *set, size_t image, size_t share)
{
    return keel_budget_reserve(set->budget, set->first_slot, image, share);
}

/* ---- the serving images ---- */

static unsigned set_other_slot(const keel_image_set_t *set, unsigned slot)
{
    return 2 * set->first_slot + 1 - slot;
}

keel_image_member_t keel_image_set_serving(const keel_image_set_t *set, uint32_t index)
{
    keel_image_member_t member = {.slot = set->first_slot};

    if (set->used.number != 0 && set->used.members[index].position != 0) {
        return set->used.members[index];
    }
    if (set->below != NULL) {
        member = keel_image_set_serving(set->below, index);
        member.position = 0;
    }
    return member;
}

uint32_t keel_image_set_serving_number(const keel_image_set_t *set)
{
    return (set->used.number == 0 && set->below != NULL) ? keel_image_set_serving_number(set->below) : set->used.number;
}

void keel_image_set_list(keel_image_set_t *set, const keel_images_t *images)
{
    for (uint32_t i = 0; i < set->count; i++) {
        set->slots[i] = (uint8_t)images->members[i].slot;
        set->sizes[i] = images->members[i].size;
    }
}

void keel_image_set_list_serving(keel_image_set_t *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const keel_image_member_t member = keel_image_set_serving(set, i);

        set->slots_before[i] = (uint8_t)member.slot;
        set->sizes[i] = member.size;
    }
}

static const void *set_serving_share(const keel_image_set_t *set)
{
    const keel_images_t *used = (set->used.number == 0 && set->below != NULL) ? &set->below->used : &set->used;

    return keel_lane_region_base(set->lane, KEEL_REGION_PARITY0 + used->share_slot);
}

/* ---- the own image ---- */

void keel_image_set_begin(keel_image_set_t *set, uint32_t number)
{
    if (set->used.number == 0) {
        set->used.share_slot = set->first_slot + 1;
    }
    set->making.number = number;
    set->making.share_slot = set_other_slot(set, set->used.share_slot);
    for (uint32_t i = 0; i < set->count; i++) {
        set->making.members[i] = keel_image_set_serving(set, i);
    }
    set->started_ns = set_now(set);
    set->parity_ns = set->made_ns = 0;
    keel_image_set_on(set, KEEL_SET_BEGUN);
}

void keel_image_set_expect(keel_image_set_t *set, uint32_t index)
{
    set->making.members[index] = (keel_image_member_t){.position = set->making.number};
}

static unsigned set_image_slot(const keel_image_set_t *set)
{
    const keel_image_member_t serving = keel_image_set_serving(set, set->group->index);

    return (KEEL_PLANT(exchange_over_generation) && set->below != NULL) ? set->below->used.share_slot
           : (serving.position != 0)                                    ? set_other_slot(set, serving.slot)
                                                                        : set->first_slot;
}

keel_status_t keel_image_set_copy(keel_image_set_t *set, const keel_image_meta_t *meta, const keel_part_t *parts,
                                  unsigned count)
{
    const size_t data = set->count - set->group->parities;
    keel_image_notice_t image = {.number = set->making.number,
                                 .slot = set_image_slot(set),
                                 .size = keel_image_size(parts, count),
                                 .window_calls = meta->window_calls};
    const size_t share = set->group->is_dedicated ? 0 : image.size / data * set->group->parities;
    keel_status_t status = (parts == NULL)                         ? KEEL_ERR_NO_MEMORY
                           : (set->state.stage == KEEL_SET_FAILED) ? KEEL_ERR_STATE
                                                                   : KEEL_OK;
    void *base;

    if (status == KEEL_OK) {
        status = keel_image_set_region(set, KEEL_REGION_IMAGE0 + image.slot, image.size,
                                       set_reserve(set, image.size, share), &base);
    }
    if (status == KEEL_OK) {
        keel_image_write(base, meta, parts, count);
    } else {
        image.size = 0; /* no rank waits for the image: the previous set stays in use */
    }
    set->notices[set->group->index] = image;
    if (status == KEEL_OK && keel_exchange_compare_begin(set)) {
        keel_image_set_on(set, KEEL_SET_COPIED);
        return KEEL_OK;
    }
    if (keel_exchange_announce(set) != KEEL_OK || status != KEEL_OK) {
        keel_image_set_refuse(set);
        status = (status == KEEL_OK) ? KEEL_ERR_NO_MEMORY : status;
    }
    return status;
}

static void set_compare_step(keel_image_set_t *set)
{
    if (!keel_exchange_compare_step(set)) {
        return;
    }
    if (keel_exchange_announce(set) == KEEL_OK) {
        keel_image_set_on(set, KEEL_SET_ANNOUNCED);
    } else {
        keel_image_set_refuse(set);
    }
}

/* ---- parity ---- */

keel_status_t keel_image_set_share(keel_image_set_t *set, const keel_images_t *images, const uint8_t *has,
                                   const keel_parity_before_t *before)
{
    keel_parity_work_t work = {
        .slot = images->share_slot, .image_slots = set->slots, .image_sizes = set->sizes, .has = has, .before = before};
    keel_status_t status;
    size_t bytes;

    keel_image_set_list(set, images);
    bytes = keel_parity_share_size(set->group, set->sizes);
    status = keel_image_set_region(set, KEEL_REGION_PARITY0 + images->share_slot, bytes,
                                   set_reserve(set, set->sizes[set->group->index], bytes), &work.output);
    return (status == KEEL_OK) ? keel_parity_encode(set->parity, &work) : status;
}

static keel_status_t set_encode(keel_image_set_t *set)
{
    const keel_parity_before_t before = {
        .image_slots = set->slots_before, .share = set_serving_share(set), .changes = set->changes};

    if (!keel_parity_has_share(set->group)) {
        return KEEL_OK;
    }
    if (!keel_exchange_has_changes(set)) {
        return keel_image_set_share(set, &set->making, NULL, NULL);
    }
    for (uint32_t i = 0; i < set->count; i++) {
        set->changes[i] = keel_image_set_is_expected(set, i) ? set->maps[i] : NULL;
    }
    return keel_image_set_share(set, &set->making, NULL, &before);
}

/* A set with serving images is built on the shares of their sets. The set waits while such a
 * share is recomputed, and fails if the share is missing for good. A set of new images needs no
 * other share. */
static void set_gather(keel_image_set_t *set)
{
    const keel_set_share_t below = (set->below != NULL) ? set->below->state.share : KEEL_SHARE_ARMED;
    const int lacks = set->below != NULL && (below == KEEL_SHARE_LACKING || !keel_image_set_is_armed(set));
    const int announced = keel_exchange_gather(set);

    if (announced < 0 || (announced > 0 && lacks)) {
        keel_image_set_refuse(set);
    } else if (announced > 0 && below == KEEL_SHARE_ARMED) {
        keel_image_set_on(set, KEEL_SET_GATHERED);
        set->encode_started_ns = set_now(set);
        if (set_encode(set) != KEEL_OK) {
            keel_image_set_refuse(set);
        }
    }
}

static void set_encoded(keel_image_set_t *set)
{
    set->encoded_ns = set_now(set);
    set->encode_ns = set->encoded_ns - set->encode_started_ns;
    set->parity_moved = 0;
    if (keel_parity_has_share(set->group)) {
        for (uint32_t i = 0; i < set->count; i++) {
            set->parity_read += keel_parity_bytes_from(set->parity, i);
        }
        set->parity_spared += keel_parity_bytes_spared(set->parity);
        set->parity_moved = keel_parity_bytes_moved(set->parity);
    }
    keel_trace_span(set->lane->trace, KEEL_TRACE_PARITY, set->making.number, set->encode_started_ns, set->parity_moved);
    keel_image_set_on(set, KEEL_SET_ENCODED);
}

static void set_encode_step(keel_image_set_t *set)
{
    const uint64_t start = set_now(set);
    const keel_status_t status = keel_parity_has_share(set->group) ? keel_parity_step(set->parity) : KEEL_OK;

    set->parity_ns += set_now(set) - start;
    if (status == KEEL_OK) {
        set_encoded(set);
    } else if (status != KEEL_INPROGRESS) {
        keel_image_set_refuse(set); /* after a member's death, recovery gives up the set */
    }
}

static void set_rearm_step(keel_image_set_t *set)
{
    const keel_status_t status = keel_parity_step(set->parity);

    if (status != KEEL_INPROGRESS) {
        keel_image_set_on(set, (status == KEEL_OK) ? KEEL_SET_REARMED : KEEL_SET_UNARMED);
    }
}

void keel_image_set_step(keel_image_set_t *set)
{
    keel_set_stage_t stage;

    if (keel_image_set_is_rearming(set)) {
        set_rearm_step(set);
        return;
    }
    do { /* a finished stage continues with the next at once, without sleep */
        stage = set->state.stage;
        if (stage == KEEL_SET_COMPARING) {
            set_compare_step(set);
        } else if (stage == KEEL_SET_IMAGES) {
            set_gather(set);
        } else if (stage == KEEL_SET_ENCODING) {
            set_encode_step(set);
        }
    } while (set->state.stage != stage);
}

/* ---- the end ---- */

int keel_image_set_use(keel_image_set_t *set)
{
    const keel_images_t made = set->making;

    if (!keel_image_set_is_safe(set) && !set_is_planted()) {
        return 0;
    }
    set->making = set->used;
    set->making.number = 0;
    set->used = made;
    set->is_regrouped = 0;
    memset(set->has, KEEL_PARITY_HAS_ALL, set->count);
    set->safe_ns = set_now(set) - set->started_ns;
    keel_image_set_on(set, KEEL_SET_USED);
    return 1;
}

int keel_image_set_drop(keel_image_set_t *set)
{
    if (set->making.number == 0) {
        return 0;
    }
    if (!keel_image_set_is_rearming(set) && set->parity != NULL) {
        keel_parity_cancel(set->parity);
    }
    set->making.number = 0;
    set->aborted++;
    keel_image_set_on(set, KEEL_SET_DROPPED);
    return 1;
}

void keel_image_set_stop(keel_image_set_t *set)
{
    if (keel_image_set_is_rearming(set)) {
        keel_parity_cancel(set->parity);
        keel_image_set_on(set, KEEL_SET_UNARMED);
    }
}

void keel_image_set_void(keel_image_set_t *set)
{
    keel_image_set_stop(set);
    set->used.number = 0;
    set->is_regrouped = 0;
    keel_image_set_on(set, KEEL_SET_VOID);
}
