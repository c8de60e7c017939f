/* Likely mistakes in a readable topology file: mistyped names leave gaps. */
#ifndef KEEL_TOPO_REMARKS_H_
#define KEEL_TOPO_REMARKS_H_

#include "topo/resolve.h"

/* remarks.c: reports hosts and elements that may be missing from the file; before hosts are
 * assigned to finer elements */
keel_status_t keel_resolve_remark(const keel_resolve_t *resolve);

#endif
