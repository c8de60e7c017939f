/* Memory of the process and access by other ranks: mapped, or read over the network. */
#ifndef KEEL_UCP_MEMORY_H_
#define KEEL_UCP_MEMORY_H_

#include "transport.h"

typedef struct keel_ucp keel_ucp_t;

/* determines whether any rank shares no memory with the own rank */
void keel_ucp_memory_find_others(keel_ucp_t *ucp);
void keel_ucp_memory_close(keel_ucp_t *ucp); /* call before closing the worker */

/* like the operations of transport.h */
keel_status_t keel_ucp_memory_reserve(keel_transport_t *transport, const uint64_t *bytes, unsigned count);
keel_status_t keel_ucp_memory_alloc(keel_transport_t *transport, size_t bytes, void *address,
                                    keel_transport_mem_t **mem_p, void **base_p);
void keel_ucp_memory_free(keel_transport_t *transport, keel_transport_mem_t *mem);
void keel_ucp_memory_expose(keel_transport_t *transport, keel_transport_mem_t *mem, unsigned lane);
keel_status_t keel_ucp_memory_pack(keel_transport_t *transport, keel_transport_mem_t *mem, void *blob,
                                   size_t *length_p);
keel_status_t keel_ucp_memory_key_open(keel_transport_t *transport, uint32_t peer, const void *blob, size_t length,
                                       uint64_t remote_base, keel_transport_key_t **key_p);
void keel_ucp_memory_key_close(keel_transport_t *transport, keel_transport_key_t *key);

#endif
