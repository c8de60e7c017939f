/*
 * Head of bytes that leave a process, an address or a key of memory: fixed width, little-endian,
 * with version, length and crc, all checked before any later byte is used.
 */
#ifndef KEEL_SHM_BLOB_H_
#define KEEL_SHM_BLOB_H_

#include <keel/def.h>
#include <keel/status.h>

#include "base/message.h"

typedef struct keel_shm_blob_head {
    uint32_t magic; /* identifies the transport and the kind of blob */
    uint32_t version;
    uint32_t length;   /* bytes of the whole blob */
    uint32_t crc;      /* crc of the bytes behind this field */
    uint64_t instance; /* permanent name of the process: random, never 0 */
} keel_shm_blob_head_t;

enum { KEEL_SHM_BLOB_VERSION = 3 };

/* of addresses: processes of one job may be configured with different transports */
enum {
    KEEL_SHM_BLOB_ADDRESS_UCP = 0x4144414b,  /* "KADA" */
    KEEL_SHM_BLOB_ADDRESS_VERBS = 0x4144564b /* "KVDA" */
};

_Static_assert(sizeof(keel_shm_blob_head_t) == 24, "wire format");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "blobs are written as they lie in memory");

/* fills in the head of a blob with a complete body */
void keel_shm_blob_seal(void *blob, uint32_t magic, size_t length, uint64_t instance);
/* KEEL_ERR_CORRUPT unless @a blob is a complete blob of this kind, of at least @a least bytes */
keel_status_t keel_shm_blob_check(const void *blob, size_t length, uint32_t magic, size_t least);
/*
 * The same for the address of a peer. KEEL_ERR_UNSUPPORTED with a message if the peer uses another
 * transport than @a name.
 */
keel_status_t keel_shm_blob_check_address(const keel_message_t *message, const char *name, uint32_t peer,
                                          const void *blob, size_t length, uint32_t magic, size_t least);

#endif
