/*
 * Steps of a spare before it has a rank, and the announcement of the sizes to prepare. The first
 * steps of a replacement do not depend on the rank it replaces: opening the transport, the logs,
 * and shared memory for windows, an image and a parity share. The leader announces the sizes of
 * this memory. They are a hint: memory of another size is made on demand.
 */
#include "job/spare.h"
#include "engine/context.h"
#include "engine/logs.h"
#include "peer/members.h"

#include <string.h>

#define NEED_MIN ((size_t)2 << 20) /* smaller regions take no time to make */

typedef struct spare {
    keel_context_h ctx;
    const keel_drivers_t *drivers;
} spare_t;

static keel_status_t spare_prepare(void *arg, const uint64_t *bytes, unsigned count)
{
    const spare_t *spare = arg;
    keel_context_h ctx = spare->ctx;
    const keel_lane_params_t lane = keel_context_lane_params(ctx, spare->drivers);
    keel_status_t status = keel_lane_prepare(&ctx->lane, &lane, bytes, count, &ctx->prepared);

    if (status == KEEL_ERR_NO_MEMORY && ctx->prepared != NULL) {
        status = KEEL_OK; /* the spare goes on without the memory prepared ahead */
    }
    if ((status == KEEL_OK || status == KEEL_INPROGRESS) && ctx->pool.arenas == NULL) {
        const keel_status_t logs = keel_context_logs_init(ctx, spare->drivers->transport, ctx->prepared, 0);

        return (logs == KEEL_OK) ? status : logs;
    }
    return status;
}

void keel_spare_release(keel_context_h ctx, const keel_drivers_t *drivers)
{
    if (ctx->prepared != NULL) {
        drivers->transport->close(ctx->prepared);
    }
    ctx->prepared = NULL;
    keel_segment_pool_release(&ctx->pool);
}

keel_status_t keel_spare_wait(keel_context_h ctx, const keel_drivers_t *drivers)
{
    spare_t spare = {.ctx = ctx, .drivers = drivers};
    const keel_status_t status = ctx->runtime->ops->await_rank(ctx->runtime, spare_prepare, &spare);

    ctx->was_spare = (status == KEEL_OK && ctx->prepared != NULL);
    if (status != KEEL_OK) {
        keel_spare_release(ctx, drivers);
    }
    return status;
}

static void need_add(uint64_t *bytes, unsigned *count, size_t size)
{
    if (size >= NEED_MIN && *count < KEEL_NEEDS_MAX) {
        bytes[(*count)++] = size;
    }
}

/* The larger of two slots of coordinated checkpoints, which alternate. */
static size_t need_of_slots(const keel_lane_t *lane, unsigned first)
{
    const size_t one = lane->own[first].size, other = lane->own[first + 1].size;

    return (one > other) ? one : other;
}

void keel_spare_announce(keel_context_h ctx)
{
    const keel_lane_t *lane = &ctx->lane;
    uint64_t bytes[KEEL_NEEDS_MAX] = {0};
    unsigned count = 0;

    if (ctx->need.changes == lane->changes) {
        return;
    }
    ctx->need.changes = lane->changes;
    /* the spare has used the prepared memory */
    if (ctx->was_spare && ctx->rec.life == KEEL_LIFE_LIVE) {
        ctx->was_spare = 0;
        (void)lane->ops->reserve(lane->transport, NULL, 0);
    }
    if (!keel_lane_is_leader(lane) || ctx->runtime->spares == 0 || ctx->runtime->ops->need == NULL) {
        return;
    }
    need_add(bytes, &count, need_of_slots(lane, KEEL_REGION_IMAGE0));
    need_add(bytes, &count, need_of_slots(lane, KEEL_REGION_PARITY0));
    for (unsigned region = KEEL_REGION_WINDOW0; region < lane->regions_room; region++) {
        if (lane->own[region].mem != NULL) {
            need_add(bytes, &count, lane->own[region].size);
        }
    }
    if (count != ctx->need.count || memcmp(bytes, ctx->need.bytes, sizeof(bytes)) != 0) {
        memcpy(ctx->need.bytes, bytes, sizeof(bytes));
        ctx->need.count = count;
        ctx->runtime->ops->need(ctx->runtime, bytes, count);
    }
}
