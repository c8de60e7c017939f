/* The transports and runtimes compiled in: the one place that knows them by name. The first of each is the default. */
#ifndef KEEL_TRANSPORTS_TABLE_H_
#define KEEL_TRANSPORTS_TABLE_H_

#include "runtime.h"
#include "transport.h"

/* NULL past the last one */
const keel_transport_ops_t *keel_transport_table(unsigned idx);
const keel_runtime_ops_t *keel_runtime_table(unsigned idx);

#endif
