/*
 * The service side of gets of several blocks: one message says where they are, one answer has their bytes, packed, and the get log has both as one
 * record. All of them are looked at before the first is read: what came from elsewhere may be anything.
 */
#include "peer/served_blocks.h"
#include "peer/served.h"

#include "base/copy.h"
#include "wire/blocks.h"

/* NULL: it is as the message says, in own memory and no longer than an answer; *bytes_p: of all blocks */
static const char *blocks_check(keel_lane_t *lane, const keel_wire_t *wire, const void *asked, uint64_t *bytes_p)
{
    const uint64_t where = wire->body.get.where, length = wire->body.get.length;
    const uint32_t count = keel_parts_read(asked, wire->length, bytes_p);

    if (count == 0 || wire->length != keel_parts_size(count) || (wire->flags & KEEL_WIRE_FLAG_CLOCK) ||
        keel_where_blocks(keel_part_at(asked, 0).where) != where) {
        return "malformed get of blocks";
    }
    if (length > lane->ops->max_data || length != keel_parts_size(count) + *bytes_p) {
        return "get of blocks that are not as long as it says, or too long";
    }
    for (uint32_t i = 0; i < count; i++) {
        const keel_record_part_t part = keel_part_at(asked, i);

        if (keel_served_target(lane, part.where, keel_part_span(&part), 0) == NULL) {
            return "get of blocks outside their window";
        }
    }
    return NULL;
}

/* Once: others may write there meanwhile, and the log, which has a place for it or is NULL, gets what the asker gets. */
static void blocks_load(keel_lane_t *lane, const keel_record_part_t *part, char **room, char **log)
{
    const char *first = keel_served_target(lane, part->where, keel_part_span(part), 0);

    for (uint32_t i = 0; i < part->count; i++, *room += part->length) {
        const char *from = first + i * part->stride;

        if (*log == NULL) {
            memcpy(*room, from, part->length);
        } else {
            keel_copy_two(*log, *room, from, part->length);
            *log += part->length;
        }
    }
    if (*log != NULL && part->length >= KEEL_COPY_STREAM) {
        keel_copy_lines_done();
    }
}

const char *keel_served_blocks(keel_lane_t *lane, const keel_wire_t *wire, const void *asked)
{
    const keel_get_record_t record = {.phase = wire->body.get.access.phase,
                                      .index = wire->body.get.access.index,
                                      .where = wire->body.get.where,
                                      .length = (uint32_t)wire->body.get.length};
    uint64_t bytes;
    const char *why = blocks_check(lane, wire, asked, &bytes);
    keel_status_t status;
    char *at, *log;
    void *room;

    if (why != NULL) {
        keel_served_refuse(lane, wire);
        return why;
    }
    status = lane->ops->reply_room(lane->transport, wire->source, bytes, &room);
    if (status != KEEL_OK) {
        keel_served_not_sent(lane, wire->source, status);
        return NULL;
    }
    log = keel_served_note_get(lane, wire, &record);
    if (log != NULL) {
        memcpy(log, asked, wire->length);
        log += wire->length;
    }
    at = room;
    for (uint32_t i = 0; i < (wire->length - keel_parts_size(0)) / sizeof(keel_record_part_t); i++) {
        const keel_record_part_t part = keel_part_at(asked, i);

        blocks_load(lane, &part, &at, &log);
    }
    if (log != NULL) {
        lane->on_served_got(lane->arg, &record);
    }
    keel_served_reply(lane, wire, KEEL_WIRE_VALUE, room, bytes);
    return NULL;
}
