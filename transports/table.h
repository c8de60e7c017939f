/* Transports and runtimes compiled in; no other file knows their names. The first of each is the
 * default. */
#ifndef KEEL_TRANSPORTS_TABLE_H_
#define KEEL_TRANSPORTS_TABLE_H_

#include "base/config.h"
#include "runtime_ops.h"
#include "transport.h"

/* transport of KEEL_TRANSPORT; NULL with a message if it is not compiled in */
const keel_transport_ops_t *keel_transport_pick(const keel_config_t *config);
/* NULL if the library has no transport @a name */
const keel_transport_ops_t *keel_transport_named(const char *name);
/* NULL past the end */
const keel_transport_ops_t *keel_transport_table(unsigned idx);
const keel_runtime_ops_t *keel_runtime_table(unsigned idx);
/* Version of the UCX library of this process. NULL if no transport uses UCX. */
const char *keel_transport_ucx_version(void);

#endif
