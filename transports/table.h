/* The transports and runtimes compiled in: the one place that knows them by name. The first of each is the default. */
#ifndef KEEL_TRANSPORTS_TABLE_H_
#define KEEL_TRANSPORTS_TABLE_H_

#include "base/config.h"
#include "runtime.h"
#include "transport.h"

/* the one of KEEL_TRANSPORT; NULL, said: it is not compiled in */
const keel_transport_ops_t *keel_transport_pick(const keel_config_t *config);
/* NULL past the last one */
const keel_transport_ops_t *keel_transport_table(unsigned idx);
const keel_runtime_ops_t *keel_runtime_table(unsigned idx);
/* Version of the UCX that this process runs over. NULL if no transport uses UCX. */
const char *keel_transport_ucx_version(void);

#endif
