/*
 * The service side of gets of several blocks: a message describes the blocks, a reply has their
 * bytes, packed, and the get log has both as one record. All blocks are checked before the first is
 * read, because a message may hold anything.
 */
#include "peer/served_gets.h"
#include "peer/served.h"

#include "base/copy.h"
#include "wire/get_parts.h"

const char *keel_served_got_check(keel_lane_t *lane, const keel_wire_t *wire, const void *asked, uint64_t *bytes_p)
{
    const uint64_t where = wire->body.get.where, length = wire->body.get.length;
    const uint32_t count = keel_get_parts_read(asked, wire->length, bytes_p);

    if (count == 0 || wire->length != keel_get_parts_size(count) || (wire->flags & KEEL_WIRE_FLAG_CLOCK) ||
        keel_where_blocks(keel_get_part_at(asked, 0).where) != where) {
        return "malformed get of blocks";
    }
    if (length > lane->ops->max_data || length != keel_get_parts_size(count) + *bytes_p) {
        return "get of blocks that are not as long as it says, or too long";
    }
    for (uint32_t i = 0; i < count; i++) {
        const keel_get_part_t part = keel_get_part_at(asked, i);

        if (keel_served_target(lane, part.where, keel_get_part_span(&part), 0) == NULL) {
            return "get of blocks outside their window";
        }
    }
    return NULL;
}

/* Loads the data once, because other ranks may write to the window meanwhile: the log (*log NULL:
 * not logged) and the source get the same bytes. */
static void blocks_load(keel_lane_t *lane, const keel_get_part_t *part, char **room, char **log)
{
    const char *first = keel_served_target(lane, part->where, keel_get_part_span(part), 0);

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

void keel_served_got_load(keel_lane_t *lane, const void *asked, size_t described, void *room, void *log)
{
    char *to = room, *logged = log;

    if (log != NULL) {
        memcpy(log, asked, described);
        logged += described;
    }
    for (uint32_t i = 0; keel_get_parts_size(i) < described; i++) {
        const keel_get_part_t part = keel_get_part_at(asked, i);

        blocks_load(lane, &part, &to, &logged);
    }
}
