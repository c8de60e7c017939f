/* Addresses of peers' memory. */
#include "peer/access.h"

void *keel_access_at(keel_lane_t *lane, uint32_t peer, unsigned region)
{
    return (peer == lane->rank) ? lane->own[region].base : lane->peers[peer].regions[region].ptr;
}
