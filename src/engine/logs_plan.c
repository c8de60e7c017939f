/*
 * The device reads puts from the logs if it may use their memory. Logs get half of the memory that
 * it may use, and windows and images the other half. Short logs ask for images more often, and a
 * message says so. But the two lists for each other rank need enough segments to last from image to
 * image.
 */
#include "engine/logs_plan.h"

#define SEGMENTS_A_RANK 4u

static size_t at_most(size_t bytes, size_t most)
{
    return (bytes < most) ? bytes : most;
}

keel_logs_plan_t keel_logs_plan(const keel_logs_room_t *room)
{
    const size_t usual = at_most(room->usual, room->share), half = room->lendable / 2,
                 least = (size_t)SEGMENTS_A_RANK * room->ranks * KEEL_LOGS_SEGMENT;
    keel_logs_plan_t plan = {.bytes = (usual > KEEL_LOGS_LEAST) ? usual : KEEL_LOGS_LEAST,
                             .limit = KEEL_LOGS_UNLIMITED};

    plan.most = (room->is_lazy && room->share > plan.bytes) ? room->share : plan.bytes;
    if (room->lendable == SIZE_MAX) {
        return plan;
    }
    if (half >= plan.bytes) {
        plan.most = at_most(plan.most, half);
    } else if (half >= least) {
        plan = (keel_logs_plan_t){.bytes = half, .most = half, .limit = KEEL_LOGS_SHRUNK};
    } else {
        plan.limit = KEEL_LOGS_BEYOND;
    }
    return plan;
}
