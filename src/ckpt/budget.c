/* Memory for images and shares. */
#include "ckpt/budget.h"

#include "peer/region.h"

keel_status_t keel_budget_region(keel_budget_t *budget, unsigned region, size_t bytes, size_t reserve, void **base_p)
{
    keel_lane_t *lane = budget->lane;
    const size_t most = lane->config->ckpt_size;
    size_t others = reserve;

    *base_p = keel_lane_region_base(lane, region);
    if (*base_p != NULL && lane->own[region].size >= bytes) {
        return KEEL_OK;
    }
    for (unsigned r = KEEL_REGION_IMAGE0; r < KEEL_REGION_PARITY0 + KEEL_SLOTS; r++) {
        others += (r == region) ? 0 : lane->own[r].size;
    }
    if (most > 0 && others + bytes > most) {
        if (!budget->is_reported) {
            keel_error(lane->message,
                       "KEEL_CKPT_SIZE of %zu bytes is too small: %zu are needed, %zu of them for an image or parity "
                       "share; what there was before stays in use",
                       most, others + bytes, bytes);
        }
        budget->is_reported = 1;
        return KEEL_ERR_BUDGET;
    }
    return keel_lane_region_make(lane, region, bytes, NULL, base_p);
}

size_t keel_budget_reserve(const keel_budget_t *budget, unsigned first, size_t image, size_t share)
{
    const keel_lane_t *lane = budget->lane;
    size_t reserve = 0;

    for (unsigned slot = 0; slot < first; slot++) {
        const size_t has_image = lane->own[KEEL_REGION_IMAGE0 + slot].size;
        const size_t has_share = lane->own[KEEL_REGION_PARITY0 + slot].size;

        reserve += (image > has_image) ? image - has_image : 0;
        reserve += (share > has_share) ? share - has_share : 0;
    }
    return reserve;
}
