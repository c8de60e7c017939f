/* What this transport asks of the machine and of the settings; where it is not there, a message says what is. */
#ifndef KEEL_UCP_DEMANDS_H_
#define KEEL_UCP_DEMANDS_H_

#include "transport.h"

/*
 * KEEL_ERR_BUDGET, said: the limit on open files is too low. UCX aborts when it meets that limit, so it is looked at before the
 * network's opening, and after it, when what is open can be counted, for the connections and the memory that are to come.
 */
keel_status_t keel_ucp_demand_files(const keel_transport_params_t *params, int is_network_open);

#define KEEL_UCP_LOOPBACK "lo"

int keel_ucp_is_rdma(const char *tls_served);

/*
 * Whether tcp is restricted to the loopback interface: all processes share this host, and UCX_NET_DEVICES names no interface. A
 * process whose loopback interface is down uses any.
 */
int keel_ucp_is_local(const keel_transport_params_t *params);

/* how many buffers a queue of UCX over RDMA may have, so that all take half of the bytes that may be locked; 0: any */
unsigned keel_ucp_queue_length(size_t lockable);

/* says that the transports of KEEL_TLS_SERVED do not do: @a why; and which ones there are */
void keel_ucp_refuse_transports(const keel_transport_params_t *params, const char *why);

#endif
