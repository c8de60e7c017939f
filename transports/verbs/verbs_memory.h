/* Memory of this process and its access by other ranks: mapped, or by operations of the device. */
#ifndef KEEL_VERBS_MEMORY_H_
#define KEEL_VERBS_MEMORY_H_

#include "transport.h"

typedef struct keel_verbs keel_verbs_t;

/* determines whether any rank shares no memory with the own rank */
void keel_verbs_memory_find_others(keel_verbs_t *verbs);
void keel_verbs_memory_close(keel_verbs_t *verbs);

/* like the operations of transport.h */
keel_status_t keel_verbs_memory_reserve(keel_transport_t *transport, const uint64_t *bytes, unsigned count);
keel_status_t keel_verbs_memory_alloc(keel_transport_t *transport, size_t bytes, void *address,
                                      keel_transport_mem_t **mem_p, void **base_p);
void keel_verbs_memory_free(keel_transport_t *transport, keel_transport_mem_t *mem);
void keel_verbs_memory_expose(keel_transport_t *transport, keel_transport_mem_t *mem, unsigned lane);
keel_status_t keel_verbs_memory_pack(keel_transport_t *transport, keel_transport_mem_t *mem, void *blob,
                                     size_t *length_p);
size_t keel_verbs_memory_lendable(keel_transport_t *transport, size_t *limit_p);
void keel_verbs_memory_lend(keel_transport_t *transport, void *base, size_t bytes);
keel_status_t keel_verbs_memory_key_open(keel_transport_t *transport, uint32_t peer, const void *blob, size_t length,
                                         uint64_t remote_base, keel_transport_key_t **key_p);
int keel_verbs_memory_key_is_atomic(const keel_transport_key_t *key);

#endif
