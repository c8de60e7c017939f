/* The production transport: shared memory within a node, UCX between nodes. */
#ifndef KEEL_TRANSPORTS_UCP_H_
#define KEEL_TRANSPORTS_UCP_H_

#include "transport.h"

extern const keel_transport_ops_t keel_transport_ucp_ops;

#endif
