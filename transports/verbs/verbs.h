/* Transport on libibverbs: shared memory within a node, reliable connections of its own between
 * nodes. */
#ifndef KEEL_TRANSPORTS_VERBS_H_
#define KEEL_TRANSPORTS_VERBS_H_

#include "transport.h"

extern const keel_transport_ops_t keel_transport_verbs_ops;

#endif
