/* Deaths at moments that are looked for instead of drawn. */
#ifndef KEEL_SIM_HUNT_H_
#define KEEL_SIM_HUNT_H_

#include "sim_case.h"

#define HUNT_OVER 99

typedef struct hunt {
    hunt_kind_t kind;
    unsigned stage; /* deaths so far; HUNT_OVER: the moment did not come */
    uint32_t reader, target, third, phase;
    keel_random_t random;
    uint32_t rare, often; /* one chance in so many, outside of a recovery and in it */
    uint64_t sums[CASE_PROCESSES_MAX];
} hunt_t;

struct scene;

void scene_hunt_draw(struct scene *scene, uint64_t seed, hunt_kind_t kind);
/* between any two steps */
void scene_hunt(struct scene *scene);
/* sim_case.c: 0 when there is none to be killed */
int scene_kill(struct scene *scene, uint32_t victim);

#endif
