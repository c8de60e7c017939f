/* Planning. */
#include "ckpt/parity_plan.h"

#include "base/memory.h"
#include "code/rs.h"

#include <assert.h>
#include <string.h>

/* larger sizes are invalid; sums of smaller ones do not overflow */
#define PLAN_SIZE_MAX (UINT64_MAX / 4)

keel_status_t keel_plan_init(keel_plan_t *plan, const keel_parity_group_t *group, size_t piece_max, size_t map_max)
{
    *plan = (keel_plan_t){
        .stripes = keel_parity_stripes(group), .index = group->index, .piece_max = piece_max, .map_max = map_max};
    plan->members = keel_alloc(group->size * sizeof *plan->members, "parity members");
    plan->is_there = keel_alloc(group->size, "parity members");
    plan->coefficients = keel_alloc(group->size, "parity coefficients");
    if (plan->members == NULL || plan->is_there == NULL || plan->coefficients == NULL) {
        keel_plan_release(plan);
        return KEEL_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < group->size; i++) {
        plan->members[i].rank = group->members[i];
    }
    return KEEL_OK;
}

void keel_plan_release(keel_plan_t *plan)
{
    keel_free(plan->members);
    keel_free(plan->is_there);
    keel_free(plan->coefficients);
    keel_free(plan->changes);
    *plan = (keel_plan_t){0};
}

/* range of bytes in the chunks of a stripe */
typedef struct plan_spot {
    uint32_t stripe;
    uint64_t offset; /* offset in each chunk */
    size_t length;
} plan_spot_t;

/* computes how chunk @a number of the output results from other chunks */
static keel_status_t plan_solve(keel_plan_t *plan, uint32_t number, uint32_t *stripe_p)
{
    const keel_stripes_t *stripes = &plan->stripes;
    const uint32_t data = keel_stripes_data(stripes);
    const uint32_t wanted = plan->is_rebuild ? keel_stripes_image_place(stripes, plan->index, number)
                                             : keel_stripes_share_place(stripes, plan->index, number);

    *stripe_p = keel_stripes_stripe(stripes, plan->index, wanted);
    for (uint32_t place = 0; place < stripes->size; place++) {
        const uint32_t member = keel_stripes_member(stripes, *stripe_p, place);
        const uint8_t needed = (place < data) ? KEEL_PARITY_HAS_IMAGE : KEEL_PARITY_HAS_SHARE;

        plan->is_there[place] = member != plan->index && (plan->members[member].has & needed);
    }
    return keel_rs_solve(data, stripes->parities, wanted, plan->is_there, plan->coefficients);
}

/* Describes the member's chunk at a place of the stripe, from its current or previous image or
 * from its share. Returns 0 if the range is padding only. */
static int plan_source(const keel_plan_t *plan, plan_spot_t spot, uint32_t place, unsigned is_before,
                       keel_gather_source_t *source)
{
    const uint32_t data = keel_stripes_data(&plan->stripes);
    const uint32_t member = keel_stripes_member(&plan->stripes, spot.stripe, place);
    const uint64_t size = plan->members[member].image_size;

    *source = (keel_gather_source_t){.rank = plan->members[member].rank,
                                     .member = member,
                                     .coefficient = plan->coefficients[place],
                                     .length = spot.length};
    if (place >= data) {
        source->region = KEEL_REGION_PARITY0 + plan->slot;
        source->offset = keel_stripes_number(&plan->stripes, place) * plan->chunk + spot.offset;
        return 1;
    }
    source->region = KEEL_REGION_IMAGE0 + plan->members[member].slots[is_before];
    source->offset = keel_stripes_number(&plan->stripes, place) * plan->chunk + spot.offset;
    if (source->offset >= size) {
        return 0;
    }
    source->length = spot.length < size - source->offset ? spot.length : size - source->offset;
    return 1;
}

static int plan_has_changed(const keel_plan_t *plan, uint32_t stripe, uint32_t place, uint64_t offset)
{
    const uint32_t member = keel_stripes_member(&plan->stripes, stripe, place);

    return keel_changes_has(&plan->shape, plan->changes + member * plan->shape.bytes,
                            keel_stripes_number(&plan->stripes, place), offset);
}

/* do two blocks of the stripe have the same set of changed members? */
static int plan_has_same_changes(const keel_plan_t *plan, uint32_t stripe, uint64_t offset, uint64_t other)
{
    for (uint32_t place = 0; place < keel_stripes_data(&plan->stripes); place++) {
        if (plan_has_changed(plan, stripe, place, offset) != plan_has_changed(plan, stripe, place, other)) {
            return 0;
        }
    }
    return 1;
}

/* shortens a piece so that all its blocks have the same set of changed members */
static size_t plan_length_of_changes(const keel_plan_t *plan, plan_spot_t spot)
{
    const uint64_t block = plan->shape.block;
    uint64_t length = block - spot.offset % block;

    while (length < spot.length && plan_has_same_changes(plan, spot.stripe, spot.offset, spot.offset + length)) {
        length += block;
    }
    return length < spot.length ? length : spot.length;
}

/* Plans @a piece from the previous share and the changes since. Returns 0 if a computation from
 * all sources is cheaper. */
static int plan_difference(keel_plan_t *plan, keel_gather_piece_t *piece, plan_spot_t spot)
{
    const uint32_t data = keel_stripes_data(&plan->stripes);
    keel_gather_source_t source;
    uint64_t all = 0, some = 0;
    uint32_t changed = 0;

    for (uint32_t place = 0; place < data; place++) {
        const int is_there = plan_source(plan, spot, place, 0, &source);

        all += is_there ? source.length : 0;
        if (is_there && plan_has_changed(plan, spot.stripe, place, spot.offset)) {
            some += 2 * source.length;
            changed++;
        }
    }
    if (changed > 0 && (some >= all || 2 * changed > data)) {
        return 0;
    }
    piece->base = plan->before + (piece->target - plan->output);
    plan->bytes_spared += all - some;
    for (uint32_t place = 0; changed > 0 && place < data; place++) {
        for (unsigned before = 0; before < 2 && plan_has_changed(plan, spot.stripe, place, spot.offset); before++) {
            if (plan_source(plan, spot, place, before, &source)) {
                piece->sources[piece->source_count++] = source;
            }
        }
    }
    return 1;
}

void keel_plan_next(keel_plan_t *plan, keel_gather_piece_t *piece)
{
    const uint32_t number = (uint32_t)(plan->position / plan->chunk); /* chunk of the output */
    const uint64_t left = plan->end - plan->position;
    plan_spot_t spot = {.offset = plan->position % plan->chunk};
    keel_gather_source_t source;
    keel_status_t status;

    status = plan_solve(plan, number, &spot.stripe);
    assert(status == KEEL_OK); /* keel_plan_begin() has solved all chunks */
    (void)status;
    spot.length = plan->piece_max;
    spot.length = left < spot.length ? left : spot.length;
    spot.length = plan->chunk - spot.offset < spot.length ? plan->chunk - spot.offset : spot.length;
    if (plan->before != NULL) {
        spot.length = plan_length_of_changes(plan, spot);
    }
    piece->target = plan->output + plan->position;
    piece->length = spot.length;
    plan->position += spot.length;
    if (plan->before != NULL && plan_difference(plan, piece, spot)) {
        return;
    }
    for (uint32_t place = 0; place < plan->stripes.size; place++) {
        if (plan->coefficients[place] != 0 && plan_source(plan, spot, place, 0, &source)) {
            piece->sources[piece->source_count++] = source;
        }
    }
}

/* without memory for the maps the share is computed from all sources */
static void plan_take_before(keel_plan_t *plan, const keel_parity_work_t *work)
{
    plan->before = NULL;
    plan->bytes_spared = 0;
    keel_free(plan->changes);
    plan->changes = NULL;
    if (work->before == NULL || plan->is_rebuild) {
        return;
    }
    plan->shape = keel_changes_shape(&plan->stripes, work->image_sizes, plan->piece_max, plan->map_max);
    if (plan->shape.bytes > 0) {
        plan->changes = keel_alloc(plan->stripes.size * plan->shape.bytes, "parity changes");
    }
    for (uint32_t i = 0; plan->changes != NULL && i < plan->stripes.size; i++) {
        plan->members[i].slots[1] =
            (uint8_t)(work->before->image_slots != NULL ? work->before->image_slots[i] : 1 - work->slot);
        if (i != plan->index && keel_stripes_has_image(&plan->stripes, i) && work->before->changes[i] != NULL) {
            memcpy(plan->changes + i * plan->shape.bytes, work->before->changes[i], plan->shape.bytes);
        }
    }
    if (plan->changes != NULL) {
        plan->before = work->before->share;
    }
}

keel_status_t keel_plan_begin(keel_plan_t *plan, const keel_parity_work_t *work, int is_rebuild)
{
    const uint32_t chunks =
        is_rebuild ? keel_stripes_image_chunks(&plan->stripes) : keel_stripes_share_chunks(&plan->stripes);
    uint32_t stripe;

    if (!(is_rebuild ? keel_stripes_has_image(&plan->stripes, plan->index)
                     : keel_stripes_has_share(&plan->stripes, plan->index))) {
        return KEEL_ERR_INVALID_PARAM;
    }
    for (uint32_t i = 0; i < plan->stripes.size; i++) {
        if (work->image_sizes[i] > PLAN_SIZE_MAX) {
            return KEEL_ERR_INVALID_PARAM;
        }
        plan->members[i].image_size = work->image_sizes[i];
        plan->members[i].has = (work->has != NULL) ? work->has[i] : KEEL_PARITY_HAS_ALL;
        plan->members[i].slots[0] = (uint8_t)(work->image_slots != NULL ? work->image_slots[i] : work->slot);
    }
    plan->is_rebuild = is_rebuild;
    for (uint32_t number = 0; number < chunks; number++) {
        if (plan_solve(plan, number, &stripe) != KEEL_OK) {
            return KEEL_ERR_INVALID_PARAM;
        }
    }
    plan->slot = work->slot;
    plan->output = work->output;
    plan->chunk = keel_stripes_chunk(&plan->stripes, work->image_sizes);
    plan->position = 0;
    plan->end = is_rebuild ? work->image_sizes[plan->index] : chunks * plan->chunk;
    plan_take_before(plan, work);
    return KEEL_OK;
}
