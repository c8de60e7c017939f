/* Requirements of this transport on the machine and the settings; a message describes the
 * machine if a requirement is not met. */
#ifndef KEEL_UCP_DEMANDS_H_
#define KEEL_UCP_DEMANDS_H_

#include "transport.h"

/*
 * KEEL_ERR_BUDGET with a message if the limit on open files is too low. UCX aborts when it meets
 * the limit. So the check runs before the network is opened, and again afterwards, when open files
 * can be counted, for future connections and memory.
 */
keel_status_t keel_ucp_demand_files(const keel_transport_params_t *params, int is_network_open);

int keel_ucp_is_rdma(const char *tls_served);

/*
 * Chooses the only interface for tcp: params->interface, or the loopback interface if all processes
 * share this host. *name_p is NULL if UCX chooses, by UCX_NET_DEVICES or among all.
 * KEEL_ERR_TRANSPORT, reported: this host lacks the interface.
 */
keel_status_t keel_ucp_choose_interface(const keel_transport_params_t *params, const char **name_p);

/* Length of UCX's queues over RDMA at which their buffers take half of the lockable bytes; 0: no
 * limit. */
unsigned keel_ucp_queue_length(size_t lockable);

/* reports that the transports of KEEL_TLS_SERVED do not work because of @a why, and lists the
 * available ones */
void keel_ucp_refuse_transports(const keel_transport_params_t *params, const char *why);

#endif
