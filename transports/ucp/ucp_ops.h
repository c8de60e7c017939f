/* Production transport: shared memory within a node, UCX between nodes. */
#ifndef KEEL_TRANSPORTS_UCP_OPS_H_
#define KEEL_TRANSPORTS_UCP_OPS_H_

#include "transport.h"

extern const keel_transport_ops_t keel_transport_ucp_ops;

/* Version of the UCX library at run time; may differ from the version at build time. */
const char *keel_ucp_library_version(void);

#endif
