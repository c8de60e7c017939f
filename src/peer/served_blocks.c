/* The service side of puts with several parts. */
#include "peer/served_blocks.h"

#include "check/plant.h"
#include "peer/store.h"
#include "wire/blocks.h"

/* Stores to the program's memory only; tests/proc/sanitizers names this function. */
static void served_store_part(uint8_t *target, const keel_blocks_part_t *part)
{
    for (uint32_t i = 0; i < part->count; i++) {
        keel_copy_one(target + i * part->stride, part->data + (size_t)i * part->length, part->length);
    }
}

static void *part_target(keel_lane_t *lane, const keel_blocks_part_t *part, keel_served_target_t target_of)
{
    const uint64_t span = keel_part_span(part);

    return (span > 0) ? target_of(lane, part->where, span, 0) : NULL;
}

const char *keel_served_blocks(keel_lane_t *lane, const keel_record_t *record, const void *payload,
                               keel_served_target_t target_of)
{
    keel_parts_t parts = keel_parts_of(record, payload), again = parts;
    keel_blocks_part_t part;
    unsigned count = 0;

    for (; keel_parts_next(&parts, &part); count++) {
        if (part_target(lane, &part, target_of) == NULL) {
            return "block outside its window";
        }
    }
    if (count == 0 || !keel_parts_at_end(&parts)) {
        return "malformed blocks";
    }
    while (keel_parts_next(&again, &part) && !(KEEL_PLANT(served_blocks_last_missed) && keel_parts_at_end(&again))) {
        if (part.is_behind) {
            keel_store_barrier();
        }
        served_store_part(part_target(lane, &part, target_of), &part);
    }
    return NULL;
}
