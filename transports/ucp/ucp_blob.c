/* The two blobs that leave a process. */
#include "ucp_blob.h"

#include "base/crc.h"
#include "base/memory.h"

#include <string.h>

static size_t pad8(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

/* of all that follows the crc's own field */
static uint32_t blob_crc(const void *blob, size_t length)
{
    const size_t skipped = offsetof(keel_ucp_blob_head_t, instance);

    return keel_crc(0, (const char *)blob + skipped, length - skipped);
}

void keel_ucp_blob_seal(void *blob, uint32_t magic, size_t length, uint64_t instance)
{
    keel_ucp_blob_head_t *head = blob;

    head->magic = magic;
    head->version = KEEL_UCP_BLOB_VERSION;
    head->length = (uint32_t)length;
    head->instance = instance;
    head->crc = blob_crc(blob, length);
}

keel_status_t keel_ucp_blob_check(const void *blob, size_t length, uint32_t magic, size_t least)
{
    keel_ucp_blob_head_t head;

    if ((blob == NULL) || (length < least)) {
        return KEEL_ERR_CORRUPT;
    }
    memcpy(&head, blob, sizeof(head));
    if ((head.magic != magic) || (head.version != KEEL_UCP_BLOB_VERSION) || (head.length != length) ||
        (head.instance == 0) || (head.crc != blob_crc(blob, length))) {
        return KEEL_ERR_CORRUPT;
    }
    return KEEL_OK;
}

keel_ucp_address_blob_t *keel_ucp_address_make(uint32_t rank, uint64_t instance, const void *main_address,
                                               size_t main_len, const void *service_address, size_t service_len,
                                               const keel_ucp_segment_id_t *card)
{
    const size_t length = sizeof(keel_ucp_address_blob_t) + pad8(main_len) + pad8(service_len);
    keel_ucp_address_blob_t *blob;

    blob = keel_alloc(length, "ucp address");
    if (blob == NULL) {
        return NULL;
    }
    blob->rank = rank;
    blob->main_len = (uint32_t)main_len;
    blob->service_len = (uint32_t)service_len;
    blob->card = *card;
    memcpy((void *)keel_ucp_address_main(blob), main_address, main_len);
    memcpy((void *)keel_ucp_address_service(blob), service_address, service_len);
    keel_ucp_blob_seal(blob, KEEL_UCP_BLOB_ADDRESS, length, instance);
    return blob;
}

keel_status_t keel_ucp_address_check(const void *blob, size_t length)
{
    keel_ucp_address_blob_t address;

    if (keel_ucp_blob_check(blob, length, KEEL_UCP_BLOB_ADDRESS, sizeof(address)) != KEEL_OK) {
        return KEEL_ERR_CORRUPT;
    }
    memcpy(&address, blob, sizeof(address));
    if ((address.main_len == 0) || (address.service_len == 0) ||
        (sizeof(address) + pad8(address.main_len) + pad8(address.service_len) != length)) {
        return KEEL_ERR_CORRUPT;
    }
    return KEEL_OK;
}

const void *keel_ucp_address_main(const keel_ucp_address_blob_t *blob)
{
    return blob + 1;
}

const void *keel_ucp_address_service(const keel_ucp_address_blob_t *blob)
{
    return (const char *)(blob + 1) + pad8(blob->main_len);
}
