/* Limit on open files, which a transport with connections to all ranks may reach. */
#ifndef KEEL_SERVICE_FILES_H_
#define KEEL_SERVICE_FILES_H_

#include "transport.h"

/* Checks that the limit suffices for the files already open, @a own more files, connections to
 * all ranks, and future memory. KEEL_ERR_BUDGET with a message if the limit is too low. */
keel_status_t keel_service_demand_files(const keel_transport_params_t *params, size_t own);

#endif
