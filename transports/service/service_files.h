/* The limit on open files, which a transport with connections to all ranks may meet. */
#ifndef KEEL_SERVICE_FILES_H_
#define KEEL_SERVICE_FILES_H_

#include "transport.h"

/* KEEL_ERR_BUDGET, said: the limit does not do for what is open, @a own files more, connections to all ranks, and memory to come */
keel_status_t keel_service_demand_files(const keel_transport_params_t *params, size_t own);

#endif
