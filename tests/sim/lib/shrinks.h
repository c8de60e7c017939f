/* Deaths in small programs of jobs that go on with fewer ranks, and the neighbours of a rank. */
#ifndef KEEL_SIM_SHRINKS_H_
#define KEEL_SIM_SHRINKS_H_

#include "few_ranks.h"

typedef struct shrinks {
    unsigned wanted; /* deaths of the run, unless the job ends before */
    uint64_t apart;  /* maximum steps to the first death, and to a death that follows no other */
    uint64_t steps, next;
    uint32_t random;
    uint64_t middle; /* deaths in the middle of a recovery */
    uint32_t spared; /* a bit for each rank that must not die now */
    uint32_t victim; /* the last one */
} shrinks_t;

shrinks_t shrinks_draw(uint64_t seed, unsigned wanted, uint64_t apart);
/* True if some rank is in the steps that follow a death. */
int shrinks_are_in_middle(const few_t *few);
/* For strike(): kills a rank at a drawn moment, every second time amid the steps that follow
 * another death. Returns 1 if a rank was killed. */
int shrinks_strike(shrinks_t *shrinks, few_t *few);
/* The rank at this distance along the ring of the remaining ranks. */
uint32_t shrinks_neighbour(const keel_world_t *world, uint32_t rank, uint32_t distance);

#endif
