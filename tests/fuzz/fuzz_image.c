/*
 * Images as they are read back. With the seal bit every crc of the image is corrected first, as far
 * as the lengths allow, so that the fuzzer reaches the code behind the crc checks.
 */
#include "fuzz_input.h"

#include "base/crc.h"
#include "ckpt/image.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { /* offsets in the header and in an entry, as image.c lays them out */
       HEADER_CRC = 12,
       HEADER_COUNT = 48,
       ENTRY_SIZE = 32,
       ENTRY_LENGTH = 8,
       ENTRY_OFFSET = 16,
       ENTRY_CRC = 24
};

static void image_seal(uint8_t *image, size_t size)
{
    uint32_t count, crc;
    size_t table;

    if (size < KEEL_IMAGE_ALIGN) {
        return;
    }
    memcpy(&count, image + HEADER_COUNT, sizeof count);
    for (size_t i = 0; i < count; i++) {
        uint8_t *entry = image + KEEL_IMAGE_ALIGN + i * ENTRY_SIZE;
        uint64_t length, offset;

        if (KEEL_IMAGE_ALIGN + (i + 1) * ENTRY_SIZE > size) {
            return;
        }
        memcpy(&length, entry + ENTRY_LENGTH, sizeof length);
        memcpy(&offset, entry + ENTRY_OFFSET, sizeof offset);
        if (offset <= size && length <= size - offset) {
            crc = keel_crc(0, image + offset, length);
            memcpy(entry + ENTRY_CRC, &crc, sizeof crc);
        }
    }
    table = (size_t)count * ENTRY_SIZE;
    memset(image + HEADER_CRC, 0, sizeof crc);
    crc = keel_crc(keel_crc(0, image, KEEL_IMAGE_ALIGN), image + KEEL_IMAGE_ALIGN, table);
    memcpy(image + HEADER_CRC, &crc, sizeof crc);
}

/* Reads an image into memory of the parts that the image names. An accepted image is read whole, or
 * refused with a reason. */
static void image_read(const uint8_t *image, size_t size, keel_status_t checked)
{
    static uint8_t memory[2][256];
    const keel_part_t parts[2] = {{.kind = KEEL_PART_WINDOW, .id = 0, .base = memory[0], .length = sizeof memory[0]},
                                  {.kind = KEEL_PART_PROTECTED, .id = 1, .base = memory[1], .length = 24}};
    const char *why = NULL;

    for (unsigned count = 0; count <= 2; count++) {
        const keel_status_t status = keel_image_read(image, size, parts, count, &why);

        assert(status == KEEL_OK || why != NULL);
        assert(checked != KEEL_OK || status != KEEL_ERR_CORRUPT); /* a checked image can be read */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    keel_image_meta_t meta;
    const char *why = NULL;
    keel_status_t status;
    uint8_t *image;

    if (size < 1) {
        return 0;
    }
    if (posix_memalign((void **)&image, KEEL_IMAGE_ALIGN, size) != 0) {
        return 0;
    }
    memcpy(image, data + 1, size - 1);
    if (data[0] & FUZZ_IMAGE_SEAL) {
        image_seal(image, size - 1);
    }
    status = keel_image_check(image, size - 1, &meta, &why);
    assert((status == KEEL_OK) != (why != NULL));
    image_read(image, size - 1, status);
    free(image);
    return 0;
}
