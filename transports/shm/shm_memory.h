/*
 * Memory of this process that ranks of the node map, and their memory mapped here: a part shared by
 * the transports. Access is by loads, stores and CPU atomics only, so it needs no connection, no
 * progress and no help of the owner, and outlives the owner while a key is open.
 */
#ifndef KEEL_SHM_MEMORY_H_
#define KEEL_SHM_MEMORY_H_

#include "shm_segment.h"
#include "shm_sleeper.h"
#include "transport.h"

#include <stdatomic.h>
#include <ucs/datastruct/list.h>

/* Page of a process mapped by its whole node: a process that reads the right instance there
 * shares memory with it. */
typedef struct keel_shm_card {
    uint64_t instance;
    uint64_t reserved[7];
    keel_shm_sleeper_t sleeper; /* sleeper of the thread inside Keel */
} keel_shm_card_t;

struct keel_transport_mem {
    ucs_list_link_t link;
    keel_shm_segment_t segment;
    void *registration; /* belongs to the transport; NULL: none */
    int is_atomic;      /* registered for device atomics: only the device changes its words */
};

struct keel_transport_key {
    ucs_list_link_t link;
    void *base; /* NULL: not mapped here; the transport reaches the memory by the fields below */
    size_t bytes;
    uint64_t remote_base;
    uint32_t peer, remote_key;
    int is_atomic; /* only a device changes words of the memory */
    void *remote;
};

typedef struct keel_shm {
    const keel_transport_params_t *params;
    uint64_t instance;              /* instance of this process */
    int is_used;                    /* memory is shared with ranks of the node */
    int is_everywhere;              /* memory is shared with all ranks */
    keel_shm_segment_t card_memory; /* none if no memory is shared */
    keel_shm_card_t own_card;       /* card of a process that shares no memory */
    keel_shm_card_t *card;
    ucs_list_link_t mems, keys;
    ucs_list_link_t reserve; /* memory made in advance and not requested yet */
} keel_shm_t;

/* draws the instance; keeps @a params */
keel_status_t keel_shm_open(keel_shm_t *shm, const keel_transport_params_t *params);
void keel_shm_close(keel_shm_t *shm); /* frees everything that is still registered */
/* identity of the card; pid is 0 if no memory is shared */
keel_status_t keel_shm_identify(const keel_shm_t *shm, keel_shm_segment_id_t *id);
/* Maps the card of a peer, of id->bytes. *card_p NULL: none of its memory can be mapped here.
 * KEEL_ERR_NO_MEMORY: for lack of memory or descriptors; other ranks may map it, so accesses by
 * messages would not exclude theirs (peer/combine/combine_area). */
keel_status_t keel_shm_attach(const keel_shm_t *shm, uint32_t peer, uint64_t instance, const keel_shm_segment_id_t *id,
                              keel_shm_card_t **card_p);

/* like the operations of transport.h */
keel_status_t keel_shm_reserve(keel_shm_t *shm, const uint64_t *bytes, unsigned count);
keel_status_t keel_shm_mem_alloc(keel_shm_t *shm, size_t bytes, void *address, keel_transport_mem_t **mem_p);
void keel_shm_mem_free(keel_transport_mem_t *mem);
keel_status_t keel_shm_key_open(keel_shm_t *shm, const keel_shm_segment_id_t *id, keel_transport_key_t **key_p);
void keel_shm_key_close(keel_transport_t *transport, keel_transport_key_t *key);
void *keel_shm_key_ptr(keel_transport_key_t *key);
keel_status_t keel_shm_key_replace(keel_transport_t *transport, keel_transport_key_t *key, keel_transport_key_t *old);

#endif
