/*
 * KEEL_LANE_RMA: puts, gets and flushes on the link of requests to a peer's service side, in one
 * order with the requests. KEEL_LANE_ATOMIC uses the same link; ranks of the node and the process
 * itself have a link for atomics, too. Puts are posted in chains with a completion for the last. A
 * device executes the writes of a queue pair in order, so a fence needs no action.
 */
#ifndef KEEL_VERBS_RMA_H_
#define KEEL_VERBS_RMA_H_

#include "verbs_link.h"

/* like the operations of transport.h */
keel_status_t keel_verbs_rma_put(keel_transport_t *transport, keel_transport_key_t *key,
                                 const keel_transport_put_t *puts, unsigned *count_p);
keel_status_t keel_verbs_rma_get(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset, void *buffer,
                                 size_t length, keel_transport_done_cb_t cb, void *arg);
keel_status_t keel_verbs_rma_put_record(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset,
                                        const void *buffer, size_t length);
keel_status_t keel_verbs_rma_atomic(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset,
                                    const keel_transport_atomic_t *atomic, uint64_t *old, keel_transport_done_cb_t cb,
                                    void *arg);
void keel_verbs_rma_fence(keel_transport_t *transport);
keel_status_t keel_verbs_rma_flush(keel_transport_t *transport, uint32_t rank, keel_transport_done_cb_t cb, void *arg);

/* called by the link after completions */
void keel_verbs_rma_completed(keel_verbs_link_t *link);
/* the link is given up: all waiters end with KEEL_ERR_UNREACHABLE */
void keel_verbs_rma_give_up(keel_verbs_link_t *link);
void keel_verbs_rma_release(keel_verbs_port_t *port); /* called when the port is closed */

#endif
