/* The service side of accumulates. */
#include "peer/served_combine.h"
#include "peer/combine.h"
#include "peer/remote_put.h"
#include "peer/served.h"

#include <string.h>

/* where a record of an accumulate goes; NULL: it is not what it says, or leaves its window */
static void *served_elements(keel_lane_t *lane, const keel_record_t *record, const void *payload,
                             keel_record_accumulate_t *head)
{
    uint64_t bytes;
    void *target;

    if (record->length < sizeof(*head)) {
        return NULL;
    }
    memcpy(head, payload, sizeof(*head));
    if (!keel_combine_is_known(head->op, head->type)) {
        return NULL;
    }
    bytes = keel_combine_bytes(head);
    if (record->length != sizeof(*head) + (keel_combine_has_values(head) ? bytes : 0)) {
        return NULL;
    }
    target = keel_served_target(lane, record->where, bytes, 0);
    return ((uintptr_t)target % keel_type_size((keel_type_t)head->type) == 0) ? target : NULL;
}

const char *keel_served_combine(keel_lane_t *lane, const keel_record_t *record, const void *payload)
{
    keel_record_accumulate_t head;
    void *target = served_elements(lane, record, payload, &head);

    if (target == NULL) {
        return "malformed accumulate, or outside its window";
    }
    keel_combine_logged(&head, target, (const char *)payload + sizeof(head));
    return NULL;
}

const char *keel_served_exchange(keel_lane_t *lane, const keel_wire_t *wire, const void *data)
{
    const uint32_t phase = wire->body.atomic.access.phase, number = (uint32_t)wire->body.atomic.number;
    const int is_numbered = wire->type != KEEL_WIRE_UNNUMBERED;
    keel_records_t records = keel_records_of(data, wire->length);
    keel_record_accumulate_t head;
    const void *payload;
    keel_record_t record;
    keel_status_t status;
    void *target = NULL, *room;

    if (keel_records_read(&records, &record, &payload)) {
        target = served_elements(lane, &record, payload, &head);
    }
    if (is_numbered) {
        keel_remote_put_count(lane, wire, phase, number);
    }
    if (target == NULL || keel_combine_bytes(&head) > lane->ops->max_data ||
        (is_numbered && keel_served_is_next(lane, wire->source, phase, number) != 1)) {
        keel_served_refuse(lane, wire);
        return "malformed accumulate, outside its window, or out of its order";
    }
    status = lane->ops->reply_room(lane->transport, wire->source, keel_combine_bytes(&head), &room);
    if (status != KEEL_OK) {
        keel_served_not_sent(lane, wire->source, status);
        return NULL;
    }
    keel_combine(&head, target, (const char *)payload + sizeof(head), room);
    if (is_numbered) {
        keel_served_count(lane, wire->source, phase, number);
        keel_digest_add(&lane->peers[wire->source].digest, phase, number, &record, payload);
    }
    keel_served_reply(lane, wire, KEEL_WIRE_VALUE, room, keel_combine_bytes(&head));
    return NULL;
}

const char *keel_served_unnumbered(keel_lane_t *lane, const keel_wire_t *wire, const void *data)
{
    keel_records_t records = keel_records_of(data, wire->length);
    const void *payload;
    keel_record_t record;

    if (wire->body.atomic.id != 0) {
        return keel_served_exchange(lane, wire, data);
    }
    if (!keel_records_read(&records, &record, &payload) || !keel_records_at_end(&records)) {
        return "short record";
    }
    return keel_lane_apply_record(lane, &record, payload);
}
