/* The head of blobs. */
#include "shm_blob.h"

#include "base/crc.h"

#include <string.h>

static uint32_t blob_crc(const void *blob, size_t length)
{
    const size_t skipped = offsetof(keel_shm_blob_head_t, instance);

    return keel_crc(0, (const char *)blob + skipped, length - skipped);
}

void keel_shm_blob_seal(void *blob, uint32_t magic, size_t length, uint64_t instance)
{
    keel_shm_blob_head_t *head = blob;

    head->magic = magic;
    head->version = KEEL_SHM_BLOB_VERSION;
    head->length = (uint32_t)length;
    head->instance = instance;
    head->crc = blob_crc(blob, length);
}

keel_status_t keel_shm_blob_check(const void *blob, size_t length, uint32_t magic, size_t least)
{
    keel_shm_blob_head_t head;

    if ((blob == NULL) || (length < least)) {
        return KEEL_ERR_CORRUPT;
    }
    memcpy(&head, blob, sizeof(head));
    if ((head.magic != magic) || (head.version != KEEL_SHM_BLOB_VERSION) || (head.length != length) ||
        (head.instance == 0) || (head.crc != blob_crc(blob, length))) {
        return KEEL_ERR_CORRUPT;
    }
    return KEEL_OK;
}
