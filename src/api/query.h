/* Statistics for the process itself. */
#ifndef KEEL_API_QUERY_H_
#define KEEL_API_QUERY_H_

#include <keel/keel.h>

/* keel_stats() for a caller inside Keel. */
void keel_context_stats(const keel_context_h ctx, keel_stats_t *stats_p);

#endif
