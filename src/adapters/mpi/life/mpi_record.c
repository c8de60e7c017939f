/* An entry is a head and, but for a run of zeros, the bytes of a value. Entries are not aligned. */
#include "life/mpi_record.h"

#include <string.h>

typedef struct head {
    uint32_t length; /* bytes of the value; 0: a run of zeros */
    uint32_t count;  /* equal values in succession, or zero bytes */
} head_t;

static head_t head_at(const keel_mpi_record_t *record, size_t offset)
{
    head_t head;

    memcpy(&head, record->base + offset, sizeof(head));
    return head;
}

static void head_put(keel_mpi_record_t *record, size_t offset, head_t head)
{
    memcpy(record->base + offset, &head, sizeof(head));
}

static int is_zeros(const char *data, size_t bytes)
{
    return data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0;
}

/* Adds a value to the last entry; 0: the entry has other values. */
static int extend_last(keel_mpi_record_t *record, const void *data, uint32_t length, uint32_t count)
{
    head_t head;

    if (record->last == 0) {
        return 0;
    }
    head = head_at(record, record->last - 1);
    if (head.length != length || count > UINT32_MAX - head.count ||
        memcmp(record->base + record->last - 1 + sizeof(head), data, length) != 0) {
        return 0;
    }
    head.count += count;
    head_put(record, record->last - 1, head);
    return 1;
}

int keel_mpi_record_append(keel_mpi_record_t *record, const void *data, size_t bytes)
{
    const int is_run = is_zeros(data, bytes);
    const head_t head = {is_run ? 0 : (uint32_t)bytes, is_run ? (uint32_t)bytes : 1};

    if (bytes > UINT32_MAX) {
        return 0;
    }
    if (extend_last(record, data, head.length, head.count)) {
        return 1;
    }
    if (record->room - record->used < sizeof(head) + head.length) {
        return 0;
    }
    head_put(record, record->used, head);
    memcpy(record->base + record->used + sizeof(head), data, head.length);
    record->last = record->used + 1;
    record->used += sizeof(head) + head.length;
    return 1;
}

int keel_mpi_record_read(const keel_mpi_record_t *record, keel_mpi_record_cursor_t *cursor, void *data, size_t bytes)
{
    const size_t left = record->used - cursor->at;
    head_t head;

    if (left < sizeof(head)) {
        return 0;
    }
    head = head_at(record, cursor->at);
    if (head.length == 0) {
        if (bytes > head.count - cursor->taken) {
            return 0;
        }
        memset(data, 0, bytes);
        cursor->taken += (uint32_t)bytes;
    } else {
        if (bytes != head.length || left - sizeof(head) < bytes) {
            return 0;
        }
        memcpy(data, record->base + cursor->at + sizeof(head), bytes);
        cursor->taken++;
    }
    if (cursor->taken == head.count) {
        *cursor = (keel_mpi_record_cursor_t){.at = cursor->at + sizeof(head) + head.length};
    }
    return 1;
}
