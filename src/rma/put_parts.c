/* The payload of a record with several parts: a head for each part, then its blocks, packed. */
#include "rma/put_parts.h"

#include "check/plant.h"
#include "peer/store_part.h"

#include <string.h>

/* a part and its source */
typedef struct put_part {
    keel_record_part_t head;
    uint64_t stride, apart;
    const char *from;
} put_part_t;

static put_part_t record_part(const keel_put_record_t *put, size_t i)
{
    const unsigned region = put->win->region;

    if (put->list != NULL) {
        const keel_block_t *block = &put->list[i];

        return (put_part_t){.head = {.where = keel_where(block->offset, KEEL_RECORD_PUT, region),
                                     .length = (uint32_t)block->length,
                                     .count = 1},
                            .from = block->buffer};
    }
    return (put_part_t){.head = {.where = keel_where(put->blocks->offset, KEEL_RECORD_PUT, region),
                                 .length = (uint32_t)put->blocks->length,
                                 .count = (uint32_t)put->blocks->count},
                        .stride = put->blocks->stride,
                        .apart = KEEL_PLANT(put_blocks_packed) ? put->blocks->length : put->blocks->buffer_stride,
                        .from = put->from};
}

/* writes the head of a part and returns the place of its blocks */
static uint8_t *part_write_head(uint8_t *to, const put_part_t *part)
{
    memcpy(to, &part->head, sizeof(part->head));
    to += sizeof(part->head);
    if (part->head.count > 1) {
        memcpy(to, &part->stride, sizeof(part->stride));
        to += sizeof(part->stride);
    }
    return to;
}

/* copies the blocks to a record, to mapped memory, or to both; reads each byte once */
static void part_copy(const put_part_t *part, uint8_t *to, char *target)
{
    const size_t length = part->head.length;

    for (uint32_t i = 0; i < part->head.count; i++) {
        const char *from = part->from + i * part->apart;

        if (to != NULL && target != NULL) {
            keel_store_two(to + i * length, target + i * part->stride, from, length);
        } else if (to != NULL) {
            memcpy(to + i * length, from, length);
        } else {
            keel_store_bytes(target + i * part->stride, from, length);
        }
    }
}

void keel_put_parts_write(const keel_put_record_t *put, keel_record_t *record, int is_stored)
{
    char *base = is_stored ? keel_win_target(put->win, put->rank)->ptr : NULL;
    uint8_t *to = (record != NULL) ? (uint8_t *)(record + 1) : NULL;

    if (to != NULL && put->signal != NULL) {
        const keel_record_signal_t word = {
            .where = keel_where(put->signal->offset, KEEL_RECORD_PUT, put->signal_win->region),
            .value = put->signal->value};

        memcpy(to, &word, sizeof(word));
        to += sizeof(word);
    }
    for (size_t i = 0; i < put->count; i++) {
        const put_part_t part = record_part(put, i);
        const size_t bytes = (size_t)part.head.length * part.head.count;

        if (bytes == 0) {
            continue;
        }
        if (to != NULL && put->signal == NULL) {
            to = part_write_head(to, &part);
            memset(to + bytes, 0, keel_pad8(bytes) - bytes);
        }
        part_copy(&part, to, (base != NULL) ? base + keel_where_offset(part.head.where) : NULL);
        to = (to != NULL) ? to + keel_pad8(bytes) : NULL;
        KEEL_MOMENT();
    }
    if (put->signal != NULL && is_stored) {
        keel_store_behind();
        keel_store_bytes(keel_win_target(put->signal_win, put->rank)->ptr + put->signal->offset, &put->signal->value,
                         sizeof(put->signal->value));
    }
}
