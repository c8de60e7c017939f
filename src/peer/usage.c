/* Usage on boards and on the wire. */
#include "peer/usage.h"

#include "peer/peer.h"

void keel_usage_store(keel_board_slot_t *slot, const keel_usage_t *usage)
{
    const uint32_t any = (usage->fetched > usage->begun) ? usage->fetched : usage->begun;
    const uint32_t waits = (uint32_t)keel_board_get(&slot->waits);

    if (any > 0) {
        keel_board_mark(slot, any - 1, 0);
    }
    if (usage->in_doubt > 0) {
        keel_board_mark(slot, usage->in_doubt - 1, 1);
    }
    if (usage->waits > 0) {
        keel_board_set(&slot->waits, keel_usage_earlier(waits, usage->waits));
    }
    /* The predecessor's classes stay. */
    keel_board_set(&slot->classes, keel_board_get(&slot->classes) | usage->classes);
}

uint32_t keel_usage_pack(const keel_usage_t *usage, uint32_t number)
{
    const int is_in_doubt = usage->in_doubt == number && !KEEL_PLANT(usage_doubt_left_out);
    const int waits = usage->waits == number + 1 && !KEEL_PLANT(usage_waits_left_out);

    return usage->classes | ((usage->fetched == number) ? KEEL_USAGE_FETCHED : 0) |
           (is_in_doubt ? KEEL_USAGE_IN_DOUBT : 0) | (waits ? KEEL_USAGE_WAITS : 0);
}

keel_usage_t keel_usage_unpack(uint32_t packed, uint32_t number)
{
    return (keel_usage_t){.classes = packed & ~KEEL_USAGE_FLAGS,
                          .fetched = (packed & KEEL_USAGE_FETCHED) ? number : 0,
                          .in_doubt = (packed & KEEL_USAGE_IN_DOUBT) ? number : 0,
                          .waits = (packed & KEEL_USAGE_WAITS) ? number + 1 : 0};
}

void keel_usage_publish(keel_lane_t *lane, const keel_usage_t *usage)
{
    lane->usage = *usage;
    keel_usage_store(&lane->board[lane->rank], usage);
}

void keel_usage_receive(keel_lane_t *lane, const keel_wire_t *wire)
{
    const keel_usage_t usage = {.classes = wire->body.usage.classes,
                                .fetched = wire->body.usage.fetched,
                                .in_doubt = wire->body.usage.in_doubt,
                                .begun = wire->body.usage.begun,
                                .waits = wire->body.usage.waits};

    keel_usage_store(&lane->board[wire->source], &usage);
}
