/*
 * Memory of this process that ranks of the node map, and theirs mapped here: a piece that transports share. It is reached by
 * loads, stores and CPU atomics alone, so it needs no connection, no progress and no help of its owner, and survives
 * the owner's death as long as a key is open.
 */
#ifndef KEEL_SHM_MEMORY_H_
#define KEEL_SHM_MEMORY_H_

#include "shm_segment.h"
#include "shm_sleeper.h"
#include "transport.h"

#include <stdatomic.h>
#include <ucs/datastruct/list.h>

/* Memory of a process that all of its node map: who can read the instance there shares memory with it. */
typedef struct keel_shm_card {
    uint64_t instance;
    uint64_t reserved[7];
    keel_shm_sleeper_t sleeper; /* the thread inside Keel */
} keel_shm_card_t;

struct keel_transport_mem {
    ucs_list_link_t link;
    keel_shm_segment_t segment;
    void *registration; /* of the transport that uses this piece; NULL: none */
    int is_atomic;      /* with it: its words are changed by the device alone */
};

struct keel_transport_key {
    ucs_list_link_t link;
    void *base; /* NULL: the memory is not mapped here, but reached by what follows, which is the transport's */
    size_t bytes;
    uint64_t remote_base;
    uint32_t peer, remote_key;
    int is_atomic; /* its words are changed by the device alone */
    void *remote;
};

typedef struct keel_shm {
    const keel_transport_params_t *params;
    uint64_t instance;              /* of this process */
    int is_used;                    /* memory is shared with ranks of the node, */
    int is_everywhere;              /* or with all */
    keel_shm_segment_t card_memory; /* none when no memory is shared */
    keel_shm_card_t own_card;       /* which is used then */
    keel_shm_card_t *card;
    ucs_list_link_t mems, keys;
    ucs_list_link_t reserve; /* memory made ahead, that nobody has asked for yet */
} keel_shm_t;

/* draws the instance; @a params are kept */
keel_status_t keel_shm_open(keel_shm_t *shm, const keel_transport_params_t *params);
void keel_shm_close(keel_shm_t *shm); /* of what was registered nothing is left */
/* of the card; nothing to attach where no memory is shared */
keel_status_t keel_shm_identify(const keel_shm_t *shm, keel_shm_segment_id_t *id);
/* the card of a peer, of id->bytes, or NULL: none of its memory can be mapped here */
keel_shm_card_t *keel_shm_attach(const keel_shm_t *shm, uint32_t peer, uint64_t instance,
                                 const keel_shm_segment_id_t *id);

/* as the operations of transport.h */
keel_status_t keel_shm_reserve(keel_shm_t *shm, const uint64_t *bytes, unsigned count);
keel_status_t keel_shm_mem_alloc(keel_shm_t *shm, size_t bytes, void *address, keel_transport_mem_t **mem_p);
void keel_shm_mem_free(keel_transport_mem_t *mem);
keel_status_t keel_shm_key_open(keel_shm_t *shm, const keel_shm_segment_id_t *id, keel_transport_key_t **key_p);
void keel_shm_key_close(keel_transport_t *transport, keel_transport_key_t *key);
void *keel_shm_key_ptr(keel_transport_key_t *key);
keel_status_t keel_shm_key_succeed(keel_transport_t *transport, keel_transport_key_t *key, keel_transport_key_t *old);

#endif
