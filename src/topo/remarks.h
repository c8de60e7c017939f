/* What may be wrong with a topology file that can be read all the same: names that were mistyped leave gaps. */
#ifndef KEEL_TOPO_REMARKS_H_
#define KEEL_TOPO_REMARKS_H_

#include "topo/resolve.h"

/* remarks.c: hosts and elements that may be missing, for who wrote the file; before hosts stay in finer elements */
keel_status_t keel_resolve_remark(const keel_resolve_t *resolve);

#endif
