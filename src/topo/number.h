/* Numbers the elements of a topology file: the hierarchy over hosts, with names. */
#ifndef KEEL_TOPO_NUMBER_H_
#define KEEL_TOPO_NUMBER_H_

#include "topo/resolve.h"

/* number.c: after hosts were assigned to finer elements */
keel_status_t keel_resolve_number(const keel_resolve_t *resolve, keel_domains_t *domains);

#endif
