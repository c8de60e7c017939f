/*
 * The two blobs that leave a process: its address and the key of a memory. Fixed width, little-endian, with version,
 * length and crc, all checked before anything in them is used.
 */
#ifndef KEEL_UCP_BLOB_H_
#define KEEL_UCP_BLOB_H_

#include "ucp_segment.h"

typedef struct keel_ucp_blob_head {
    uint32_t magic; /* KEEL_UCP_BLOB_ADDRESS or KEEL_UCP_BLOB_KEY */
    uint32_t version;
    uint32_t length; /* of the whole blob */
    uint32_t crc;    /* of what follows the head */
    uint64_t instance;
} keel_ucp_blob_head_t;

enum {
    KEEL_UCP_BLOB_VERSION = 2,
    KEEL_UCP_BLOB_ADDRESS = 0x4144414b, /* "KADA" */
    KEEL_UCP_BLOB_KEY = 0x454b414b      /* "KAKE" */
};

/* followed by the two worker addresses, each padded to 8 bytes */
typedef struct keel_ucp_address_blob {
    keel_ucp_blob_head_t head;
    uint32_t rank;
    uint32_t reserved;
    uint32_t main_len;          /* takes replies */
    uint32_t service_len;       /* takes requests */
    keel_ucp_segment_id_t card; /* keel_ucp_card_t: who can read it shares memory with this process */
} keel_ucp_address_blob_t;

typedef struct keel_ucp_key_blob {
    keel_ucp_blob_head_t head;
    keel_ucp_segment_id_t segment;
} keel_ucp_key_blob_t;

_Static_assert(sizeof(keel_ucp_blob_head_t) == 24, "wire format");
_Static_assert(sizeof(keel_ucp_segment_id_t) == 32, "wire format");
_Static_assert(sizeof(keel_ucp_address_blob_t) == 72, "wire format");
_Static_assert(sizeof(keel_ucp_key_blob_t) == 56, "wire format");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "blobs are written as they lie in memory");

/* fills the head of a blob whose body is complete */
void keel_ucp_blob_seal(void *blob, uint32_t magic, size_t length, uint64_t instance);
/* KEEL_ERR_CORRUPT unless @a blob is a whole one of this kind */
keel_status_t keel_ucp_blob_check(const void *blob, size_t length, uint32_t magic, size_t least);

/* freed by keel_free(); NULL without memory */
keel_ucp_address_blob_t *keel_ucp_address_make(uint32_t rank, uint64_t instance, const void *main_address,
                                               size_t main_len, const void *service_address, size_t service_len,
                                               const keel_ucp_segment_id_t *card);
keel_status_t keel_ucp_address_check(const void *blob, size_t length);
const void *keel_ucp_address_main(const keel_ucp_address_blob_t *blob);
const void *keel_ucp_address_service(const keel_ucp_address_blob_t *blob);

#endif
