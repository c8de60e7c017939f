/*
 * Blobs that leave a process: the address, and the key of a memory.
 */
#ifndef KEEL_UCP_BLOB_H_
#define KEEL_UCP_BLOB_H_

#include "shm/shm_blob.h"
#include "shm/shm_segment.h"

enum {
    KEEL_UCP_BLOB_ADDRESS = KEEL_SHM_BLOB_ADDRESS_UCP,
    KEEL_UCP_BLOB_KEY = 0x454b414b /* "KAKE" */
};

/* two worker addresses follow, each padded to 8 bytes */
typedef struct keel_ucp_address_blob {
    keel_shm_blob_head_t head;
    uint32_t rank;
    uint32_t reserved;
    uint32_t main_len;    /* replies arrive at this worker */
    uint32_t service_len; /* requests arrive at this worker */
    /* keel_shm_card_t: a process that can read the card shares memory with this process */
    keel_shm_segment_id_t card;
} keel_ucp_address_blob_t;

/* UCP's key of the memory follows, padded to 8 bytes */
typedef struct keel_ucp_key_blob {
    keel_shm_blob_head_t head;
    keel_shm_segment_id_t segment;
    uint32_t rkey_len; /* 0: the memory is not read over the network */
    uint32_t reserved;
} keel_ucp_key_blob_t;

enum { KEEL_UCP_RKEY_MAX = 128, KEEL_UCP_KEY_MAX = sizeof(keel_ucp_key_blob_t) + KEEL_UCP_RKEY_MAX };

_Static_assert(sizeof(keel_shm_segment_id_t) == 32, "wire format");
_Static_assert(sizeof(keel_ucp_address_blob_t) == 72, "wire format");
_Static_assert(sizeof(keel_ucp_key_blob_t) == 64, "wire format");

/* released with keel_free(); NULL without memory */
keel_ucp_address_blob_t *keel_ucp_address_make(uint32_t rank, uint64_t instance, const void *main_address,
                                               size_t main_len, const void *service_address, size_t service_len,
                                               const keel_shm_segment_id_t *card);
keel_status_t keel_ucp_address_check(const void *blob, size_t length);
const void *keel_ucp_address_main(const keel_ucp_address_blob_t *blob);
const void *keel_ucp_address_service(const keel_ucp_address_blob_t *blob);

size_t keel_ucp_key_length(size_t rkey_len); /* bytes of the whole blob */
keel_status_t keel_ucp_key_check(const void *blob, size_t length);

#endif
