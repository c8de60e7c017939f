/* Configuration of Keel's own UCP context, with the names of settings in the running UCX. */
#ifndef KEEL_UCP_SETTINGS_H_
#define KEEL_UCP_SETTINGS_H_

#include "transport.h"

#include <ucp/api/ucp.h>

/*
 * Reads UCX's configuration and changes it for the served lane over params->tls_served (NULL: tcp).
 * interface: the only interface of tcp, or NULL. lockable: bytes that may be locked in memory,
 * SIZE_MAX for no limit. A refused setting is reported with its name, value and the version of UCX.
 * The caller releases *config_p; a result other than UCS_OK leaves it unset.
 */
ucs_status_t keel_ucp_settings_read(const keel_transport_params_t *params, const char *interface, size_t lockable,
                                    ucp_config_t **config_p);

#endif
