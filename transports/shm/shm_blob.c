/* The head of blobs. */
#include "shm_blob.h"

#include "base/crc.h"
#include "base/message.h"

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

static const char *blob_transport(const void *blob, size_t length)
{
    keel_shm_blob_head_t head = {0};

    if (blob != NULL && length >= sizeof(head)) {
        memcpy(&head, blob, sizeof(head));
    }
    return (head.magic == KEEL_SHM_BLOB_ADDRESS_UCP)     ? "ucp"
           : (head.magic == KEEL_SHM_BLOB_ADDRESS_VERBS) ? "verbs"
                                                         : NULL;
}

keel_status_t keel_shm_blob_check_address(const keel_message_t *message, const char *name, uint32_t peer,
                                          const void *blob, size_t length, uint32_t magic, size_t least)
{
    const keel_status_t status = keel_shm_blob_check(blob, length, magic, least);
    const char *its = blob_transport(blob, length);

    if (status == KEEL_OK || its == NULL || strcmp(its, name) == 0) {
        return status;
    }
    if (message != NULL) {
        keel_error(message, "rank %u has KEEL_TRANSPORT=%s, and this one has %s: it has to be the same for all ranks",
                   peer, its, name);
    }
    return KEEL_ERR_UNSUPPORTED;
}
