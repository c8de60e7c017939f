/*
 * Layout of an image: header, table of parts, parts in the given order. Table and parts begin at
 * multiples of KEEL_IMAGE_ALIGN, with zeros between them. A list of parts has exactly one layout,
 * and a reader accepts no other, so every byte of an image counts and none is trusted.
 */
#include "ckpt/image.h"

#include "base/crc.h"
#include "check/plant.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "images are little-endian");
_Static_assert(sizeof(keel_image_meta_t) == 32, "the meta data is part of the header");

typedef struct keel_image_header {
    uint64_t magic;
    uint32_t version;
    uint32_t crc; /* crc of the header with 0 in this field, then of the table */
    uint64_t length;
    keel_image_meta_t meta;
    uint32_t part_count;
    uint32_t reserved;
} keel_image_header_t;
_Static_assert(sizeof(keel_image_header_t) == KEEL_IMAGE_ALIGN, "the table follows the header");

typedef struct keel_image_entry {
    uint32_t kind, id;
    uint64_t length;
    uint64_t where; /* offset of the bytes in the window; in the image, parts follow each other */
    uint32_t crc;   /* crc of the part's memory */
    uint32_t reserved;
} keel_image_entry_t;
_Static_assert(sizeof(keel_image_entry_t) == 32, "two entries fill a line");

static uint64_t image_pad(uint64_t length)
{
    return -length & (KEEL_IMAGE_ALIGN - 1);
}

static uint64_t image_table_end(uint64_t count)
{
    const uint64_t end = sizeof(keel_image_header_t) + count * sizeof(keel_image_entry_t);

    return end + image_pad(end);
}

static keel_image_entry_t image_entry(const uint8_t *image, unsigned index)
{
    keel_image_entry_t entry;

    memcpy(&entry, image + sizeof(keel_image_header_t) + index * sizeof entry, sizeof entry);
    return entry;
}

static uint32_t image_header_crc(keel_image_header_t header, const uint8_t *image)
{
    header.crc = 0;
    return keel_crc(keel_crc(0, &header, sizeof header), image + sizeof header,
                    header.part_count * sizeof(keel_image_entry_t));
}

static keel_status_t image_corrupt(const char **why_p, const char *why)
{
    if (why_p != NULL) {
        *why_p = why;
    }
    return KEEL_ERR_CORRUPT;
}

static int image_is_zero(const uint8_t *bytes, uint64_t length)
{
    for (uint64_t i = 0; i < length; i++) {
        if (bytes[i] != 0) {
            return 0;
        }
    }
    return 1;
}

/* a part of length 0 may have no address */
static uint32_t image_copy(void *target, const void *source, uint64_t length)
{
    uint32_t crc;

    if (length == 0) {
        return 0;
    }
    KEEL_HOLD(target, length, KEEL_STORED_STREAMED);
    crc = keel_crc_copy(0, target, source, length);
    KEEL_STORE_ORDER(); /* keel_crc_copy() ends with a store fence */
    return crc;
}

size_t keel_image_size(const keel_part_t *parts, unsigned count)
{
    uint64_t length = image_table_end(count);

    for (unsigned i = 0; i < count; i++) {
        length += parts[i].length + image_pad(parts[i].length);
    }
    return length;
}

void keel_image_write(void *slot, const keel_image_meta_t *meta, const keel_part_t *parts, unsigned count)
{
    uint8_t *const image = slot;
    const uint64_t table_bytes = count * sizeof(keel_image_entry_t);
    uint64_t offset = image_table_end(count);
    keel_image_header_t header = {.version = KEEL_IMAGE_VERSION, .meta = *meta, .part_count = count};

    /* Without a magic number: the old image is gone, the new image is not complete. */
    memcpy(image, &header, sizeof header);
    atomic_signal_fence(memory_order_seq_cst);
    for (unsigned i = 0; i < count; i++) {
        const uint64_t pad = image_pad(parts[i].length);
        const uint64_t torn = KEEL_PLANT(image_torn) ? parts[i].length / 2 : 0;
        const uint32_t crc = keel_crc(image_copy(image + offset, parts[i].base, parts[i].length - torn),
                                      image + offset + parts[i].length - torn, torn);
        const keel_image_entry_t entry = {
            .kind = parts[i].kind, .id = parts[i].id, .length = parts[i].length, .where = parts[i].where, .crc = crc};

        memcpy(image + sizeof header + i * sizeof entry, &entry, sizeof entry);
        memset(image + offset + parts[i].length, 0, pad);
        offset += parts[i].length + pad;
    }
    memset(image + sizeof header + table_bytes, 0, image_table_end(count) - sizeof header - table_bytes);
    assert(offset == keel_image_size(parts, count));

    header.magic = KEEL_IMAGE_MAGIC;
    header.length = offset;
    header.crc = image_header_crc(header, image);
    /* Release: a reader that acquires the flag of the image's announcement sees all of the
     * image. */
    atomic_thread_fence(memory_order_release);
    memcpy(image, &header, sizeof header);
}

/* Checks that header and table are consistent and lie inside the slot, so that every offset and
 * length in them is usable. */
static keel_status_t image_check_layout(const uint8_t *image, size_t slot_size, keel_image_header_t *header_p,
                                        const char **why_p)
{
    keel_image_header_t header;
    uint64_t offset;

    if (slot_size < sizeof header) {
        return image_corrupt(why_p, "slot shorter than an image header");
    }
    memcpy(&header, image, sizeof header);
    if (header.magic != KEEL_IMAGE_MAGIC) {
        return image_corrupt(why_p, "no image: magic number");
    }
    if (header.version != KEEL_IMAGE_VERSION) {
        return image_corrupt(why_p, "image of another version");
    }
    if (header.length > slot_size || image_table_end(header.part_count) > header.length) {
        return image_corrupt(why_p, "image length");
    }
    if (image_header_crc(header, image) != header.crc) {
        return image_corrupt(why_p, "crc of the image header");
    }
    offset = image_table_end(header.part_count);
    for (unsigned i = 0; i < header.part_count; i++) {
        const keel_image_entry_t entry = image_entry(image, i);

        if (entry.kind > KEEL_PART_LOCKS || entry.length > header.length - offset ||
            image_pad(entry.length) > header.length - offset - entry.length) {
            return image_corrupt(why_p, "table of the image's parts");
        }
        offset += entry.length + image_pad(entry.length);
    }
    if (offset != header.length) {
        return image_corrupt(why_p, "image length does not fit its parts");
    }
    *header_p = header;
    return KEEL_OK;
}

keel_status_t keel_image_check(const void *slot, size_t slot_size, keel_image_meta_t *meta_p, const char **why_p)
{
    const uint8_t *const image = slot;
    keel_image_header_t header;
    uint64_t table_bytes, offset;
    keel_status_t status;

    status = image_check_layout(image, slot_size, &header, why_p);
    if (status != KEEL_OK) {
        return status;
    }
    table_bytes = header.part_count * sizeof(keel_image_entry_t);
    if (!image_is_zero(image + sizeof header + table_bytes,
                       image_table_end(header.part_count) - sizeof header - table_bytes)) {
        return image_corrupt(why_p, "padding of the image's table");
    }
    offset = image_table_end(header.part_count);
    for (unsigned i = 0; i < header.part_count; i++) {
        const keel_image_entry_t entry = image_entry(image, i);

        if (keel_crc(0, image + offset, entry.length) != entry.crc) {
            return image_corrupt(why_p, "crc of a part of the image");
        }
        if (!image_is_zero(image + offset + entry.length, image_pad(entry.length))) {
            return image_corrupt(why_p, "padding of a part of the image");
        }
        offset += entry.length + image_pad(entry.length);
    }
    if (meta_p != NULL) {
        *meta_p = header.meta;
    }
    return KEEL_OK;
}

const void *keel_image_last_part(const void *slot, keel_part_kind_t kind, uint64_t *length_p)
{
    const uint8_t *const image = slot;
    keel_image_header_t header;
    keel_image_entry_t entry;
    uint64_t offset;

    memcpy(&header, image, sizeof header);
    *length_p = 0;
    offset = header.length;
    for (unsigned i = header.part_count; i > 0; i--) {
        entry = image_entry(image, i - 1);
        offset -= entry.length + image_pad(entry.length);
        if (entry.kind <= kind) {
            *length_p = (entry.kind == kind) ? entry.length : 0;
            return (entry.kind == kind) ? image + offset : NULL;
        }
    }
    return NULL;
}

keel_image_meta_t keel_image_meta(const void *slot)
{
    keel_image_header_t header;

    memcpy(&header, slot, sizeof header);
    return header.meta;
}

const void *keel_image_find(const void *slot, uint32_t id, uint64_t where, uint64_t length)
{
    const uint8_t *const image = slot;
    keel_image_header_t header;
    uint64_t offset;

    memcpy(&header, image, sizeof header);
    offset = image_table_end(header.part_count);
    for (unsigned i = 0; i < header.part_count; i++) {
        const keel_image_entry_t entry = image_entry(image, i);

        if (entry.kind == KEEL_PART_WINDOW && entry.id == id && where >= entry.where && length <= entry.length &&
            where - entry.where <= entry.length - length) {
            return image + offset + (where - entry.where);
        }
        offset += entry.length + image_pad(entry.length);
    }
    return NULL;
}

keel_status_t keel_image_table(const void *slot, size_t slot_size, keel_part_t *parts, unsigned most, unsigned *count_p,
                               const char **why_p)
{
    keel_image_header_t header;
    const keel_status_t status = image_check_layout(slot, slot_size, &header, why_p);

    if (status != KEEL_OK) {
        return status;
    }
    for (unsigned i = 0; i < header.part_count && i < most; i++) {
        const keel_image_entry_t entry = image_entry(slot, i);

        parts[i] = (keel_part_t){
            .kind = (keel_part_kind_t)entry.kind, .id = entry.id, .length = entry.length, .where = entry.where};
    }
    *count_p = header.part_count;
    return KEEL_OK;
}

keel_status_t keel_image_read(const void *slot, size_t slot_size, const keel_part_t *parts, unsigned count,
                              const char **why_p)
{
    const uint8_t *const image = slot;
    keel_image_header_t header;
    keel_status_t status;
    uint64_t offset;

    status = image_check_layout(image, slot_size, &header, why_p);
    if (status != KEEL_OK) {
        return status;
    }
    if (header.part_count != count) {
        (void)image_corrupt(why_p, "image of another number of windows and protected regions");
        return KEEL_ERR_STATE;
    }
    for (unsigned i = 0; i < count; i++) {
        const keel_image_entry_t entry = image_entry(image, i);

        if (entry.kind != parts[i].kind || entry.id != parts[i].id || entry.length != parts[i].length ||
            entry.where != parts[i].where) {
            (void)image_corrupt(why_p, "image of other windows or protected regions");
            return KEEL_ERR_STATE;
        }
    }
    offset = image_table_end(count);
    for (unsigned i = 0; i < count; i++) {
        const keel_image_entry_t entry = image_entry(image, i);

        if (image_copy(parts[i].base, image + offset, entry.length) != entry.crc) {
            return image_corrupt(why_p, "crc of a part of the image");
        }
        offset += entry.length + image_pad(entry.length);
    }
    return KEEL_OK;
}
