/* The two blobs of a process. */
#include "ucp_blob.h"

#include "base/memory.h"

#include <string.h>

static size_t pad8(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

keel_ucp_address_blob_t *keel_ucp_address_make(uint32_t rank, uint64_t instance, const void *main_address,
                                               size_t main_len, const void *service_address, size_t service_len,
                                               const keel_shm_segment_id_t *card)
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
    keel_shm_blob_seal(blob, KEEL_UCP_BLOB_ADDRESS, length, instance);
    return blob;
}

keel_status_t keel_ucp_address_check(const void *blob, size_t length)
{
    keel_ucp_address_blob_t address;

    if (keel_shm_blob_check(blob, length, KEEL_UCP_BLOB_ADDRESS, sizeof(address)) != KEEL_OK) {
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

size_t keel_ucp_key_length(size_t rkey_len)
{
    return sizeof(keel_ucp_key_blob_t) + pad8(rkey_len);
}

keel_status_t keel_ucp_key_check(const void *blob, size_t length)
{
    keel_ucp_key_blob_t key;

    if (keel_shm_blob_check(blob, length, KEEL_UCP_BLOB_KEY, sizeof(key)) != KEEL_OK) {
        return KEEL_ERR_CORRUPT;
    }
    memcpy(&key, blob, sizeof(key));
    return ((key.rkey_len <= KEEL_UCP_RKEY_MAX) && (length == keel_ucp_key_length(key.rkey_len))) ? KEEL_OK
                                                                                                  : KEEL_ERR_CORRUPT;
}
