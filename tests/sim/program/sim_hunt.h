/* Deaths at moments that the hunt searches for, instead of drawn moments. */
#ifndef KEEL_SIM_HUNT_H_
#define KEEL_SIM_HUNT_H_

#include "sim_case.h"

#define HUNT_OVER 99

typedef struct hunt {
    hunt_kind_t kind;
    unsigned stage; /* deaths until now; HUNT_OVER: the moment did not come */
    uint32_t reader, target, third, phase;
    keel_random_t random;
    uint32_t rare, often; /* one chance in so many, outside of a recovery and during a recovery */
    uint64_t sums[CASE_PROCESSES_MAX];
} hunt_t;

struct scene;

void scene_hunt_draw(struct scene *scene, uint64_t seed, hunt_kind_t kind);
/* Called between any two steps. */
void scene_hunt(struct scene *scene);
/* Defined in sim_case.c. Returns 0 if the victim cannot be killed. */
int scene_kill(struct scene *scene, uint32_t victim);

#endif
