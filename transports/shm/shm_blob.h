/*
 * The head of what leaves a process as bytes, an address or the key of a memory: fixed width, little-endian, with version, length
 * and crc, all checked before anything after it is used.
 */
#ifndef KEEL_SHM_BLOB_H_
#define KEEL_SHM_BLOB_H_

#include <keel/def.h>
#include <keel/status.h>

#include "base/message.h"

typedef struct keel_shm_blob_head {
    uint32_t magic; /* of the transport and the kind */
    uint32_t version;
    uint32_t length;   /* of the whole blob */
    uint32_t crc;      /* of what follows this field */
    uint64_t instance; /* names the process for good: random, never 0 */
} keel_shm_blob_head_t;

enum { KEEL_SHM_BLOB_VERSION = 3 };

/* of addresses: processes of one job may have been given different transports */
enum {
    KEEL_SHM_BLOB_ADDRESS_UCP = 0x4144414b,  /* "KADA" */
    KEEL_SHM_BLOB_ADDRESS_VERBS = 0x4144564b /* "KVDA" */
};

_Static_assert(sizeof(keel_shm_blob_head_t) == 24, "wire format");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "blobs are written as they lie in memory");

/* fills the head of a blob whose body is complete */
void keel_shm_blob_seal(void *blob, uint32_t magic, size_t length, uint64_t instance);
/* KEEL_ERR_CORRUPT unless @a blob is a whole one of this kind, of @a least bytes */
keel_status_t keel_shm_blob_check(const void *blob, size_t length, uint32_t magic, size_t least);
/*
 * The same of the address of a peer. One of a process that was given another transport than this one, of that name, is
 * KEEL_ERR_UNSUPPORTED, and that is said.
 */
keel_status_t keel_shm_blob_check_address(const keel_message_t *message, const char *name, uint32_t peer,
                                          const void *blob, size_t length, uint32_t magic, size_t least);

#endif
